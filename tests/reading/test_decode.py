from __future__ import annotations

import unicodedata

import pytest
from reading_files import read

from ragkit.reading.decode import clean, decode

ENCODED = [
    ("Résumé of the naïve café: “quoted” – 5€ and more words. " * 5, "cp1252"),
    ("日本語の文書です。検索できますか。\n" * 10, "shift_jis"),
    ("日本語の文書です。検索できますか。\n" * 10, "euc_jp"),
    ("日本語の文書です。検索できますか。\n" * 10, "iso2022_jp"),
    ("日本語の文書です。検索できますか。\n" * 10, "utf-16-le"),
    ("日本語の文書です。検索できますか。\n" * 10, "utf-16-be"),
    ("这是一个中文文档，用于检索测试。\n" * 10, "gb18030"),
    ("這是一個中文文檔，用於檢索測試。\n" * 10, "big5"),
    ("한국어 문서입니다. 검색 시험.\n" * 10, "euc_kr"),
    ("Это русский документ для проверки поиска.\n" * 10, "koi8_r"),
    ("Это русский документ для проверки поиска.\n" * 10, "cp1251"),
    ("Αυτό είναι ένα ελληνικό έγγραφο.\n" * 10, "iso8859_7"),
    ("זה מסמך בעברית לבדיקת החיפוש.\n" * 10, "cp1255"),
    ("هذه وثيقة عربية للاختبار.\n" * 10, "cp1256"),
    ("Plain words, nothing else at all.\n" * 10, "utf-16-le"),
    ("Plain words, nothing else at all.\n" * 10, "utf-32-be"),
    ("Plain words with a mark.\n" * 10, "utf-16"),
    ("Grüße 日本 👩‍👧\n" * 10, "utf-8-sig"),
]


@pytest.mark.parametrize(("text", "encoding"), ENCODED, ids=[one[1] for one in ENCODED])
def test_encodings_are_found_out(tmp_path, text, encoding):
    assert read(tmp_path, "a.txt", text.encode(encoding)).text == text


def test_broken_bytes_in_utf8_are_replaced_with_a_warning():
    text, warnings = decode("Grüße aus Köln, schöne Grüße".encode() + b"\xff\xfe end")
    assert text.startswith("Grüße aus Köln")
    assert text.endswith(" end")
    assert "replaced" in warnings[0]


def test_clean_text_is_composed_and_without_controls():
    assert clean("a\r\nb\rc\x00\x07d\x1b[31me\x85f\u2028g") == "a\nb\ncde\nf\ng"
    assert clean(unicodedata.normalize("NFD", "é ü")) == "é ü"
    assert clean("\ufeffx\u200by") == "x\u200by"
    assert clean("a\ud800b").encode()


def test_a_declared_encoding_that_is_no_name_is_ignored():
    assert decode("Grüße aus der Straße".encode("cp1252"), "utf-8\0")[0] == "Grüße aus der Straße"


