"""The inline markup of one block: emphasis, code, links, pictures, each at its exact place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlsplit

from markdown_it.common.utils import normalizeReference
from markdown_it.token import Token

from pages.parts.rendering.allowed import OUTWARD, safe_link
from pages.parts.rendering.canvas import Canvas, Span
from pages.parts.rendering.flow import Flow
from pages.parts.rendering.formula import draw_formula, parts_of
from pages.parts.rendering.inline_rules import inline_tokens
from pages.parts.rendering.tags import ELEMENTS, Tag, pair_tags, read_tag
from ragkit.library.document_links import LinkTarget
from ragkit.surfaces.addresses import document_url

_SPECIAL = re.compile(r"[\\`*_\[\]<&!~$\n]|==")
_WORD = re.compile(r"[^\W_]")
# Not of an index into an index.
_REFERENCE = re.compile(r"(?<![\w\]!])\[([^\[\]\n]{1,200})\]\[([^\[\]\n]{0,200})\]")
_LONGEST = 60_000
_MOST_BRACKETS = 2_000
_ELEMENTS = {"em_open": "em", "strong_open": "strong", "s_open": "s", "highlight_open": "b"}


def draw_inline(canvas: Canvas, flow: Flow, env: dict[str, Any]) -> None:
    """Draw the inline text of a block.

    Raises:
        ValueError: when a token cannot be found in the text.
    """
    content = flow.content
    is_odd = len(content) > _LONGEST or content.count("[") > _MOST_BRACKETS
    if is_odd or not _SPECIAL.search(content):
        for start, end in flow.spans(0, len(content)):
            canvas.draw(start, end)
        return
    tokens = inline_tokens(content, _with_references(content, env))
    pair_tags(tokens)
    _Walk(canvas, flow).run(tokens)


def _with_references(content: str, env: dict[str, Any]) -> dict[str, Any]:
    """Return what links refer to; those that are defined elsewhere lead nowhere."""
    named = {
        normalizeReference(reference[2] or reference[1])
        for reference in _REFERENCE.finditer(content)
    }
    nowhere = {name: {"href": "", "title": ""} for name in named}
    return {**env, "references": {**nowhere, **env.get("references", {})}} if named else env


class _Walk:
    """Draws tokens in order; ``_at`` is how much of the content has been dealt with."""

    def __init__(self, canvas: Canvas, flow: Flow) -> None:
        self._canvas, self._flow, self._content = canvas, flow, flow.content
        self._at = 0
        self._wordy = False

    def run(self, tokens: Sequence[Token]) -> None:
        for token in tokens:
            self._one(token)
        self._pass(len(self._content))

    def _one(self, token: Token) -> None:
        at = max(int(token.meta["at"]), self._at)
        kind = token.type
        if kind == "text":
            self._text(token, at)
        elif kind == "text_special":
            self._special(token, at)
        elif kind in ("softbreak", "hardbreak"):
            end = self._content.index("\n", at)
            self._pass(end)
            self._draw(end, end + 1)
            if kind == "hardbreak":
                self._canvas.void("br")
        elif kind in _DRAWN:
            _DRAWN[kind](self, token, at)
        elif kind == "link_open":
            self._pass(at)
            self._open_link(str(token.attrs.get("href") or ""))
        elif kind == "link_close":
            self._close_link(at)
        elif kind in _ELEMENTS:
            self._pass(at)
            self._pass(at + len(token.markup))
            self._canvas.open(_ELEMENTS[kind])
        elif kind.endswith("_close"):
            self._pass(at)
            self._canvas.close()
            self._pass(at + len(token.markup))
        else:
            raise ValueError(kind)

    def _pass(self, end: int) -> None:
        """Leave out markup; words in it are those of a link's address, or an error."""
        if end <= self._at:
            return
        if not self._wordy and _WORD.search(self._content, self._at, end):
            raise ValueError("a word between two tokens")
        for first, last in self._flow.spans(self._at, end):
            self._canvas.skip(first, last)
        self._at = end
        self._wordy = False

    def _draw(self, start: int, end: int) -> None:
        self._pass(start)
        self._wordy = False
        for first, last in self._flow.spans(start, end):
            self._canvas.draw(first, last)
        self._at = end

    def _text(self, token: Token, at: int) -> None:
        if not token.content:
            return
        if not self._content.startswith(token.content, at):
            if not self._content.startswith("<", at):
                raise ValueError("text is not where it should be")
            self._draw(at + 1, self._content.index(">", at))
            return
        self._draw(at, at + len(token.content))

    def _special(self, token: Token, at: int) -> None:
        end = at + len(token.markup)
        if token.info == "escape":
            self._draw(at if token.content == token.markup else at + 1, end)
            return
        self._pass(at)
        first, last = next(iter(self._flow.spans(at, end)))
        self._canvas.put(token.content, first, last)
        self._at = end

    def _code(self, token: Token, at: int) -> None:
        ticks, size = len(token.markup), len(token.content)
        start = at + ticks
        if not self._content.startswith(token.markup, start + size):
            start += 1
        if self._content[start : start + size].replace("\n", " ") != token.content:
            raise ValueError("code is not where it should be")
        self._pass(start)
        with self._canvas.element("code"):
            self._draw(start, start + size)
        self._pass(self._content.index(token.markup, start + size) + ticks)

    def _tag(self, token: Token, at: int) -> None:
        """Draw what a tag has to read; one that is not understood is shown as it is written."""
        self._pass(at)
        end = at + len(token.content)
        tag = read_tag(token.content)
        if token.content.startswith("<!--"):
            self._leave_out(end)
        elif tag is None or not self._understood(tag, token.meta.get("element"), at, end):
            with self._canvas.element("span", class_="rk-tag"):
                self._draw(at, end)
        if tag is not None and tag.ends_line(self._content[end:]):
            self._canvas.void("br")

    def _understood(self, tag: Tag, element: str | None, at: int, end: int) -> bool:
        """Draw a tag that is understood; return whether it is."""
        if element is not None:
            self._element(tag, element, at, end)
        elif tag.is_picture:
            label = tag.values.get("caption") or tag.values.get("alt") or (0, 0)
            first, last = tag.values["src"]
            address = self._content[at + first : at + last]
            self._picture(address, at + label[0], at + label[1])
        elif tag.ends_cell:
            self._leave_out(end - 1)
            self._put_space(end - 1)
        elif not tag.only_shapes(self._canvas.source):
            words = tag.words(self._canvas.source)
            if words is None:
                return False
            self._words(words, at)
        self._leave_out(end)
        return True

    def _element(self, tag: Tag, element: str, at: int, end: int) -> None:
        """Begin or end what a pair of tags encloses."""
        self._leave_out(end)
        if not element:
            self._canvas.close()
        elif element == "a":
            first, last = tag.values["href"]
            self._open_link(self._content[at + first : at + last])
        else:
            self._canvas.open(ELEMENTS[element])

    def _words(self, words: Sequence[tuple[Span, bool]], at: int) -> None:
        """Draw what a component says in its attributes: its name strong, each with a space."""
        for (first, last), is_name in words:
            self._wordy = True
            self._pass(at + first)
            with self._canvas.element("strong" if is_name else "span"):
                self._draw(at + first, at + last)
            self._put_space(at + last)

    def _put_space(self, at: int) -> None:
        """Draw a space in place of a character."""
        self._canvas.put(" ", *next(self._flow.spans(at, at + 1)))
        self._at = at + 1

    def _leave_out(self, end: int) -> None:
        """Leave out what comes up to ``end``, and the words in it."""
        self._wordy = True
        self._pass(end)
        self._wordy = False

    def _formula(self, token: Token, at: int) -> None:
        """Draw a formula; one that is found or cut, or has no other form, is shown as TeX."""
        end = at + len(token.content)
        spans = list(self._flow.spans(at, end))
        whole = spans[0][0], spans[-1][1]
        parts = None
        if self._canvas.shows(*whole) and not self._canvas.marked(*whole):
            parts = parts_of(token.info)
        if parts is None:
            self._draw(at, end)
            return
        self._pass(at)
        style = "rk-formula rk-display" if token.block else "rk-formula"
        with self._canvas.element("span", class_=style, title=token.info.strip()):
            draw_formula(self._canvas, parts, whole)
        self._at = end

    def _note(self, token: Token, at: int) -> None:
        """Draw the number of a footnote; each note begins a line of its own."""
        self._pass(at)
        if token.markup and at:
            self._canvas.void("br")
        self._pass(at + 2)
        with self._canvas.element("sup"):
            self._draw(at + 2, at + 2 + len(token.content))
        self._pass(at + len(f"[^{token.content}]{token.markup}"))

    def _note_link(self, token: Token, at: int) -> None:
        """Draw a link to another note by its label, or by the names of the note and heading."""
        end = at + len(token.content)
        self._pass(at)
        target, links = token.info, self._canvas.links
        source = self._shown_picture(target) if token.content.startswith("!") else None
        if source:
            self._canvas.open("span", class_="rk-picture")
            self._canvas.void("img", src=source, alt="")
        else:
            found = links.of_note(target) if links else None
            self._open_document(found, token.content.strip("![]"))
        for place, (first, last) in enumerate(token.meta["shown"]):
            self._wordy = True
            if place:
                self._pass(at + first - 1)
                self._canvas.put(" › ", *next(self._flow.spans(at + first - 1, at + first)))
                self._at = at + first
            self._draw(at + first, at + last)
        self._wordy = True
        self._pass(end)
        self._canvas.close()

    def _shown_picture(self, name: str) -> str | None:
        """Return the picture that a note shows by its name: one beside it, or at the top."""
        picture = self._canvas.picture
        return picture and (picture(quote(name)) or picture(f"/{quote(name)}"))

    def _open_link(self, url: str) -> None:
        safe = safe_link(url)
        if safe:
            self._canvas.open("a", href=safe, title=safe, **OUTWARD)
        else:
            links = self._canvas.links
            self._open_document(links.of_address(url) if links and url else None, url)

    def _open_document(self, target: LinkTarget | None, written: str) -> None:
        """Begin a link to a document, or a place in it; without one the text leads nowhere."""
        title, links = written[:300] or None, self._canvas.links
        if target is None or links is None:
            self._canvas.open("span", class_="rk-nolink", title=title)
            return
        at: dict[str, str | int] = {"at": target.at} if target.at else {}
        is_here = target.document == links.document
        place = self._canvas.section_at(target.at or 0) if is_here else None
        self._canvas.open(
            "a", href=document_url(target.document, None, "", **at), title=title, target="_self",
            data_rk="anchor" if place else "open", data_id=target.document, data_place=place,
        )  # fmt: skip

    def _close_link(self, at: int) -> None:
        if self._content.startswith(">", self._at):
            self._pass(self._at + 1)
        else:
            self._pass(at)
        self._canvas.close()
        self._wordy = True

    def _image(self, token: Token, at: int) -> None:
        self._pass(at)
        label = self._content.index("[", at) + 1
        self._picture(str(token.attrs.get("src") or ""), label, label + len(token.content))
        self._wordy = True

    def _picture(self, url: str, start: int, end: int) -> None:
        """Draw a picture of the document with its text below it, or else only the text."""
        self._wordy = True
        source = self._canvas.picture(url) if self._canvas.picture else None
        with self._canvas.element("span", class_="rk-picture" if source else "rk-nopicture"):
            if source:
                self._canvas.void("img", src=source, alt="")
            if start < end:
                with self._canvas.element("span", class_="rk-caption"):
                    self._draw(start, end)
            if not source and not self._canvas.flat:
                host = urlsplit(url).hostname if safe_link(url) else None
                where = f"picture at {host}, not loaded" if host else "picture not shown"
                with self._canvas.element("span", class_="rk-soft"):
                    self._canvas.say(f" ({where})" if start < end else where.capitalize())


_DRAWN = {
    "code_inline": _Walk._code,
    "image": _Walk._image,
    "tag": _Walk._tag,
    "note": _Walk._note,
    "note_link": _Walk._note_link,
    "formula": _Walk._formula,
}
