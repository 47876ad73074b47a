"""docs/agents.md says of the tools what they are, and its settings for clients can be read."""

from __future__ import annotations

import json
import re
from pathlib import Path

from ragkit.settings import load_settings
from ragkit.surfaces.cli.app import COMMANDS
from ragkit.surfaces.mcp.server import tools

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "agents.md").read_text("utf-8")


def test_the_table_has_every_tool_with_what_it_takes():
    rows = re.findall(r"^\| `(\w+)` \| .+? \|(.*)\|$", TEXT, re.M)
    listed = {name: re.findall(r"`(\w+)`", takes) for name, takes in rows}
    made = tools(load_settings())
    assert listed == {tool.name: [one.name for one in tool.parameters] for tool in made}


def test_the_settings_of_clients_are_json_and_start_the_command():
    blocks = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)]
    servers = [(each.get("mcpServers") or each["servers"])["ragkit"] for each in blocks]
    started = [each for each in servers if "command" in each]
    assert [(each["command"], each["args"][0]) for each in started] == [("ragkit", "mcp")] * 2
    asked = [each for each in servers if "url" in each]
    assert {each["url"] for each in asked} == {"http://localhost:8501/mcp"}
    assert all(each["headers"]["Authorization"].startswith("Bearer ") for each in asked)
    assert len(started) + len(asked) == len(blocks) == 4
    assert "mcp" in COMMANDS
