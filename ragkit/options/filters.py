"""Which documents a search considers."""

from collections.abc import Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Filters:
    """What a document must be to be considered; empty parts do not restrict.

    Values within one part are alternatives; the parts must all hold. ``after`` and ``before``
    are ISO dates ("2025", "2025-01", "2025-01-31") on the document's own date, or its file's; of
    a conversation, on the days of its messages. ``speakers`` are names, or words of names, of
    people who speak in a conversation. ``languages`` are codes ("de") of what people speak.
    ``fields`` are (name, value) pairs of front matter. Where there are words to search for, those
    of ``framework`` and ``language`` (of programming) keep documents without the field, unless
    one of their values begins with ``=``.
    ``senders``, ``recipients``, ``copies`` and ``blind_copies`` are parts of names or addresses of
    a mail, ``senders`` also speakers; ``has`` names what it must have: "attachment", or of a chunk
    "decision" or "action". ``topics`` are words of what contexts say that chunks are about, and
    ``sentiments`` how they sound: "positive", "neutral", "negative" or "mixed".
    Parts may be given as any sequence, or as one value alone, and ``fields`` as a mapping.
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
        """Make tuples of parts that were given otherwise."""
        for name in _PARTS:
            value = getattr(self, name)
            if type(value) is not tuple:
                alone = isinstance(value, str | int)
                values = value.items() if isinstance(value, Mapping) else value
                object.__setattr__(self, name, (value,) if alone else tuple(values))

    @property
    def of_chunks(self) -> bool:
        """True when they may ask for what contexts note of single chunks."""
        return bool(self.topics or self.sentiments or self.has)


_PARTS = tuple(each.name for each in fields(Filters) if each.name not in ("after", "before"))

NO_FILTERS = Filters()
