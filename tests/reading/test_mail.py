from __future__ import annotations

import base64
import plistlib
import random
from email.message import EmailMessage

import pytest
from reading_files import SETTINGS, headers, read, said, sessions

from ragkit.errors import ReadingError
from ragkit.reading import mail, mail_message, read_file
from ragkit.reading.limits import Limits
from ragkit.settings import ReadingSettings
from ragkit.types import Markup


def test_mail_shows_who_when_and_what(tmp_path):
    reading = read(
        tmp_path,
        "a.eml",
        "From: Ann <ann@example.org>\nTo: b@example.org\nCc: Cy <c@example.org>,\n d@example.org\n"
        "Bcc: e@example.org\nDate: Tue, 03 Mar 2026 10:00:00 +0100\n"
        "Subject: =?utf-8?B?UsOpdW5pb24=?=\nMIME-Version: 1.0\n"
        "Content-Type: multipart/mixed; boundary=x\n\n--x\n"
        "Content-Type: text/plain; charset=iso-8859-1\n"
        "Content-Transfer-Encoding: quoted-printable\n\n"
        "R=E9union =E0 10h\n--x\nContent-Type: application/pdf; name=plan.pdf\n"
        "Content-Disposition: attachment; filename=plan.pdf\n"
        "Content-Transfer-Encoding: base64\n\nAAAA\n--x--\n",
    )
    assert reading.title == "Réunion"
    assert reading.text == (
        "From: Ann <ann@example.org>\nTo: b@example.org\nCc: Cy <c@example.org>, d@example.org\n"
        "Bcc: e@example.org\nDate: Tue, 03 Mar 2026 10:00:00 +0100\n\n"
        "Réunion à 10h\n\nAttachments: plan.pdf"
    )
    assert reading.metadata == {
        "author": "Ann <ann@example.org>",
        "to": "b@example.org",
        "cc": "Cy <c@example.org>, d@example.org",
        "bcc": "e@example.org",
        "date": "2026-03-03T10:00:00+01:00",
        "attachments": ["plan.pdf"],
    }


def test_names_whose_letters_are_cut_by_their_encoding_are_whole(tmp_path):
    data = "Магазин «Синий чайник»".encode()
    pieces = (base64.b64encode(part).decode() for part in (data[:9], data[9:20], data[20:]))
    name = "\n ".join(f"=?UTF-8?B?{piece}?=" for piece in pieces)
    mail = (
        f"From: {name} <a@b.example>\nTo: =?utf-8?Q?Bj=C3?= =?utf-8?q?=B6rn?= <b@b.example>,\n"
        f' "{name}" <c@b.example>\nCc: =?utf-8?b?!?= =?utf-8?b?=?= <d@b.example>\nSubject: s\n\nHi'
    )
    metadata = read(tmp_path, "a.eml", mail).metadata
    assert metadata["author"] == "Магазин «Синий чайник» <a@b.example>"
    assert metadata["to"] == "Björn <b@b.example>, Магазин «Синий чайник» <c@b.example>"
    assert "d@b.example" in metadata["cc"]


@pytest.mark.parametrize(
    ("label", "encoding", "subject"),
    [
        # Programs write what is not in GB 2312 under its name, and the like.
        ("gb2312", "gb18030", "看这个朱镕基和〇"),
        ("big5", "big5hkscs", "港鐵嘅車"),
        ("iso-8859-1", "cp1252", "Preis: 5 €"),
        ("x-windows-949", "cp949", "똠방각하"),
        ("utf-8", "utf-8", "Réunion"),
        ("klingon", "utf-8", ""),
    ],
)
def test_subjects_are_read_as_their_programs_mean(tmp_path, label, encoding, subject):
    word = base64.b64encode(subject.encode(encoding)).decode()
    file = tmp_path / "mail.eml"
    file.write_text(f"From: a@b.example\nSubject: x =?{label}?B?{word}?= y\n\nHello", "ascii")
    title = read_file(file, file.name, Limits.of(SETTINGS)).title
    assert title == " ".join(("x", *filter(None, [subject]), "y"))


def test_every_recipient_of_a_long_list_is_kept(tmp_path):
    people = ", ".join(f"person{number}@example.org" for number in range(40))
    reading = read(tmp_path, "a.eml", f"From: a@example.org\nTo: {people}\nSubject: s\n\nHello")
    assert reading.metadata["to"] == people
    assert f"To: {people}\n" in reading.text


