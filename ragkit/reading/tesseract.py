"""Tesseract, the program that recognises the text of pictures (OCR), where it is installed."""

from __future__ import annotations

import locale
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from xml.etree import ElementTree

import psutil

from ragkit.errors import PassingError, ReadingError
from ragkit.reading.limits import wall_seconds
from ragkit.reading.pdf.ocr import RecognisedLine, Word

_PLACES = ("/opt/homebrew/bin", "/usr/local/bin", r"C:\Program Files\Tesseract-OCR")
"""Where installers put the program although it is not in the path of a service."""
_NO_LANGUAGE = ("osd", "equ", "snum")
_USUAL = "eng"
_MOST_LANGUAGES = 4
"""Each language takes as long again. If more are installed, only the person's own is used."""
_LOCALES = {
    "ar": "ara", "bg": "bul", "cs": "ces", "da": "dan", "de": "deu", "el": "ell", "en": "eng",
    "es": "spa", "fi": "fin", "fr": "fra", "he": "heb", "hi": "hin", "hu": "hun", "it": "ita",
    "ja": "jpn", "ko": "kor", "nl": "nld", "no": "nor", "nb": "nor", "pl": "pol", "pt": "por",
    "ro": "ron", "ru": "rus", "sv": "swe", "tr": "tur", "uk": "ukr", "vi": "vie", "zh": "chi_sim",
}  # fmt: skip
_PASSED_ON = (
    "PATH", "HOME", "LANG", "LC_ALL", "TESSDATA_PREFIX", "LD_LIBRARY_PATH",
    "SYSTEMROOT", "TEMP", "TMP", "TMPDIR",
)  # fmt: skip
"""What the program gets of the environment, in which there may be keys."""
_LIST_SECONDS = 20.0
_WATCH_SECONDS = 0.2
_NICE = 19
_NUMBER = r"(-?\d+(?:\.\d+)?)"
_BOX = re.compile(rf"\bbbox {_NUMBER} {_NUMBER} {_NUMBER} {_NUMBER}")
_BASELINE = re.compile(rf"\bbaseline {_NUMBER} {_NUMBER}")
_SIZE = re.compile(rf"\bx_size {_NUMBER}; x_descenders {_NUMBER}")
_TURNED = re.compile(r"\btextangle (\d+)")
_CONFIDENCE = re.compile(r"\bx_wconf (\d+)")
_LINES = frozenset(("ocr_line", "ocr_header", "ocr_textfloat", "ocr_caption"))
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Tesseract:
    """The program as it is installed, with the languages whose data are installed."""

    program: str
    languages: tuple[str, ...]

    @classmethod
    def find(cls) -> Tesseract | None:
        """Return the program, or ``None`` if it is missing or has no data for any language."""
        path = os.pathsep.join((os.environ.get("PATH", os.defpath), *_PLACES))
        program = shutil.which("tesseract", path=path)
        if program is None:
            return None
        try:
            listed = subprocess.run(
                [program, "--list-langs"], env=_environment(),
                capture_output=True, text=True, timeout=_LIST_SECONDS, check=True,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
            return None
        # The first line says how many there are; versions before 4 wrote them to standard error.
        names = (listed.stdout or listed.stderr).splitlines()[1:]
        languages = tuple(sorted(filter(None, map(str.strip, names))))
        return cls(program, languages) if set(languages).difference(_NO_LANGUAGE) else None

    def chosen(self, wanted: tuple[str, ...]) -> tuple[str, ...]:
        """Return the languages to recognise: the wanted ones that are installed.

        If none is wanted, they are all that are installed, or English and the person's own if
        those are many.
        """
        installed = [
            name for name in self.languages if name not in _NO_LANGUAGE and "/" not in name
        ]
        if wanted:
            return tuple(name for name in wanted if name in self.languages)
        if len(installed) <= _MOST_LANGUAGES:
            return tuple(installed)
        own = (own_language(), _USUAL)
        return tuple(name for name in dict.fromkeys(own) if name in installed) or (installed[0],)

    def lines(
        self, png: bytes, dpi: int, languages: tuple[str, ...], seconds: float,
        stopping: threading.Event,
    ) -> list[RecognisedLine]:  # fmt: skip
        """Recognise the text of a picture in a process of the lowest priority.

        Raises:
            PassingError: ``stopping`` was set, or the machine was too busy.
            ReadingError: the program failed, or needed more than ``seconds`` of processor time.
        """
        # Only with data on scripts can it tell which side of a page is up.
        layout = "1" if "osd" in self.languages else "3"
        command = [
            self.program, "-", "-", "-l", "+".join(languages), "--dpi", str(dpi),
            "--psm", layout, "hocr",
        ]  # fmt: skip
        output = _output(command, png, seconds, stopping)
        try:
            return lines_in(output)
        except (ElementTree.ParseError, ValueError) as error:
            raise ReadingError("Tesseract's answer could not be read.", "Update it.") from error


def own_language() -> str:
    """Return Tesseract's name of the language that the person's system speaks, or ``""``."""
    name = os.environ.get("LC_ALL") or os.environ.get("LANG") or locale.getlocale()[0] or ""
    return _LOCALES.get(name[:2].lower(), "")


def lines_in(hocr: bytes) -> list[RecognisedLine]:
    """Return the lines of Tesseract's output in the format hOCR.

    Raises:
        ElementTree.ParseError, ValueError: it is not hOCR.
    """
    text = _CONTROL.sub("", hocr.decode("utf-8", "replace"))
    if "<!ENTITY" in text:
        raise ValueError("hOCR declares no entities")
    lines: list[RecognisedLine] = []
    root = ElementTree.fromstring(text)  # noqa: S314 - entities were refused
    for element in root.iter():
        if element.get("class") in _LINES:
            words = tuple(filter(None, map(_word, element)))
            if words:
                lines.append(_line(words, element.get("title") or ""))
    return lines


def _line(words: tuple[Word, ...], title: str) -> RecognisedLine:
    box, baseline, size = _BOX.search(title), _BASELINE.search(title), _SIZE.search(title)
    turned = _TURNED.search(title)
    if turned or not (box and baseline and size):
        return RecognisedLine(words, turned=int(turned[1]) % 360 if turned else 0)
    slope, offset = map(float, baseline.groups())
    height, descent = map(float, size.groups())
    return RecognisedLine(words, float(box[4]) + offset, slope, height, descent)


def _word(element: ElementTree.Element) -> Word | None:
    title = element.get("title") or ""
    box, confidence = _BOX.search(title), _CONFIDENCE.search(title)
    text = "".join(element.itertext()).strip()
    if element.get("class") != "ocrx_word" or box is None or not text:
        return None
    left, top, right, bottom = map(float, box.groups())
    return Word(text, left, top, right, bottom, int(confidence[1]) if confidence else 100)


def _output(command: list[str], data: bytes, seconds: float, stopping: threading.Event) -> bytes:
    """Run a program of the lowest priority with this input; return its output."""
    deadline = time.monotonic() + wall_seconds(seconds)
    # Not through a pipe: after a timeout, ``communicate`` writes no more of its input.
    with tempfile.TemporaryFile() as given:
        given.write(data)
        given.seek(0)
        try:
            child = subprocess.Popen(
                command, env=_environment(),
                stdin=given, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except OSError as error:
            raise PassingError("Tesseract could not be started.", "Install it again.") from error
    with child:
        with suppress(psutil.Error):
            psutil.Process(child.pid).nice(getattr(psutil, "IDLE_PRIORITY_CLASS", _NICE))
        while True:
            with suppress(subprocess.TimeoutExpired):
                output, _ = child.communicate(timeout=_WATCH_SECONDS)
                break
            reason = _reason_to_end(child.pid, seconds, deadline, stopping)
            if reason is not None:
                child.kill()
                raise reason
    if child.returncode:
        raise ReadingError("Tesseract failed on this page.", "")
    return output


def _environment() -> dict[str, str]:
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {**passed_on, "OMP_THREAD_LIMIT": "1"}


def _reason_to_end(
    process_id: int, seconds: float, deadline: float, stopping: threading.Event
) -> ReadingError | None:
    """Return why a page is not waited for any longer, or ``None``."""
    if stopping.is_set():
        return PassingError("Recognising text was interrupted.", "It goes on later.")
    with suppress(psutil.Error):
        times = psutil.Process(process_id).cpu_times()
        if times.user + times.system > seconds:
            return ReadingError("Recognising the text of this page took too long.", "")
    if time.monotonic() > deadline:
        return PassingError("The machine was too busy to recognise text.", "It goes on later.")
    return None
