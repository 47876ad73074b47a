"""Terms of a manual's index, in any language: are the pages found that the index names?

python benchmarks/bench_index_terms.py FOLDER [--questions 400] [--converter tw2s]
    [--language zh] [--json]

FOLDER holds the help of LibreOffice in one language (``text`` of Debian's ``libreoffice-help-*``).
Its pages name the entries of the index that lead to them, which are not indexed here. Of each page
one entry of two words or more is asked for, the same in every language, if it leads to five pages
at the most. ``first`` and ``among ten`` are the shares of entries that find one of their pages
there, with the options that a library has at first; ``mrr`` is the mean of one by its place.
With ``--converter``, entries in Chinese are asked in the characters that a converter of OpenCC
writes, such as simplified ones for the help in traditional ones. With ``--language``, entries are
also asked in whole questions: in ways that were looked at when the words that only ask were chosen,
and in ``other ways``; in Japanese those were looked at later, and ``new ways`` were not.
``nothing close`` is the share of these that are said to have no answer.
"""

from __future__ import annotations

import random
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path

from common import arguments, median, report
from opencc import OpenCC

from ragkit.library import Library
from ragkit.settings import load_settings

WAYS = {
    "cs": (
        ("Jak mohu najít {}?", "Kde najdu {}?", "Můžete mi vysvětlit {}?",
         "Chci vědět, jak funguje {}", "Existuje způsob, jak změnit {}?",
         "Co musím udělat pro {}?", "K čemu slouží {}?"),
        ("Hledám informace o {}", "Můžeš mi říct, co mám vědět o {}?", "Jak se používá {}?",
         "Potřebuji pomoc s {}", "Víte, kde je {}?", "Proč {} nefunguje?", "Ukaž mi vše o {}"),
    ),
    "da": (
        ("Hvordan kan jeg finde {}?", "Hvor finder jeg {}?", "Kan du forklare mig {}?",
         "Jeg vil gerne vide, hvordan {} virker", "Er der en måde at ændre {} på?",
         "Hvad skal jeg gøre for {}?", "Hvad bruges {} til?"),
        ("Jeg søger oplysninger om {}", "Kan du sige, hvad jeg skal vide om {}?",
         "Hvordan bruger man {}?", "Jeg har brug for hjælp til {}", "Ved du, hvor {} er?",
         "Hvorfor virker {} ikke?", "Vis mig alt om {}"),
    ),
    "de": (
        ("Wie kann ich {} finden?", "Wo finde ich {}?", "Können Sie mir {} erklären?",
         "Ich möchte wissen, wie {} funktioniert", "Gibt es eine Möglichkeit, {} zu ändern?",
         "Was muss ich tun bei {}?", "Wie geht {}?", "Bitte erkläre mir {}"),
        ("Ich suche Informationen zu {}", "Kannst du mir sagen, was man über {} wissen muss?",
         "Wie bekomme ich {}?", "Zeig mir alles über {}", "Ich brauche Hilfe mit {}",
         "Weißt du, wo {} ist?", "Wieso klappt {} nicht?",
         "Ich würde gern mehr über {} erfahren"),
    ),
    "en": (
        ("how do I get {}?", "Where can I find {}", "Can you tell me about {}?",
         "I want to know how {} works", "Please explain {}", "What is the best way to use {}?",
         "is there a way to change {}", "how to set up {}"),
        ("Could you help me with {}?", "I'm looking for information on {}",
         "What do I need to do for {}?", "show me everything about {}",
         "Give me an overview of {}", "Do you know where {} is?",
         "I would like to learn more about {}", "why can't I get {} to work"),
    ),
    "es": (
        ("¿Cómo puedo encontrar {}?", "¿Dónde está {}?", "¿Puede explicarme {}?",
         "Quiero saber cómo funciona {}", "¿Hay alguna manera de cambiar {}?",
         "¿Qué tengo que hacer para {}?", "¿Cómo se hace {}?", "¿Para qué sirve {}?"),
        ("Busco información sobre {}", "¿Me puedes decir qué hay que saber de {}?",
         "Muéstrame todo sobre {}", "Necesito ayuda con {}", "¿Sabes dónde se encuentra {}?",
         "¿Por qué no funciona {}?", "Me gustaría saber más sobre {}"),
    ),
    "fi": (
        ("Miten voin löytää {}?", "Mistä löydän {}?", "Voitko selittää minulle {}?",
         "Haluaisin tietää, miten {} toimii", "Onko mahdollista muuttaa {}?",
         "Mitä minun pitää tehdä {} varten?", "Mihin {} käytetään?", "Miten {} tehdään?"),
        ("Etsin tietoa aiheesta {}", "Voisitteko kertoa, mitä minun pitää tietää aiheesta {}?",
         "Kuinka {} otetaan käyttöön?", "Tarvitsen apua {} kanssa", "Tiedätkö, missä {} on?",
         "Miksi {} ei toimi?", "Kerro minulle kaikki mitä {} koskee", "Missä on {}?"),
    ),
    "fr": (
        ("Comment puis-je trouver {} ?", "Où se trouve {} ?", "Pouvez-vous m'expliquer {} ?",
         "Je voudrais savoir comment fonctionne {}", "Y a-t-il un moyen de changer {} ?",
         "Que faut-il faire pour {} ?", "Comment faire {} ?", "À quoi sert {} ?"),
        ("Je cherche des informations sur {}", "Peux-tu me dire ce qu'il faut savoir sur {} ?",
         "Montre-moi tout sur {}", "J'ai besoin d'aide avec {}", "Sais-tu où est {} ?",
         "Pourquoi {} ne marche pas ?", "J'aimerais en savoir plus sur {}"),
    ),
    "hu": (
        ("Hogyan találhatom meg a {}?", "Hol található a {}?",
         "El tudná magyarázni, mi az a {}?", "Szeretném tudni, hogyan működik a {}",
         "Van rá mód, hogy módosítsam a {}?", "Mit kell tennem a {} használatához?",
         "Mire való a {}?", "{} kapcsán szeretnék segítséget kérni"),
        ("Információt keresek erről: {}", "Meg tudnád mondani, mit kell tudni erről: {}?",
         "Hogyan kell használni a {}?", "Segítségre van szükségem a {} témában",
         "Tudja valaki, hol van a {}?", "Miért nem működik a {}?", "Mutass meg mindent: {}",
         "{} témában szeretnék többet megtudni"),
    ),
    "it": (
        ("Come posso trovare {}?", "Dove si trova {}?", "Può spiegarmi {}?",
         "Vorrei sapere come funziona {}", "C'è un modo per cambiare {}?",
         "Cosa devo fare per {}?", "A cosa serve {}?"),
        ("Cerco informazioni su {}", "Mi sai dire cosa bisogna sapere su {}?", "Come si usa {}",
         "Mi serve aiuto con {}", "Sai dov'è {}?", "Perché {} non funziona?",
         "Fammi vedere tutto su {}"),
    ),
    "ja": (
        ("{}はどうすればいいですか？", "{}の方法を教えてください", "{}とは何ですか", "{}の使い方",
         "どうやって{}するの？", "{}について知りたい", "なぜ{}できないのでしょうか",
         "{}はどこにありますか"),
        ("{}するにはどうしたらよいでしょう", "{}が見つからない", "{}の手順", "{}を教えて",
         "{}ってなに？", "{}に関する情報が欲しい", "{}を行いたい場合は？"),
        ("{}の設定はどこで変えられますか", "{}がうまくいかないのですが", "{}のしかたがわかりません",
         "{}の操作を説明してほしい", "{}を使うにはどうしたらいい？", "{}って何のためにあるの？",
         "{}について詳しく知りたいのですが", "{}はどこから選べますか"),
    ),
    "ko": (
        ("{} 어떻게 하나요?", "{}는 어디에 있나요", "{} 방법을 알려 주세요", "{}이란 무엇인가요",
         "왜 {}이 안 되나요", "{} 사용법", "{}에 대해 알고 싶어요"),
        ("{} 하는 법", "{} 설정은 어디서 바꾸나요?", "{}가 뭐예요", "{} 좀 알려줘",
         "{}에 관한 설명", "어떻게 하면 {} 할 수 있을까"),
    ),
    "nl": (
        ("Hoe kan ik {} vinden?", "Waar vind ik {}?", "Kunt u mij {} uitleggen?",
         "Ik wil weten hoe {} werkt", "Is er een manier om {} te wijzigen?",
         "Wat moet ik doen voor {}?", "Waarvoor dient {}?"),
        ("Ik zoek informatie over {}", "Kun je me zeggen wat ik over {} moet weten?",
         "Hoe gebruik je {}?", "Ik heb hulp nodig bij {}", "Weet je waar {} zit?",
         "Waarom doet {} het niet?", "Laat me alles over {} zien"),
    ),
    "no": (
        ("Hvordan kan jeg finne {}?", "Hvor finner jeg {}?", "Kan du forklare meg {}?",
         "Jeg vil gjerne vite hvordan {} fungerer", "Finnes det en måte å endre {} på?",
         "Hva må jeg gjøre for {}?", "Hva brukes {} til?"),
        ("Jeg leter etter informasjon om {}", "Kan du si meg hva jeg trenger å vite om {}?",
         "Hvordan bruker man {}?", "Jeg har problemer med {}", "Vet noen hvor {} er?",
         "Hvorfor virker ikke {}?", "Vis meg alt om {}", "Går det an å slå av {}?"),
    ),
    "pl": (
        ("Jak mogę znaleźć {}?", "Gdzie znajdę {}?", "Czy możesz mi wyjaśnić {}?",
         "Chcę wiedzieć, jak działa {}", "Czy jest sposób, żeby zmienić {}?",
         "Co muszę zrobić dla {}?", "Do czego służy {}?"),
        ("Szukam informacji o {}", "Czy możesz mi powiedzieć, co warto wiedzieć o {}?",
         "Jak się używa {}?", "Potrzebuję pomocy z {}", "Czy wiesz, gdzie jest {}?",
         "Dlaczego {} nie działa?", "Pokaż mi wszystko o {}"),
    ),
    "pt": (
        ("Como posso encontrar {}?", "Onde fica {}?", "Pode explicar-me {}?",
         "Queria saber como funciona {}", "Há alguma maneira de mudar {}?",
         "O que tenho de fazer para {}?", "Para que serve {}?"),
        ("Procuro informações sobre {}", "Podes dizer-me o que devo saber sobre {}?",
         "Como é que se usa {}?", "Preciso de ajuda com {}", "Sabes onde está {}?",
         "Porque é que {} não funciona?", "Mostra-me tudo sobre {}"),
    ),
    "ru": (
        ("Как мне найти {}?", "Где можно найти {}?", "Можете объяснить мне {}?",
         "Хочу узнать, как работает {}", "Есть ли способ изменить {}?",
         "Что нужно сделать для {}?", "Для чего нужен {}?"),
        ("Ищу информацию про {}", "Подскажите, пожалуйста, что надо знать о {}?",
         "Как пользоваться {}?", "Мне нужна помощь с {}", "Вы знаете, где находится {}?",
         "Почему {} не работает?", "Покажи мне всё о {}"),
    ),
    "sv": (
        ("Hur kan jag hitta {}?", "Var hittar jag {}?", "Kan du förklara {} för mig?",
         "Jag vill veta hur {} fungerar", "Finns det något sätt att ändra {}?",
         "Vad måste jag göra för {}?", "Vad är {} till för?"),
        ("Jag söker information om {}", "Kan du säga vad jag behöver veta om {}?",
         "Hur använder man {}?", "Jag behöver hjälp med {}", "Vet du var {} finns?",
         "Varför fungerar inte {}?", "Visa mig allt om {}"),
    ),
    "tr": (
        ("{} nasıl yapılır?", "{} nerede bulabilirim?", "{} hakkında bilgi almak istiyorum",
         "{} nasıl çalışır?", "{} ne işe yarar?", "Bana {} konusunu açıklar mısınız?",
         "{} değiştirmenin bir yolu var mı?", "{} için ne yapmam gerekiyor?"),
        ("{} nasıl kullanılır?", "{} nerede?", "{} ile ilgili yardıma ihtiyacım var",
         "Bana {} hakkında bilgi verir misin?", "{} neden çalışmıyor?",
         "{} nasıl ayarlayabilirim?", "{} hakkında her şeyi göster",
         "{} konusunda daha fazla bilgi edinmek istiyorum"),
    ),
    "zh": (
        ("如何{}？", "怎么{}", "请问{}在哪里设置？", "{}是什么", "什么是{}？", "{}怎么用",
         "我想知道{}的方法", "为什么要{}呢", "{}有哪些选项吗"),
        ("{}的步骤是什么", "该怎样{}才对", "有没有关于{}的说明", "{}应该怎么做",
         "能不能告诉我{}在什么地方", "关于{}", "想了解一下{}", "{}是干什么用的", "怎么样才能{}"),
    ),
}  # fmt: skip
"""How people ask about something, by language: ways that were looked at, others, new ones."""
PARTS = ("scalc", "swriter/guide", "simpress", "shared/guide", "shared/01", "shared/optionen")
_ENTRY = re.compile(r'itemprop="keywords" content="([^"]*)"')
_MOST_PAGES = 5