def with_attachments(*attachments, subject="Ferry", text="See the file."):
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "ann@example.org", subject
    mail.set_content(text)
    for name, content in attachments:
        if isinstance(content, EmailMessage):
            mail.add_attachment(content)
        else:
            mail.add_attachment(
                content, maintype="application", subtype="octet-stream", filename=name
            )
    return mail


def test_attachments_follow_their_mail_as_sections(tmp_path):
    files = (
        ("fares.txt", b"Kyoto: 3 euros.\n"),
        ("pier.png", b"\x89PNG\r\n\x1a\n"),
        ("note.md", b"# Old pier\n\nClosed in May.\n"),
        ("plan.pdf", b"%PDF-1.4 broken"),
    )
    reading = read(tmp_path, "a.eml", with_attachments(*files).as_bytes())
    assert reading.text == (
        "From: ann@example.org\n\nSee the file.\n\n"
        "Attachments: fares.txt, pier.png, note.md, plan.pdf\n\n"
        "fares.txt\n\nKyoto: 3 euros.\n\nnote.md\n\n# Old pier\n\nClosed in May."
    )
    found = [(reading.text[entry.offset :][:7], entry.title) for entry in reading.outline]
    assert found == [("fares.t", "fares.txt"), ("note.md", "note.md")]
    assert reading.warnings == (
        "The attachment plan.pdf was not read: This PDF is damaged or incomplete and cannot be "
        "opened.",
    )


def test_mails_within_mails_are_read_so_deep(tmp_path):
    mail = with_attachments(subject="0", text="Level 0.")
    for level in range(1, 6):
        mail = with_attachments(("", mail), subject=str(level), text=f"Level {level}.")
    text = read(tmp_path, "a.eml", mail.as_bytes()).text
    assert [level for level in range(6) if f"Level {level}." in text] == [2, 3, 4, 5]
    assert "Attachments: 4\n\n4\n\nFrom: ann@example.org\n\nLevel 4." in text


def test_an_attachment_too_long_for_the_limit_is_left_out(tmp_path):
    files = ("long.txt", b"word " * 150_000), ("short.txt", b"Bring a coat.")
    data = with_attachments(*files).as_bytes()
    reading = read(tmp_path, "a.eml", data, ReadingSettings(max_text_mb=0.5))
    assert "word word" not in reading.text
    assert reading.text.endswith("short.txt\n\nBring a coat.")
    assert len(reading.warnings) == 1


def part(kind, content, *headers, encoded=False):
    """A part of a mail, in base64 if it is to be ``encoded``."""
    data = content if isinstance(content, bytes) else content.encode()
    if encoded:
        headers = (*headers, "Content-Transfer-Encoding: base64")
        data = base64.encodebytes(data)
    return "\n".join((f"Content-Type: {kind}", *headers, "", "")).encode() + data


def divided(kind, *parts, mark="x"):
    """A part that consists of others."""
    begun = (f"\n--{mark}\n".encode() + each for each in parts)
    content = b"".join(begun) + f"\n--{mark}--\n".encode()
    return part(f'multipart/{kind}; boundary="{mark}"', content)


PAGE = part("text/html", "<p>It costs <b>900</b> euros.</p>")
FOOTER = part("text/plain", "List of the pier\n-- \nnobody@example.org")
INVITATION = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Lunch\nEND:VEVENT\nEND:VCALENDAR\n"
ENRICHED = "<bold>It</bold> costs\n900 << 1000<param>red</param> euros.\n\nToday.\n"
MARKDOWN_FOOTER = "List of the pier\n\\-- \nnobody@example.org"


