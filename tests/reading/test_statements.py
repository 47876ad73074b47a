"""Statements of banks, as tables of payments."""

from __future__ import annotations

import time

import pytest
from reading_files import read

from ragkit.reading.statements import read_statement

QIF = (
    "!Account\nNChecking\nTBank\n^\n!Type:Bank\nD05/03/2024\nT-45.67\nC*\nPHarbor Coffee\n"
    "MEspresso beans\nLGroceries\n^\nD05/15/2024\nT2,500.00\nPAcme Payroll\nLSalary\nSBonus\n^\n"
)
OFX = (
    "OFXHEADER:100\nDATA:OFXSGML\n\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>USD"
    "<BANKACCTFROM><BANKID>111<ACCTID>9988</BANKACCTFROM><BANKTRANLIST><DTSTART>20240501<DTEND>"
    "20240531\n<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20240503120000[-5:EST]<TRNAMT>-45.67<NAME>Harbor "
    "&amp; Co<MEMO>beans</STMTTRN>\n</BANKTRANLIST><LEDGERBAL><BALAMT>50.12<DTASOF>20240531"
    "</LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>\n"
)
MT940 = (
    ":20:STARTUMSE\n:25:10020030/1234567\n:28C:12/1\n:60F:C240501EUR2187,90\n"
    ":61:2405030503DR39,90NMSCNONREF//77\n:86:105?00LASTSCHRIFT?20EREF+88SVWZ+Strom Abs\n"
    "?21chlag Mai?31DE02120300000000202051?32Stadtwerke\n:61:240506RC9,NTRFNONREF\n"
    ":86:Gehalt\nMai 2024\n:62F:C240531EUR3648,00\n-\n"
)
CAMT = """<?xml version="1.0"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt>
<Acct><Id><IBAN>DE87200500001234567890</IBAN></Id></Acct>
<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">3648.00</Amt>
<CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2024-05-31</Dt></Dt></Bal>
<Ntry><Amt Ccy="EUR">39.90</Amt><CdtDbtInd>DBIT</CdtDbtInd><BookgDt>
<Dt>2024-05-03</Dt></BookgDt><NtryDtls><TxDtls><RltdPties><Dbtr><Nm>Ich</Nm></Dbtr><Cdtr><Pty>
<Nm>Stadtwerke &amp; Co</Nm></Pty></Cdtr></RltdPties><RmtInf><Ustrd>Strom</Ustrd></RmtInf></TxDtls>
</NtryDtls></Ntry></Stmt></BkToCstmrStmt></Document>
"""


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        (
            "a.qif",
            QIF,
            "| Date | Amount | Payee | Text | Category |\n| --- | --- | --- | --- | --- |\n"
            "| 05/03/2024 | -45.67 | Harbor Coffee | Espresso beans | Groceries |\n"
            "| 05/15/2024 | 2,500.00 | Acme Payroll | Bonus | Salary |",
        ),
        (
            "a.ofx",
            OFX,
            "Currency: USD\n\nBank: 111\n\nAccount: 9988\n\nFrom: 2024-05-01\n\nTo: 2024-05-31\n\n"
            "Balance: 50.12\n\n| Date | Amount | Payee | Text |\n| --- | --- | --- | --- |\n"
            "| 2024-05-03 | -45.67 | Harbor & Co | beans |",
        ),
        (
            "a.txt",
            MT940,
            "Account: 10020030/1234567\n\nStatement: 12/1\n\n"
            "Opening balance: 2187,90 EUR on 2024-05-01\n\n"
            "Closing balance: 3648,00 EUR on 2024-05-31\n\n"
            "| Date | Amount | Payee | Text | Reference |\n| --- | --- | --- | --- | --- |\n"
            "| 2024-05-03 | -39,90 | Stadtwerke | LASTSCHRIFT, EREF: 88 SVWZ: Strom Abschlag Mai "
            "| 77, DE02120300000000202051 |\n| 2024-05-06 | -9 |  | Gehalt Mai 2024 |  |",
        ),
        (
            "a.xml",
            CAMT,
            "Account: DE87200500001234567890\n\nClosing balance: 3648.00 EUR on 2024-05-31\n\n"
            "| Date | Amount | Payee | Text |\n| --- | --- | --- | --- |\n"
            "| 2024-05-03 | -39.90 EUR | Stadtwerke & Co | Strom |",
        ),
    ],
)
def test_payments_are_a_table_below_what_is_said_of_the_account(tmp_path, name, data, text):
    reading = read(tmp_path, name, data)
    assert reading.text == text
    assert (reading.format, reading.title) == ("bank-statement", "a")


@pytest.mark.parametrize(
    "data",
    [
        "Star charts of May.\n",
        MT940.replace(":61:240506RC9,", ":61:06.05.24 9,"),
        OFX.replace("</OFX>", "<INVSTMTRS><CURDEF>USD</INVSTMTRS></OFX>"),
    ],
)
def test_what_is_written_in_another_way_stays_as_it_is(tmp_path, data):
    reading = read(tmp_path, "a.sta", data)
    assert (reading.text, reading.format) == (data, "text")


def test_a_payment_that_does_not_end_is_read_to_the_next(tmp_path):
    cut = CAMT[: CAMT.index("</NtryDtls>")]
    payments = cut + cut[cut.index("<Ntry>") :].replace("39.90", "12.00")
    rows = read(tmp_path, "a.xml", payments).text.split("\n")[-2:]
    assert [row.split(" | ")[1] for row in rows] == ["-39.90 EUR", "-12.00 EUR"]


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        ("!Type:Bank\nD05/03/2024\n", "^\n!Type:Bank\n"),
        ("!Type:Bank\n", "D05/03/2024\nM\n"),
        (OFX, "<STMTRS><STMTTRN>"),
        (OFX, "<TRNAMT><![CDATA["),
        (MT940, ":61:2405030503DR39,90\n"),
        (MT940, ":86:?20?21\n"),
        (CAMT, "<Ntry>"),
        (CAMT, "<Stmt><Amt Ccy="),
    ],
)
def test_hostile_statements_take_no_more_time_than_their_length_asks(head, piece):
    began = time.process_time()
    read_statement(head + piece * (400_000 // len(piece)), "a")
    assert time.process_time() - began < 10
