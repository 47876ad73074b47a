"""What questions in Dutch are known by."""

from __future__ import annotations

import re

from ragkit.retrieval.query.question_words.language import Language, SeparableVerbs


def _forms(root: str) -> tuple[str, ...]:
    # "maak" is of "maken", "stel" of "stellen", "voeg" of "voegen"; the likeliest comes first.
    roots = [root, root + root[-1], re.sub(r"([aeou])\1([^aeiou])$", r"\1\2", root)]
    if roots[2] != root:
        roots.reverse()
    elif re.fullmatch(r"[^aeiou]*[aeiou][^aeiou]", root):
        roots = [roots[1], root]
    return (*(f"{each}en" for each in roots), *(f"ge{root.rstrip('dt')}{end}" for end in "dt"))


DUTCH = Language(
    codes=("nl",),
    stemmer="dutch",
    function_words="""
de het een en of niet geen is zijn wordt worden heeft hebben kan moet mag met van voor aan bij
naar uit over onder door tegen zonder om er hij zij wij ik hoe waar wanneer waarom wie welke welk
hoeveel dat deze dit op te mijn mij jouw uw ons onze hun haar heb kunnen moeten mogen maar ook als
nog wel
""",
    measures="hoe veel lang groot vaak oud ver hoog zwaar duur snel diep breed",
    greetings=r"""
hoi|goedemorgen|goedemiddag|en|dus
""",
    openings=r"""
(kun|kunt|kan|zou|zouden) (je|jij|u|iemand|jullie)( me| mij| ons| alsjeblieft| kunnen)*\
( vertellen| uitleggen| helpen| met| wat| ik| over)*
(ik|we|wij) (wil|willen|zou|zouden)( graag| weten| begrijpen| leren| meer| alles| over| hoe)*
(ik|we|wij) (zoek|zoeken|heb|hebben)( informatie| info| hulp| nodig| over| bij| met| naar)+
(vertel|toon|laat|geef|leg)( me| mij| ons)( alles| meer| zien| over| uit| informatie)*
(hoe|waar|wanneer|waarom|wat|waarmee) (kan|kunnen|moet|moeten|mag|mogen)( ik| we| je| men)( doen)?
(hoe|waar) (vind|vinden|krijg|krijgen|werken|werkt|staat|gebruik|doe)( ik| we| je)?
waarom werkt
is er( een| manier| mogelijkheid| om)*
is het mogelijk
(weet|weten) (je|jij|u|jullie|iemand)
waarvoor (dient|dienen|is)
""",
    endings=r"""
alsjeblieft
(vinden|krijgen|uitleggen|doen|weten|niet)
""",
    meanings=r"""
((wat is )?de )?(definitie|betekenis) van X
wat (wordt bedoeld met|betekent) X
w(at|ie) (is|zijn|was) X
""",
    separable_verbs=SeparableVerbs(
        particles="""
aan af bij door in mee na om op open over samen terug toe uit vast voor weg
""",
        subjects={
            "ik": (),
            "we": ("en",),
            "wij": ("en",),
            "je": (),
            "jij": (),
            "u": ("t",),
            "men": ("t",),
        },
        forms=_forms,
    ),
    asks_amount=r"""
hoeveel
hoe (?:lang|groot|vaak|oud|ver|hoog|zwaar|duur|snel|diep|breed)
""",
    asks_time=r"""
wanneer
""",
    asks_yes_no=r"""
zijn|kan|kunnen|mag|mogen|moet|moeten|heeft|hebben
""",
    numbers="""
twee drie vier vijf zes zeven acht negen tien elf twaalf twintig dertig veertig vijftig honderd
duizend miljoen half helft
""",
)