@pytest.mark.parametrize(
    ("mail", "text"),
    [
        (divided("mixed", PAGE, FOOTER), f"It costs **900** euros.\n\n{MARKDOWN_FOOTER}"),
        (
            divided("mixed", part("text/plain", "First."), part("text/x-diff", "-a\n+b"), PAGE),
            "First.\n\n-a\n+b\n\nIt costs **900** euros.",
        ),
        (
            divided("mixed", part("text/plain", "It costs 900 euros."), PAGE),
            "It costs 900 euros.",
        ),
        (divided("related", PAGE, part("text/css", "p { color: red }")), "It costs **900** euros."),
        (part("text/markdown", "# Fees\n\n900 euros", encoded=True), "# Fees\n\n900 euros"),
        (part("text/x-log", "Fee: 900", encoded=True), "Fee: 900"),
        (part("text/enriched", ENRICHED), "It costs 900 < 1000 euros.\nToday."),
        (part("text/plain; name=body.txt", "Fee: 900", encoded=True), "Fee: 900"),
        (divided("alternative", part("text/calendar", INVITATION)), "## Lunch"),
        (
            divided("alternative", PAGE, part("text/plain; name=a.txt", "It costs 900.")),
            "It costs 900.",
        ),
        (divided("alternative", part("text/plain", " \n"), PAGE), "It costs **900** euros."),
        (
            divided("alternative", part("text/plain", "Fee"), divided("related", PAGE, mark="y")),
            "It costs **900** euros.",
        ),
    ],
)
def test_the_body_of_a_mail_is_all_that_is_shown(tmp_path, mail, text):
    reading = read(tmp_path, "a.eml", b"From: ann@example.org\n" + mail)
    assert reading.text == f"From: ann@example.org\n\n{text}"
    assert "attachments" not in reading.metadata


def test_a_mail_that_is_an_attachment_has_no_body(tmp_path):
    headers = 'Content-Disposition: attachment; filename="fees.txt"'
    mail = part("text/plain; charset=koi8-r", "Плата".encode("koi8-r"), headers, encoded=True)
    reading = read(tmp_path, "a.eml", b"From: ann@example.org\n" + mail)
    assert reading.text == "From: ann@example.org\n\nAttachments: fees.txt\n\nfees.txt\n\nПлата"


def test_attachments_of_alternatives_that_are_not_shown_are_read(tmp_path):
    notes = part("text/plain; name=notes.txt", "Bring a coat.", "Content-Disposition: inline")
    rich = divided("mixed", PAGE, notes, PAGE, mark="y")
    mail = divided("alternative", part("text/plain", "It costs 900 euros."), rich)
    assert read(tmp_path, "a.eml", mail).text == (
        "It costs 900 euros.\n\nAttachments: notes.txt\n\nnotes.txt\n\nBring a coat."
    )


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf", b"\r\n", b"\n\n"])
def test_what_is_before_the_headers_does_not_end_them(tmp_path, start):
    reading = read(tmp_path, "a.eml", start + b"From: ann@example.org\nSubject: Fees\n\n900 euros")
    assert (reading.title, reading.text) == ("Fees", "From: ann@example.org\n\n900 euros")


@pytest.mark.parametrize(
    ("charset", "data"),
    [
        ("", "Größe 4 für 20 Boote, und Fähren".encode("cp1252")),
        ("", "Größe 4 für 20 Boote, und Fähren".encode()),
        ("nope", "Größe 4 für 20 Boote, und Fähren".encode("cp1252")),
        ("utf-8", "Größe 4 für 20 Boote, und Fähren".encode("cp1252")),
        ("utf-7", "Größe 4 für 20 Boote, und Fähren".encode("utf-7")),
    ],
)
def test_the_charset_of_a_mail_may_be_wrong(tmp_path, charset, data):
    kind = f"text/plain; charset={charset}" if charset else "text/plain"
    reading = read(tmp_path, "a.eml", "Subject: Fähre\n".encode("cp1252") + part(kind, data))
    assert reading.text == "Größe 4 für 20 Boote, und Fähren"
    assert reading.title == "Fähre"


def test_a_page_in_a_mail_may_name_its_own_charset(tmp_path):
    page = '<html><head><meta charset="koi8-r"></head><body><p>Плата</p></body></html>'
    assert read(tmp_path, "a.eml", part("text/html", page.encode("koi8-r"))).text == "Плата"


def test_lines_that_a_program_folded_are_whole_again(tmp_path):
    text = "It costs \n900 euros.\n From now \non.\n> Who \n> pays?\n>> Not \n> me.\n-- \nAnn \nLee"
    assert read(tmp_path, "a.eml", part("text/plain; format=flowed", text)).text == (
        "It costs 900 euros.\nFrom now on.\n> Who pays?\n>> Not \n> me.\n-- \nAnn Lee"
    )
    padded = part("text/plain; format=flowed; delsp=yes", "https://a.example/ \nfees  \ntoday")
    assert read(tmp_path, "b.eml", padded).text == "https://a.example/fees today"


def test_signatures_of_mails_are_not_read(tmp_path):
    armour = "-----BEGIN PGP SIGNATURE-----\n\niD8DBQFG03voRhp6o4m9\n-----END PGP SIGNATURE-----\n"
    signature = part("application/pgp-signature; name=signature.asc", armour)
    mail = divided("signed", divided("mixed", PAGE, FOOTER, mark="y"), signature)
    assert read(tmp_path, "a.eml", mail).text == (
        f"It costs **900** euros.\n\n{MARKDOWN_FOOTER}\n\nAttachments: signature.asc"
    )


