"""Languages of which only questions for a meaning are known, or only the stemmer."""

from __future__ import annotations

from ragkit.retrieval.query.question_words.language import Language

CATALAN = Language(
    codes=("ca",),
    meanings=r"""
(definició|significat) d(e |el |['’])X
qu(è|i) (és|són|significa) X
""",
)
ROMANIAN = Language(
    codes=("ro",),
    meanings=r"""
c(e|ine) (este|e|sunt|înseamnă|inseamnă|inseamna|a fost) X
""",
)
UKRAINIAN = Language(
    codes=("uk",),
    meanings=r"""
(що|хто) (таке|такий|така|такі|означає|значить) X
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
)
ARABIC = Language(
    codes=("ar",),
    meanings=r"""
م[ان] (هو|هي|هم) X
(ما معنى|ماذا يعني|ماذا تعني|تعريف|معنى) X
""",
)
HEBREW = Language(
    codes=("he",),
    meanings=r"""
מ[הי] (זה|זו|הוא|היא|הם|הן|הפירוש של|המשמעות של) X
""",
)
INDONESIAN = Language(
    codes=("id",),
    meanings=r"""
(apa|siapa) (itu|arti|pengertian|yang dimaksud dengan) X
""",
)
PERSIAN = Language(
    codes=("fa",),
    meanings=r"""
X (چیست|یعنی چه|کیست)
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
)
THAI = Language(
    codes=("th",),
    meanings=r"""
X(คืออะไร|หมายถึงอะไร|แปลว่าอะไร)
""",
)
ESTONIAN = Language(
    codes=("et",),
    stemmer="estonian",
    has_many_forms=True,
)
