"""The page server: Streamlit behind a guard that knows who may ask."""