def test_a_report_has_its_fields_and_the_headers_of_what_was_returned(tmp_path):
    mail = divided(
        "report",
        part("text/plain", "It could not be delivered."),
        part("message/delivery-status", "Reporting-MTA: dns; a\n\nStatus: 5.1.1\n"),
        part("text/rfc822-headers", "Subject: Fees\nTo: rui@example.org\n"),
    )
    assert read(tmp_path, "a.eml", mail).text == (
        "It could not be delivered.\n\n"
        "Attachments: unnamed (message/delivery-status), Fees\n\n"
        "unnamed (message/delivery-status)\n\nReporting-MTA: dns; a\n\nStatus: 5.1.1\n\n"
        "Fees\n\nTo: rui@example.org"
    )


def test_the_mails_of_a_digest_are_read(tmp_path):
    mails = (f"\nSubject: {day}\n\nCome on {day}." for day in ("Monday", "Friday"))
    source = "\n--x".join(("Content-Type: multipart/digest; boundary=x\n", *mails, "--\n"))
    assert read(tmp_path, "a.eml", source.replace("x\nSubject", "x\n\nSubject")).text == (
        "Attachments: Monday, Friday\n\nMonday\n\nCome on Monday.\n\nFriday\n\nCome on Friday."
    )


def test_a_mail_in_base64_within_another_is_read(tmp_path):
    inner = part("message/rfc822", "Subject: Fees\n\n900 euros\n", encoded=True)
    assert read(tmp_path, "a.eml", divided("mixed", FOOTER, inner)).text.endswith(
        "Attachments: Fees\n\nFees\n\n900 euros"
    )


def test_mail_with_only_html_is_converted(tmp_path):
    reading = read(
        tmp_path,
        "a.eml",
        "Subject: s\nContent-Type: text/html\n\n<h2>Hi</h2><p>There <b>you</b> go</p>",
    )
    assert reading.text == "## Hi\n\nThere **you** go"
    assert reading.markup is Markup.MARKDOWN


def of_two(plain, page):
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "news@example.org", "News"
    mail.set_content(plain)
    mail.add_alternative(page, subtype="html")
    return mail.as_bytes()


def test_a_plain_text_full_of_addresses_is_read_as_the_page_beside_it(tmp_path):
    link = "https://track.example/click?u=3f21937f0f636c8cec1db30bf&id="
    lines = [f"Offer {number}: a teapot of that kind" for number in range(9)]
    plain = "\n".join(f"{line} ({link}{number})" for number, line in enumerate(lines))
    page = "".join(f"<p><a href='{link}{number}'>{line}</a>" for number, line in enumerate(lines))
    reading = read(tmp_path, "a.eml", of_two(plain, page))
    assert f"[Offer 0: a teapot of that kind]({link}0)\n\n[Offer 1" in reading.text
    few = read(tmp_path, "b.eml", of_two(f"{plain[:300]}{' and some more words' * 99}", page))
    assert few.markup is Markup.PLAIN
    bare = read(tmp_path, "c.eml", of_two(plain, "<p>Offers</p>"))
    assert bare.markup is Markup.PLAIN


def test_pictures_and_links_without_words_are_no_text_of_a_mail(tmp_path):
    page = (
        '<a href="https://t.example/1"><img src="https://t.example/p.gif" width=1 alt=""></a>'
        '<p>Your <a href="https://t.example/2"><span> </span>&nbsp;</a>order</p>'
        "<a href='https://t.example/3'><img src='b.png' alt='Track it'></a><img src=c.png>"
    )
    mail = EmailMessage()
    mail.set_content(page, subtype="html")
    assert read(tmp_path, "a.eml", mail.as_bytes()).text == (
        "Your order\n\n[![Track it](b.png)](https://t.example/3)"
    )


