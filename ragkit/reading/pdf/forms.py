"""Reads the values filled into a PDF form: text, choices and marked boxes with their labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from ragkit.reading.decode import clean
from ragkit.reading.limits import MEGABYTE, too_much_text
from ragkit.reading.pdf.contents import sound
from ragkit.reading.reading_parts import one_line, tidy
from ragkit.reading.xml_names import local_name

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

    from ragkit.reading.limits import Limits

_HEAD = "Form fields:"
_MOST_ANNOTATIONS = 20_000
_MOST_PARENTS = 32
_HIDDEN, _NO_VIEW = 1 << 1, 1 << 5
_PASSWORD, _RADIO, _BUTTON = 1 << 13, 1 << 15, 1 << 16
_MARKED = ("1", "x", "yes", "on", "true", "checked", "oui", "ja", "si")
_INDEX = re.compile(r"\[\d+\]|#subform")
_DATE = re.compile(r"D:(\d{4})(\d\d)(\d\d)\d*(?:Z|[+-]\d\d'?\d\d'?)?")
_XFA_FRAME = ("topmostSubform", "form1")


def filled_in(reader: PdfReader, limits: Limits) -> dict[int, str]:
    """Return the form values of each page by page index: a heading, then ``label: value`` lines.

    Hidden fields, passwords, and values that the page draws as text anyway are left out.

    Raises:
        ReadingError: there is more text than the limits allow.
    """
    lines: dict[int, list[str]] = {}
    left = [_MOST_ANNOTATIONS]
    for index, page in enumerate(reader.pages):
        texts = sound(partial(_on_page, page, left))
        if texts:
            lines[index] = texts
    if not lines and (values := sound(partial(_xfa_values, reader))):
        lines = {0: values}
    if sum(len(line) for texts in lines.values() for line in texts) > limits.max_text_mb * MEGABYTE:
        raise too_much_text(limits)
    return {index: "\n".join((_HEAD, *texts)) for index, texts in lines.items()}


@dataclass(frozen=True, slots=True)
class _Filled:
    """A filled field: its full name, its label, its value, and its edges on the page."""

    path: str
    label: str
    value: str
    place: tuple[float, ...]


def _on_page(page: PageObject, left: list[int]) -> list[str]:
    """Return a line for each filled field of a page.

    ``left`` holds the number of annotations that may still be looked at in this file.
    """
    filled: dict[str, _Filled] = {}
    annotations: Any = page.get("/Annots")
    for reference in annotations.get_object() if annotations is not None else ():
        left[0] -= 1
        if left[0] < 0:
            break
        field = sound(partial(_field, page, reference))
        if field is not None and field.value:
            filled.setdefault(field.path or str(field.place), field)
    drawn = _drawn(page) if filled else []
    fields = [field for field in filled.values() if not _stands_there(field, drawn)]
    return [f"{field.label}: {field.value}" for field in fields]


def _field(page: PageObject, reference: Any) -> _Filled | None:
    """Return the field of an annotation; ``None`` if it is hidden or the annotation has none."""
    widget = reference.get_object()
    if widget.get("/Subtype") != "/Widget" or int(widget.get("/F", 0)) & (_HIDDEN | _NO_VIEW):
        return None
    left, low, right, high = (float(edge) for edge in widget["/Rect"])
    if left == right or low == high:
        return None
    field = _lineage(widget)
    return _Filled(_path(field), _label(field), _value(page, field), (left, low, right, high))


def _lineage(widget: Any) -> list[Any]:
    """Return a widget followed by its ancestors, from which it inherits."""
    field = [widget]
    while len(field) < _MOST_PARENTS and "/Parent" in field[-1]:
        parent = field[-1]["/Parent"].get_object()
        if any(parent is node for node in field):
            break
        field.append(parent)
    return field


def _get(field: list[Any], key: str) -> Any:
    """Return the own or inherited value of a key, or ``None``."""
    value = next((node[key] for node in field if key in node), None)
    return value.get_object() if value is not None else None


def _text(value: Any) -> str:
    """Return a string, name or text stream of a PDF as text."""
    if hasattr(value, "get_data"):
        value = value.get_data()
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return tidy(clean(str(value))).replace("\n\n", "\n") if value is not None else ""


# -- names ---------------------------------------------------------------------------------


def _path(field: list[Any]) -> str:
    """Return the full name of a field, which all its widgets share."""
    return ".".join(_text(node["/T"]) for node in reversed(field) if "/T" in node)


def _label(field: list[Any]) -> str:
    """Return the label of a field: its description, or else its name."""
    own = next((node for node in field if "/T" in node), field[0])
    return one_line(_text(own.get("/TU"))) or readable(_path(field)) or "Field"


def readable(path: str) -> str:
    """Return a full name as people write it: ``form1[0].home_address[0]`` as "home address"."""
    parts = [_INDEX.sub("", part) for part in path.split(".")]
    parts = [part for part in parts if part and part not in _XFA_FRAME]
    return " / ".join(one_line(part.replace("_", " ")) for part in parts)


# -- values --------------------------------------------------------------------------------


def _value(page: PageObject, field: list[Any]) -> str:
    """Return the value of a field as people see it, or ``""``."""
    kind, flags = _get(field, "/FT"), int(_get(field, "/Ff") or 0)
    if kind == "/Btn":
        return "" if flags & _BUTTON else _mark(field, is_radio=bool(flags & _RADIO))
    if kind == "/Ch":
        return _choice(field)
    if kind != "/Tx" or flags & _PASSWORD:
        return ""
    value = _get(field, "/V")
    if value is None and "/AP" in field[0]:
        # Some programs store only the appearance of a value.
        shown = field[0]["/AP"].get_object()["/N"].get_object()
        return _text(page.extract_xform_text(shown))
    return _DATE.sub(r"\1-\2-\3", _text(value))


def _mark(field: list[Any], *, is_radio: bool) -> str:
    """Return the name of a marked option, "yes" for a box without a name, or ``""``."""
    widget = field[0]
    looks = widget["/AP"].get_object().get("/N", {}).get_object() if "/AP" in widget else {}
    state, value = widget.get("/AS"), _get(field, "/V")
    if state in (None, "/Off") and (value in looks or not looks):
        state = value
    if state in (None, "/Off", ""):
        return ""
    name = _text(state).removeprefix("/")
    options = _get(field, "/Opt") or []
    if name.isdecimal() and int(name) < len(options):
        return one_line(_text(options[int(name)].get_object()))
    if is_radio:
        return one_line(_text(widget.get("/TU"))) or name
    return "yes" if name.casefold() in (*_MARKED, _path(field).casefold()) else name


def _choice(field: list[Any]) -> str:
    """Return the selected options of a list as the list shows them."""
    value = _get(field, "/V")
    several: list[Any] = value if isinstance(value, list) else [value]
    chosen = [_text(item.get_object()) for item in several if item is not None]
    words = {}
    for option in _get(field, "/Opt") or []:
        pair = option.get_object()
        if isinstance(pair, list) and len(pair) == 2:
            words[_text(pair[0].get_object())] = _text(pair[1].get_object())
    return ", ".join(words.get(choice, choice) for choice in chosen if choice)


# -- values that the page also draws as text ---------------------------------------------------


def _drawn(page: PageObject) -> list[tuple[float, float, str]]:
    """Return (x, y, text) for each text that a page draws."""
    drawn: list[tuple[float, float, str]] = []

    def visit(text: str, outer: list[float], inner: list[float], _font: Any, _size: Any) -> None:
        x, y = inner[4], inner[5]
        across = x * outer[0] + y * outer[2] + outer[4]
        drawn.append((across, x * outer[1] + y * outer[3] + outer[5], text))

    page.extract_text(visitor_text=visit)
    return drawn


def _stands_there(field: _Filled, drawn: list[tuple[float, float, str]]) -> bool:
    """Return whether the page draws a field's value at the field's place."""
    left, right = sorted(field.place[::2])
    low, high = sorted(field.place[1::2])
    inside = [text for x, y, text in drawn if left - 2 <= x <= right and low - 2 <= y <= high]
    return "".join(field.value.split()) in "".join("".join(inside).split())


# -- XML forms -----------------------------------------------------------------------------


def _xfa_values(reader: PdfReader) -> list[str]:
    """Return a line for each value of a form that exists only as XML."""
    form: Any = reader.trailer["/Root"].get_object()
    packets = [part.get_object() for part in form["/AcroForm"]["/XFA"]]
    named = {str(name): packet for name, packet in zip(packets[::2], packets[1::2], strict=True)}
    hidden = _secrets(named["template"].get_data()) if "template" in named else set()
    return list(_leaves(_parsed(named["datasets"].get_data()), hidden))


def _parsed(packet: bytes) -> ElementTree.Element:
    """Parse a packet of a form; raise ``ValueError`` if it has declarations, such as entities."""
    if b"<!" in packet.replace(b"\x00", b"").replace(b"<!--", b"").replace(b"<![CDATA[", b""):
        raise ValueError
    return ElementTree.fromstring(packet)  # noqa: S314 - entities were refused


def _secrets(template: bytes) -> set[str]:
    """Return the names of hidden and password fields."""
    return {
        element.get("name", "")
        for element in _parsed(template).iter()
        if element.get("presence") in ("hidden", "invisible", "inactive")
        or any(local_name(part) == "passwordEdit" for part in element.iterfind("{*}ui/{*}*"))
    }


def _leaves(datasets: ElementTree.Element, secrets: set[str]) -> Iterator[str]:
    """Yield a line for each value of the data, in order."""
    data = next(element for element in datasets.iter() if local_name(element) == "data")
    waiting = [(element, "") for element in reversed(data)]
    while waiting:
        element, above = waiting.pop()
        name = local_name(element)
        if name in secrets:
            continue
        path = f"{above}.{name}"
        if value := _text(element.text):
            yield f"{readable(path)}: {value}"
        waiting += [(child, path) for child in reversed(element)]
