"""Checks of contexts that a model wrote. Pure: values in, values or an error out."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ragkit.errors import ContextRejectedError
from ragkit.models.context_prompt import SENTIMENTS, ContextRequest
from ragkit.models.ollama_text import one_line, without_thinking

MOST_QUESTIONS = 5
MOST_KEYWORDS = 12
LONGEST_CONTEXT = 700
"""Characters."""
LONGEST_CONTEXT_WORDS = 120
LONGEST_SUMMARY = 1500
"""Characters."""

CONVERSATION_DETAILS = frozenset(
    ("speakers", "decisions", "action_items", "has_decision", "has_action_item", "sentiment")
)
"""What is written only of parts of conversations."""

_T = TypeVar("_T")
_LONGEST_KEYWORD = 80
_LONGEST_QUESTION = 250
_LONGEST_TOPIC = 160
_LONGEST_DROPPED = 80
_LISTS = (("speakers", _LONGEST_KEYWORD, 12), ("decisions", 200, 5), ("action_items", 200, 5))
"""The details that are lists: their names, the longest text and how many at most."""
_SHINGLE = 5
_COPIED_SHARE = 0.5
_FEWEST_SHINGLES = 4

_PREAMBLE = re.compile(
    r"(?:sure|certainly|of course)?[,!. ]*(?:here(?:'s| is| are)\b[^:\n]{0,100}:|context:)\s*", re.I
)
_PLACEHOLDERS = frozenset({"", "string", "context", "none", "null", "na", "unknown", "todo"})
_NO_LETTER = re.compile(r"[\W_]+")
_REFUSAL = re.compile(
    r"(?:i(?:'m| am)? (?:cannot|can't|can not|won't|unable|not able|sorry|afraid|do not have|"
    r"don't have|apologi[sz]e)|(?:i'm |i am )?sorry\b|unfortunately,? i\b|my apologies|"
    r"no (?:context|information|passage|document) (?:is |was |has been )?"
    r"(?:provided|available|given)|(?:please|could you) provide|"
    r"es tut mir leid|ich kann (?:nicht|leider|dir|ihnen)|leider kann ich|"
    r"je (?:ne peux|suis désolé)|désolé|lo siento|no puedo|mi dispiace|non posso|desculpe|"
    r"não posso|抱歉|对不起|我无法|無法|申し訳|죄송)",
    re.I,
)
_SPEAKS_OF_ITSELF = re.compile(
    r"\bas an? (?:ai|artificial intelligence|large language model|language model)"
    r"(?: (?:language )?model| assistant)?(?:,| i\b)|\bi(?:'m| am) an? (?:ai|language model)\b|"
    r"\bals (?:ki|sprachmodell)\b|作为(?:一个|一名)?(?:ai|人工智能|语言模型)",
    re.I,
)
_INSTRUCTIONS = re.compile(
    r"\b(?:ignor(?:e|ing)|disregard|forget|override|bypass)\b.{0,40}"
    r"\b(?:previous|prior|above|earlier|preceding|foregoing|all|any|your|these|system)\b.{0,40}"
    r"\b(?:instruction|prompt|rule|direction|guideline|command|message|context)s?\b|"
    r"\bignore (?:all )?(?:previous|the above|everything)|\b(?:reveal|print|repeat|show)\b.{0,30}"
    r"\bsystem prompt\b|\byou (?:are now|must now|will now)\b|\bnew instructions?:|"
    r"\bdo not (?:tell|inform|warn) the (?:user|person)|\bjailbreak|<\|[a-z_]+\|>|\[/?inst\]|"
    r"\bignorier\w* (?:alle |die |sämtliche )*(?:vorherig|bisherig|obig|vorangeh)|"
    r"\bignore[zr]? (?:toutes )?(?:les |vos )?(?:instructions|consignes)|"
    r"\bignor[ae]\w* (?:todas )?(?:las |le |as )?(?:instrucciones|istruzioni|instruções)|"
    r"忽略.{0,8}(?:指令|指示|提示)|無視して",
    re.I | re.S,
)
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"')\]]+", re.I)
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_REDIRECTING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True, slots=True)
class WrittenContext:
    """What a model wrote about a chunk, checked.

    ``details`` holds ``topic_summary`` unless it is empty, and of a conversation ``speakers``,
    ``decisions`` and ``action_items`` unless there are none, ``has_decision``, ``has_action_item``
    and ``sentiment``; ``dropped`` are those that could not be used. ``tokens`` counts prompt and
    answer; ``truncated`` says that the model did not see the whole prompt.
    """

    context: str
    keywords: tuple[str, ...]
    questions: tuple[str, ...]
    details: Mapping[str, Any] = field(default_factory=dict)
    tokens: int = 0
    seconds: float = 0.0
    truncated: bool = False


def checked_context(
    data: Mapping[str, Any], request: ContextRequest, *, any_language: bool = False
) -> WrittenContext:
    """Parse a decoded answer and check each of its parts.

    Raises:
        ContextRejectedError: naming the first thing that is wrong.
    """
    context = clean(_value(data, "context", str))
    keywords = _cleaned(_texts(data, "keywords"), _LONGEST_KEYWORD, MOST_KEYWORDS)
    questions = _cleaned(_texts(data, "questions"), _LONGEST_QUESTION, MOST_QUESTIONS)
    topic = one_line(clean(_value(data, "topic_summary", str, "")), _LONGEST_TOPIC)
    details = checked_details(data) if request.kind == "conversation" else {}
    check_says_something(context)
    if len(context) > LONGEST_CONTEXT or len(context.split()) > LONGEST_CONTEXT_WORDS:
        raise _rejected("long", f"It is too long: {len(context)} characters or more.")
    lists = [text for name, *_ in _LISTS for text in details.get(name, ())]
    check_harmless((context, topic, *keywords, *questions, *lists), request.document_text)
    if is_copied(context, request.chunk_text):
        raise _rejected("copied", "It repeats the passage instead of describing it.")
    if not any_language and in_another_language(context, request.chunk_text, request.document_text):
        raise _rejected("language", "It is in another language than the document.")
    if topic:
        details["topic_summary"] = topic
    return WrittenContext(context, keywords, questions, details)


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    """What a model wrote about a whole document, checked; ``tokens`` counts prompt and answer."""

    text: str
    tokens: int = 0
    seconds: float = 0.0


def checked_summary(data: Mapping[str, Any], request: ContextRequest, *, any_language: bool) -> str:
    """Check a decoded answer, and return the summary.

    Raises:
        ContextRejectedError: naming the first thing that is wrong.
    """
    summary = clean(_value(data, "summary", str))
    check_says_something(summary)
    if len(summary) > LONGEST_SUMMARY:
        raise _rejected("long", f"It is too long: {len(summary)} characters or more.")
    check_harmless((summary,), request.document_text)
    if not any_language and in_another_language(summary, "", request.document_text):
        raise _rejected("language", "It is in another language than the document.")
    return summary


def _rejected(reason: str, sentence: str) -> ContextRejectedError:
    return ContextRejectedError(
        f"The model's answer was rejected. {sentence}",
        "Try this chunk again, or choose another model.",
        reason,
    )


def _form(name: str, expected: str) -> ContextRejectedError:
    return _rejected("form", f'"{name}" is not {expected}.')


def _value(data: Mapping[str, Any], name: str, kind: type[_T], default: object = None) -> _T:
    value = data.get(name, default)
    if not isinstance(value, kind):
        raise _form(name, "a text" if kind is str else "true or false")
    return value


def _texts(data: Mapping[str, Any], name: str) -> list[str]:
    value = data.get(name)
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise _form(name, "a list of texts")
    return value


def checked_details(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the usable details of a conversation; a wrong one never fails a context.

    What has another form than it should is left out, and is listed in ``dropped`` by its name.
    Older contexts say of decisions and action items only whether there are some.
    """
    details: dict[str, Any] = {}
    dropped: dict[str, str] = {}

    def drop(name: str) -> None:
        dropped[name] = one_line(str(data[name]), _LONGEST_DROPPED)

    for name, longest, most in _LISTS:
        value = data.get(name)
        if isinstance(value, list) and all(isinstance(text, str) for text in value):
            if name == "speakers" or value:
                details[name] = list(_cleaned(value, longest, most))
        elif name in data:
            drop(name)
    for name, listed in (("has_decision", "decisions"), ("has_action_item", "action_items")):
        value = data.get(name, bool(details.get(listed)))
        if isinstance(value, bool):
            details[name] = value or bool(details.get(listed))
        else:
            drop(name)
    if "sentiment" in data:
        sentiment = data["sentiment"]
        if isinstance(sentiment, str) and sentiment.strip().casefold() in SENTIMENTS:
            details["sentiment"] = sentiment.strip().casefold()
        else:
            drop("sentiment")
    return {**details, "dropped": dropped} if dropped else details