def test_a_saved_web_page_is_read_without_its_pictures_and_styles(tmp_path):
    picture = "iVBORw0KGgoAAAANSUhEUgAA" * 20
    page = (
        "<html lang=3D'de'><head><title>F=C3=A4hre</title></head><body><h1>Plan</h1>"
        "<p>Leaves =\nat nine.</p></body></html>"
    )
    source = (
        "From: <Saved by Blink>\nSubject: =?utf-8?Q?F=C3=A4hre?=\nMIME-Version: 1.0\n"
        'Content-Type: multipart/related; type="text/html"; boundary="x"\n\n--x\n'
        'Content-Type: text/html; charset="utf-8"\nContent-Transfer-Encoding: quoted-printable\n\n'
        f"{page}\n--x\nContent-Type: text/css\n\np {{ color: red }}\n--x\n"
        f"Content-Type: image/png\nContent-Transfer-Encoding: base64\n\n{picture}\n--x\n"
        "Content-Type: text/html\n\n<p>An advertisement in a frame</p>\n--x--\n"
    )
    reading = read(tmp_path, "a.mhtml", source)
    assert reading.text == "# Plan\n\nLeaves at nine."
    assert (reading.title, reading.format, reading.language) == ("Fähre", "mhtml", "de")


def test_a_page_that_word_saved_is_read_as_a_page(tmp_path):
    source = (
        "Date: Tue, 1 Sep 2026 10:00:00 +0000 (UTC)\nMessage-ID: <1.2.3@wiki>\n"
        "Subject: Exported From a Wiki\nMIME-Version: 1.0\n"
        'Content-Type: multipart/related; \n\tboundary="----=_P"\n\n------=_P\n'
        "Content-Type: text/html; charset=UTF-8\nContent-Transfer-Encoding: quoted-printable\n\n"
        "<html><head><title>Crane lease</title></head><body><h1>Crane lease</h1>"
        "<p>It ends =C3=BCbermorgen.</p></body></html>\n------=_P--\n"
    )
    reading = read(tmp_path, "export.doc", source)
    assert reading.text == "# Crane lease\n\nIt ends übermorgen."
    assert reading.title == "Crane lease"


@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1"])
def test_a_page_that_safari_saved_is_read(tmp_path, encoding):
    page = "<html><head><title>Fähre</title></head><body><p>Leaves at nine, Größe 4.</p></body>"
    saved = {
        "WebMainResource": {
            "WebResourceData": page.encode(encoding),
            "WebResourceTextEncodingName": encoding,
            "WebResourceURL": "https://a.example/",
        },
        "WebSubresources": [{"WebResourceData": b"p { color: red }"}],
    }
    file = tmp_path / "Fähre.webarchive"
    file.write_bytes(plistlib.dumps(saved, fmt=plistlib.FMT_BINARY))
    reading = read_file(file, file.name, Limits.of(SETTINGS))
    assert reading.text == "Leaves at nine, Größe 4."
    assert reading.title == "Fähre"
    file.write_bytes(b"bplist00" + bytes(40))
    with pytest.raises(ReadingError, match="This web page is damaged"):
        read_file(file, file.name, Limits.of(SETTINGS))


def test_a_mail_of_apple_mail_is_read_without_its_frame(tmp_path):
    message = "Subject: Crane\nFrom: Anna <anna@example.org>\n\nIt arrives in May.\n"
    frame = '<?xml version="1.0"?><plist><dict><key>flags</key></dict></plist>\n'
    reading = read(tmp_path, "12.emlx", f"{len(message):<10}\n{message}{frame}")
    assert reading.text == "From: Anna <anna@example.org>\n\nIt arrives in May."
    assert reading.title == "Crane"
    shortened = read(tmp_path, "13.emlx", f"99999\n{message}")
    assert shortened.text.endswith("It arrives in May.")


def test_a_saved_page_may_be_xhtml(tmp_path):
    source = (
        'MIME-Version: 1.0\nContent-Type: multipart/related; boundary="x"\n\n--x\n'
        "Content-Type: application/xhtml+xml\nContent-Transfer-Encoding: quoted-printable\n\n"
        '<html xmlns=3D"http://www.w3.org/1999/xhtml"><body><p>Leaves at =\nnine.</p></body>'
        "</html>\n--x--\n"
    )
    assert read(tmp_path, "a.mhtml", source).text == "Leaves at nine."


def test_a_saved_page_without_a_page_says_so(tmp_path):
    with pytest.raises(ReadingError, match="This web page is damaged"):
        read(tmp_path, "a.mht", "MIME-Version: 1.0\nContent-Type: text/css\n\np { }\n")


