"""The patterns of ignore files as regular expressions, each matched in a bounded time.

Anybody can put an ignore file into a folder that is read, as with a repository that was cloned.
Of several stars, pathspec tries every combination, so that "*a*a*a*a*a*a*b" takes for ever.
But of all but the last star, the first place where what follows it fits is as good as any other, so
that each is decided once. The same holds for "**" and the folders that follow it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_CHARACTER = r"(?:\[\^/\](?![*+])|\[(?!\^/\])(?:\\.|[^\]\\])+\]|\\.|[^/\\\[\](){}|*+?^$.])"
"""What stands for one character: "?", a class, an escaped or a plain one."""

_NEGATED = re.compile(r"\[\^(?!/\])((?:\\.|[^\]\\])+)\]")
_STAR = re.compile(rf"\[\^/\]\*({_CHARACTER}+)(?=\[\^/\]\*)")
_FOLDERS = rf"((?:{_CHARACTER}|\[\^/\][*+]|/)+)(?=\(\?:/\.\+\)\?)"
_FIRST_STARS = re.compile(rf"\^\(\?:\.\+/\)\?{_FOLDERS}")
_OTHER_STARS = re.compile(rf"\(\?:/\.\+\)\?{_FOLDERS}")


def ignore_patterns(lines: Iterable[str]) -> Iterator[tuple[re.Pattern[str], bool]]:
    """Yield (expression, whether it excludes) for each line that is a pattern."""
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    for line in lines:
        try:
            pattern = GitIgnoreSpecPattern(line)
        except ValueError:
            continue
        if pattern.regex is not None and pattern.include is not None:
            yield decided_once(pattern.regex), pattern.include


def decided_once(expression: re.Pattern[str]) -> re.Pattern[str]:
    """Return an expression of pathspec's that matches the same without trying combinations.

    As in git, "[!a]" matches no slash, which pathspec's does.
    """
    pattern = _NEGATED.sub(r"[^/\1]", expression.pattern)
    pattern = _FIRST_STARS.sub(r"^(?>(?:.+?/)??\1(?=/))", pattern)
    pattern = _OTHER_STARS.sub(r"(?>(?:/.+?)??\1(?=/))", pattern)
    return re.compile(_STAR.sub(r"(?>[^/]*?\1)", pattern), expression.flags)
