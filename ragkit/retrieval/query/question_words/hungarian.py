"""What questions in Hungarian are known by."""

from __future__ import annotations

import re

from ragkit.retrieval.query.question_words.language import Language, SeparableVerbs


def _forms(root: str) -> tuple[str, ...]:
    noun, may = ("ás", "hat") if re.search("[aáoóuú]", root) else ("és", "het")
    return f"{root}ni", f"{root}{noun}", f"{root}{may}", f"{root}t"


HUNGARIAN = Language(
    codes=("hu",),
    stemmer="hungarian",
    has_many_forms=True,
    accented_endings="ként ból ből tól től ról ről nál nél ért",
    typed_plainly=True,
    function_words="""
az egy es vagy nem van hogy hogyan hol mikor mennyi hany mi ki mit melyik miert meg csak nekem
nekunk enyem ez ezt azt ha vagyok
""",
    openings=r"""
((el|meg) )?(tudná[dk]?|tudnátok|tudna|tudnál)( ön| valaki| kérem| kérlek)*\
( nekem| nekünk| el| meg| magyarázni| mondani| mutatni| segíteni| abban| hogy| hogyan| hol| mi| mit\
| kell| tudni| erről| az a)*
(el|meg)(magyaráznád?|mondanád?|mutatnád?)( nekem| nekünk| kérem| kérlek| hogy| hogyan| hol| mi\
| mit| kell| tudni| erről| az a)*
(szeretné[mk]|szeretnénk|akarom)( tudni| megtudni| megérteni| megtalálni| többet| látni| kérni\
| segítséget| információt| hogyan| hogy| hol| mi az| működi?k(nek)?| erről| arról)*
(keresek|keresünk)( információt| információkat| leírást| útmutatót| segítséget| erről| arról)*
(információt|információkat|leírást|útmutatót|segítséget|tájékoztatást)\
( keresek| kérek| kérnék| szeretnék| keresünk| erről| arról)+
segítségre (van|lenne) szükség(em|ünk)
(mutasd|mutass|mutassa|mondd?|mondja|magyarázd|magyarázza)( el| meg)?( nekem| nekünk| mindent\
| hogyan| hogy| hol| mi az a| mit)+
(hogyan|hogy|hol|honnan|mikor|miért|mit)\
 (tudom|tudok|tudunk|tudnám|tudnék|lehet|lehetne|kell|kellene|találhatom|találhatok|találom|találok\
|található(a?k)?|érhető|használhatom|használható|működik|működnek|csináljam|tegyek)\
( el| meg| megtalálni| találni| használni| csinálni| tenni| tennem| tennünk| tudni| tudnom| elérni\
| kapni)*
(hol|hogy) van(nak)?(?= az? )
mire (való|jó|szolgál(nak)?|használ(ják|ható)|kell)k?
miért nem (működi?k(nek)?|megy|lehet|tudom|tudok)( használni)?
(van|létezik|lenne)(-e)?( rá| erre)?( valamilyen| valami| bármilyen)? (mód|lehetőség)\
( arra| rá| hogy)*
lehetséges(-e)?( az)? hogy
(tudja|tudod|tudjátok)( valaki|-e| ön)*( hol| hogyan| hogy| mit| mi| mikor)( van| találom| kell)*
""",
    endings=r"""
működi?k(nek)?|használatához|használni|megtalálni|kérem|kérlek
""",
    closings=r"""
((témában|témakörben|témáról|kapcsán|kapcsolatban|ügyben|erről|arról) )?\
((több|többet|bővebb|bővebbet|részletes|további|egy|kis|információt|információkat|segítséget\
|tájékoztatást|leírást|útmutatót|tanácsot|megtudni|tudni|kérni|kapni|találni|olvasni|megérteni\
|megtalálni|kérdezni) )*(szeretné[mk]|szeretnénk|keresek|keresünk)\
( több| többet| bővebb| bővebbet| részletes| további| egy| kis| információt| információkat\
| segítséget| tájékoztatást| leírást| útmutatót| tanácsot| megtudni| tudni| kérni| kapni| találni\
| olvasni| megérteni| megtalálni| kérdezni)*
((témában|témakörben|témáról|kapcsán|kapcsolatban|ügyben|erről|arról) )?((több|bővebb|részletes) )?\
(információt|segítséget|tájékoztatást|leírást|útmutatót|tanácsot) (kérek|kérnék|kérünk)
(segítségre|információra|tanácsra) (van|lenne) szükség(em|ünk)
(hogyan|hol|honnan)\
( lehet| lehetne| kell| kellene| tudom| tudok| tudunk| tudnám| található(a?k)?| találom| találok\
| találhatom| találhatok| van| vannak| érhető| elérhető| el| meg| működik| működnek| használható\
| használhatom| használom| használjam| csináljam| csinálni| használni| megtalálni| elérni| tenni)+
mire (való|jó|szolgál(nak)?|használ(ják|ható)|kell)k?
miért nem (működi?k(nek)?|megy|lehet)
mit (kell|lehet|tudok|kellene) (csinálni|tenni|tennem|tudni|tudnom)
mit (tegyek|csináljak|tehetek)
(van|létezik|lenne)(-e)? (rá|erre) (mód|lehetőség)
""",
    beside_closings=r"""
szia|sziasztok|üdv|hell[óo]|k[ée]rem|k[ée]rlek|k[öo]sz[öo]n[öo]m|k[öo]szi
""",
    meanings=r"""
(mi|ki) az? X
mi(t jelent|csoda|t jelentenek) X
X (jelentése|definíciója)
""",
    separable_verbs=SeparableVerbs(
        particles="""
alá át be bele el elő fel fenn föl hozzá ide ki körül körbe közbe le létre meg oda össze rá szét
tovább újra utána végig végre vissza
""",
        ending="(?:h[ae]t)?(?:[aeo]k|ök|[aeo]m|öm|[uü]nk|j[uü]k|j[aá]k?|ik?|sz|[ao]d|ed)?",
        forms=_forms,
    ),
    asks_amount=r"""
hany|mennyi(?:be|t)?|meddig|milyen (?:nagy|hosszu|gyakran|messze|magas|regi)
""",
    asks_time=r"""
mikor
""",
    numbers="""
két kettő három négy öt hat hét nyolc kilenc tíz húsz harminc száz ezer millió fele
""",
)
