"""Languages of which only questions for a meaning are known, or only the stemmer."""

from __future__ import annotations

from ragkit.retrieval.query.question_words.language import Language

CATALAN = Language(
    codes=("ca",),
    meanings=r"""
(definició|significat) d(e |el |['’])X
qu(è|i) (és|són|significa) X
""",
    asks_amount=r"""
quants?|quantes
""",
    asks_time=r"""
quan
""",
)
ROMANIAN = Language(
    codes=("ro",),
    meanings=r"""
c(e|ine) (este|e|sunt|înseamnă|inseamnă|inseamna|a fost) X
""",
    asks_amount=r"""
cat[ie]
""",
    asks_time=r"""
cand
""",
    asks_who=r"""
cine
""",
)
UKRAINIAN = Language(
    codes=("uk",),
    meanings=r"""
(що|хто) (таке|такий|така|такі|означає|значить) X
""",
    asks_amount=r"""
скільки
""",
    asks_time=r"""
коли
""",
    asks_who=r"""
хто
""",
    asks_yes_no=r"""
чи
""",
)
BULGARIAN = Language(
    codes=("bg",),
    meanings=r"""
какво (е|са|означава) X
""",
)
GREEK = Language(
    codes=("el",),
    meanings=r"""
(τι|ποιος|ποια|ποιο) (είναι|ήταν|σημαίνει) X
(ο )?ορισμός( του| της)? X
""",
    asks_amount=r"""
ποσ(?:[οηα]|οι|εσ)
""",
    asks_time=r"""
ποτε
""",
    asks_who=r"""
ποι(?:οσ|ον|οι|α)
""",
)
ARABIC = Language(
    codes=("ar",),
    meanings=r"""
م[ان] (هو|هي|هم) X
(ما معنى|ماذا يعني|ماذا تعني|تعريف|معنى) X
""",
    asks_amount=r"""
كم
""",
    asks_time=r"""
متي
""",
    asks_yes_no=r"""
هل
""",
)
HEBREW = Language(
    codes=("he",),
    meanings=r"""
מ[הי] (זה|זו|הוא|היא|הם|הן|הפירוש של|המשמעות של) X
""",
    asks_amount=r"""
כמה
""",
    asks_time=r"""
מתי
""",
    asks_yes_no=r"""
האם
""",
)
INDONESIAN = Language(
    codes=("id",),
    meanings=r"""
(apa|siapa) (itu|arti|pengertian|yang dimaksud dengan) X
""",
    asks_amount=r"""
berapa
""",
    asks_time=r"""
kapan
""",
    asks_who=r"""
siapa
""",
    asks_yes_no=r"""
apakah
""",
)
PERSIAN = Language(
    codes=("fa",),
    meanings=r"""
X (چیست|یعنی چه|کیست)
""",
    asks_amount=r"""
چند|چقدر
""",
    asks_yes_no=r"""
ايا
""",
)
HINDI = Language(
    codes=("hi",),
    meanings=r"""
X (क्या (है|हैं|होता है|होती है)|का (अर्थ|मतलब)( क्या है)?)
""",
)
VIETNAMESE = Language(
    codes=("vi",),
    meanings=r"""
X là (gì|ai|cái gì)( vậy)?
""",
    asks_amount=r"""
bao nhieu|bao lau
""",
    asks_time=r"""
khi nao
""",
)
THAI = Language(
    codes=("th",),
    meanings=r"""
X(คืออะไร|หมายถึงอะไร|แปลว่าอะไร)
""",
    asks_amount=r"""
กี่|เท่าไร|เท่าไหร่
""",
    asks_time=r"""
เมื่อไร|เมื่อไหร่
""",
    asks_who=r"""
ใคร
""",
)
ESTONIAN = Language(
    codes=("et",),
    stemmer="estonian",
    has_many_forms=True,
)
