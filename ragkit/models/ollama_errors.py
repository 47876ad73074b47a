"""Named errors for the failures of Ollama, each with a sentence and a cure."""

from __future__ import annotations

import ipaddress
import json
import re
from urllib.parse import urlsplit

from ragkit.errors import (
    InputTooLongError,
    ModelMissingError,
    ModelUnsuitableError,
    OllamaAnswerError,
    OllamaError,
    OllamaOutOfMemoryError,
    OllamaServerError,
    OllamaTimeoutError,
    OllamaUnreachableError,
    SettingsError,
)
from ragkit.models.ollama_text import one_line

_MEMORY = re.compile(
    r"out of memory|more (?:system |gpu )?memory|unable to allocate|cudamalloc|"
    r"(?:insufficient|not enough) memory|signal: killed|failed to allocate",
    re.I,
)
_TOO_LONG = re.compile(r"input length exceeds|exceeds?.{0,20}context (?:length|size)", re.I)
_UNSUITABLE = re.compile(r"does not support|not support(?:ed)? (?:chat|generate|embed)", re.I)
_MISSING = re.compile(r"model.{0,300}not found|try pulling|file does not exist", re.I)
_NOT_A_NUMBER = re.compile(r"unsupported value: (?:NaN|[+-]?Inf)", re.I)
_NETWORK = re.compile(r"dial tcp|no such host|network is unreachable|tls: |lookup ", re.I)
_CHECK_ADDRESS = "Check models.ollama_url."


def checked_address(url: str, allow_remote: bool) -> str:
    """Return the address to connect to.

    Raises:
        SettingsError: it is none, or is another machine and that is not allowed.
    """
    full = url if "://" in url else f"http://{url}"
    try:
        parts = urlsplit(full)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host = ""
    if not host or parts.scheme not in ("http", "https"):
        raise SettingsError(
            f'Invalid address: "{one_line(url)}".',
            "Set models.ollama_url to something like http://127.0.0.1:11434.",
        )
    if host in ("0.0.0.0", "::"):  # noqa: S104 - what a server listens on; here it is called
        full = full.replace("0.0.0.0", "127.0.0.1", 1).replace("[::]", "[::1]", 1)  # noqa: S104
    elif not allow_remote and not _is_this_machine(host):
        raise SettingsError(
            f"models.ollama_url names another machine, {one_line(host)}: "
            "your texts would leave this machine.",
            "Set models.allow_remote to true if that is what you want.",
        )
    return full


def _is_this_machine(host: str) -> bool:
    if host.casefold() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def unreachable(url: str) -> OllamaUnreachableError:
    """Return the error for an address where nothing listens."""
    return OllamaUnreachableError(
        f"Ollama does not answer at {url}.",
        "Start it: ollama serve. If it listens elsewhere, set models.ollama_url in the settings "
        "file. Search works without it.",
    )


def not_ollama(url: str) -> OllamaUnreachableError:
    """Return the error for an address where something else listens."""
    return OllamaUnreachableError(f"The server at {url} is not Ollama.", _CHECK_ADDRESS)


def broke_off(url: str) -> OllamaUnreachableError:
    """Return the error for a connection that ended before the answer did."""
    return OllamaUnreachableError(
        f"Ollama at {url} stopped in the middle of its answer.",
        "It may have been stopped or run out of memory. Check its log, or try again.",
    )


def missing(model: str) -> ModelMissingError:
    """Return the error for a model that Ollama does not have."""
    return ModelMissingError(
        f'Ollama does not have the model "{one_line(model)}".',
        f"Get it on the Health page, or with: ollama pull {one_line(model)}.",
    )


def named_error(error: Exception, url: str, model: str = "") -> OllamaError:
    """Return the named error for what a call of the ollama package raised.

    That package raises its own errors, those of httpx and pydantic, and built-in ones.
    """
    import httpx
    import ollama

    if isinstance(error, OllamaError):
        return error
    if isinstance(error, ollama.ResponseError):
        return _refused(error.error or "", error.status_code, url, model)
    if isinstance(error, httpx.HTTPStatusError):
        return _refused(error.response.text, error.response.status_code, url, model)
    if isinstance(error, httpx.ConnectTimeout | httpx.ConnectError | httpx.UnsupportedProtocol):
        return unreachable(url)
    if isinstance(error, httpx.TimeoutException):
        return OllamaTimeoutError(
            f"Ollama did not answer in time{_by(model)}.",
            "Choose a smaller model, or raise the time limits under models in the settings.",
        )
    if isinstance(error, httpx.HTTPError | httpx.StreamError):
        return broke_off(url)
    if isinstance(error, OSError):
        return unreachable(url)
    if isinstance(error, json.JSONDecodeError) and error.doc.lstrip()[:1] == "<":
        return not_ollama(url)
    return OllamaAnswerError(
        f"Ollama sent an invalid answer{_by(model)}: {one_line(str(error), 120)}.",
        "Try again. If it keeps happening, update Ollama.",
    )


def _refused(report: str, status: int, url: str, model: str) -> OllamaError:
    """Return the named error for what the server itself reported."""
    reason = one_line(report)
    if _MEMORY.search(report):
        return OllamaOutOfMemoryError(
            f"Ollama does not have enough memory{_by(model)}: {reason}.",
            "Choose a smaller model, lower models.context_window, or close other programs.",
        )
    if _TOO_LONG.search(report):
        return InputTooLongError(
            f"A text is too long{_by(model)}: {reason}.", "Lower chunking.words in the settings."
        )
    if _NOT_A_NUMBER.search(report):
        return not_numbers(model)
    if _UNSUITABLE.search(report):
        return ModelUnsuitableError(
            f'The model "{one_line(model)}" cannot do this: {reason}.', "Choose another model."
        )
    if _MISSING.search(report):
        return missing(model)
    if report.lstrip()[:1] == "<":
        if status < 500:
            return not_ollama(url)
        reason = ""
    if _NETWORK.search(report):
        cure = "Check the internet connection: models are downloaded."
    elif status == 404:
        cure = f"{_CHECK_ADDRESS} If it is right, update Ollama."
    elif status in (429, 503):
        cure = "Ollama is busy. Try again in a moment."
    else:
        cure = "Try again. If it keeps happening, check Ollama's log."
    code = f" (status {status})" if status > 0 else ""
    return OllamaServerError(f"Ollama reported an error{code}: {reason or 'no details'}.", cure)


def not_numbers(model: str) -> OllamaAnswerError:
    """Return the error for a vector with entries that are no numbers."""
    return OllamaAnswerError(
        f"Ollama returned a vector with invalid numbers{_by(model)}.",
        "Update Ollama, or choose another embedding model.",
    )


def _by(model: str) -> str:
    return f' with the model "{one_line(model, 80)}"' if model else ""