def clean(text: str) -> str:
    """Return a text on one line, without thoughts, preamble and quotation marks around it."""
    # What is too long is rejected by its length; cleaning megabytes first would only take time.
    text = without_thinking(text[: 10 * LONGEST_CONTEXT])
    text = _PREAMBLE.sub("", text, count=1) if _PREAMBLE.match(text) else text
    line = " ".join(unicodedata.normalize("NFC", text).split())
    quoted = len(line) > 1 and line[0] == line[-1] and line[0] in "\"'`"
    return line[1:-1].strip() if quoted else line


def _cleaned(texts: list[str], longest: int, most: int) -> tuple[str, ...]:
    """Clean a list: nothing empty, too long or repeated, and at most ``most`` entries."""
    kept: dict[str, str] = {}
    for text in texts[: 10 * most]:
        line = clean(text)
        if line and len(line) <= longest and not _is_placeholder(line):
            kept.setdefault(line.casefold(), line)
    return tuple(list(kept.values())[:most])


def check_says_something(context: str) -> None:
    """Raise an error for an empty context or a refusal.

    Raises:
        ContextRejectedError: naming which of the two.
    """
    if _is_placeholder(context):
        raise _rejected("empty", "It is empty.")
    if _REFUSAL.match(context) or _SPEAKS_OF_ITSELF.search(context):
        raise _rejected("refusal", "The model refused, or wrote about itself.")


