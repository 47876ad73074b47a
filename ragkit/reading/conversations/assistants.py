"""What exports of assistants share: turns made of text, pictures, calls of tools, results."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SHORT = 300
"""How much of a call of a tool, or of its result, is kept."""

NAMES = {"user": "User", "human": "User", "assistant": "Assistant", "model": "Assistant"}
"""What the two sides are called where the export knows no names."""

_TEXTS = ("text", "input_text", "output_text")


def shortened(value: Any, most: int = SHORT) -> str:
    """Put a value on one line of bounded length."""
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False)
    line = " ".join(value[: most * 4].split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def block_texts(content: Any) -> Iterator[str]:
    """Go through the content of a turn: a text, or a list of blocks."""
    if isinstance(content, str):
        yield content
        return
    for block in content if isinstance(content, list) else []:
        if isinstance(block, str):
            yield block
        elif isinstance(block, dict):
            yield _block(block)


def _block(block: Mapping[str, Any]) -> str:
    """One block of a turn as text; hidden thoughts are left out."""
    kind = str(block.get("type") or "")
    if kind in _TEXTS:
        return str(block.get("text") or "")
    if kind in ("tool_use", "server_tool_use", "function_call", "tool_call"):
        function = block.get("function")
        inner: Mapping[str, Any] = function if isinstance(function, dict) else block
        given = inner.get("input", inner.get("arguments", ""))
        return f"(tool {inner.get('name') or 'call'}: {shortened(given)})"
    if kind in ("tool_result", "function_call_output"):
        inside = block.get("content", block.get("output", ""))
        result = "\n".join(block_texts(inside)) or inside
        return f"(result: {shortened(result)})" if result else ""
    if "image" in kind:
        return "(picture)"
    if kind in ("document", "file"):
        return f"(file {block.get('title') or block.get('name') or ''})".replace(" )", ")")
    return ""
