"""Which sentences ask, with and without a question mark."""

from __future__ import annotations

import pytest

from ragkit.retrieval.query_segmentation.asking import asks


@pytest.mark.parametrize(
    "sentence",
    [
        "How long may I keep it?",
        '"Where is the key?"',
        "¿Cuánto cuesta el billete?",
        "保証は何年ですか？",
        "how long does a visa take",
        "what all facilities does this library provide",
        "and also, can i bring a dog",
        "Please tell me about the history of the flag.",
        "I would like to know whether dinner is included.",
        "I am not sure which form we have to send.",
        "Ich würde gern wissen, wann der Zug fährt.",
        "and how about the return journey",
        "2. explain the difference between both tariffs",
        "who worried about the bill",
        "Ben asks within how many days a pump is exchanged.",
        "what's the deal with the playground",
        "whether the mesh held up",
        "need to know where the files are stored",
        "for the report I need the price of a pump",
        "did Nora say when Ines begins",
        "Ich bräuchte noch den Hotelsatz.",
        "Je voudrais savoir comment changer les couleurs.",
        "Necesito la dirección del puerto.",
        "Also what happens when two users press a button at the same time.",
        "what causes the error 0x80070005",
        "And which plan includes phone support",
        "which bus goes to the airport on sundays",
        "where the fuse box is",
        "what to do when the screen freezes",
        "how far in advance should we book",
        "why the invoice shows the wrong VAT rate",
        "do guests need their own towels",
        "can visitors use the gym",
        "can visitors attend the opening",
        "do members order online",
        "is breakfast included",
        "are pets welcome in the cottage",
        "whos in charge of the catering",
        "Whats the fee for late payment",
        "I'd like to know the opening hours on Sundays.",
        "Not sure how to reset the thermostat.",
        "Please send me the address of the clinic.",
        "Wie hoch ist die Kaution",
        "Was passiert bei verspäteter Zahlung",
        "Combien coûte le parking",
        "Dónde puedo aparcar",
        "Quanto costa il biglietto",
    ],
)
def test_what_asks(sentence):
    assert asks(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "I bought it in May.",
        "When I came home, the door was open.",
        "What I did was wrong.",
        "Do the same with the second pump.",
        "Please find the invoice attached.",
        "Thank you for your help!",
        "Hello Anna,",
        "It works.",
        "Whether it rains or not, we go.",
        "I need to leave now.",
        "I know how it works.",
        "She knows where the keys are.",
        "Let me know if there is anything else.",
        "Which brings me to the second point.",
        "List of ingredients below.",
        "Show must go on.",
        "May was rainy.",
        "May contain traces of nuts.",
        "Would love to join.",
        "Was ich sagen wollte, ist einfach.",
        "Quand il pleut, je reste.",
    ],
)
def test_what_does_not_ask(sentence):
    assert not asks(sentence)