@pytest.mark.parametrize(
    "source",
    [
        "Subject: broken\nContent-Type: multipart/mixed; boundary=zzz\n\nno boundary ever\n",
        "Subject: x\nFrom: =?utf-8?q?=\nTo: <<<>>>,;;\nDate: never\n"
        "Content-Type: text/plain; charset=nope\n\nwords\n",
        "Subject: x\nContent-Type: text/plain\n"
        "Content-Transfer-Encoding: base64\n\n@@@not base64@@@\n",
        "no headers at all, just words\n",
        "Subject: x\nDate: Tue, 3 Feb 99999999999 14:05:33 +0100\n\nwords\n",
    ],
)
def test_broken_mail_is_read_as_far_as_it_makes_sense(tmp_path, source):
    reading = read(tmp_path, "a.eml", source)
    assert reading.text.strip()
    assert reading.title


def test_mail_nested_beyond_reason_ends_with_a_reason(tmp_path):
    levels = (f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(3000))
    with pytest.raises(ReadingError) as caught:
        read(tmp_path, "a.eml", "Subject: deep\n" + "".join(levels))
    assert caught.value.cure


MBOX = (
    "From ann@a.example Tue Feb  3 14:05:33 2026\n"
    "From: Ann Lee <ann@a.example>\nSubject: Lunch\nMessage-ID: <1@a>\n"
    "Date: Tue, 3 Feb 2026 14:05:33 +0100\n\nPizza?\n>From the new place.\n\n"
    "From bob@b.example Tue Feb  3 15:00:00 2026\n"
    "From: bob@b.example\nSubject: Other\nMessage-ID: <9@b>\n"
    "Date: Tue, 3 Feb 2026 15:00:00 +0100\n\nFrom now on: no.\n\n"
    "From bob@b.example Tue Feb  3 16:00:00 2026\n"
    "From: =?utf-8?q?B=C3=B6b?= <bob@b.example>\nSubject: Re: AW: Lunch\nMessage-ID: <2@b>\n"
    "In-Reply-To: <1@a>\nReferences: <1@a>\nDate: Tue, 3 Feb 2026 16:00:00 +0100\n\nYes!\n"
)


@pytest.mark.parametrize("name", ["mail.mbox", "Inbox", "inbox.txt"])
def test_a_mailbox_by_threads(tmp_path, name):
    reading = read(tmp_path, name, MBOX)
    assert (reading.format, reading.metadata["platform"]) == ("conversation", "mbox")
    assert sessions(reading) == ["Lunch", "Other"]
    assert said(reading) == [
        ("Ann Lee", "2026-02-03T14:05:33+01:00", "Pizza?\nFrom the new place."),
        ("Böb", "2026-02-03T16:00:00+01:00", "Yes!"),
        ("bob@b.example", "2026-02-03T15:00:00+01:00", "From now on: no."),
    ]
    assert headers(reading)[1] == "**Böb** · 2026-02-03 16:00 +01:00 · in reply to Ann Lee"


def in_mailbox(subject, files):
    message = EmailMessage()
    message["From"], message["Subject"] = "Ann Lee <ann@a.example>", subject
    message["Date"] = "Tue, 3 Feb 2026 14:05:33 +0100"
    message.set_content("See below.\n")
    for name, content in files.items():
        message.add_attachment(content, filename=name)
    return f"From ann@a.example Tue Feb  3 14:05:33 2026\n{message}\n\n"


def test_headings_of_a_mail_are_bold_lines_in_a_mailbox(tmp_path):
    page = "<h1>Your <b>order</b></h1><p>It is # 4711.</p><pre># no heading</pre>"
    head = "From a@b Tue Feb  3 14:05:33 2026\nFrom: a@b\nSubject: s\nContent-Type: text/"
    assert said(read(tmp_path, "a.mbox", f"{head}html\n\n{page}"))[0][2] == (
        " **Your order**\n\nIt is # 4711.\n\n```\n\n# no heading\n```"
    )
    assert said(read(tmp_path, "b.mbox", f"{head}plain\n\n# total: 3"))[0][2] == "\\# total: 3"


def test_what_is_attached_to_mails_of_a_mailbox_is_read_with_them(tmp_path):
    files = {"lease.md": "# Terms\n\nIt ends in May.\n", "a.csv": "x,y\n1,2\n"}
    lease = in_mailbox("Lease", files)
    reading = read(tmp_path, "mail.mbox", lease + in_mailbox("Other", {}))
    assert said(reading) == [
        (
            "Ann Lee",
            "2026-02-03T14:05:33+01:00",
            "See below.\n\n(attached: lease.md, a.csv)\n\n"
            "lease.md\n\n\\# Terms\n\nIt ends in May.\n\n"
            "a.csv\n\n| x | y |\n| --- | --- |\n| 1 | 2 |",
        ),
        ("Ann Lee", "2026-02-03T14:05:33+01:00", "See below."),
    ]
    assert reading.warnings == ()


