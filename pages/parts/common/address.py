"""The parameters of each page's address: read before a page is drawn, written after it.

The address is the state. When the person goes back, forward, reloads or follows a link, the
values in the address go into the session state (``take``); when the session state has changed,
the address follows it (``keep``), and the browser gets a new entry in its history.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.parts.common import browser, kept_texts, option_controls, state
from pages.parts.common.address_parts import (
    EVERYWHERE,
    PARTS,
    QUESTION,
    Part,
    name_of_long_text,
    two_names,
)
from pages.parts.common.markup import as_label
from pages.parts.common.option_controls import Control
from ragkit.errors import RagkitError, SettingsError
from ragkit.library import Library
from ragkit.option_codec import option_text, parse_chunked_option, parse_option
from ragkit.options import CHUNKED_OPTIONS

_LAST, _LEFT = "address_last", "address_left"
_ON_ITS_WAY_SECONDS = 2.0
_NO_LONGER_KEPT = (
    "This long text is no longer there: it is kept only for the browser it was pasted in, until "
    "ragkit stops. Paste it again."
)

Sent = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class _Kept:
    """The address of the session; ``before`` are those that a browser may still be at.

    It was written at ``since``. Until the browser has it, the page may be asked to draw itself at
    one of those before.
    """

    page: str
    values: Sent
    before: tuple[Sent, ...] = ()
    since: float = 0.0

    @property
    def late(self) -> tuple[Sent, ...]:
        """It and those before, if it was just written: where the browser may be now."""
        is_late = self.before and time.monotonic() - self.since < _ON_ITS_WAY_SECONDS
        return (self.values, *self.before) if is_late else ()


# -- from the address to the session -----------------------------------------------------------


def take(library: Library) -> bool:
    """Copy the address into the session state; return False if the session state is newer.

    Parameters without a meaning are ignored, with a notice.
    """
    page, sent = _page(), _sent()
    if not _leads(page, sent):
        _return(page)
        return False
    here = dict(sent)
    sent |= _of_thread(page, sent, library)
    wrong = []
    for part in filter(lambda part: part.key, PARTS.get(page, ())):
        try:
            values = tuple(part.read(library, text) for text in sent.get(part.name, ()))
        except ValueError:
            values = ()
            wrong.append(part.name)
        value = (values if part.many else values[-1]) if values else part.usual(library)
        st.session_state[part.key] = value
        if part.key == state.QUESTION:
            st.session_state[state.PUT] = state.Put(str(value))
    options = _options(page, library)
    for name, control in options.items():
        control.place(control.start)
        if name in sent:
            try:
                control.place(_read_option(control, sent[name][-1]))
            except SettingsError:
                wrong.append(name)
    wrong += [name for name in sent if name not in {*_known(page), *options}]
    st.session_state.pop(state.GONE, None)
    for name in wrong:
        if sent[name][-1].startswith(kept_texts.MARK):
            st.toast(_NO_LONGER_KEPT)
            continue
        if name == "collection":
            gone = (sent[name][-1][:80], st.session_state.get(state.QUESTION))
            st.session_state[state.GONE] = gone
            if page != "search":
                st.toast(as_label(gone_collection(library)), duration="long")
            continue
        parameter = f"{name}={' '.join(sent[name])}"[:80]
        st.toast(
            as_label(f'The address says "{parameter}", which means nothing here. It is left out.')
        )
    _arrive(page, here)
    return True


def asks(question: str) -> bool:
    """Return whether the browser's address has this question."""
    return _sent().get(QUESTION.name, [""])[-1] == name_of_long_text(question)


def gone_collection(library: Library) -> str:
    """Return the sentence that the address named a collection that is gone; empty if it did not.

    It is told until another question is asked or another collection chosen.
    """
    gone, question = st.session_state.get(state.GONE, ("", None))
    part = _collection_part(_page())
    if not gone or part is None or question != st.session_state.get(state.QUESTION):
        return ""
    instead = part.usual(library)
    if st.session_state.get(part.key, instead) != instead:
        return ""
    which = "all collections are" if instead == state.ALL else f'"{instead}" is'
    does = "shown" if _page() in ("library", "evaluate") else "searched"
    return f'The collection "{gone}" does not exist any more; {which} {does} instead.'


def _collection_part(page: str) -> Part | None:
    return next((part for part in PARTS.get(page, ()) if part.name == "collection"), None)