def entries(folder: Path) -> dict[str, list[str]]:
    """Return the index entries of each page, by its path within the folder."""
    pages = (page for part in PARTS for page in sorted((folder / part).rglob("*.html")))
    return {
        page.relative_to(folder).as_posix(): [
            " ".join(unescape(entry).replace(",", " ").split())
            for entry in _ENTRY.findall(page.read_text("utf-8"))
        ]
        for page in pages
    }


def questions(of_pages: dict[str, list[str]], most: int) -> list[tuple[str, set[str]]]:
    """Choose an entry of each page; return them with the pages that they lead to."""
    leads_to = defaultdict(set)
    for page, own in of_pages.items():
        for entry in own:
            leads_to[entry].add(page)
    chance = random.Random(3)
    chosen = [own[chance.randrange(len(own))] for own in of_pages.values() if own]
    chance.shuffle(chosen)
    asked = ((entry, leads_to[entry]) for entry in chosen if " " in entry)
    return [(entry, pages) for entry, pages in asked if len(pages) <= _MOST_PAGES][:most]


@contextmanager
def library_of(folder: Path, paths: Iterable[str]) -> Iterator[Library]:
    """Open a library of some pages without their entries, which is gone after the block."""
    with tempfile.TemporaryDirectory() as place:
        files = Path(place) / "files"
        for path in paths:
            page = files / path
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(_ENTRY.sub("", (folder / path).read_text("utf-8")), "utf-8")
        settings = load_settings(library=Path(place) / "library")
        with Library.open(settings, create=True) as library:
            library.jobs.wait(library.sources.sync(library.sources.add_folder(files)))
            yield library


