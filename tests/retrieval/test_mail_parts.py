"""The parts of a mail that ask nothing."""

from __future__ import annotations

import pytest

from ragkit.retrieval.query_segmentation.mail_parts import without_mail_parts

QUESTION = "Where is the key of the shed? Who has the boat?"


@pytest.mark.parametrize(
    "mail",
    [
        "Dear Ms Osei,\n\n{}\n\nKind regards\nTorben Asmussen\nAm Deich 4\nTel. +49 4861 5550",
        "Hi all,\n\n{}\n\nThanks a lot!\nAnna",
        "Hallo zusammen,\n\n{}\n\nViele Grüße\nSami",
        "Bonjour Camille,\n{}\nMerci d'avance,\nBastien",
        "Buenos días,\n\n{}\n\nUn saludo,\nJosé",
        "Subject: Re: the shed\n\n{}\n\nSent from my phone",
        "From: Anna\nTo: Ben\nSubject: shed\n\nDear Ben,\n{}",
        "{}\n-- \nAnna Berg · Analytics\nDid you know that we plant trees?",
        "{}\n\nOn Tue, 3 Mar 2026 at 10:12, Ben wrote:\n> Do you need anything?\n>\n> Ben",
        "{}\n\nOn Tue, 3 Mar 2026 at 10:12, Ben Miller\n<ben@example.org> wrote:\n> Anything else?",
        "{}\n\n> Am 3. März schrieb Ben:\n> Noch etwas?\n",
        "{}\n\n-----Original Message-----\nFrom: Ben\nSent: Monday\n\nDo you need anything?",
        "{}\n\nVon: Ben\nGesendet: Montag\nAn: Anna\n\nBraucht ihr etwas?",
    ],
)
def test_only_what_the_sender_asks_is_left_and_keeps_its_place(mail):
    text = mail.format(QUESTION)
    shown = without_mail_parts(text)
    assert shown.strip() == QUESTION
    assert len(shown) == len(text)
    assert shown.index(QUESTION) == text.index(QUESTION)


@pytest.mark.parametrize(
    "text",
    [
        QUESTION,
        "Hello",
        "Best,\nAnna",
        "Pumps\n--\n" + "They are wet.\n" * 12,
        "hi where is the key\nwho has the boat",
        "Best time for the ferry\nThanks to whom do we owe the boat?",
        "Dear customers pay how much?\nWho else?",
        "On Monday Ben wrote:\n> Where is the key?\n\nI know. Who has the boat?",
        "Anna: Where is the key?\nBen: In the shed.\nAnna: And the boat?",
    ],
)
def test_other_texts_stay_as_they_are(text):
    assert without_mail_parts(text) == text


def test_what_asks_below_a_closing_line_still_asks():
    shown = without_mail_parts("Where is the key?\n\nThanks!\n\nPS: Who has the boat?")
    assert shown.split() == ["Where", "is", "the", "key?", "PS:", "Who", "has", "the", "boat?"]


def test_many_quoted_lines_are_read_once():
    text = "On Monday Ben wrote:\n> wrote:\n" * 20_000 + "Who has the boat?"
    assert without_mail_parts(text) == text
