"""What questions in Finnish are known by."""

from __future__ import annotations

from ragkit.retrieval.query.question_words.language import Language

FINNISH = Language(
    codes=("fi",),
    stemmer="finnish",
    has_many_forms=True,
    function_words="""
ja tai ei ovat miten missa milloin kuinka paljon mika mitka kuka mita miksi jos kun etta se mina
sina minun sinun minulla minulle minua meidan voi voin voiko olen onko tama taman
""",
    openings=r"""
(voitko|voisitko|voitteko|voisitteko|(voiko|voisiko|osaako|osaisiko) joku)\
( te| ystävällisesti| kertoa| selittää| näyttää| neuvoa| auttaa| sanoa| opastaa| minulle| meille\
| minua| meitä| mulle)*
(haluan|haluaisin|haluamme|haluaisimme|tahtoisin)\
( tietää| ymmärtää| oppia| löytää| nähdä| kuulla| saada| lisätietoja| lisätietoa| tietoa| lisää\
| apua| ohjeita| aiheesta| asiasta)*
(etsin|etsimme|kaipaan|tarvitsen|tarvitsemme|tarvitsisin)\
( tietoa| tietoja| lisätietoa| lisätietoja| ohjeita| ohjetta| apua| neuvoja| aiheesta| asiasta\
| siitä| siihen)*
(kerro|kertokaa|näytä|näyttäkää|selitä|neuvo|auta)( minulle| meille| minua| meitä| mulle)+\
( kaikki| lisää| aiheesta| asiasta| siitä)*
(miten|kuinka|mistä|missä|milloin|miksi|mitä)\
( voin| voisin| voi| voimme| voidaan| saan| saisin| saa| saadaan| pitää| täytyy| pitäisi| minun\
| meidän| löytää| tehdä| saada| käyttää| tietää| löydän| löytyy| löytyvät| löydämme| on| ovat\
| sijaitsee| teen| käytän| käytetään| tehdään| toimii| toimivat)+
miten|kuinka|mistä|missä|milloin|miksi|mihin|mitä
miksi (ei toimi|en (voi|saa))
(onko|olisiko)( olemassa| jokin| joku| mitään| tapaa?| keinoa?| mahdollista| mahdollisuutta)+
tiedätkö|tiedättekö|tietääkö joku
""",
    endings=r"""
(ei )?toimi|toimi(i|vat)|käytetään|tehdään|tarvitaan|varten|löytää|löydän|löytyy|tehdä|saada|kiitos
""",
    closings=r"""
(miten|kuinka|mistä|missä|mihin)\
( voin| voisin| voi| voidaan| saan| saisin| saa| saadaan| pitää| täytyy| pitäisi| minun| sen| sitä\
| se| ne| löydän| löytyy| löytyvät| löytää| löytäisin| tehdään| tehdä| teen| toimii| toimivat\
| käytetään| käytän| käyttää| on| ovat| sijaitsee| tarvitaan)+
((aiheesta|asiasta|siitä) )?(haluan|haluaisin|haluamme|haluaisimme|tarvitsen|kaipaan|etsin)\
( tietää| saada| löytää| lisätietoja| lisätietoa| tietoa| tietoja| lisää| enemmän| apua| ohjeita\
| neuvoja)+
((aiheesta|asiasta|siitä) )?(lisätietoja|lisätietoa|tietoa|apua|ohjeita|neuvoja)\
( haluan| haluaisin| tarvitsen| kaipaan| etsin)+
(onko|olisiko) (se )?mahdollista
mitä( minun| pitää| täytyy| voin)* (teen|tehdä)
""",
    beside_closings=r"""
hei|moi|terve|kiitos|kiitos etukäteen
""",
    meanings=r"""
(mik[aä]|mit[aä]|kuka) (on|ovat|oli|tarkoittaa|tarkoittavat) X
mit[aä] X tarkoitta(a|vat)
X (määritelmä|merkitys)
""",
    asks_amount=r"""
montako|(?:kuinka|miten) (?:monta|paljon|kauan|usein|suuri|vanha|pitka|kaukana)
""",
    asks_time=r"""
milloin
""",
    asks_who=r"""
kuka|ketka|kenen
""",
    asks_yes_no=r"""
onko|voiko|voinko|saako|pitaako
""",
    numbers="""
kaksi kolme neljä viisi kuusi seitsemän kahdeksan yhdeksän kymmenen kaksitoista kaksikymmentä sata
tuhat miljoona puolet
""",
)
