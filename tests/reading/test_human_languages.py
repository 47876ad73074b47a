"""Which language a document is in: what it says, or what its prose shows."""

from __future__ import annotations

import pytest
from reading_files import read

from ragkit.reading.languages import language_code, language_names

GERMAN = (
    "Der Mietvertrag kann mit einer Frist von drei Monaten gekündigt werden. Die Schlüssel sind am "
    "letzten Werktag abzugeben, und die Wohnung ist besenrein zu übergeben.\n"
)
JAPANESE = "従業員には年に三十日の有給休暇がある。申請は上司が承認する。\n"
FRENCH = (
    "La réunion de mardi est reportée à jeudi parce que la salle était déjà prise. Merci "
    "d’apporter les documents du mois dernier.\n"
)
TRAVEL = (
    "# 京都旅行2026\n\n3月12日(木)に東京駅から新幹線のぞみ21号で出発。ホテルは四条烏丸から"
    "徒歩5分です。"
    "予約番号はKYT-8812、PDFとQRコードはGmailにあります。\n"
)
CHINESE = (
    "OCRmyPDF 16.1 为扫描的 PDF 文件添加文字层，使它们可以被搜索。"
    "它在 Linux、macOS 和 Windows 上运行，支持 100 多种语言。[安装](https://ocrmypdf.readthedocs.io/en/latest/installation.html)\n"
)
LINKS = "- [Der Vertrag](https://www.example.org/the-contract-and-all-of-its-terms-for-this-year)\n"
CODE = "```python\nfor name in names:\n    print(name, end='and the other is in this')\n```\n"


@pytest.mark.parametrize(
    ("name", "text", "language"),
    [
        ("a.txt", GERMAN, "de"),
        ("a.md", f"# Note\n\n{CODE * 9}\n{GERMAN}", "de"),
        ("a.rst", f"Kündigung\n~~~~~~~~~\n\n{GERMAN}", "de"),
        ("a.txt", JAPANESE, "ja"),
        ("a.md", TRAVEL, "ja"),
        ("a.md", CHINESE, "zh"),
        ("a.md", LINKS * 3 + GERMAN, "de"),
        ("a.html", f"<html><body><p>{FRENCH}</p></body></html>", "fr"),
        ("a.html", f'<html lang="en-GB"><body><p>{FRENCH}</p></body></html>', "en"),
        ("a.md", f"---\nlanguage: English\n---\n{GERMAN}", "en"),
        ("a.txt", "Ein kurzer Satz.\n", ""),  # too little to tell
        ("a.txt", "4711 08/15 2026-01-02 x=1 a_b c@d\n" * 40, ""),  # no words
        ("a.md", CODE * 9, ""),
        ("a.csv", "name,city\n" + "Der Mann,die Stadt ist nicht mit dem\n" * 20, ""),
        ("a.py", f'"""{GERMAN}"""\n', ""),
    ],
)
def test_the_language_of_a_document(tmp_path, name, text, language):
    assert read(tmp_path, name, text).language == language


def test_a_language_that_people_speak_is_no_programming_language(tmp_path):
    spoken = read(tmp_path, "a.md", f"---\nlanguage: pt-BR\n---\n{GERMAN}")
    assert (spoken.language, spoken.metadata) == ("pt", {})
    written = read(tmp_path, "b.md", f"---\nlanguage: Vue\n---\n{GERMAN}")
    assert (written.language, written.metadata) == ("de", {"language": "Vue"})


def test_a_detector_that_fails_fails_no_document(tmp_path, monkeypatch):
    def panic(sample):
        raise BaseException("panicked")

    monkeypatch.setattr("ragkit.reading.languages._detected", panic)
    reading = read(tmp_path, "a.txt", GERMAN)
    assert (reading.text, reading.language) == (GERMAN, "")


@pytest.mark.parametrize(
    ("written", "code"),
    [("German", "de"), (" DE-at ", "de"), ("zh_Hant", "zh"), ("jpn", "ja"), ("nb", "no"),
     ("Português", "pt"), ("ESPANOL", "es"), ("한국어", "ko"), ("हिन्दी", "hi"),
     ("python", ""), ("", ""), ("und", "")],
)  # fmt: skip
def test_codes_of_languages(written, code):
    assert language_code(written) == code


def test_every_code_has_a_name():
    assert language_names()["ja"] == "Japanese"
    assert all(language_code(name) == code for code, name in language_names().items())
