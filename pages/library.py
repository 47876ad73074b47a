"""x."""
import streamlit as st
st.write("later")