def test_a_mailbox_has_the_people_and_the_attachments_of_its_mails(tmp_path):
    box = (
        "From a@a.example Tue Feb  3 14:05:33 2026\n"
        "From: Ann Lee <ann@a.example>\nTo: =?utf-8?q?J=C3=BCrg?= <j@b.example>, c@c.example\n"
        'Cc: "Lee, Bo" <bo@a.example>\nSubject: Lunch\n\nPizza?\n\n'
        "From a@a.example Tue Feb  3 14:06:33 2026\n"
        "From: Ann Lee <ann@a.example>\nTo: c@c.example\nSubject: Lunch\n\nNow?\n\n"
    )
    reading = read(tmp_path, "Inbox", box + in_mailbox("Lease", {"lease.md": "It ends.\n"}))
    metadata = reading.metadata
    assert metadata["author"] == ["Ann Lee <ann@a.example>"]
    assert metadata["to"] == ["Jürg <j@b.example>", "c@c.example"]
    assert metadata["cc"] == ['"Lee, Bo" <bo@a.example>']
    assert metadata["attachments"] == ["lease.md"]
    assert "bcc" not in metadata


_LABELLED = {
    'X-Gmail-Labels: Inbox,Category Updates,Receipts,"Taxes, 2023",\n Work/Porto,Opened': [
        "Receipts", "Taxes, 2023", "Work/Porto",
    ],
    "X-Gmail-Labels: =?UTF-8?Q?Posteingang,Ge=C3=B6ffnet,Kategorie:_Werbung,B=C3=BCc?=\n"
    " =?UTF-8?Q?her?=": ["Bücher"],
    "X-Gmail-Labels: =?UTF-8?Q?Messages_archiv=C3=A9s,Non_lus,Imp=C3=B4ts?=": ["Impôts"],
    "X-Mozilla-Status: 0001\nX-Mozilla-Keys: $label1 travel NonJunk                ": ["travel"],
    "Keywords: rent, Porto": ["rent", "Porto"],
    "X-Keywords: NonJunk house \\Seen": ["house"],
    'X-Gmail-Labels: "not ended, Inbox': ["not ended, Inbox"],
    "X-Gmail-Labels: Inbox,Unread": None,
}  # fmt: skip


@pytest.mark.parametrize(("header", "labels"), _LABELLED.items())
def test_labels_that_a_person_gave_a_mail_are_its_tags(tmp_path, header, labels):
    mail = f"From: a@example.org\nSubject: s\n{header}\n\nHello\n"
    assert read(tmp_path, "a.eml", mail).metadata.get("tags") == labels
    box = f"From a@example.org Tue Mar  3 10:00:00 2026\n{mail}\n"
    other = "From b@example.org Tue Mar  3 10:00:00 2026\nFrom: b@example.org\nKeywords: x\n\nHi\n"
    assert read(tmp_path, "a.mbox", box + other).metadata["tags"] == [*(labels or []), "x"]


def test_a_mailbox_reads_only_so_much_of_what_is_attached(tmp_path, monkeypatch):
    monkeypatch.setattr(mail, "MOST_OF_MANY", 1000)
    small, large = "It ends in May.\n", "The crane is old.\n" * 100
    mails = [in_mailbox("A", {f"{n}.md": large}) for n in range(7)]
    reading = read(tmp_path, "mail.mbox", "".join([*mails, in_mailbox("B", {"z.md": small})]))
    assert "crane is old" not in reading.text
    assert "It ends in May." in reading.text
    assert "(attached: 6.md)" in reading.text
    assert reading.warnings[0] == (
        "The attachment 0.md was not read: no more than 1.0 kB of them are read."
    )
    assert reading.warnings[5:] == ("2 further attachments could not be read.",)


def test_a_mail_that_cannot_be_parsed_costs_the_mailbox_no_other(tmp_path):
    levels = "".join(
        f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(3000)
    )
    broken = f"From x@x.example Tue Feb  3 14:05:33 2026\nSubject: deep\n{levels}the bottom\n\n"
    reading = read(tmp_path, "mail.mbox", broken + MBOX)
    assert [author for author, _, _ in said(reading)] == ["", "Ann Lee", "Böb", "bob@b.example"]
    assert "Subject: deep" in reading.text
    assert "the bottom" in reading.text


