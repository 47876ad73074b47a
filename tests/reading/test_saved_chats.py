"""Chats that LINE and KakaoTalk save, and iMessages as an exporter writes them."""

from __future__ import annotations

import pytest

from ragkit.reading.formats import Format
from ragkit.reading.readers import read_data
from ragkit.settings import ReadingSettings

_LIMITS = ReadingSettings()


def read(text, name="chat.txt"):
    return read_data(text.encode(), name, _LIMITS)


def said(reading):
    """The messages of a reading: time, author and text."""
    found = []
    for span in reading.messages:
        text = reading.text[span.start : span.end].partition("\n")[2]
        found.append((span.at[:16], span.author, text))
    return found


# -- LINE --------------------------------------------------------------------------------------


def line(*rows, title="Anaとのトーク履歴", saved="保存日時：2024/03/16 18:30"):
    return "\n".join([f"[LINE] {title}", saved, "", *rows, ""])


def test_the_day_above_the_messages_is_theirs():
    source = line(
        "2024/03/14(木)",
        "18:30\tAna\t新しい舵が必要です",
        "18:31\tルイ\t[写真]",
        "",
        "2024/03/15(金)",
        "9:05\tルイ\t了解",
    )
    reading = read("\ufeff" + source.replace("\n", "\r\n"), "[LINE] Ana.txt")
    assert reading.format is Format.CONVERSATION
    assert reading.title == "Anaとのトーク履歴"
    assert reading.metadata["platform"] == "LINE"
    assert said(reading) == [
        ("2024-03-14T18:30", "Ana", "新しい舵が必要です"),
        ("2024-03-14T18:31", "ルイ", "[写真]"),
        ("2024-03-15T09:05", "ルイ", "了解"),
    ]


@pytest.mark.parametrize(
    ("day", "clock", "at"),
    [
        ("2015/12/25 Fri", "07:33", "2015-12-25T07:33"),
        ("2024.02.01 Thursday", "12:30 PM", "2024-02-01T12:30"),
        ("2024.02.01 Thursday", "12:05 AM", "2024-02-01T00:05"),
        ("Sat, 11/01/2025", "9:30AM", "2025-11-01T09:30"),
        ("Sun, 26/04/2026", "04:35PM", "2026-04-26T16:35"),
        ("Wed, 04/03/2026", "04:35pm", "2026-03-04T16:35"),
        ("2024/01/05（五）", "下午01:02", "2024-01-05T13:02"),
        ("2024/01/15 จันทร์", "10:30", "2024-01-15T10:30"),
        ("2024/01/15(月)", "午前0:30", "2024-01-15T00:30"),
    ],
)
def test_days_and_clocks_of_line_in_many_languages(day, clock, at):
    source = line(day, f"{clock}\tAmy\thi", f"{clock}\tMe\tyo", title="Chat history with Amy")
    assert said(read(source)) == [(at, "Amy", "hi"), (at, "Me", "yo")]


def test_messages_of_several_lines_stand_in_quotation_marks():
    source = line(
        "2026/10/01(木)",
        '09:00\t私\t"確認します',
        "2026/10/02(金)",
        'まだ ""本文"" の中です"',
        '09:01\tAna\t"is this one" line?',
        "09:02\tAna\twithout marks",
        "its second line",
    )
    assert said(read(source)) == [
        ("2026-10-01T09:00", "私", '確認します\n2026/10/02(金)\nまだ "本文" の中です'),
        ("2026-10-01T09:01", "Ana", '"is this one" line?'),
        ("2026-10-01T09:02", "Ana", "without marks\nits second line"),
    ]


def test_a_mark_that_is_never_closed_takes_no_day_away():
    source = line(
        "2024/03/14(木)",
        '18:30\tAna\t"hm',
        "",
        "2024/03/15(金)",
        "9:05\tRui\tyes",
        "9:06\tAna\tgood",
    )
    assert said(read(source)) == [
        ("2024-03-14T18:30", "Ana", '"hm'),
        ("2024-03-15T09:05", "Rui", "yes"),
        ("2024-03-15T09:06", "Ana", "good"),
    ]


