"""The frame of the app: look, navigation, status, and the page that was asked for."""

from __future__ import annotations

import streamlit as st

from pages.parts.common import browser, frame

st.set_page_config(
    layout="wide",
    initial_sidebar_state="collapsed",
    menu_items={"about": "ragkit: a private search engine for your own documents."},
)
browser.frame_scripts()
page = frame.navigation()
with frame.guarded():
    frame.run(page)
frame.status()
