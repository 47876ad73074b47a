"""Statements of banks, as they export them (QIF, OFX, MT940, CAMT), as tables of payments."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import chain

from ragkit.reading.formats import Format
from ragkit.reading.plain import read_text
from ragkit.reading.reading_parts import joined, one_line, stem, table
from ragkit.types import Markup, Reading

_Fields = dict[str, str]

_COLUMNS = ("Date", "Amount", "Payee", "Text", "Category", "Reference")
_QIF = {
    "D": "Date", "T": "Amount", "P": "Payee", "Y": "Payee", "L": "Category", "N": "Reference",
}  # fmt: skip
_QIF_STATE = "CU^!"
"""What QIF has besides: cleared or not, the amount once more, the ends of entries."""
_QIF_SECTION = re.compile(r"^!Type:(?:Bank|Cash|CCard|Invst|Oth)[^\n]*\n", re.M | re.I)
_QIF_END = re.compile(r"^!(?:Account|Type|Option|Clear)", re.M | re.I)
_OFX = {
    "DTPOSTED": "Date", "TRNAMT": "Amount", "NAME": "Payee", "MEMO": "Text",
    "CHECKNUM": "Reference",
}  # fmt: skip
_OFX_ACCOUNT = {
    "BANKID": "Bank", "ACCTID": "Account", "CURDEF": "Currency", "DTSTART": "From", "DTEND": "To",
    "BALAMT": "Balance",
}  # fmt: skip
_OFX_STATEMENT = re.compile(r"<(?:CC)?STMTRS>")
_OFX_PAYMENT = re.compile(r"</?STMTTRN>|</?BANKTRANLIST>")
_OFX_FIELD = re.compile(r"<([A-Z]+)>(?:<!\[CDATA\[)?([^<\n\]]*)")
_OFX_DAY = re.compile(r"(\d{4})(\d\d)(\d\d)[\d.:+\[\]A-Z-]*")
_MT_TAG = re.compile(r"^:(\d\d[A-Z]?):", re.M)
_MT_END = re.compile(r"\n-(?:\}.*)?(?:\n.*|\s*)\Z", re.S)
_MT_BOOKED = re.compile(
    r"(\d{6})(?:\d{4})?(R?[CD])[A-Z]?\s?(\d+(?:,\d+)?),?(?:[A-Z]\w{3})?([^\n]*)(.*)", re.S
)
_MT_BALANCE = re.compile(r"([CD])(\d{6})([A-Z]{3})([\d,]+)")
_MT_PARTS = re.compile(r"(?:\d{3})?([?~])\d\d")
_MT_KEY = re.compile(r"\s*(EREF|KREF|MREF|CRED|DEBT|SVWZ|ABWA|ABWE|PURP)\+\s*")
_MT_ABOUT = {"25": "Account", "28": "Statement", "28C": "Statement"}
_MT_BALANCES = {"60": "Opening balance", "62": "Closing balance", "64": "Available balance"}

_CAMT_STATEMENT = re.compile(r"<(?:\w+:)?(?:Stmt|Rpt|Ntfctn)>")
_CAMT_PART = re.compile(r"<(?:\w+:)?(Ntry|Bal)>")
_CAMT_PART_END = re.compile(r"</(?:\w+:)?(?:Ntry|Bal)>")
_CAMT_VALUE = re.compile(
    r"<(?:\w+:)?(\w+)(?:\sCcy=\"(\w+)\")?>\s*([^<>\s][^<>]*)<|<(?:\w+:)?(Cdtr|Dbtr)>"
)
_CAMT_ACCOUNT = re.compile(r"<(?:\w+:)?(?:IBAN|Othr>\s*<(?:\w+:)?Id)>([^<>]+)<")
_CAMT_BALANCES = {"OPBD": "Opening balance", "PRCD": "Opening balance", "CLBD": "Closing balance"}
_CAMT_TEXTS = ("Ustrd", "AddtlNtryInf", "AddtlTxInf")


def read_statement(text: str, name: str, file_format: Format = Format.STATEMENT) -> Reading:
    """Read the payments of each account as a table below what is said of it.

    A text without any is kept as it is.
    """
    pieces: list[str] = []
    for about, payments in chain(_of_qif(text), _of_ofx(text), _of_mt940(text), _of_camt(text)):
        columns = [name for name in _COLUMNS if any(payment.get(name) for payment in payments)]
        rows = [[payment.get(name, "") for name in columns] for payment in payments]
        pieces += [f"{label}: {value}" for label, value in about.items() if value]
        pieces.append(table([columns, *rows]) if rows else "")
    if not any(pieces):
        return read_text(text, name)
    body = joined(pieces, "\n\n")
    return Reading(text=body, title=stem(name), format=file_format, markup=Markup.MARKDOWN)


def _of_qif(text: str) -> Iterator[tuple[_Fields, list[_Fields]]]:
    """Yield the payments of each section; days stay as they are written: countries differ."""
    for section in _QIF_SECTION.finditer(text):
        end = _QIF_END.search(text, section.end())
        entries = text[section.end() : end.start() if end else len(text)].split("\n^")
        yield {}, [fields for fields in map(_qif_payment, entries) if "Date" in fields]


def _qif_payment(entry: str) -> _Fields:
    fields: _Fields = {}
    texts: list[str] = []
    for line in map(str.strip, entry.split("\n")):
        if line[:1] in _QIF:
            fields.setdefault(_QIF[line[0]], line[1:])
        elif line[:1] not in _QIF_STATE:
            texts.append(line[1:])
    return {**fields, "Text": joined(texts, ", ")}


def _of_ofx(text: str) -> Iterator[tuple[_Fields, list[_Fields]]]:
    """Yield each account with its payments; none where some are investments."""
    if "<INVSTMTRS>" in text:
        return
    for statement in _OFX_STATEMENT.split(text)[1:]:
        before, *entries = _OFX_PAYMENT.split(statement)
        payments = [_ofx_fields(entry, _OFX) for entry in entries]
        about = _ofx_fields(f"{before}{entries[0] if entries else ''}", _OFX_ACCOUNT)
        about.update(_ofx_fields(entries[-1] if entries else "", _OFX_ACCOUNT))
        yield about, [payment for payment in payments if "Amount" in payment]


def _ofx_fields(entry: str, names: dict[str, str]) -> _Fields:
    fields: _Fields = {}
    for tag, value in _OFX_FIELD.findall(entry):
        if tag in names and value.strip():
            fields.setdefault(names[tag], html.unescape(_ofx_value(tag, value.strip())))
    return fields


def _ofx_value(tag: str, value: str) -> str:
    day = _OFX_DAY.fullmatch(value) if tag.startswith("DT") else None
    return "-".join(day.groups()) if day else value


def _of_mt940(text: str) -> Iterator[tuple[_Fields, list[_Fields]]]:
    """Yield each statement with its payments; none where some are written in another way."""
    _, *parts = _MT_TAG.split(text)
    tags, values = parts[::2], [_MT_END.sub("", part).strip() for part in parts[1::2]]
    booked = [_mt_payment(value) for tag, value in zip(tags, values, strict=True) if tag == "61"]
    if not all(booked):
        return
    left = iter(booked)
    about: _Fields = {}
    payments: list[_Fields] = []
    for tag, value, before in zip(tags, values, ["", *tags], strict=False):
        balance = _MT_BALANCE.match(value)
        if tag == "20" and payments:
            yield about, payments
            about, payments = {}, []
        elif tag == "61":
            payments.append(next(left))
        elif tag == "86" and before in ("61", "86") and payments:
            for label, said in _mt_purpose(value).items():
                payments[-1][label] = joined((payments[-1].get(label, ""), said), ", ")
        elif tag[:2] in _MT_BALANCES and balance:
            sign = "-" if balance[1] == "D" else ""
            said = f"{sign}{balance[4].rstrip(',')} {balance[3]} on {_mt_day(balance[2])}"
            about[_MT_BALANCES[tag[:2]]] = said
        elif tag in _MT_ABOUT or tag == "86":
            about[_MT_ABOUT.get(tag, "Note")] = one_line(value)
    if payments:
        yield about, payments


def _mt_day(digits: str) -> str:
    return f"20{digits[:2]}-{digits[2:4]}-{digits[4:]}"


def _mt_payment(value: str) -> _Fields:
    """Return a payment; one that is taken back has the other sign. Nothing if it is none."""
    booked = _MT_BOOKED.match(value)
    if booked is None:
        return {}
    day, mark, amount, reference, details = booked.groups()
    return {
        "Date": _mt_day(day),
        "Amount": f"{'-' if mark in ('D', 'RC') else ''}{amount}",
        "Text": one_line(details),
        "Reference": reference.replace("NONREF", "").replace("//", " ").strip(),
    }


def _mt_purpose(value: str) -> _Fields:
    """Return whom a payment is to or from and what for; some banks number the parts."""
    numbered = _MT_PARTS.match(value)
    if numbered is None:
        return {"Text": one_line(value)}
    pieces = re.split(rf"{re.escape(numbered[1])}(\d\d)", value.replace("\n", ""))[1:]
    parts = list(zip(pieces[::2], pieces[1::2], strict=True))
    purpose = "".join(part for number, part in parts if number[0] in "26")
    return {
        "Payee": "".join(part for number, part in parts if number in ("32", "33")),
        "Text": joined((dict(parts).get("00", ""), _MT_KEY.sub(r" \1: ", purpose).strip()), ", "),
        "Reference": joined((part for number, part in parts if number in ("31", "38")), " "),
    }


def _of_camt(text: str) -> Iterator[tuple[_Fields, list[_Fields]]]:
    """Yield each statement with its payments."""
    if ":camt.05" not in text[:2000]:
        return
    for statement in _CAMT_STATEMENT.split(text)[1:]:
        about: _Fields = {}
        before, *texts = _CAMT_PART.split(statement)
        if account := _CAMT_ACCOUNT.search(before):
            about["Account"] = account[1].strip()
        parts = [
            (tag, _camt_fields(_CAMT_PART_END.split(text, 1)[0]))
            for tag, text in zip(texts[::2], texts[1::2], strict=True)
        ]
        for tag, fields in parts:
            if tag == "Bal" and (label := _CAMT_BALANCES.get(fields["Code"])):
                about[label] = joined((fields["Amount"], fields["Date"]), " on ")
        yield about, [fields for tag, fields in parts if tag == "Ntry"]


def _camt_fields(part: str) -> _Fields:
    """Return an entry or a balance; whom it is to or from is the other side's name."""
    values = [
        (tag or side, code, html.unescape(value).strip())
        for tag, code, value, side in _CAMT_VALUE.findall(part)
    ]
    first = {tag: value for tag, _, value in reversed(values)}
    currency = next((code for _, code, _ in values if code), "")
    is_debit = first.get("CdtDbtInd") == "DBIT"
    side, names = "", []
    for tag, _, value in values:
        side = tag if tag in ("Cdtr", "Dbtr") else side
        if tag == "Nm" and side == ("Cdtr" if is_debit else "Dbtr"):
            names.append(value)
    texts = [value for tag, _, value in values if tag in _CAMT_TEXTS]
    marks = [value for tag, _, value in values if tag in ("IBAN", "EndToEndId")]
    return {
        "Date": first.get("Dt", first.get("DtTm", ""))[:10],
        "Amount": f"{'-' if is_debit else ''}{first.get('Amt', '')} {currency}".strip(),
        "Payee": joined(dict.fromkeys(names), ", "),
        "Text": joined(dict.fromkeys(texts), ", "),
        "Reference": joined(dict.fromkeys(marks), ", "),
        "Code": first.get("Cd", ""),
    }
