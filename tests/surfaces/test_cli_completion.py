"""Completion as shells ask for it: bash runs the printed script, zsh and fish's part is played."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from small_library import open_library

from ragkit.surfaces.cli.app import COMMANDS

ASK = """
eval "$(ragkit completion bash)"
complete -p ragkit
while read -r line; do
  read -ra COMP_WORDS <<<"$line"
  [[ $line == *. ]] && COMP_WORDS[-1]=""
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _ragkit_completion ragkit
  echo "${COMPREPLY[*]}"
done
"""
"""Prints what each line is completed with; a dot stands for a word that is only begun."""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("completion")
    library = open_library(folder / "library")
    for name in ("notes", "with space", "Verträge", "$(touch owned)", "mail"):
        library.collections.add(name)
    library.close()
    command = folder / "ragkit"
    command.write_text(f"#!{sys.executable}\nfrom ragkit.__main__ import main\nmain()\n")
    command.chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "RAGKIT_LIBRARY": str(folder / "library")}


def run(environment, *command, stdin=None, **more):
    done = subprocess.run(
        [*command],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        env={**environment, **more},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_bash_completes_commands_options_values_and_collections(environment, tmp_path):
    expected = {
        "ragkit .": " ".join(COMMANDS),
        "ragkit comp": "compact completion",
        "ragkit search --col": "--collection",
        "ragkit search --mode .": "hybrid keyword vector",
        "ragkit search --collection .": "Verträge mail notes",
        f"ragkit search --library {tmp_path}/none --collection .": "",
        "ragkit collections del": "delete",
        "ragkit collections delete n": "notes",
        "ragkit add /us": "",
    }
    said = run(environment, "bash", "--norc", "-c", ASK, stdin="\n".join([*expected, ""]))
    script, *answers = said.splitlines()
    # Where nothing is offered, bash completes the names of files.
    assert script == "complete -o default -F _ragkit_completion ragkit"
    assert dict(zip(expected, answers, strict=True)) == expected


def test_zsh_and_fish_are_told_what_a_command_does(environment):
    asked = {"_TYPER_COMPLETE_ARGS": "ragkit ver"}
    zsh = run(environment, "ragkit", _RAGKIT_COMPLETE="complete_zsh", **asked)
    verify, version = (COMMANDS[name][1] for name in ("verify", "version"))
    assert zsh == f"""_arguments '*: :(("verify":"{verify}"\n"version":"{version}"))'\n"""
    asked["_TYPER_COMPLETE_FISH_ACTION"] = "get-args"
    fish = run(environment, "ragkit", _RAGKIT_COMPLETE="complete_fish", **asked)
    assert fish == f"verify\t{verify}\nversion\t{version}\n"
    for shell in ("zsh", "fish"):
        script = run(environment, "ragkit", "completion", shell)
        assert f"_RAGKIT_COMPLETE=complete_{shell}" in script