@pytest.mark.parametrize(
    ("name", "source", "encoding"),
    [
        ("a.xml", '<?xml version="1.0" encoding="{}"?>\n<t>{}</t>', "windows-1257"),
        ("a.py", "#!/usr/bin/python\n# -*- coding: {} -*-\n# {}\n", "iso8859-13"),
        ("a.py", "# vim: set fileencoding={} :\nx = 1  # {}\n", "cp1257"),
        ("a.html", '<html><meta charset="{}"><body>{}', "windows-1257"),
    ],
)
def test_a_file_is_read_in_the_encoding_that_it_declares(tmp_path, name, source, encoding):
    words = "Ačiū už pagalbą ir šiltą žodį"
    reading = read(tmp_path, name, source.format(encoding, words).encode(encoding))
    assert words in reading.text
    assert reading.warnings == ()


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Grüße", "cp1252"), ("Müller", "cp1252"), ("Rechnung für März über 300", "cp1252"),
        ("Käse kaufen", "cp1252"), ("résumé", "cp1252"), ("Straße, 5 m³", "cp1252"),
        ("¿Cómo está usted?", "cp1252"), ("Zażółć gęślą jaźń", "cp1250"),
        ("Łódź jest piękna", "cp1250"), ("Спасибо за помощь", "cp1251"),
        ("Καλημέρα κόσμε", "cp1253"), ("привет мама как дела", "cp1251"),
        ("мама пришла домой поздно", "cp1251"),
    ],
)  # fmt: skip
def test_the_encoding_of_a_few_words_is_found_out(text, encoding):
    assert decode(text.encode(encoding))[0] == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("It’s the company’s policy – “always on time” – and we don’t change it.", "cp1252"),
        ("Dear Ms Smith,\n\nIt’s good that you’re well; we’ll meet – as agreed.", "cp1252"),
        ("Here’s one apostrophe. " + "The quick fox jumps over the lazy dog. " * 40, "cp1252"),
        ("Bullet • one\nBullet • two\nBullet • three and it’s fine…", "cp1252"),
        ("Section 5—Terms—of this Agreement", "cp1252"), ("Mr. O’Brien’s €1.5m house", "cp1252"),
        ("She said: ‘It’s over’. Then—silence.", "cp1252"), ("50‰ of the “total”", "cp1252"),
        ("Grüße aus Köln – „schön hier“ – kostet 50 €.", "cp1252"),
        ("Öffnungszeiten der Ämter", "cp1252"), ("Ça va ? Oui, très bien, merci !", "cp1252"),
        ("L’école d’été coûte 300 € – c’est déjà payé…", "cp1252"),
        ("El niño comió – “mañana” – señor.", "cp1252"),
        ("Smörgåsbord på svenska – “räksmörgås”", "cp1252"),
        ("Zażółć gęślą jaźń – „dzień dobry”", "cp1250"),
        ("Привет – «как дела»? Это “тест”…", "cp1251"),
        ("Grüße aus Köln, schöne Straße, größer", "cp437"),
        ("Café déjà vu, naïve élève à la forêt", "cp437"),
        ("Välkommen till Åre, vi går på fjället och äter smörgås", "cp437"),
        ("La población española está más tranquila mañana", "cp437"),
        ("┌────┐\n│ Menü │\n└────┘ für Größe", "cp437"),
        ("C:\\>TREE\n├───DATEN\n│   └───GRÖSSE\n└───SPAß für alle", "cp437"),
        ("■ Erster Punkt für Größe\n■ Zweiter Punkt über Öl", "cp437"),
    ],
)  # fmt: skip
def test_the_encoding_of_everyday_texts_is_found_out(text, encoding):
    assert decode(text.encode(encoding))[0] == text


@pytest.mark.parametrize(
    ("label", "data", "text"),
    [
        ("iso-8859-1", b"don\x92t \x96 \x8050 \x93caf\xe9\x94\x85", "don’t – €50 “café”…"),
        ("Latin1", b"\x80 caf\xe9", "€ café"),
        ("iso-8859-1", b"caf\xe9 \x81", "café \x81"),
        ("us-ascii", b"don\x92t \x93x\x94 \x96 caf\xe9", "don’t “x” – café"),
        ("iso-8859-9", b"\x80 \xfeehir", "€ şehir"),
        ("gb2312", "鎔 €".encode("gb18030"), "鎔 €"),
        ("x-gbk", "中文檢索".encode("gbk"), "中文檢索"),
        ("shift_jis", "① 髙島".encode("cp932"), "① 髙島"),
        ("x-sjis", "検索".encode("cp932"), "検索"),
        ("ks_c_5601-1987", "똠방각하".encode("cp949"), "똠방각하"),
        ("windows-949", "한국어".encode("cp949"), "한국어"),
        ("x-mac-cyrillic", "Привет".encode("mac_cyrillic"), "Привет"),
        ("koi8-ru", "Привіт".encode("koi8_u"), "Привіт"),
        ("iso-8859-8-i", "שלום".encode("iso8859_8"), "שלום"),
        ("dos-874", "ภาษา".encode("cp874"), "ภาษา"),
        ("x-unknown", "Grüße".encode("cp1252"), "Grüße"),
        ("idna", "Grüße".encode("cp1252"), "Grüße"),
    ],
)
def test_a_declared_encoding_means_what_it_means_to_browsers(label, data, text):
    assert decode(data, label)[0] == text