def asked(library: Library, terms: list[tuple[str, set[str]]]) -> dict[str, float]:
    """Return the shares of terms whose page is found first and among ten, and the CPU time."""
    places, took, nothing_close = [], [], 0
    for term, pages in terms:
        began = time.process_time()
        answer = library.search(term)
        took.append((time.process_time() - began) * 1000)
        results, nothing_close = answer.results, nothing_close + answer.nothing_close
        right = (n for n, each in enumerate(results) if each.document.path in pages)
        places.append(next(right, None))
    found = [place for place in places if place is not None]
    return {
        "first": found.count(0) / len(places),
        "among ten": sum(place < 10 for place in found) / len(places),
        "mrr": sum(1 / (place + 1) for place in found) / len(places),
        "nothing close": nothing_close / len(places),
        "search, cpu ms": median(took),
    }


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--questions", type=int, default=400)
    parser.add_argument("--converter", choices=("s2t", "s2tw", "s2hk", "t2s", "tw2s", "hk2s"))
    parser.add_argument("--language", choices=sorted(WAYS))
    given = parser.parse_args()
    of_pages = entries(given.folder)
    terms = questions(of_pages, given.questions)
    sets = {"": terms}
    names = ("asked: ", "other ways: ", "new ways: ")
    for name, ways in zip(names, WAYS.get(given.language, ()), strict=False):
        sets[name] = [
            (ways[number % len(ways)].format(term), pages)
            for number, (term, pages) in enumerate(terms)
        ]
    convert = OpenCC(given.converter).convert if given.converter else str
    with library_of(given.folder, of_pages) as library:
        figures: dict[str, float] = {"terms": len(terms)}
        for name, of_set in sets.items():
            shares = asked(library, [(convert(text), pages) for text, pages in of_set])
            figures |= {f"{name}{what}": share for what, share in shares.items()}
        report(figures, given.json)


if __name__ == "__main__":
    main()