def _is_placeholder(text: str) -> bool:
    return _NO_LETTER.sub("", text.casefold()) in _PLACEHOLDERS


def check_harmless(texts: tuple[str, ...], document: str) -> None:
    """Raise an error for text with control characters, instructions or foreign addresses.

    Raises:
        ContextRejectedError: naming the first thing that is wrong.
    """
    for text in texts:
        if any(_is_no_text(character) for character in text if not character.isprintable()):
            raise _rejected("characters", "It has characters that are not text.")
        if _INSTRUCTIONS.search(text):
            raise _rejected("instructions", "It gives instructions, as a document might have.")
        for address in _ADDRESS.findall(text):
            if address.rstrip(".,;:!?") not in document:
                raise _rejected("instructions", "It has an address that is not in the document.")


def _is_no_text(character: str) -> bool:
    kind = unicodedata.category(character)
    return kind in ("Cc", "Cs", "Co", "Cn") or character in _REDIRECTING


def is_copied(context: str, passage: str) -> bool:
    """Return whether half of a context's runs of words occur verbatim in the passage."""
    words, passage_words = _words(context), _words(passage)
    runs = {tuple(words[at : at + _SHINGLE]) for at in range(len(words) - _SHINGLE + 1)}
    if len(runs) < _FEWEST_SHINGLES:
        joined = f" {' '.join(words)} "
        return bool(words) and joined in f" {' '.join(passage_words)} "
    passage_runs = {
        tuple(passage_words[at : at + _SHINGLE]) for at in range(len(passage_words) - _SHINGLE + 1)
    }
    return len(runs & passage_runs) > _COPIED_SHARE * len(runs)


