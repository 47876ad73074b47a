"""What questions in Italian are known by."""

from __future__ import annotations

from ragkit.retrieval.query.question_words.language import Language

ITALIAN = Language(
    codes=("it",),
    stemmer="italian",
    function_words="""
il lo la i gli le un una uno di del della dei delle e o non sono ha hanno puo deve in nel nella
con senza per tra fra sul sulla da dal dalla si che chi quale quali come quando quanto quanti
quante dove perche al alla ai mio mia miei mie tuo tua tuoi tue nostro nostra nostri nostre mi ti
ci ho posso possono devo devono questo questa questi queste anche mentre
""",
    greetings=r"""
ciao|buongiorno|buonasera|salve|e
""",
    openings=r"""
(mi )?(può|puoi|potrebbe|potresti|potete)\
( dire| dirmi| spiegare| spiegarmi| mostrarmi| aiutarmi| darmi| indicarmi| cosa| con| su)*
(voglio|vorrei|vogliamo|vorremmo|mi piacerebbe|ho bisogno di|abbiamo bisogno di)\
( sapere| capire| conoscere| trovare| imparare| saperne| aiuto| informazioni| di più| tutto| con\
| su| sul(la)?| come| funziona(no)?)*
(cerco|sto cercando|cerchiamo)( informazioni| dettagli| aiuto| su| sul(la)?)*
(mostrami|dimmi|spiegami|dammi|indicami)( tutto| qualcosa| di più| informazioni| su| sul(la)?)*
(come|dove|quando|perché|cosa|che cosa)\
( posso| possiamo| si può| devo| dobbiamo| si deve| bisogna)\
( trovare| fare| ottenere| usare| avere| sapere| per| su)*
(come|dove) (trovo|si trova(no)?|trovare|ottengo|si fa(nno)?|faccio|fare|ottenere|usare|si usa(no)?)
perché non (funziona(no)?|riesco a)( usare)?
(c['’]è|esiste|ci sono)( qualche)?( un)? (modo|maniera|possibilità|opzione)
è possibile
(sai|sapete|sa) (dove|come|se|cosa|quando)( si| trova(no)?)*
a (che )?cosa serv(e|ono)
per favore
""",
    endings=r"""
per favore
""",
    meanings=r"""
((qual è )?(la|il) )?(definizione|significato) d(i |el(l[aoe])? |ell['’])X
(che )?cos(a (è|sono|significa) |['’]è )X
chi (è|era) X
""",
    asks_amount=r"""
quant[oaie]
""",
    asks_time=r"""
quando
a che ora|che (?:anno|data|giorno|mese|ora)|in (?:che|quale) (?:anno|data|giorno|mese)
""",
    asks_who=r"""
chi
""",
    numbers="""
due tre quattro cinque sette otto nove dieci undici dodici quindici venti trenta quaranta
cinquanta cento mille milioni metà
""",
    times="""
lunedì martedì mercoledì giovedì venerdì sabato domenica mattina mezzogiorno pomeriggio notte
mezzanotte settimana settimane mese mesi anno anni giorno giorni ora ore
""",
)
