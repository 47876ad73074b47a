"""Mails in which the text is packed: signed (S/MIME), encrypted, or in Outlook's "winmail.dat"."""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import pkcs7
from cryptography.x509.oid import NameOID
from reading_files import read

from ragkit.reading.signed import is_encrypted, signed_content

INNER = (
    b"Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n"
    b"Content-Type: text/plain; charset=utf-8\r\n\r\nThe herons nest in the reeds.\r\n--x\r\n"
    b"Content-Type: text/plain\r\nContent-Disposition: attachment; filename=eggs.txt\r\n\r\n"
    b"Nine eggs.\r\n--x--\r\n"
)


@pytest.fixture(scope="module")
def signer():
    key = rsa.generate_private_key(65537, 2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Ann")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 7, now, now + timedelta(1))
    return builder.sign(key, hashes.SHA256()), key


def signed(signer, content, *options):
    certificate, key = signer
    builder = pkcs7.PKCS7SignatureBuilder().set_data(content)
    builder = builder.add_signer(certificate, key, hashes.SHA256())
    return builder.sign(serialization.Encoding.DER, [pkcs7.PKCS7Options.Binary, *options])


def encrypted(signer, content):
    builder = pkcs7.PKCS7EnvelopeBuilder().set_data(content).add_recipient(signer[0])
    return builder.encrypt(serialization.Encoding.DER, [pkcs7.PKCS7Options.Binary])


def mail_of(data, kind="pkcs7-mime", name="smime.p7m", text=""):
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "ann@example.org", "Herons"
    if text:
        mail.set_content(text)
        mail.add_attachment(data, "application", kind, filename=name)
    else:
        mail.set_content(data, "application", kind, filename=name)
    return mail.as_bytes()


def test_a_signed_mail_is_read_as_if_it_were_not(tmp_path, signer):
    reading = read(tmp_path, "a.eml", mail_of(signed(signer, INNER)))
    assert reading.text == (
        "From: ann@example.org\n\nThe herons nest in the reeds.\n\nAttachments: eggs.txt\n\n"
        "eggs.txt\n\nNine eggs."
    )
    assert reading.metadata["attachments"] == ["eggs.txt"]
    twice = mail_of(signed(signer, mail_of(signed(signer, INNER))))
    assert "The herons nest in the reeds." in read(tmp_path, "b.eml", twice).text
    kept_by_outlook = mail_of(INNER, "octet-stream")
    assert "The herons nest in the reeds." in read(tmp_path, "c.eml", kept_by_outlook).text


def test_an_encrypted_mail_says_so(tmp_path, signer):
    said = "(The text of this mail is encrypted.)"
    sealed = mail_of(encrypted(signer, INNER))
    assert read(tmp_path, "a.eml", sealed).text == (
        f"From: ann@example.org\n\n{said}\n\nAttachments: smime.p7m"
    )
    assert said in read(tmp_path, "b.eml", mail_of(signed(signer, sealed))).text
    armoured = (
        b"From: ann@example.org\nSubject: Herons\nMIME-Version: 1.0\n"
        b"Content-Type: multipart/encrypted; protocol=application/pgp-encrypted; boundary=x\n\n"
        b"--x\nContent-Type: application/pgp-encrypted\n\nVersion: 1\n--x\n"
        b"Content-Type: application/octet-stream; name=encrypted.asc\n\n"
        b"-----BEGIN PGP MESSAGE-----\n\nhQEMA\n-----END PGP MESSAGE-----\n--x--\n"
    )
    assert said in read(tmp_path, "c.eml", armoured).text


def test_a_signed_attachment_is_read_under_its_own_name(tmp_path, signer):
    data = signed(signer, b"# Fees\n\nA canoe is three a day.\n")
    mail = mail_of(data, name="fees.md.p7m", text="See the file.")
    text = read(tmp_path, "a.eml", mail).text
    assert text.endswith("Attachments: fees.md.p7m\n\nfees.md\n\n# Fees\n\nA canoe is three a day.")


def test_what_was_signed_without_lengths_in_advance_is_found():
    kind = bytes.fromhex("06092a864886f70d0107")
    octets = b"\x24\x80\x04\x04The \x24\x80\x04\x06herons\x00\x00\x00\x00"
    content = b"\x30\x80" + kind + b"\x01\xa0\x80" + octets + b"\x00\x00\x00\x00"
    signed_data = b"\x30\x80\x02\x01\x01\x31\x00" + content + b"\x31\x00\x00\x00"
    whole = b"\x30\x80" + kind + b"\x02\xa0\x80" + signed_data + b"\x00\x00\x00\x00"
    assert signed_content(whole) == b"The herons"
    assert not is_encrypted(whole)
    for length in range(len(whole) - 12):
        assert signed_content(whole[:length]) == b""


@pytest.mark.parametrize(
    "data",
    [b"", b"\x30", b"\x30\x80", b"\x30\x80" * 5000, b"\x30\x84\xff\xff\xff\xff", b"\x1f\xff" * 99,
     b"\x30\xff" * 300],
)  # fmt: skip
def test_what_is_no_signed_message_holds_nothing(data):
    assert signed_content(data) == b""
    assert not is_encrypted(data)


# -- winmail.dat -----------------------------------------------------------------------------


def attribute(tag, value, level=1):
    return struct.pack("<BII", level, tag, len(value)) + value + struct.pack("<H", 0)


def properties(*triples):
    """Properties of a type, a number and a value."""
    packed = struct.pack("<I", len(triples))
    for kind, number, value in triples:
        packed += struct.pack("<HH", kind, number)
        if number >= 0x8000:
            packed += bytes(16) + struct.pack("<II", 1, 6) + "abc".encode("utf-16-le") + bytes(2)
        if isinstance(value, int):
            packed += struct.pack("<I", value)
        else:
            packed += struct.pack("<II", 1, len(value)) + value + bytes(-len(value) % 4)
    return packed


def winmail(*attributes):
    return struct.pack("<IH", 0x223E9F78, 1) + b"".join(attributes)


def attached(name, data, long_name=""):
    parts = [attribute(0x69002, bytes(14), 2), attribute(0x18010, name.encode() + b"\0", 2)]
    parts.append(attribute(0x6800F, data, 2))
    if long_name:
        wide = (0x1F, 0x3707, f"{long_name}\0".encode("utf-16-le"))
        parts.append(attribute(0x69005, properties((3, 0x3705, 1), wide), 2))
    return b"".join(parts)


def test_what_outlook_packs_is_read(tmp_path):
    text = properties((0x1E, 0x8001, b"noise\0"), (0x1E, 0x1000, b"The herons nest.\0"))
    data = winmail(
        attribute(0x69003, text),
        attached("EGGS~1.TXT", b"Nine eggs.", "eggs of herons.txt"),
        attached("fees.md", b"A canoe is three a day."),
    )
    mail = mail_of(data, "ms-tnef", "winmail.dat")
    assert read(tmp_path, "a.eml", mail).text == (
        "From: ann@example.org\n\nThe herons nest.\n\nAttachments: eggs of herons.txt, fees.md\n\n"
        "eggs of herons.txt\n\nNine eggs.\n\nfees.md\n\nA canoe is three a day."
    )
    beside = mail_of(data, "octet-stream", "winmail.dat", text="The text itself.")
    assert read(tmp_path, "b.eml", beside).text.startswith(
        "From: ann@example.org\n\nThe text itself.\n\nAttachments: eggs of herons.txt, fees.md\n\n"
    )
    for length in range(0, len(data), 7):  # broken off
        read(tmp_path, "c.eml", mail_of(data[:length], "ms-tnef", "winmail.dat"))


def test_rich_text_pages_and_mails_that_outlook_packs_are_read(tmp_path):
    rich = rb"{\rtf1 The storks nest.}"
    stored = struct.pack("<4I", len(rich) + 12, len(rich), 0x414C454D, 0) + rich
    page = properties((0x102, 0x1013, b"<p>The <b>cranes</b> dance.</p>"))
    inner = bytes(16) + winmail(attribute(0x69003, page))
    data = winmail(
        attribute(0x69003, properties((0x102, 0x1009, stored))),
        attribute(0x69002, bytes(14), 2),
        attribute(0x69005, properties((0xD, 0x3701, inner)), 2),
    )
    text = read(tmp_path, "a.eml", mail_of(data, "ms-tnef", "winmail.dat")).text
    assert "The storks nest." in text
    assert "The **cranes** dance." in text


def test_pages_that_outlook_packs_are_in_the_encoding_that_they_name(tmp_path):
    page = '<html><meta charset="iso-8859-2"><p>Łódź: bociany wróciły.</p></html>'
    data = winmail(attribute(0x69003, properties((0x102, 0x1013, page.encode("iso-8859-2")))))
    text = read(tmp_path, "a.eml", mail_of(data, "ms-tnef", "winmail.dat")).text
    assert text == "From: ann@example.org\n\nŁódź: bociany wróciły."


def test_mails_that_outlook_packs_in_others_keep_their_subjects(tmp_path):
    wide = (0x1F, 0x0037, "Störche im März\0".encode("utf-16-le"))
    held = b""
    for title in (attribute(0x69003, properties(wide)), attribute(0x18004, b"Cranes\0")):
        inner = bytes(16) + winmail(title, attribute(0x2800C, b"They nest.\0"))
        held += attribute(0x69002, bytes(14), 2)
        held += attribute(0x69005, properties((0xD, 0x3701, inner)), 2)
    data = winmail(attribute(0x18004, b"Birds\0"), held)
    reading = read(tmp_path, "a.eml", mail_of(data, "ms-tnef", "winmail.dat"))
    assert reading.metadata["attachments"] == ["Störche im März", "Cranes"]


_SIGNATURE = """-----BEGIN PGP SIGNATURE-----
Version: GnuPG v2

iQIcBAEBCAAGBQJWxAAoJEK3s
=abcd
-----END PGP SIGNATURE-----"""
_CLEAR = f"""-----BEGIN PGP SIGNED MESSAGE-----
Hash: SHA256

The door code is 4711.
- -- not dashed

- --\x20
Ann
{_SIGNATURE}"""
_BEGUN = "-----BEGIN PGP SIGNATURE-----\n\nThe armour of a question."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (_CLEAR, "The door code is 4711.\n-- not dashed\n\n--\x20\nAnn"),
        (
            "Yes.\n\n" + "\n".join(f"> {line}" for line in _CLEAR.split("\n")),
            "Yes.\n\n> The door code is 4711.\n> - -- not dashed\n>\x20\n> - --\x20\n> Ann",
        ),
        (
            f"Hi\n\n{_SIGNATURE.replace('SIGNATURE', 'MESSAGE')}\n\nBye",
            "Hi\n\n(The text of this mail is encrypted.)\n\nBye",
        ),
        (f"Key:\n{_SIGNATURE.replace('SIGNATURE', 'PUBLIC KEY BLOCK')}", "Key:"),
        (f"- - kept\n{_SIGNATURE}", "- - kept"),
        (_BEGUN, _BEGUN),
    ],
)
def test_the_armour_of_pgp_is_no_text_of_a_mail(tmp_path, text, shown):
    mail = EmailMessage()
    mail.set_content(text)
    assert read(tmp_path, "a.eml", mail.as_bytes()).text == shown