def _words(text: str) -> list[str]:
    """Split a text into words, and scripts without spaces into characters."""
    return _WORD.findall(_UNSPACED.sub(r" \g<0> ", text.casefold()))


# -- the script of a text, and its language among common European ones ---------------------

_SAMPLE_CHARACTERS = 4000
_SCRIPTS_BY_NAME = {
    "cjk": "han",
    "hiragana": "han",
    "katakana": "han",
    "katakana-hiragana": "han",
    "ideographic": "han",
    "halfwidth": "han",
    "fullwidth": "latin",
}
"""The scripts that are not the first word of their letters' names; Japanese counts as one."""

_COMMON_WORDS = {
    "english": "the of and to in is that for with as was are by this which from its their",
    "german": "der die das und ist nicht mit ein eine dem den des von zu auf für im sich auch",
    "french": "le la les des et est une un dans que qui pour sur du au avec par pas sont cette",
    "spanish": "el la los las de y que en un una por con para del se es como su al más",
    "italian": "il la le di e che un una per con del della non sono nel dei gli alla è anche",
    "portuguese": "o a os as de e que em um uma para com do da não no na por dos são",
    "dutch": "de het een en van is dat op te voor met niet zijn aan door ook wordt bij naar deze",
    "swedish": "och att det som en på är av för med till den inte har om ett var från kan vid",
    "polish": "w i na z do nie się jest to że o jak przez po od za są dla przy oraz",
}
_LETTERS = re.compile(r"[^\W\d_]+")
_FEWEST_LETTERS = 8
_FEWEST_WORDS = 12
_FEWEST_KINDS = 3


def main_script(text: str) -> str:
    """Return the script of three in five letters, or ``""`` for short or mixed texts."""
    counts: Counter[str] = Counter()
    for letter, times in Counter(_sample(text)).items():
        if letter.isalpha():
            name = unicodedata.name(letter, "other").partition(" ")[0].casefold()
            counts[_SCRIPTS_BY_NAME.get(name, name)] += times
    # A sign of Chinese or Japanese says as much as two or three letters.
    counts["han"] *= 2
    total = counts.total()
    if total < _FEWEST_LETTERS:
        return ""
    script, count = counts.most_common(1)[0]
    return script if count >= total * 0.6 else ""


def main_language(text: str) -> str:
    """Return the language whose common words are frequent and clearly lead, or ``""``."""
    words = _LETTERS.findall(_sample(text).casefold())
    if len(words) < _FEWEST_WORDS:
        return ""
    times = Counter(word for word in words if len(word) > 1)  # shorter ones are names in code
    counts: Counter[str] = Counter()
    kinds: dict[str, int] = {}
    for language, common in _COMMON_WORDS.items():
        present = times.keys() & common.split()
        counts[language] = sum(times[word] for word in present)
        kinds[language] = len(present)
    (first, most), (_, second) = counts.most_common(2)
    enough = most >= 0.12 * len(words) and kinds[first] >= _FEWEST_KINDS
    return first if enough and most >= 2 * second else ""


def in_another_language(written: str, passage: str, document: str) -> bool:
    """Return whether a text is clearly in the language of neither passage nor document."""
    for recognised in (main_script, main_language):
        kind = recognised(written)
        kinds = {recognised(passage), recognised(document)} - {""}
        if kind and kinds and kind not in kinds:
            return True
    return False


def _sample(text: str) -> str:
    """Return the beginning and the end of a long text."""
    half = _SAMPLE_CHARACTERS // 2
    return text if len(text) <= _SAMPLE_CHARACTERS else f"{text[:half]} {text[-half:]}"
