"""Phrases that ask by themselves where they end a question, by language.

In Turkish, Finnish and Hungarian the verb often comes last ("… hakkında bilgi almak istiyorum").
None of these may end what only states something. They are written like ``opening_phrases``.
"""

from __future__ import annotations

CLOSINGS = {
    "fi": r"""
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
    "hu": r"""
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
    "tr": r"""
((hakkında|konusunda|ile ilgili|üzerine) )?\
((daha|biraz|çok|fazla|detaylı|ayrıntılı|bir|genel|kısa) )*\
(bilgi(ye)?|yardıma?|destek|desteğe|açıklama(ya)?|şeyler)( almak| edinmek| bulmak| öğrenmek)?\
 (istiyoru[mz]|isterim|isterdim|arıyoru[mz]|lazım|gerekiyor|ihtiyacım(ız)? var|ver(in)?\
|verir misin(iz)?|verebilir misin(iz)?|alabilir miyi[mz]|rica (ediyorum|ederim))
((hakkında|konusunda|konusunu|ile ilgili) )?((daha|biraz|fazla|bir|şeyler|şey) )*\
((nasıl|nerede|ne|işe) )*((yapıldığını|çalıştığını|kullanıldığını|olduğunu|yaradığını) )?\
(öğrenmek|bilmek|bulmak|anlamak|görmek) (istiyoru[mz]|isterim|isterdim)
nasıl (yapılır|yapılıyor|yapabilir(im|iz)|yapar(ım|ız)|yapmalıy(ım|ız)\
|yapmam (gerek|gerekiyor|lazım)|bulunur|bulurum|bulabilir(im|iz)|kullanılır|kullanılıyor|kullanırım\
|kullanabilir(im|iz)|çalışır|çalışıyor|olur|oluyor|alınır|alırım|alabilir(im|iz))
(nerede|nerde|nereden|nerden)\
 (bulabilir(im|iz)|bulurum|bulunur|bulunuyor|yer alıyor|yer alır|var|alabilirim|görebilirim|yapılır)
nerede|nerde|nerededir
(neden|niçin|niye) (çalışmıyor|olmuyor|yapamıyorum|bulamıyorum|kullanamıyorum)
ne işe (yarar|yarıyor)
(ne|hangi) (için|amaçla) (kullanılır|kullanılıyor|gereklidir|gerekli)
((için|konusunda|hakkında) )?ne(ler)? (yapma|bilme)(m|miz|k) (gerekir|gerekiyor|gerek|lazım)
((için|konusunda) )?ne(ler)? (yapmalıy(ım|ız)|yapabilir(im|iz)|yapılmalı|yapayım)
((bir|herhangi|kolay) )*(yolu|yöntemi) (var mı|var mıdır|yok mu|nedir)
(?-i:var mı(dır)?)|yok mu|mümkün mü(dür)?
((bana|bize|lütfen) )*((hakkında|konusunda|konusunu|ile ilgili|nasıl yapıldığını|nerede olduğunu\
|ne olduğunu) )?(açıklar|anlatır|gösterir|söyler|yardım eder|yardımcı olur|açıklayabilir\
|anlatabilir|gösterebilir|söyleyebilir|yardım edebilir|yardımcı olabilir|biliyor)\
 m[iu]s[iu]n([iu]z)?
(hakkında|ile ilgili) her şeyi (anlat|göster|söyle)
""",
}
# What may stand before or behind such a phrase.
BESIDE_CLOSINGS = r"""
merhaba|selam|l[üu]tfen|acaba|bana|bize|peki|te[şs]ekk[üu]r(ler| ederim)
hei|moi|terve|kiitos|kiitos etukäteen
szia|sziasztok|üdv|hell[óo]|k[ée]rem|k[ée]rlek|k[öo]sz[öo]n[öo]m|k[öo]szi
"""
