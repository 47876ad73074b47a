"""The frame of the app: theme, navigation, status, and the page that was asked for."""

from __future__ import annotations

import streamlit as st

from pages.shared import frame

st.set_page_config(
    page_title="ragkit",
    layout="wide",
    initial_sidebar_state="collapsed",
    menu_items={"about": "ragkit: a private search engine for your own documents."},
)
frame.style()
page = st.navigation(
    [
        st.Page("pages/search.py", title="Search", url_path="search", default=True),
        st.Page("pages/library.py", title="Library", url_path="library"),
        st.Page("pages/document.py", title="Document", url_path="document", visibility="hidden"),
    ],
    position="top",
)
with frame.guarded():
    frame.status()
    page.run()
