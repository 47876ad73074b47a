"""What questions in Swedish, Danish and Norwegian are known by.

All three ask for a meaning in much the same words, and the last two for all else as well.
"""

from __future__ import annotations

from ragkit.retrieval.query.question_words.language import Language

_MEANINGS = r"""
((hva|hvad|vad) (er|är) )?(definition|definisjon|betydning|betydelse)(en)? a[fv] X
(hvad menes der|hva menes|vad menas) med X
(hva|hvad|hvem|kva|kven|vad|vem) (er|är|ar|var|betyr|betyder|tyder) X
"""
# Of Danish and Norwegian.
_OPENINGS = r"""
(kan|kunne|vil) (du|i|dere|nogen|noen)\
( sige| si| forklare| vise| hjælpe| hjelpe| fortælle| fortelle| mig| meg| os| oss| med| om| hvad\
| hva| jeg| skal| vide| vite)*
(jeg|vi) (vil|ville|kunne|skulle|ønsker)\
( gerne| gjerne| at| å| vide| vite| forstå| finde| finne| mere| mer| hvordan| om)*
(jeg|vi) (søger|søker|leder|leter|trenger|har brug for)\
( efter| etter| oplysninger| opplysninger| information(er)?| informasjon| hjælp| hjelp| om| til\
| med)*
(vis|fortæl|fortell|sig|si|giv|gi|forklar)( mig| meg| os| oss)+( alt| mere| mer| om)*
(hvordan|hvor|hvornår|når|hvorfor|hvad|hva) (kan|skal|må|bør|får) (jeg|vi|man|du)\
( finde| finne| gøre| gjøre| få| bruge| bruke| vide| vite| for| om| med| at)*
(hvordan|hvor)\
( finder| finner| får| gør| gjør| bruger| bruker| virker| fungerer| findes| finnes)\
( jeg| vi| man)?
hvorfor (virker|fungerer)( ikke)?
(er|finnes|findes) de[rt]( en| et| nogen| noen| måde| måte| mulighe[dt])*( at| å)?
(ved|vet) (du|i|dere|nogen|noen)( hvor| hvordan| om| hvad| hva)?
"""
_OBJECTS = r"""
(hvordan|hvor|hvornår|når|hvad?) (jeg|vi|man)( kan| finder| finner| får)*
"""
_ENDINGS = r"""
((virker|fungerer)( ikke)?|ikke)
"""

SWEDISH = Language(
    codes=("sv",),
    stemmer="swedish",
    has_many_forms=True,
    function_words="""
och eller inte ar det den en ett som hur var nar vad vem vilken vilka varfor med for till fran av
pa om jag vi min mitt mina din ditt dina mig dig oss kan ska sig detta denna dessa vara blir blev
har hade bor maste skulle kunde gor sitt sina
""",
    openings=r"""
(kan|kunde|skulle) (du|ni|någon)\
( säga| förklara| visa| hjälpa| berätta| mig| oss| med| om| vad| jag| behöver| veta| snälla)*
(jag|vi) (vill|skulle vilja|behöver)( gärna| veta| förstå| hitta| mer| hjälp| information| hur| om\
| med)*
(jag|vi) (söker|letar)( efter| information| hjälp| om)*
(visa|berätta|säg|ge|förklara)( mig| oss| för mig)+( allt| mer| information| om)*
(hur|var|när|varför|vad) (kan|måste|ska|bör|får) (jag|vi|man|du)\
( hitta| göra| få| använda| veta| för| om| med)*
(hur|var) (hittar|får|gör|använder|fungerar|finns)( jag| vi| man)?
varför fungerar( inte)?
finns det( något| ett| en| sätt| möjlighet)*( att)?
(vet|känner) (du|ni|någon)( var| hur| om| vad)?
""",
    objects=r"""
(hur|var|när|vad) (jag|vi|man)( kan| hittar| får| gör)*
""",
    endings=r"""
(fungerar|finns|för mig)
""",
    meanings=_MEANINGS,
    asks_amount=r"""
hur (?:manga|mycket|lange|langt?|ofta|gammal|stor[at]?|hog|dyr|snabbt?)
""",
    asks_time=r"""
nar
""",
    asks_who=r"""
vem
""",
    asks_yes_no=r"""
finns det|kan (?:jag|man|du)|far (?:jag|man)|maste
""",
    numbers="""
två tre fyra fem sex sju åtta nio tio elva tolv tjugo trettio femtio hundra tusen miljoner hälften
""",
)
DANISH = Language(
    codes=("da",),
    stemmer="danish",
    has_many_forms=True,
    function_words="""
og eller ikke er det den en et som hvordan hvor hvornar hvad hvem hvilken hvorfor med for til fra
af pa om hvis jeg vi min mit din dit dine mig dig kan skal sig dette denne disse
""",
    openings=_OPENINGS,
    objects=_OBJECTS,
    endings=_ENDINGS,
    meanings=_MEANINGS,
    asks_amount=r"""
hvor (?:mange|meget|lange?|langt|ofte|gammel|stor[et]?|dyr|hurtigt?)
""",
    asks_time=r"""
hvornar
""",
    asks_who=r"""
hvem
""",
    asks_yes_no=r"""
findes der|kan (?:jeg|man|du)|skal (?:jeg|man)
""",
    numbers="""
to tre fire fem seks syv otte ni ti elleve tolv tyve tredive hundrede tusind millioner halvdelen
""",
)
NORWEGIAN = Language(
    codes=("no",),
    stemmer="norwegian",
    has_many_forms=True,
    function_words="""
og eller ikke er det den en et som hvordan hvor nar hva hvem hvilken hvorfor med for til fra av pa
om hvis jeg vi min mitt din ditt dine meg deg oss kan skal seg dette denne disse
""",
    openings=_OPENINGS,
    objects=_OBJECTS,
    endings=_ENDINGS,
    meanings=_MEANINGS,
    asks_amount=r"""
hvor (?:mye|lenge|raskt?)
""",
    asks_yes_no=r"""
finnes det|ma (?:jeg|man)
""",
    numbers="""
to tre fire fem seks sju åtte ni ti elleve tolv tjue tretti femti hundre tusen millioner
halvparten
""",
)
