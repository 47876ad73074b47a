"""Cutting long questions into topics and segments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.models.factory import local_embedder
from ragkit.models.hashing import HashEmbedder
from ragkit.options import ChunkedOptions, CutMethod
from ragkit.retrieval.query_segmentation.topics import (
    MOST_SEGMENTS,
    cut_question,
    few_borders,
    find_units,
    paragraph_borders,
    topic_borders,
)

EMBED = HashEmbedder().embed_passages
ADAPTIVE = ChunkedOptions()

TRAVEL = "the train to lisbon leaves early and the hotel near the lisbon station is cheap"
BUG = "the parser raises a timeout error when the socket is closed by the remote parser"
RECIPE = "knead the dough with flour and salt then bake the dough until the crust is brown"


def chat(*said: str) -> str:
    names = ("Bob", "Ann")
    return "\n\n".join(f"**{names[n % 2]}** · 10:{n:02}\n{text}" for n, text in enumerate(said))


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
def test_an_empty_text_has_no_topics(text):
    assert cut_question(text, EMBED, ADAPTIVE) == ()


def test_a_short_text_stays_one_question():
    (topic,) = cut_question("How long is the refund window? I bought it in May.", EMBED, ADAPTIVE)
    assert [segment.text for segment in topic.segments] == [
        "How long is the refund window? I bought it in May."
    ]


def test_messages_are_found_with_their_authors():
    units = find_units(chat("hello there", "good morning"))
    assert [(unit.role, unit.text) for unit in units] == [
        ("bob", "hello there"),
        ("ann", "good morning"),
    ]


def test_a_chat_on_three_subjects_has_three_topics():
    text = chat(*[TRAVEL] * 4, *[BUG] * 4, *[RECIPE] * 4)
    topics = cut_question(text, EMBED, ADAPTIVE)
    assert [topic.segments[0].text for topic in topics] == [TRAVEL, BUG, RECIPE]
    assert [len(topic.segments) for topic in topics] == [1, 1, 1]
    assert topics[1].start == text.index(BUG) - len("**Bob** · 10:04\n")


def test_what_nobody_answered_asks_with_its_own_background():
    text = (
        "user: Tell me about Porto.\nagent: It is a city.\nuser: And the river?\n"
        "user: My script fails.\nagent: Which one?\nuser: The parser."
    )
    topics = cut_question(text, EMBED, ADAPTIVE)
    assert [topic.segments[0].text for topic in topics] == ["And the river?", "The parser."]
    assert topics[0].segments[0].background == "Tell me about Porto. And the river?"
    assert topics[1].segments[0].background == "My script fails. The parser."


def test_one_message_a_thousand_times_asks_once():
    topics = cut_question("user: where is it\n" * 1000, EMBED, ADAPTIVE)
    assert sum(len(topic.segments) for topic in topics) == len(topics)
    assert {segment.text for topic in topics for segment in topic.segments} == {"where is it"}


def test_a_line_of_two_megabytes_is_cut_into_a_bounded_number_of_segments():
    topics = cut_question("word salad " * 190_000, EMBED, ADAPTIVE)
    assert 1 <= sum(len(topic.segments) for topic in topics) <= MOST_SEGMENTS


def test_the_whole_is_one_piece():
    (topic,) = cut_question(chat(TRAVEL, BUG), EMBED, ChunkedOptions(CutMethod.WHOLE))
    assert topic.segments[0].text == chat(TRAVEL, BUG)


def test_a_few_messages_are_told_apart_and_replies_stay():
    a, b, c = np.eye(3)
    train, parser, dough = {"train", "lisbon"}, {"parser", "timeout"}, {"dough", "flour"}
    vectors = np.array([a, a, b, b, c])
    assert few_borders(vectors, [train, set(), parser, {"ok"}, dough]) == [2, 4]
    assert few_borders(vectors, [train, train, train | parser, parser, dough]) == [4]
    assert few_borders(vectors, [{"hi"}, set(), parser, {"socket", "timeout"}, dough]) == [4]
    assert few_borders(np.array([a, a, a, a, a]), [train, parser, dough, train, parser]) == []


_INVOICE = (
    "Bitte schickt mir die Rechnung für die neue Heizung im Keller noch einmal zu. Ich habe sie "
    "beim Umzug leider verloren und brauche sie für die Steuererklärung im Frühjahr."
)
_GUTTER = (
    "Die Dachrinne über dem Eingang ist undicht. Wenn es regnet, läuft das Wasser an der Wand "
    "herunter und gefriert im Winter auf den Stufen, so dass letzte Woche der Briefträger stürzte."
)
_PARTY = (
    "Für das Sommerfest brauchen wir einen Grill, Tische, Bänke und jemanden, der mit den Kindern "
    "spielt. Musik bringt Jonas mit, Kuchen und Salate backen die Nachbarn."
)
_HEATING = (
    "Die Rechnung für die Heizung war auf den Namen des Vaters ausgestellt, der den Keller "
    "damals gemietet und die Steuererklärung für die Familie gemacht hatte."
)


def begins(text: str) -> list[str]:
    topics = cut_question(text, local_embedder().embed_passages, ADAPTIVE)
    return [topic.segments[0].text for topic in topics]


@pytest.mark.parametrize(
    ("parts", "begin"),
    [
        ((_INVOICE, _GUTTER, _PARTY), [_INVOICE, _GUTTER, _PARTY]),
        ((_INVOICE, _HEATING, _PARTY), [_INVOICE, _PARTY]),
        (
            (
                "Envoyez-moi encore une fois la facture du nouveau chauffage. Je l'ai perdue "
                "pendant le déménagement et j'en ai besoin pour la déclaration des revenus "
                "en avril.",
                "La gouttière au-dessus de l'entrée fuit. Quand il pleut, l'eau coule le long du "
                "mur et gèle en hiver sur les marches, si bien que le facteur est tombé.",
                "Pour la fête de l'été il nous faut un barbecue, des tables, des bancs et "
                "quelqu'un qui joue avec les enfants. Les voisins apportent gâteaux et salades.",
            ),
            ["Envoyez", "La gouttière", "Pour la fête"],
        ),
    ],
)
def test_topics_of_other_languages_are_told_apart_though_their_texts_are_alike(parts, begin):
    found = begins("\n\n".join(parts))
    assert len(found) == len(begin)
    assert all(map(str.startswith, found, begin))


@pytest.mark.parametrize("between", ["\n", "\n\n"])
@pytest.mark.parametrize(
    "requests",
    [
        ("Send me the invoice for the boiler.", "The gutter leaks.", "Book a table for Friday."),
        (
            "Schickt mir die Rechnung für die Heizung.",
            "Die Dachrinne über dem Eingang ist undicht.",
            "Für das Sommerfest brauchen wir einen Grill.",
        ),
    ],
)
def test_requests_of_one_sentence_each_are_told_apart(requests, between):
    assert begins(between.join(requests)) == [*requests]


@pytest.mark.parametrize("between", [" ", "\n", "\n\n"])
@pytest.mark.parametrize(
    "parts",
    [
        (
            "My washing machine stopped in the middle of a cycle and the door will not open.",
            "The display shows E18 and there is still water in the drum. I have already pulled "
            "the plug and waited an hour.",
            "When I turn it back on it hums for a few seconds and then beeps three times.",
            "I would like to know how to drain it by hand without flooding the kitchen.",
        ),
        (
            "Sehr geehrte Damen und Herren, Ende März bin ich aus der Wohnung in der Mühlstraße "
            "ausgezogen und habe dem Hausmeister die Schlüssel übergeben.",
            "Laut Vertrag wird die Kaution innerhalb von sechs Wochen zurückgezahlt. Inzwischen "
            "haben wir Juli und auf meinem Konto ist nichts eingegangen.",
            "Im Übergabeprotokoll ist kein Schaden vermerkt, außer einem Kratzer im Flur.",
            "Ich bitte um Überweisung des vollen Betrags samt Zinsen.",
        ),
        (
            "Mi lavadora se paró ayer en mitad del programa y ahora la puerta no se abre.",
            "En la pantalla aparece E18 y todavía queda agua en el tambor. Ya la desenchufé y "
            "esperé una hora.",
            "Cuando la enciendo de nuevo, zumba unos segundos y luego pita tres veces.",
            "Me gustaría saber cómo vaciar el agua a mano sin inundar la cocina.",
        ),
        (
            "Вчера моя стиральная машина остановилась посреди программы, и дверца не открывается.",
            "На экране горит E18, а в барабане ещё осталась вода. Я выдернул вилку и подождал час.",
            "Когда я включаю её снова, она несколько секунд гудит, а потом три раза пищит.",
            "Хотелось бы узнать, как слить воду вручную и не залить кухню. Мастер придёт нескоро.",
        ),
    ],
)
def test_what_one_letter_says_is_one_topic(parts, between):
    assert len(begins(between.join(parts))) == 1


def test_two_subjects_in_one_paragraph_are_told_apart():
    sailing = (
        "The harbour opens its locks two hours before high water. Boats wait at the pontoon until "
        "the light turns green. Skippers must call the lock keeper on channel eleven first and "
        "name their vessel, its draught and how long they want to stay."
    )
    baking = (
        "Knead flour, yeast and salt for ten minutes. Let the dough rise under a cloth near the "
        "oven. Bake the loaf until its crust sounds hollow when tapped."
    )
    _, second = begins(f"{sailing} {baking}")
    assert second in baking
    assert len(begins(f"{sailing} {sailing}")) == 1


def test_a_paragraph_begins_a_topic_with_words_of_its_own():
    def words(*numbers: int) -> set[str]:
        return {str(number) for number in numbers}

    first, other = words(*range(20)), words(*range(100, 120))
    assert paragraph_borders([first, other]) == [1]
    assert paragraph_borders([first, other | words(0)]) == [1]
    assert paragraph_borders([first, other | words(0, 1)]) == []
    assert paragraph_borders([first, words(*range(100, 111))]) == []
    assert paragraph_borders([words(50, 51), other, first]) == [2]
    assert paragraph_borders([first, other, words(3, 4, 200)]) == []
    assert paragraph_borders([first, other, words(3, 200)]) == [1]


def test_each_conversation_of_another_language_asks_its_last_question():
    said = """Ich: Wie lange ist die Kündigungsfrist für die Wohnung?
