"""What questions in French are known by."""

from __future__ import annotations

from ragkit.retrieval.query.question_words.language import Language

FRENCH = Language(
    codes=("fr",),
    stemmer="french",
    function_words="""
le la les un une des du de et ou ne pas est sont a ont peut doit dans sur sous avec sans pour par
chez vers il elle on nous vous ils elles ce cette ces son sa ses que qui quoi quel quelle quels
quelles comment quand combien pourquoi aux au y en je tu te moi mon ma mes notre nos votre vos
leur leurs cet suis avons avez peux peuvent dois doivent faut mais donc lorsque pendant
""",
    greetings=r"""
bonjour|salut|bonsoir|et|alors
""",
    openings=r"""
(pouvez|pourriez|peux|pourrais|peut|pourrait)[-\s](vous|tu|on)\
( me| nous| dire| expliquer| montrer| indiquer| aider| donner| savoir| tout| sur| à\
| m['’](expliquer|indiquer|aider)| ce qu['’](il faut|on doit))*
(vous pouvez|tu peux|vous pourriez|tu pourrais)\
( me| nous| dire| expliquer| montrer| indiquer| aider| donner| m['’](expliquer|indiquer|aider))*
(je (veux|voudrais|souhaite|souhaiterais)|j['’]aimerais|nous (voulons|voudrions|aimerions))\
( bien| savoir| comprendre| connaître| trouver| apprendre| en| plus| sur| comment\
| fonctionne(nt)?)*
(je|nous) (cherche|recherche|cherchons)\
( des| les| quelques| informations?| infos?| renseignements?| détails?| explications?| sur\
| concernant)*
(j['’]ai|nous avons) besoin (d['’](aide|informations?|explications?)|de|des)\
( renseignements?| avec| sur| pour)*
(montre|montrez|dis|dites|explique|expliquez|donne|donnez|indique|indiquez)[-\s](moi|nous)\
( tout| plus| sur| comment| des| informations?)*
(comment|où|quand|pourquoi|que)( est-ce que)?\
( puis-je| peut-on| pouvons-nous| peux-tu| dois-je| doit-on| devons-nous| faut-il| je peux\
| on peut| je dois| on doit)( trouver| faire| obtenir| avoir| utiliser| savoir| sur| pour)*
qu['’]est-ce qu(e|['’]) ?(je|on|il) (peux|peut|dois|doit|faut)( faire| savoir| avec| pour| sur)*
(comment|où)\
( faire| trouver| obtenir| utiliser| avoir| se trouve(nt)?| marche(nt)?| fonctionne(nt)?)( pour)?
(y a[-\s]t[-\s]il|existe[-\s]t[-\s]il|est-ce qu['’]il y a)\
( une?| des| moyens?| façons?| manières?| possibilités?| de| pour)*
(est-ce qu['’]il est|est-il) possible
(sais|savez|connais|connaissez)[-\s](tu|vous)( où| comment| si| est| sont)*
à quoi (sert|servent)
s['’]il (vous|te) pla[iî]t
""",
    objects=r"""
(comment|où|quand|si) (je|on|nous)( (peux|peut|dois|doit|pouvons|devons|pourrais))?\
( trouver| faire| obtenir| avoir| utiliser)?
""",
    endings=r"""
(ne )?(marche|fonctionne)(nt)?( pas)?
s['’]il (vous|te) pla[iî]t|svp|stp
""",
    meanings=r"""
((quelle est )?la )?(d[eé]finition|signification) d(e |u |['’])X
(c['’]est quoi|qui est|qui était|que signifie(nt)?|que veut dire) X
(qu['’]est[- ]ce|c['’]est quoi) qu(e c['’]est qu)?(e |['’])X
X,? c['’]est quoi
""",
    asks_amount=r"""
combien
quelle (?:taille|duree|distance|quantite|hauteur|longueur|largeur)
""",
    asks_time=r"""
quand
a (?:partir de )?(?:quelle|quelles) (?:date|heure|heures)|jusqu'a (?:quand|quelle heure)
quel (?:jour|mois)|quelle (?:annee|date)
""",
    asks_who=r"""
(?<![^,.;:?!] )qui|(?:a|avec|chez|contre|de|par|pour) qui
""",
    asks_yes_no=r"""
est-ce
""",
    numbers="""
deux trois quatre cinq six sept huit neuf dix onze douze quinze vingt trente quarante cinquante
soixante cent cents mille million millions moitié
""",
    times="""
lundi mardi mercredi jeudi vendredi samedi dimanche matin midi soir nuit minuit semaine semaines
mois ans année années jour jours heure heures
""",
)
