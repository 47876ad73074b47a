"""Questions for the meaning of a term, as people ask them in many languages."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from ragkit.indexes.tokenizer import index_tokens

ARTICLE = (
    r"(?:(?:an?|the|eine?|d(?:er|ie|as)|une?|l[ae]s?|els?|l[io]s?|una|un[oa]s?|gli|il|uma?|[oa]s?"
    r"|een|de|het|e[in]|ett?|az|egy|ο|η|το|οι|τα|ένας?|μία|μια|ένα)\s+|[ld]['’]\s?)"
)
"""A pattern for an article, with what parts it from the term behind it."""

_LONGEST = 200
_MOST_WORDS = 5
# Vowels of some scripts are marks, which are no letters.
_WORD = re.compile(
    r"(?:[^\W_]|[\u0300-\u036f\u0591-\u05c7\u064b-\u0655\u0900-\u0dff\u0e31-\u0e4e])+"
)
_ONE_OF = re.compile(r"(?:an?|eine?|une?|un[ao]|uma?|een|e[nti]|ett|egy|ένας?|μία|μια)\s", re.I)
# A line is a question: X is the term, a space any space, and all else a pattern.
_ENGLISH = r"""
((what(['’]?s| is) )?the )?(meaning|definition) of( the (term|word))? X
what do(es)? X (means?|stands? for)
(what|who)(['’]?s| is| are| was| were)( meant by)? X
(please )?(define|explain)( the (term|word))? X
X(['’]s)? (meaning|definition)
"""
_QUESTIONS = (
    _ENGLISH
    + r"""
((was ist )?die )?(bedeutung|definition) (von|des|der) X
was versteht man unter X
was ist mit X gemeint
w(as|er) (ist|sind|war|bedeutet|bedeuten|heißt) X
X bedeutung
((quelle est )?la )?(d[eé]finition|signification) d(e |u |['’])X
(c['’]est quoi|qui est|qui était|que signifie(nt)?|que veut dire) X
(qu['’]est[- ]ce|c['’]est quoi) qu(e c['’]est qu)?(e |['’])X
X,? c['’]est quoi
((cu[aá]l es )?(la|el) )?(definici[oó]n|significado) d(el?|e la|e los|e las) X
(qu[eé]|qui[eé]n) (es|son|fue|significan?) X
(definició|significat) d(e |el |['’])X
qu(è|i) (és|són|significa) X
((qual è )?(la|il) )?(definizione|significato) d(i |el(l[aoe])? |ell['’])X
(che )?cos(a (è|sono|significa) |['’]è )X
chi (è|era) X
((qual é )?[ao] )?(definição|significado) d[eoa]s? X
o que (é|e|são|sao|significam?) X
quem (é|foi) X
c(e|ine) (este|e|sunt|înseamnă|inseamnă|inseamna|a fost) X
((wat is )?de )?(definitie|betekenis) van X
wat (wordt bedoeld met|betekent) X
w(at|ie) (is|zijn|was) X
((hva|hvad|vad) (er|är) )?(definition|definisjon|betydning|betydelse)(en)? a[fv] X
(hvad menes der|hva menes|vad menas) med X
(hva|hvad|hvem|kva|kven|vad|vem) (er|är|ar|var|betyr|betyder|tyder) X
(mik[aä]|mit[aä]|kuka) (on|ovat|oli|tarkoittaa|tarkoittavat) X
mit[aä] X tarkoitta(a|vat)
X (määritelmä|merkitys)
(mi|ki) az? X
mi(t jelent|csoda|t jelentenek) X
X (jelentése|definíciója)
co (to jest|to są|to znaczy|to|oznacza|oznaczają|znaczy|je to|je|jsou|znamen[aá]|znamenaj[ií]) X
(kto to|kdo to|czym|kim|kdo) (jest|są|był[aoi]?|je|byl[aoi]?) X
(definicja|definice|znaczenie|význam) X
X,? co to( jest| je| znaczy)?
([cč]o|[sš]t[oa]|kaj|kas) (je|sú|su|so|zna[cč]i|znamen[aá]|pomeni|yra) X
(что|кто) (такое|такой|такая|такие|значит|означает) X
(определение|значение)( слова| термина)? X
X,? (что это|это что)( такое)?
(що|хто) (таке|такий|така|такі|означає|значить) X
какво (е|са|означава) X
(τι|ποιος|ποια|ποιο) (είναι|ήταν|σημαίνει) X
(ο )?ορισμός( του| της)? X
م[ان] (هو|هي|هم) X
(ما معنى|ماذا يعني|ماذا تعني|تعريف|معنى) X
מ[הי] (זה|זו|הוא|היא|הם|הן|הפירוש של|המשמעות של) X
(apa|siapa) (itu|arti|pengertian|yang dimaksud dengan) X
X['’]?( nedir| ne demek(tir)?| kimdir| ne anlama gelir)
X (چیست|یعنی چه|کیست)
X (क्या (है|हैं|होता है|होती है)|का (अर्थ|मतलब)( क्या है)?)
X là (gì|ai|cái gì)( vậy)?
X(คืออะไร|หมายถึงอะไร|แปลว่าอะไร)
X(이?란|은|는|이|가)? ?(무엇|뭐|뭔)((이|인|입|일|예|에|야|냐|죠|지|가)[가-힣]{0,4})?
X(이?란|의? ?(뜻|의미|정의)([은는이가] ?(무엇|뭐)[가-힣]{0,5})?)
X(とは|って何|ってなに|の意味|の定義).{0,20}
X[はが](何|なん|なに)(です|だ|か|なの).{0,10}
X(是(什么|什麼|甚麼|啥|谁|誰)|(什么|什麼)意思|的(意思|含义|含義|定义|定義)).{0,20}
(什么|什麼|甚麼)(是|叫)X
"""
)
_NAMED = re.compile(
    rf"(?P<article>{ARTICLE})?(?P<term>\S.*?)"
    r"(?P<field>\s(?:in|im|en|dans|nella?|n[oa]|(?-i:[ivwву]|σε))\s.*)?",
    re.IGNORECASE,
)
_TERM = r"(\S.*?)"
_EDGE = r"[\s¿¡?!.;,؟。？！\"“”„«»「」']*"


@cache
def _patterns(questions: str) -> tuple[re.Pattern[str], ...]:
    """Return patterns with a group for the term: behind what asks, before it, and in its midst."""
    lines = questions.replace("(", "(?:").replace(" ", r"\s+").split()
    behind = [line.removesuffix("X") for line in lines if line.endswith("X")]
    before = [line.removeprefix("X") for line in lines if line.startswith("X")]
    rest = [line.replace("X", _TERM) for line in lines if not re.match("X|.*X$", line)]
    forms = (f"(?:{'|'.join(behind)}){_TERM}", f"{_TERM}(?:{'|'.join(before)})", *rest)
    return tuple(re.compile(f"{_EDGE}{each}{_EDGE}", re.IGNORECASE) for each in forms)


@lru_cache(maxsize=64)
def without_asking(question: str) -> str:
    """Return what a question for a meaning is about, without the words that only ask for it.

    "what does the word bitt mean" is about "bitt"; any other text comes back as it is.
    """
    if len(question) > _LONGEST:
        return question
    return _about(question, _QUESTIONS)


def without_foreign_asking(question: str) -> str:
    """Return the same as ``without_asking``; what is asked in English comes back as it is."""
    about = without_asking(question)
    if about != question and _about(question, _ENGLISH) != question:
        return question
    return about


def _about(question: str, questions: str) -> str:
    asked = (pattern.fullmatch(question) for pattern in _patterns(questions))
    return next((match[1] for match in asked if match), question)


def defined_term(question: str) -> tuple[str, ...]:
    """Return the words of the term whose meaning a question asks for; none if it asks for else.

    In "what is a factor in R" it is the factor, in "what is the limit in Spain" all of it.
    """
    about = without_asking(question)
    named = _NAMED.fullmatch(about) if about != question else None
    if named is None:
        return ()
    article, term, field = (named[name] or "" for name in ("article", "term", "field"))
    if field and article and not _ONE_OF.match(article):
        term += field
    words = tuple(_WORD.findall(term))
    return words if len(words) <= _MOST_WORDS and index_tokens(term) else ()
