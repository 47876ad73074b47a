"""Manual pages are read as they are printed: sections, options with what they do, no macros."""

from __future__ import annotations

import gzip

import pytest
from reading_files import read

from ragkit.types import Markup

MAN = r""".\" Automatically generated. Do not edit.
'\" t
.ie \n(.g .ds Aq \(aq
.el       .ds Aq '
.de Vb
.nf
..
.if t \{\
.  ds Q ``
.\}
.TH PIER 8 "2021-05-04" "pier 2.1" "Harbour Manual"
.SH NAME
pier \- keep the \fIpier\fR of a harbour
.SH "GET READY"
Say \*(Aqgo\*(Aq.\" not this
.br
It takes 5\~m\(em or 7\(de.
.SS Tides
.TP
.BR \-n ", " \-\-now [=\fIwhen\fP]
Open at once.
.IP
It is loud.
.TP
.B \-q
.TQ
.B \-\-quiet
Open without a sound.
.RS
.IP \(bu 2
at night
.IP \(bu
on \(lqSundays\(rq
.RE
.PP
See
.BR tide (7),
.UR https://x.example/\-a
the site
.UE .
.nf
pier \-n \e
  \-\-quiet
.fi
\fB\-\-boat\fR=\fIname\fR
.RS 4
The boat that comes.
.RE
.TS
tab(:);
l l.
Code:Means
_
0:T{
it is
open
T}
1:shut
.TE
"""

MDOC = r""".Dd $Mdocdate: May 4 2021 $
.Dt PIER 8
.Os
.Sh NAME
.Nm pier
.Nd keep the pier of a harbour
.Sh SYNOPSIS
.Nm
.Op Fl nq
.Op Fl b Ar boat : Ns Ar crew
.Ar
.Sh OPTIONS
.Bl -tag -width Ds
.It Fl b Xo
.Sm off
.Oo Ar boat No @ Oc
.Ar quay
.Sm on
.Xc
The boat
.Pq see Xr tide 7 ,
in
.Dq "dry dock" .
.It Fl n , -now
Open at once, as
.Ux
does.
.Pp
It is
.Em loud .
.El
.Bl -enum
.It
Wait.
.It
Go.
.El
.Bd -literal -offset indent
$ pier -n
.Ed
"""


def _lines(text):
    return [line for line in text.split("\n") if line.strip()]


@pytest.mark.parametrize("packed", [False, True])
def test_a_manual_page_is_read_without_its_macros(tmp_path, packed):
    data = gzip.compress(MAN.encode()) if packed else MAN
    reading = read(tmp_path, "pier.8.gz" if packed else "pier.8", data)
    assert (reading.format, reading.markup, reading.title) == (
        "man-page",
        Markup.MARKDOWN,
        "pier(8)",
    )
    assert reading.metadata == {"date": "2021-05-04"}
    assert _lines(reading.text) == [
        "# pier(8)",
        "## NAME",
        "pier - keep the pier of a harbour",
        "## GET READY",
        "Say 'go'.",
        "It takes 5 m— or 7°.",
        "### Tides",
        "- `-n, --now[=when]`",
        "  Open at once.",
        "  It is loud.",
        "- `-q, --quiet`",
        "  Open without a sound.",
        "  - at night",
        "  - on “Sundays”",
        "See tide(7), <https://x.example/-a> the site.",
        "```",
        "pier -n \\",
        "  --quiet",
        "```",
        "- `--boat=name`",
        "  The boat that comes.",
        "| Code | Means |",
        "| --- | --- |",
        "| 0 | it is open |",
        "| 1 | shut |",
    ]


def test_a_manual_page_of_bsd_is_read_without_its_macros(tmp_path):
    reading = read(tmp_path, "pier.8", MDOC)
    assert (reading.format, reading.title) == ("man-page", "pier(8)")
    assert reading.metadata == {"date": "2021-05-04"}
    assert _lines(reading.text) == [
        "# pier(8)",
        "## NAME",
        "pier – keep the pier of a harbour",
        "## SYNOPSIS",
        "pier [-nq] [-b boat:crew] file ...",
        "## OPTIONS",
        "- `-b [boat@]quay`",
        '  The boat (see tide(7)), in "dry dock".',
        "- `-n, --now`",
        "  Open at once, as UNIX does.",
        "  It is loud.",
        "1. Wait.",
        "1. Go.",
        "```",
        "$ pier -n",
        "```",
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("notes.1", "Buy bread.\n.TH is a macro of roff\n"),
        ("a.txt", ".gitignore is a file\nin which names stand\n"),
        ("pier.8", ".so man8/quay.8\n"),
    ],
)
def test_other_text_stays_as_it_is(tmp_path, name, text):
    reading = read(tmp_path, name, text)
    assert (reading.format, reading.text.strip()) == ("text", text.strip())


@pytest.mark.parametrize(
    "text",
    [
        ".TH X 1\n.TS\n",
        ".TH X 1\n.de\n.if\n.ie n \\{\n.el\n.ds\n.El\n.RE\n.It\n.IP\n.TP\n\\",
        ".Dd x\n.Dt\n.Bl\n.It Xo\n.Op Oo Sq\n.Xr a\n.Xr\n.Pf\n.Fl\n.Nm\n\\N'999999'\\[u999999]\\(",
        ".TH X 1\n" + ".RS\n.TP\nx\n" * 2000,
        ".TH X 1\n.while 1 \\{\\\nx\n.\\}\n" + "\\*" * 50_000,
    ],
)
def test_unsound_pages_are_read_too(tmp_path, text):
    assert read(tmp_path, "x.1", text).format == "man-page"
