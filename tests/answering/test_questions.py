"""What a question asks for, in several languages, and whether a sentence holds it."""

from __future__ import annotations

import pytest

from ragkit.answering.questions import Kind, Question


@pytest.mark.parametrize(
    ("question", "tells", "tells_not"),
    [
        ("Wie viel Uhr öffnet das Büro?", "Es öffnet mittwochs später.", "Das Büro ist groß."),
        ("À quelle heure ferme le bureau ?", "Il ferme à midi.", "Le bureau est en brique."),
        ("Quand ferme le bureau ?", "Il est fermé en août.", "Le bureau est en brique."),
        ("¿A qué hora cierra la oficina?", "Los lunes cierra antes.", "La oficina es grande."),
        ("¿Cuándo empezó la obra?", "Empezó en abril.", "Empezó bien."),
        ("A che ora chiude l'ufficio?", "La domenica non apre.", "L'ufficio è grande."),
        ("Quando apre l'ufficio?", "Apre a gennaio.", "L'ufficio è grande."),
        ("A que horas fecha o escritório?", "Fecha ao sábado.", "O escritório é grande."),
        ("Во сколько закрывается офис?", "Он закрывается вечером.", "Офис большой."),
        ("Когда открывается офис?", "Он откроется в мае, в среду.", "Офис большой."),
    ],
)
def test_an_answer_to_when_says_a_time(question, tells, tells_not):
    asked = Question(question)
    assert asked.kind is Kind.TIME
    assert asked.is_met_by(tells)
    assert not asked.is_met_by(tells_not)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Qui a écrit le noyau ?", Kind.WHO),
        ("Bonjour, qui a écrit le noyau ?", Kind.WHO),
        ("À qui dois-je écrire ?", Kind.WHO),
        ("le logiciel qui envoie des mails", Kind.OTHER),
        ("Wie viel kostet der Beitrag?", Kind.AMOUNT),
        ("Сколько стоит взнос?", Kind.AMOUNT),
    ],
)
def test_a_word_that_asks_is_told_from_one_that_does_not(question, kind):
    assert Question(question).kind is kind
