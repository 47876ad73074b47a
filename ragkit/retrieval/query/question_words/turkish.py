"""What questions in Turkish are known by."""

from __future__ import annotations

from ragkit.retrieval.query.question_words.language import Language

TURKISH = Language(
    codes=("tr",),
    stemmer="turkish",
    has_many_forms=True,
    typed_plainly=True,
    function_words="""
ve veya ile icin bir bu ne nasil nerede zaman kac kim neden hangi mi mu degil ben biz benim bizim
bana bize
""",
    openings=r"""
nasıl|nerede|nereden
""",
    endings=r"""
bulabilirim|bulurum|yapabilirim|kullanabilirim|yapılır|bulunur
""",
    closings=r"""
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
    beside_closings=r"""
merhaba|selam|l[üu]tfen|acaba|bana|bize|peki|te[şs]ekk[üu]r(ler| ederim)
""",
    meanings=r"""
X['’]?( nedir| ne demek(tir)?| kimdir| ne anlama gelir)
""",
    asks_amount=r"""
kac|ne kadar
""",
    asks_time=r"""
ne zaman
""",
    asks_who=r"""
kim(?:ler|in)?
""",
    asks_yes_no=r"""
.*\b(?:var|yok|olur|mumkun) m[iu](?:d[iu]r)?\W*$
""",
    numbers="""
iki üç dört beş altı yedi sekiz dokuz yirmi otuz kırk elli yüz bin milyon yarısı
""",
)
