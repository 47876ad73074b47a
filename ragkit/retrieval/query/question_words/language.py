"""What may be stated of a language, so that its questions are understood."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SeparableVerbs:
    """Verbs that a question takes apart and documents have in one word ("richte … ein")."""

    particles: str
    """What is parted from them, apart by spaces."""

    subjects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The endings that each subject gives to the verb before it, the longest first.

    The particle then ends the clause; in a language without them it stands right behind the verb.
    """

    ending: str = ""
    """A pattern for what a verb has behind its root, where no subject tells it."""

    forms: Callable[[str], tuple[str, ...]]
    """Returns what documents have behind the particle of a verb with this root.

    Infinitives come first, the likeliest before others.
    """


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Language:
    """What questions in a language are known by; what they do not have is left out.

    In fields of phrases a line is one, or several with "|" between them, and goes on behind a
    backslash. A space is any space, and all else a pattern; what stands in "( a| b)*" may follow in
    any order.
    """

    codes: tuple[str, ...]
    """Its code, and those of others for which its stemmer does as well."""

    stemmer: str = ""
    """The name of its stemmer, if words are asked in other forms."""

    has_many_forms: bool = False
    """Whether a question seldom has a word in the form of the text, so that all are asked."""

    accented_endings: str = ""
    """Endings that the stemmer knows by accents, which tokens have lost; apart by spaces."""

    typed_plainly: bool = False
    """Whether many type without accents; openings and closings are then known without as well."""

    function_words: str = ""
    """Words that say nothing in a question, without accents and apart by spaces.

    Two of them tell the language, so those are left out that are also words of English, such as
    "was" and "man". Of English and Russian only those are needed that are indexed.
    """

    shared_words: str = ""
    """Such words that are also words of English, written like them.

    Where most documents are in the language, they do not speak for English.
    """

    measures: str = ""
    """A question word, and words that only ask for an amount behind it: "wie hoch lange"."""

    greetings: str = ""
    """Greetings and the like, which are dropped where an opening of any language follows."""

    openings: str = ""
    """Phrases with which people begin a question and nothing else: "how do I get"."""

    objects: str = ""
    """What may stand behind an opening, and is searched for without one: "information about"."""

    endings: str = ""
    """Verbs and wishes at the end of what has an opening: "wo ich den Vertrag finden kann"."""

    closings: str = ""
    """Phrases that ask by themselves where they end a question, as where the verb comes last.

    "… hakkında bilgi almak istiyorum". None may end what only states something.
    """

    beside_closings: str = ""
    """What may stand behind a closing, or before the question that has one."""

    meanings: str = ""
    """Questions for the meaning of a term, which is X: "what does X mean"."""

    separable_verbs: SeparableVerbs | None = None
    """Its verbs that a question takes apart."""

    asking_words: str = ""
    """Words that only ask where words have no bounds: patterns, apart by spaces.

    None is a part of other words where it may stand.
    """

    asking_pattern: str = ""
    """A pattern of what is left out with them; {words} in it is any of them."""

    asks_amount: str = ""
    """Questions for an amount, without accents and a pattern a line: "how many"."""

    asks_time: str = ""
    """Questions for a time, written like those for an amount: "when"."""

    asks_who: str = ""
    """Questions for a person, written like those for an amount."""

    asks_yes_no: str = ""
    """With what questions begin that ask for yes or no, written like those for an amount."""

    numbers: str = ""
    """Words for numbers that are not often other words, apart by spaces."""

    times: str = ""
    """Words that say when: of days, parts of a day and longer times, apart by spaces."""


def phrases_in(fields: Iterable[str]) -> Iterator[str]:
    """Yield the lines of fields of phrases, of which several languages may have the same."""
    for field_ in dict.fromkeys(fields):
        yield from filter(None, field_.replace("\\\n", "").split("\n"))
