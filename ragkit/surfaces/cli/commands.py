"""Commands in modules of their own, imported when one of them is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from collections.abc import Iterable

ELSEWHERE: dict[str, str] = {
    "eval": "evaluate",
    "ablate": "ablate",
    "doctor": "maintenance",
    "verify": "maintenance",
    "compact": "maintenance",
    "jobs": "maintenance",
    "export": "maintenance",
    "import": "maintenance",
    "contextualize": "contextualize",
    "embedder": "embedder",
    "judgments": "judgments",
    "related": "related",
}
"""Commands by name, and the module whose ``register`` adds them, in the order of the help."""


class CommandGroup(TyperGroup):
    """The commands of ``app``, and those of ``ELSEWHERE`` as soon as one is named."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of that name, or ``None``; a wrong name loads all of them."""
        if cmd_name not in self.commands:
            named = ELSEWHERE.get(cmd_name)
            self._add([named] if named else ELSEWHERE.values())
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return every name, in the order of the help."""
        own = [name for name in super().list_commands(ctx) if name not in ELSEWHERE]
        return [*own, *ELSEWHERE]

    def _add(self, modules: Iterable[str]) -> None:
        for module in dict.fromkeys(modules):
            part = typer.Typer(rich_markup_mode=None)
            import_module(f"ragkit.surfaces.cli.{module}").register(part)
            for name, command in typer.main.get_group(part).commands.items():
                self.commands.setdefault(name, command)