def test_notices_of_line_have_no_author():
    source = line(
        "2024/03/14(木)", "18:30\tAna joined", "18:31\t\tRui left", "18:32\tA\t1", "18:33\tA\t2"
    )
    assert said(read(source))[:2] == [
        ("2024-03-14T18:30", "", "Ana joined"),
        ("2024-03-14T18:31", "", "Rui left"),
    ]


# -- KakaoTalk ---------------------------------------------------------------------------------


def test_kakaotalk_on_a_computer():
    source = (
        "아나 님과 카카오톡 대화\n저장한 날짜 : 2024-03-16 10:00:00\n\n"
        "--------------- 2024년 3월 14일 목요일 ---------------\n"
        "[아나] [오후 6:30] 새 키가 필요해요\n[루이/94/늑 대#3] [오후 6:31] 열쇠는\n어디 있어요?\n"
        "--------------- 2024년 3월 15일 금요일 ---------------\n"
        "[루이/94/늑 대#3] [오전 12:05] 네\n"
    )
    reading = read(source, "KakaoTalk_20240316_1000_아나.txt")
    assert reading.title == "아나 님과 카카오톡 대화"
    assert said(reading) == [
        ("2024-03-14T18:30", "아나", "새 키가 필요해요"),
        ("2024-03-14T18:31", "루이/94/늑 대#3", "열쇠는\n어디 있어요?"),
        ("2024-03-15T00:05", "루이/94/늑 대#3", "네"),
    ]


def test_kakaotalk_on_a_phone():
    source = (
        "아나 님과 카카오톡 대화\n저장한 날짜 : 2024년 3월 16일 오전 10:00\n\n"
        "2024년 3월 14일 오후 6:30\n2024년 3월 14일 오후 6:30, 아나 : 새 키가 필요해요\n"
        "2024년 3월 14일 오후 6:31, 루이 : 10:30 : 11:30 중?\n"
        "2024년 3월 15일 오전 9:05, 루이님이 나갔습니다.\n"
    )
    assert said(read(source, "KakaoTalkChats.txt")) == [
        ("2024-03-14T18:30", "아나", "새 키가 필요해요"),
        ("2024-03-14T18:31", "루이", "10:30 : 11:30 중?"),
        ("2024-03-15T09:05", "", "루이님이 나갔습니다."),
    ]


@pytest.mark.parametrize("begin", ["March 14, 2024 at 6:30\u202fPM, ", "Mar 14, 2024, 6:30 p.m., "])
def test_kakaotalk_in_english(begin):
    source = (
        f"KakaoTalk Chats with Ana\nDate Saved : Mar 16, 2024, 10:00 AM\n\n{begin}Ana : A rudder?\n"
        f"{begin}Rui : Yes\n"
    )
    assert said(read(source)) == [
        ("2024-03-14T18:30", "Ana", "A rudder?"),
        ("2024-03-14T18:30", "Rui", "Yes"),
    ]


# -- iMessage ----------------------------------------------------------------------------------


def test_imessages_have_lines_for_time_author_and_text():
    source = (
        "Jul 12, 2024  4:54:10 PM (Read by you after 1 minute, 2 seconds)\nAna Berg\n"
        "The four needs a rudder\n\nwhere from?\n\nJul 13, 2024  9:00:00 AM\nMe\nNo idea\n\n"
    )
    reading = read(source, "Ana Berg.txt")
    assert reading.title == "Ana Berg"
    assert said(reading) == [
        ("2024-07-12T16:54", "Ana Berg", "The four needs a rudder\n\nwhere from?"),
        ("2024-07-13T09:00", "Me", "No idea"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[LINE] is a messenger.\n\nIt was made in 2011, and has 190 million users.\n",
        "Jul 12, 2024  4:54:10 PM\nThe server was restarted.\n",
        "KakaoTalk Chats are saved as text files.\n\n[A] writes, then [B] answers.\n",
    ],
)
def test_texts_about_them_are_texts(text):
    assert read(text).format is Format.TEXT
