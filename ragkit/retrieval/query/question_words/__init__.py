"""What questions are known by: a module a language, with kindred ones together.

``language.py`` says what may be stated of one. Another language is another module, and its name
among ``LANGUAGES``.
"""

from ragkit.retrieval.query.question_words.chinese import CHINESE
from ragkit.retrieval.query.question_words.dutch import DUTCH
from ragkit.retrieval.query.question_words.english import ENGLISH
from ragkit.retrieval.query.question_words.finnish import FINNISH
from ragkit.retrieval.query.question_words.french import FRENCH
from ragkit.retrieval.query.question_words.german import GERMAN
from ragkit.retrieval.query.question_words.hungarian import HUNGARIAN
from ragkit.retrieval.query.question_words.italian import ITALIAN
from ragkit.retrieval.query.question_words.japanese import JAPANESE
from ragkit.retrieval.query.question_words.korean import KOREAN
from ragkit.retrieval.query.question_words.others import (
    ARABIC,
    BULGARIAN,
    CATALAN,
    ESTONIAN,
    GREEK,
    HEBREW,
    HINDI,
    INDONESIAN,
    PERSIAN,
    ROMANIAN,
    THAI,
    UKRAINIAN,
    VIETNAMESE,
)
from ragkit.retrieval.query.question_words.portuguese import PORTUGUESE
from ragkit.retrieval.query.question_words.russian import RUSSIAN
from ragkit.retrieval.query.question_words.scandinavian import DANISH, NORWEGIAN, SWEDISH
from ragkit.retrieval.query.question_words.slavic import (
    CZECH,
    LITHUANIAN,
    POLISH,
    SERBIAN,
    SLOVAK,
)
from ragkit.retrieval.query.question_words.spanish import SPANISH
from ragkit.retrieval.query.question_words.turkish import TURKISH

# The order counts where a question fits phrases of several: those of the first are taken.
LANGUAGES = (
    ENGLISH, GERMAN, FRENCH, SPANISH, CATALAN, ITALIAN, PORTUGUESE, ROMANIAN, DUTCH, SWEDISH,
    DANISH, NORWEGIAN, FINNISH, HUNGARIAN, POLISH, CZECH, SLOVAK, SERBIAN, LITHUANIAN, RUSSIAN,
    UKRAINIAN, BULGARIAN, GREEK, ARABIC, HEBREW, INDONESIAN, TURKISH, PERSIAN, HINDI, VIETNAMESE,
    THAI, KOREAN, JAPANESE, CHINESE, ESTONIAN,
)  # fmt: skip
