"""What questions in German are known by."""

from __future__ import annotations

from ragkit.retrieval.query.question_words.language import Language, SeparableVerbs


def _forms(root: str) -> tuple[str, ...]:
    infinitive = f"{root}n" if root.endswith(("er", "el")) else f"{root}en"
    participle = f"ge{root}{'e' * root.endswith(('t', 'd'))}t"
    return infinitive, f"zu{infinitive}", participle, f"ge{infinitive}", f"{root}ung"


GERMAN = Language(
    codes=("de",),
    stemmer="german",
    function_words="""
der die das den dem des ein eine einen einem einer eines und oder nicht kein keine ist sind wird
werden wurde haben kann muss darf mit von zu zum zur auf fur im bei nach aus uber unter vor durch
gegen ohne um sich es er sie wir ihr ich wie wo wohin woher wann warum wer wen wem welche welcher
welches welchen wieviel viele gibt man wenn dass als auch noch mein meine meinem meinen meiner
meines dein deine deinem deinen deiner unser unsere unserem unseren unserer mir mich dir dich uns
euch ihnen bin habe hast konnen mussen durfen soll sollen sollte bevor nachdem wahrend damit weil
ob beim vom ins ab bis seit diese dieser dieses diesen diesem waren wurden seine seinen seiner ihre
ihren ihrem ihrer wieso weshalb womit wofur wozu
""",
    shared_words="am an in man so was",
    measures="wie viel viele lange oft alt weit hoch schwer groß teuer schnell tief breit",
    greetings=r"""
(hallo|hi|guten (morgen|tag|abend)|entschuldigung|und|also)( zusammen)?
""",
    openings=r"""
(können|könnten|kannst|könntest|würden|würdest) (sie|du|ihr)\
( mir| uns| bitte| sagen| erklären| zeigen| helfen| verraten| was| man)*
(sag|sage|zeig|zeige|erkläre?|gib|nenne?|(sagen|zeigen|erklären|geben|nennen) sie)\
( mir| uns| bitte)+( alles| mehr| etwas| informationen| infos)*
bitte
(ich|wir) (möchten?|will|wollen|würden?)\
( gerne?| bitte| wissen| erfahren| verstehen| mehr| alles| etwas| über)*
(ich|wir) (suchen?|brauchen?)\
( nach| informationen| infos?| hilfe| angaben| etwas| alles| mehr)*
(wie|wo|wann|warum|wieso|weshalb|was|womit|wozu)\
( kann| könnte| können| muss| müssen| sollte?n?| darf| dürfen)( ich| wir| man| tun| machen)*
(wie|wo|wann|was|wieso|warum) (finden?|bekommen?|erhalten?|kriegen?|geht|gehen|klappt|steht\
|stehen|funktionier(t|en)|gibt es|machen?|macht|tun?)( ich| wir| man)?
gibt es( eine?n?| irgendeine?n?| möglichkeit(en)?| weg| option)*
(weißt|weisst|wissen|wisst) (du|sie|ihr)
(ist|wäre) es möglich
""",
    objects=r"""
(wie|wo|wann|was|ob) (ich|wir|man)
""",
    endings=r"""
(finden|bekommen|erhalten|erklären|sagen|zeigen|wissen|erfahren|verstehen|tun|machen)\
( kann| können| könnte| muss| müssen| sollte?| darf)?
funktionier(t|en)|nicht|bitte
""",
    meanings=r"""
((was ist )?die )?(bedeutung|definition) (von|des|der) X
was versteht man unter X
was ist mit X gemeint
w(as|er) (ist|sind|war|bedeutet|bedeuten|heißt) X
X bedeutung
""",
    separable_verbs=SeparableVerbs(
        particles="""
ab an auf aus bei bereit durch ein fest fort frei heraus herunter hin hinein hinzu hoch los mit
nach raus rein runter statt um vor weg weiter wieder zu zurück zusammen
""",
        subjects={
            "ich": ("e",),
            "wir": ("en", "n"),
            "man": ("et", "t"),
            "du": ("est", "st"),
            "ihr": ("et", "t"),
        },
        forms=_forms,
    ),
    asks_amount=r"""
wie ?(?:viele?(?! uhr)|lange|oft|alt|weit|hoch|schwer|gross|teuer|schnell)
""",
    asks_time=r"""
wann
wie ?viel uhr
""",
    asks_who=r"""
we[rmn]|wessen
""",
    asks_yes_no=r"""
ist|sind|war|hat|haben|kann|konnen|darf|durfen|muss|mussen|soll|wird|gibt es
""",
    numbers="""
zwei drei vier fünf sechs sieben acht neun zehn zwölf zwanzig dreißig hundert tausend halb halbe
""",
    times="""
uhr montags dienstags mittwoch mittwochs donnerstags freitags samstags sonntags morgens vormittags
mittags nachmittags abends nachts wochenende monat monate monaten jahr jahre jahren stunde stunden
""",
)