def _return(page: str) -> None:
    """Restore the state in which a page was left: Streamlit forgets it on other pages."""
    last, left = st.session_state.get(_LAST), st.session_state.get(_LEFT, {})
    if last is not None and last.page != page:
        for part in PARTS.get(page, ()):
            if part.key in left:
                st.session_state[part.key] = left[part.key]


def _arrive(page: str, here: Sent) -> None:
    """Note that the person went to this address: a run that is broken off has taken it as well."""
    last: _Kept | None = st.session_state.get(_LAST)
    late = last.late if last else ()
    if late and late[0] != here:
        # What is on its way to the browser would take its place there.
        st.query_params.from_dict(here)
    st.session_state[_LAST] = _Kept(page, here, late, time.monotonic())


def _leads(page: str, sent: Sent) -> bool:
    """Return whether the address was changed by the person, and not by ``keep``."""
    last: _Kept | None = st.session_state.get(_LAST)
    if browser.went_back():
        return True
    if last is None or last.page != page:
        # A link without values leads to the page as it was left.
        return bool(sent)
    return sent != last.values and sent not in last.late


def _of_thread(page: str, sent: Sent, library: Library) -> dict[str, list[str]]:
    """Return the last question and the collection of the thread that an address names.

    Nothing if it has a question or a collection of its own.
    """
    if page != "search" or "thread" not in sent or {"q", "collection"} & sent.keys():
        return {}
    try:
        thread = library.threads.get(int(sent["thread"][-1]))
    except (ValueError, RagkitError):
        # Said where the thread is opened.
        return {}
    several = len(thread.collections) != 1
    place = EVERYWHERE if several else thread.collections[0]
    return {"q": [turn.asked for turn in thread.turns[-1:]], "collection": [place]}


# -- from the session to the address -----------------------------------------------------------


def keep(library: Library) -> None:
    """Write the session state into the address; the browser makes it an entry of its history."""
    page, sent = _page(), _sent()
    values: dict[str, list[str]] = {}
    for part in PARTS.get(page, ()):
        if not part.key:
            texts = list(sent.get(part.name, ()))
        else:
            value = st.session_state.get(part.key, part.usual(library))
            st.session_state.setdefault(_LEFT, {})[part.key] = value
            usual = value is None or value == part.usual(library)
            items = value if part.many else [value]
            texts = [] if usual else [part.write(item) for item in items]
        if texts:
            values[part.name] = texts
    for name, control in _options(page, library).items():
        value = control.read()
        if value != control.start:
            values[name] = [option_text(value)]
    last: _Kept | None = st.session_state.get(_LAST)
    before: tuple[Sent, ...] = ()
    if values != sent:
        st.query_params.from_dict(values)
        before = (sent, *(last.late if last else ()))
    if last is None or (last.page, last.values) != (page, values):
        st.session_state[_LAST] = _Kept(page, values, before, time.monotonic())


# -- what there is -----------------------------------------------------------------------------


def _page() -> str:
    return str(st.session_state.get(state.PAGE, "search"))


def _sent() -> dict[str, list[str]]:
    return {name: st.query_params.get_all(name) for name in st.query_params}


def _known(page: str) -> set[str]:
    return {part.name for part in PARTS.get(page, ())}


def _options(page: str, library: Library) -> Mapping[str, Control]:
    """Return the controls of the options in a page's address, by parameter name."""
    part = _collection_part(page)
    if part is None or page not in _WITH_OPTIONS:
        return {}
    chosen = st.session_state.get(part.key, part.usual(library))
    # Of several the options are those of the library, however many there are.
    names = two_names(library) if chosen == state.ALL else [chosen]
    first = library.options(collections=tuple(names))
    if page == "search":
        return option_controls.of_search(first)
    return option_controls.of_conversation(library.chunked_options(), first)


def _read_option(control: Control, text: str) -> Any:
    """Return the value of an option from its text in an address.

    Raises:
        SettingsError: it cannot have this value.
    """
    option = control.option
    if CHUNKED_OPTIONS.get(option.name) is option:
        return parse_chunked_option(option.setting, text)[1]
    value = parse_option(option.name, text)
    if option.bounds and value is not None and not option.bounds[0] <= value <= option.bounds[1]:
        raise SettingsError(f"{option.name} is {value}.", "")
    return value


_WITH_OPTIONS = ("search", "conversation")
"""The pages whose addresses hold options of a search."""