def test_pictures_take_no_room_of_documents_in_a_mailbox(tmp_path, monkeypatch):
    monkeypatch.setattr(mail, "MOST_OF_MANY", 1000)
    picture = EmailMessage()
    picture["From"], picture["Subject"] = "ann@a.example", "Photo"
    picture.set_content("See below.\n")
    for size in (600, 700, 3000):
        content = b"\x89PNG\r\n\x1a\n" + bytes(size)
        picture.add_attachment(content, "image", "png", filename=f"{size}.png")
    first = f"From ann@a.example Tue Feb  3 14:05:33 2026\n{picture}\n\n"
    reading = read(tmp_path, "mail.mbox", first + in_mailbox("B", {"z.md": "It ends in May.\n"}))
    assert "It ends in May." in reading.text
    assert reading.warnings == ()


def test_a_mailbox_needs_no_line_before_its_first_mail(tmp_path):
    reading = read(tmp_path, "mail.mbox", b"\xef\xbb\xbf\r\n" + MBOX.encode())
    assert len(said(reading)) == 3
    headless = read(tmp_path, "rest.mbox", "From: Mia <mia@a.example>\n\nRent.\n\n" + MBOX)
    assert said(headless)[0] == ("Mia", "", "Rent.")
    assert len(said(headless)) == 4


@pytest.mark.parametrize(
    "line",
    [
        "From ann@a.example Tue Feb  3 14:05:33 2026",
        "From ann@a.example Tue Feb  3 14:05:33 CET 2026",
        "From ann@a.example Tue Feb  3 14:05:33 2026 +0100",
        "From 1567@xxx Tue Feb 03 14:05:33 +0000 2026",
        "From ann@a.example Tue, 3 Feb 2026 14:05:33 +0100",
        "From - Tue Feb 03 14:05:33 2026",
        "From ???@??? Tue Feb 03 14:05:33 1998",
        "From ann at a.example  Tue Feb  3 14:05 2026",
    ],
)
def test_mails_of_a_mailbox_begin_with_a_line_of_many_forms(tmp_path, line):
    mails = f"{line}\nFrom: Ann\n\nPizza?\n\n{line}\nX-Status: read\nFrom: Bob\n\nYes!\n"
    assert [(who, text) for who, _, text in said(read(tmp_path, "a.mbox", mails))] == [
        ("Ann", "Pizza?"),
        ("Bob", "Yes!"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "From here it is 10:30 already, and late.",
        "From Monday 10:30 to 12:00\nRoom: 5",
        "From 10:30 on, as in 2024,\nwe are there.",
    ],
)
def test_a_sentence_that_begins_with_from_divides_no_mail(tmp_path, line):
    mail = f"From ann@a.example Tue Feb  3 14:05:33 2026\nFrom: Ann\n\nHello.\n\n{line}\nBye.\n"
    assert said(read(tmp_path, "a.mbox", mail)) == [("Ann", "", f"Hello.\n\n{line}\nBye.")]


def test_mails_that_answer_each_other_are_one_thread(tmp_path):
    def mails(*answers):
        return "".join(
            f"From a@b Tue Feb  3 14:05:33 2026\nFrom: a{own}@b\nSubject: s{own}\n"
            f"Message-ID: <{own}@b>\nIn-Reply-To: <{above}@b>\n\nText {own}\n\n"
            for own, above in answers
        )

    circle = read(tmp_path, "a.mbox", mails((1, 2), (2, 3), (3, 1)))
    assert sessions(circle) == ["s1"]
    order = [*range(2000)]
    random.Random(1).shuffle(order)
    chain = read(tmp_path, "b.mbox", mails(*((own, own - 1) for own in order)))
    assert len(sessions(chain)) == 1
    assert len(said(chain)) == 2000


def test_a_header_of_many_mails_is_parsed_once(tmp_path):
    mails = "".join(
        f"From a@b Tue Feb  3 14:05:33 2026\nFrom: Ann Lee <ann@a.example>\nTo: Rui\nSubject: s\n"
        f"Message-ID: <{number}@b>\nContent-Type: text/plain; charset=utf-8\n\nText {number}\n\n"
        for number in range(300)
    )
    mail_message._parsed_header.cache_clear()
    assert len(said(read(tmp_path, "a.mbox", mails))) == 300
    assert mail_message._parsed_header.cache_info().misses < 10
