"""What questions in Spanish are known by."""

from __future__ import annotations

from ragkit.retrieval.query.question_words.language import Language

SPANISH = Language(
    codes=("es",),
    stemmer="spanish",
    function_words="""
el la los las un una unos unas de del y o no es son esta estan hay puede debe en con sin por para
sobre entre hasta desde se su sus lo que quien cual cuales como cuando cuanto cuanta cuantos
cuantas donde al pero porque mi mis tu tus nuestro nuestra nuestros nuestras te nos yo soy estoy
tengo puedo pueden debo deben este estos estas ese esa eso muy mientras tambien
""",
    greetings=r"""
hola|buen[oa]s (días|tardes|noches)|buenas|y|entonces
""",
    openings=r"""
(me )?(puedes?|podrías?|pueden)\
( usted| ustedes| decir(me)?| explicar(me)?| mostrar(me)?| ayudarme| darme| indicarme| qué| hay\
| que| saber| con| sobre)*
(quiero|quisiera|querría|necesito|queremos|necesitamos|(me|nos) gustaría)\
( saber| conocer| entender| aprender| encontrar| ver| ayuda| información| más| todo| algo| con\
| sobre| cómo| funcionan?)*
(busco|estoy buscando|buscamos)( la| alguna| más| información| datos| ayuda| detalles| sobre)*
(mu[eé]strame|dime|expl[ií]came|dame|ens[eé]ñame|cu[eé]ntame|ind[ií]came)\
( todo| más| algo| información| sobre)*
(c[oó]mo|d[oó]nde|cu[aá]ndo|por qu[eé]|qu[eé])\
( puedo| podemos| se puede| debo| debemos| tengo que| hay que| necesito)\
( encontrar| hacer| obtener| conseguir| saber| usar| ver| para| sobre)*
(c[oó]mo|d[oó]nde) (encuentro|se encuentran?|encontrar|est[aá]n?|consigo|obtengo|se hacen?|hago\
|hacer|obtener|conseguir|usar|se usan?)
por qu[eé] no (funcionan?|puedo)( usar)?
hay (alguna?|una?)( manera| forma| modo| posibilidad| opción)
es posible
(sabes|sabe|saben) (d[oó]nde|c[oó]mo|si|qu[eé]|cu[aá]ndo)( se| encuentran?| están?)*
para qu[eé] (sirven?|se usan?)
por favor
""",
    objects=r"""
(c[oó]mo|d[oó]nde|cu[aá]ndo|si)( puedo| podemos| debo| se puede| tengo que)\
( encontrar| hacer| obtener| conseguir| usar| ver)?
""",
    endings=r"""
por favor
""",
    meanings=r"""
((cu[aá]l es )?(la|el) )?(definici[oó]n|significado) d(el?|e la|e los|e las) X
(qu[eé]|qui[eé]n) (es|son|fue|significan?) X
""",
    asks_amount=r"""
cuant[oa]s?
que (?:tamano|edad|distancia|altura)
""",
    asks_time=r"""
cuando
que (?:ano|dia|fecha|hora|mes)|a que horas?
""",
    asks_who=r"""
quien(?:es)?
""",
    numbers="""
dos tres cuatro cinco seis siete ocho nueve diez once doce quince veinte treinta cuarenta
cincuenta cien ciento mil millones mitad
""",
    times="""
lunes martes miércoles jueves viernes sábado sábados domingo domingos mañana mediodía tarde noche
medianoche semana semanas mes meses año años día días hora horas
""",
)
