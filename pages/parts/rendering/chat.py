"""Conversations: each message in a bubble, with its speaker, its time and its own text."""

from __future__ import annotations

import re
from itertools import pairwise

from pages.parts.rendering.canvas import Canvas, Span
from pages.parts.rendering.markdown import draw_markdown

_NOTE = re.compile(r"\*(?P<when>\d{4}-\d\d-\d\d \d\d:\d\d[^*\n]{0,20}|Note)\*[ \t]*$", re.M)
_HEADER = re.compile(
    r"^\*\*(?P<name>(?:[^*\n]|\\\*){1,200}?)(?P<colon>:)?\*\*"
    r"(?P<rest> · [^\n]*|\s*[(\[][^)\]\n]{3,40}[)\]]:?)?"
    r"(?(colon)|(?(rest)|(?=[ \t]*$)))[ \t]*",
    re.M,
)
_START = re.compile(rf"(?:{_HEADER.pattern})|^{_NOTE.pattern}|^#{{1,6}} ", re.M)
_VOICES = 6


def draw_chat(canvas: Canvas, start: int, end: int) -> None:
    """Draw headings and messages; text before the first message is Markdown."""
    source = canvas.source
    voices: dict[str, int] = {}
    starts = [match.start() for match in _START.finditer(source[start:end])]
    edges = [start, *(start + at for at in starts if at), end]
    for first, last in pairwise(edges):
        if source.startswith("#", first) or not _message(canvas, first, last, voices):
            draw_markdown(canvas, first, last)


def _message(canvas: Canvas, start: int, end: int, voices: dict[str, int]) -> bool:
    """Draw a message if one begins at ``start``; return whether it does."""
    source = canvas.source
    end = start + len(source[start:end].rstrip())
    header = _HEADER.match(source, start, end)
    note = None if header else _NOTE.match(source, start, end)
    if header is None and note is None:
        return False
    voice = 0
    if header:
        voice = voices.setdefault(header["name"].strip().casefold(), len(voices)) % _VOICES
    canvas.block(start, end, lambda: _bubble(canvas, (start, end), header, note, voice))
    return True


def _bubble(
    canvas: Canvas,
    span: Span,
    header: re.Match[str] | None,
    note: re.Match[str] | None,
    voice: int,
) -> None:
    if header:
        with canvas.element("div", span, class_=f"rk-bubble rk-voice-{voice}", role="group"):
            with canvas.element("p", class_="rk-speaker", dir="auto"):
                with canvas.element("b"):
                    canvas.draw(*header.span("name"))
                if header["rest"]:
                    with canvas.element("span", class_="rk-when"):
                        canvas.draw(*header.span("rest"))
            draw_markdown(canvas, header.end(), span[1])
    elif note:
        with canvas.element("div", span, class_="rk-event", role="group"):
            with canvas.element("p", class_="rk-speaker"), canvas.element("span", class_="rk-when"):
                canvas.draw(*note.span("when"))
            draw_markdown(canvas, note.end(), span[1])