Hilfe: Drei Monate zum Ende des Monats, schriftlich.
Ich: Gilt die Kündigungsfrist für die Wohnung auch, wenn ich früher ausziehe?
Hilfe: Ja, außer Sie finden einen Nachmieter.
Ich: Welche Temperatur braucht der Ofen für ein Sauerteigbrot?
Hilfe: Am Anfang 250 Grad, nach zehn Minuten 210 Grad.
Ich: Wie starte ich den Datenbankserver nach einem Absturz neu?
Hilfe: Mit systemctl restart postgresql, vorher die Protokolle prüfen."""
    topics = cut_question(said, local_embedder().embed_passages, ADAPTIVE)
    assert [topic.segments[0].text for topic in topics] == [
        "Gilt die Kündigungsfrist für die Wohnung auch, wenn ich früher ausziehe?",
        "Welche Temperatur braucht der Ofen für ein Sauerteigbrot?",
        "Wie starte ich den Datenbankserver nach einem Absturz neu?",
    ]
    assert topics[0].segments[0].background.startswith("Wie lange ist die Kündigungsfrist")


def test_borders_lie_where_likeness_dips():
    a, b = np.eye(2)
    assert topic_borders(np.array([a, a, a, b, b, b])) == [3]
    assert topic_borders(np.array([a] * 6)) == []


def climbed(likeness: list[float]) -> float:
    """How high one comes from the first value before the next one is lower."""
    top = likeness[0]
    for value in likeness[1:]:
        if value < top:
            break
        top = value
    return top


@given(st.lists(st.sampled_from([0, 1, 2, 3]), min_size=2, max_size=30))
def test_borders_are_the_deepest_dips_that_do_not_touch(angles):
    vectors = np.array([[np.cos(angle), np.sin(angle)] for angle in angles])
    gaps = range(1, len(vectors))
    sides = [(vectors[max(0, at - 3) : at].sum(0), vectors[at : at + 3].sum(0)) for at in gaps]
    likeness = [float(a @ b) / float(np.linalg.norm(a) * np.linalg.norm(b)) for a, b in sides]
    depths = [
        climbed(likeness[at::-1]) + climbed(likeness[at:]) - 2 * likeness[at]
        for at in range(len(likeness))
    ]
    least = max(np.mean(depths) + 0.5 * np.std(depths), 0.1)
    expected: list[int] = []
    for gap in sorted(gaps, key=lambda gap: -depths[gap - 1]):
        if depths[gap - 1] >= least and not {gap - 1, gap + 1} & {*expected}:
            expected.append(gap)
    assert topic_borders(vectors) == sorted(expected)


def test_a_text_that_says_one_thing_very_often_is_one_topic():
    [topic] = cut_question("ferry. " * 20_000, EMBED, ADAPTIVE)
    assert [segment.text for segment in topic.segments] == ["ferry."]


@settings(deadline=None)
@given(st.lists(st.sampled_from([TRAVEL, BUG, RECIPE, "ok", "?"]), max_size=40))
def test_topics_are_in_order_apart_and_inside_the_text(said):
    text = chat(*said)
    topics = cut_question(text, EMBED, ADAPTIVE)
    assert [topic.index for topic in topics] == list(range(len(topics)))
    assert topics == cut_question(text, EMBED, ADAPTIVE)
    end = 0
    for topic in topics:
        assert end <= topic.start < topic.end <= len(text)
        end = topic.end
        assert all(segment.text in text for segment in topic.segments)


def asked(text: str) -> list[str]:
    topics = cut_question(text, EMBED, ADAPTIVE)
    return [segment.text for topic in topics for segment in topic.segments]


@pytest.mark.parametrize("between", [" ", "\n", "\n\n"])
def test_of_two_or_more_questions_each_asks_for_itself(between):
    said = ["What is a heat pump?", "Who built the old harbour?", "Tell me how to bake rye bread."]
    assert asked(between.join(said)) == said
    topics = cut_question(between.join(said), EMBED, ADAPTIVE)
    assert [len(topic.segments) for topic in topics] == [1, 1, 1]


def test_a_question_that_leans_on_the_one_before_is_asked_with_it():
    first, second = cut_question(
        "What is a heat pump? How long does it last? Thanks!", EMBED, ADAPTIVE
    )
    assert first.segments[0].background == ""
    assert second.segments[0].text == "How long does it last?"
    assert second.segments[0].background == "What is a heat pump? How long does it last?"


def test_a_comparison_leans_on_nothing():
    said = "Who built the old harbour? Is refinancing the same as taking out a mortgage?"
    topics = cut_question(said, EMBED, ADAPTIVE)
    assert [topic.segments[0].background for topic in topics] == ["", ""]


def test_a_question_that_leans_on_what_leads_to_it_is_asked_with_that():
    text = "We have a sauna. How long does it last? Also, where can I buy a canoe?"
    first, second = cut_question(text, EMBED, ADAPTIVE)
    assert first.segments[0].background == "We have a sauna. How long does it last?"
    assert second.segments[0].background == ""
    assert (first.start, second.end) == (0, len(text))


def test_a_note_of_a_few_words_asks_beside_questions_and_a_greeting_does_not():
    text = (
        "Hello Anna,\n\nWhat is a heat pump?\nferry times Lisbon\nWho built the harbour?\n\nBest,"
    )
    assert asked(text) == ["What is a heat pump?", "ferry times Lisbon", "Who built the harbour?"]


def test_of_a_list_each_item_asks_without_its_mark():
    assert asked("Facts for Monday:\n* ferry: price\n* harbour: who built it\n* rye bread") == [
        "ferry: price",
        "harbour: who built it",
        "rye bread",
    ]
    assert asked("1) What is a heat pump? Is it loud?\n2) Who built the harbour?") == [
        "What is a heat pump? Is it loud?",
        "Who built the harbour?",
    ]


def test_a_fragment_beside_questions_asks_in_one_line_too():
    assert asked("Who built the harbour? What is a heat pump? ferry times Lisbon") == [
        "Who built the harbour?",
        "What is a heat pump?",
        "ferry times Lisbon",
    ]


def test_a_mail_asks_what_its_sender_asks():
    text = (
        "Subject: pumps\n\nDear Anna,\n\nWhat is a heat pump?\nWho built the harbour?\n\nBest,\n"
        "Ben Miller\nHarbour Street 4\n\nOn Monday Anna wrote:\n> Can I help? Where are you?"
    )
    assert asked(text) == ["What is a heat pump?", "Who built the harbour?"]


def test_one_person_s_messages_ask_without_names_and_times():
    text = (
        "[02.04.26, 09:14] Rui: what is a heat pump\n[02.04.26, 09:15] Rui: <Media omitted>\n"
        "[02.04.26, 09:16] Rui: and who built the harbour"
    )
    assert asked(text) == ["what is a heat pump", "and who built the harbour"]


def test_a_long_text_with_one_question_is_cut_by_its_topics():
    text = "\n\n".join([TRAVEL] * 4 + [BUG] * 4 + ["Is the dough ready?"])
    assert asked(text) == [TRAVEL, BUG, "Is the dough ready?"]


def test_a_document_with_a_few_questions_in_it_is_no_message_of_questions():
    text = "\n\n".join([TRAVEL] * 30 + ["Is the dough ready?"] + [BUG] * 30 + ["Who made it?"])
    assert TRAVEL in asked(text)


def turns(user: str, other: str, *said: str) -> str:
    return "\n".join((other if n % 2 else user) + text for n, text in enumerate(said))


@pytest.mark.parametrize("labels", [("user: ", "agent: "), ("Anna: ", "Ben: ")])
def test_of_answered_questions_the_last_of_each_subject_asks(labels):
    def embed(texts):
        counts = np.array([[t.count("train"), t.count("parser")] for t in texts], np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)

    train, cheap = "Where does the train to Lisbon leave?", "Which train is cheap?"
    parser = "Why does the parser fail?"
    text = turns(
        *labels, train, "The train leaves early.", cheap, "No train is.", parser, "A bad parser."
    )
    first, second = cut_question(text, embed, ADAPTIVE)
    assert (first.segments[0].text, first.segments[0].background) == (cheap, f"{train} {cheap}")
    assert (second.segments[0].text, second.segments[0].background) == (parser, "")
    assert (first.start, second.end) == (0, len(text))


def test_an_answered_last_question_asks_beside_those_that_nobody_answered():
    text = (
        "user: Tell me about Porto.\nuser: My script fails.\nagent: Which one?\n"
        "user: The parser.\nagent: It has a bug.\nuser: Thanks!"
    )
    assert asked(text) == ["Tell me about Porto.", "The parser."]


def test_each_paragraph_that_asks_in_one_message_asks_for_itself():
    text = (
        "Me: I have a pump.\n\nHow long is the warranty?\n\nWhere is the harbour?\n"
        "Support: In Porto.\nMe: And the key?\nSupport: In the shed."
    )
    topics = cut_question(text, EMBED, ADAPTIVE)
    assert topics[0].segments[0].text == "I have a pump. How long is the warranty?"
    assert text[topics[1].start :].startswith("Where is the harbour?")


def test_without_roles_what_much_is_said_after_was_asked_and_the_last_of_each_subject_asks():
    def embed(texts):
        counts = np.array([[t.count("train"), t.count("parser")] for t in texts], np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)

    def said(word: str) -> str:
        return f"The {word} " + f"is known for many other {word} things " * 4 + "as well."

    trains = ["Where does the train leave?", "Is a train cheap?", "Night train to Porto"]
    parsers = ["Why does the parser fail?", "Who wrote a parser?", "What is a parser good for?"]
    text = "\n\n".join(
        line
        for questions, word in ((trains, "train"), (parsers, "parser"))
        for question in questions
        for line in (question, said(word))
    )
    topics = cut_question(text, embed, ADAPTIVE)
    assert [topic.segments[0].text for topic in topics] == [trains[-1], parsers[-1]]
    assert topics[0].segments[0].background == " ".join(trains)
