"""Which documents a search considers."""

from collections.abc import Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Filters:
    """Restricts a search to some documents; empty parts do not restrict it.

    The values of one part are alternatives, and all parts must hold. Parts may be given as any
    sequence or a single value, and ``fields`` as a mapping.

    ``after`` and ``before`` are ISO dates ("2025", "2025-01", "2025-01-31") for the document's own
    date or else its file's, and in conversations for the days of messages. ``languages`` are codes
    of natural languages ("de"). ``speakers`` are names of people in a conversation, or words of
    them. ``senders`` (which include speakers), ``recipients``, ``copies`` and ``blind_copies`` are
    parts of names or addresses in a mail. ``has`` is "attachment" or, for single chunks, "decision"
    or "action". ``topics`` are words of a chunk's topic and ``sentiments`` its tone ("positive",
    "neutral", "negative" or "mixed"), as contexts note them.

    ``fields`` are (name, value) pairs of front matter. If there are words to search for,
    ``framework`` and ``language`` (of programming) let documents without the field pass, unless a
    value begins with ``=``.
    """

    types: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    documents: tuple[int, ...] = ()
    after: str = ""
    before: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    speakers: tuple[str, ...] = ()
    senders: tuple[str, ...] = ()
    recipients: tuple[str, ...] = ()
    has: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    blind_copies: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    sentiments: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Convert all parts to tuples."""
        for name in _PARTS:
            value = getattr(self, name)
            if type(value) is not tuple:
                alone = isinstance(value, str | int)
                values = value.items() if isinstance(value, Mapping) else value
                object.__setattr__(self, name, (value,) if alone else tuple(values))

    @property
    def of_chunks(self) -> bool:
        """Whether they depend on what contexts note about single chunks."""
        return bool(self.topics or self.sentiments or self.has)


_PARTS = tuple(each.name for each in fields(Filters) if each.name not in ("after", "before"))

NO_FILTERS = Filters()
