"""The image and what runs beside it: linted, read, and its steps run as plain commands.

No image is built here: that takes Docker and a network.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import yaml

from ragkit.indexes.qdrant.server import LEAST_VERSION

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = ROOT / "Dockerfile"


def instructions(text: str) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile in their order, each with its arguments."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    whole = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [
        (name, rest)
        for name, _, rest in (line.partition(" ") for line in whole.split("\n"))
        if name
    ]


ALL = instructions(DOCKERFILE.read_text("utf-8"))
STAGE = max(number for number, (name, _) in enumerate(ALL) if name == "FROM")


def arguments(name: str) -> list[str]:
    """What the image's own stage says with an instruction."""
    return [rest for each, rest in ALL[STAGE:] if each == name]


def context(folder: Path) -> Path:
    """A copy of what Docker is given of this folder, by the rules of .dockerignore."""
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    for top in ROOT.iterdir():
        if top.name in (".git", ".venv"):
            continue
        for file in [top] if top.is_file() else filter(Path.is_file, top.rglob("*")):
            name = file.relative_to(ROOT)
            parts = [str(name), *map(str, name.parents)]
            kept = True
            for rule in rules:
                pattern = rule.removeprefix("!").replace("**/", "*")
                if any(fnmatch.fnmatch(part, pattern) for part in parts):
                    kept = rule.startswith("!")
            if kept:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, folder / name)
    return folder


def test_hadolint_finds_nothing():
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, DOCKERFILE], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_what_is_installed_is_locked_and_comes_before_the_source():
    steps = [rest for name, rest in ALL if name in ("COPY", "RUN")]
    first = next(number for number, rest in enumerate(steps) if "--require-hashes" in rest)
    assert "-r requirements/run.txt" in steps[first]
    assert steps[first - 1] == "requirements/run.txt requirements/run.txt"
    assert steps.index(". .") > first
    installing = [rest for rest in steps if "pip install" in rest]
    assert [
        rest for rest in installing if "--require-hashes" not in rest and "--no-index" not in rest
    ] == []


def test_the_image_runs_as_nobody_in_particular_and_keeps_the_library_apart():
    assert arguments("ARG") == ["UID=10001"]
    assert arguments("USER") == ["$UID"]
    assert arguments("VOLUME") == ["/library"]
    assert "RAGKIT_LIBRARY=/library" in arguments("ENV")[0]
    assert arguments("EXPOSE") == ["8501"]
    assert len([rest for name, rest in ALL if name == "FROM"]) == 2
    (copied,) = arguments("COPY")
    assert copied.startswith("--from=build ")


def test_it_serves_beyond_its_own_loopback_without_a_shell(in_process):
    (entrypoint,), (command,) = arguments("ENTRYPOINT"), arguments("CMD")
    assert json.loads(entrypoint) == ["ragkit"]
    assert json.loads(command) == ["serve", "--host", "0.0.0.0", "--no-browser"]
    assert in_process(*json.loads(command), "--help").returncode == 0


@pytest.mark.parametrize(
    ("status", "healthy"), [(200, True), (401, True), (503, False), (0, False)]
)
def test_it_is_healthy_as_long_as_it_answers(status, healthy):
    asked = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.handle_request)
        if status:
            thread.start()
        else:
            server.socket.close()
        (check,) = arguments("HEALTHCHECK")
        command = json.loads(check.partition(" CMD ")[2])
        assert command[0] == "python"
        command[0] = sys.executable
        assert "8501" in command[-1]
        command[-1] = command[-1].replace("8501", str(server.server_port))
        done = subprocess.run(command, capture_output=True)
        if status:
            thread.join(10)
    assert (done.returncode == 0) == healthy
    assert asked == (["/_stcore/health"] if status else [])


def test_its_steps_install_the_whole_app_from_what_docker_is_given(tmp_path):
    place, installed = context(tmp_path / "context"), tmp_path / "installed"
    given = "requirements pyproject.toml hatch_build.py README.md LICENSE .streamlit app.py pages"
    assert {path.name for path in place.iterdir()} == {*given.split(), "ragkit", "sample_data"}
    assert [*place.rglob("*.pyc")] == []
    assert [path.name for path in (place / "requirements").iterdir()] == ["run.txt"]
    environment, dependencies, source = (rest for name, rest in ALL[:STAGE] if name == "RUN")
    # What make setup does as well: an environment, and in it what is locked.
    assert environment == "python -m venv /opt/ragkit"
    assert dependencies.endswith("--require-hashes -r requirements/run.txt")
    done = subprocess.run(
        ["sh", "-c", source.replace("/opt/ragkit/bin/python", shlex.quote(sys.executable))],
        cwd=place,
        env={**os.environ, "PIP_TARGET": str(installed), "PIP_NO_COMPILE": "1", "PYTHONPATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (installed / "ragkit" / "_app" / "app.py").is_file()
    assert (installed / "ragkit" / "_app" / "sample_data" / "questions.jsonl").is_file()
    assert (installed / "bin" / "ragkit").is_file()
    ours = {file.relative_to(ROOT) for file in (ROOT / "ragkit").rglob("*.py")}
    assert {file for file in ours if not (installed / file).is_file()} == set()


def test_compose_publishes_on_loopback_and_mounts_documents_to_read():
    composed = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
    assert set(composed["services"]) == {"ragkit", "ollama"}
    ragkit, ollama = composed["services"]["ragkit"], composed["services"]["ollama"]
    assert ragkit["ports"] == ["127.0.0.1:8501:8501"]
    assert "ports" not in ollama
    library, documents = ragkit["volumes"]
    assert library == "library:/library"
    assert (documents["type"], documents["read_only"]) == ("bind", True)
    assert documents["source"].startswith("${RAGKIT_DOCUMENTS:?")
    # Below its home, so that it may be added without being asked for twice.
    assert documents["target"] == f"{arguments('WORKDIR')[0]}/documents"
    assert ragkit["build"]["args"]["UID"] == "${RAGKIT_UID:-10001}"
    assert ragkit["depends_on"] == {"ollama": {"condition": "service_started"}}
    assert ragkit["environment"]["RAGKIT_MODELS__OLLAMA_URL"] == "http://ollama:11434"
    assert ollama["environment"] == {"OLLAMA_NO_CLOUD": "1"}
    assert ollama["healthcheck"]["test"] == ["CMD", "ollama", "list"]
    assert set(composed["volumes"]) == {"library", "models"}


def test_three_nodes_of_qdrant_are_reached_from_this_machine_alone():
    composed = yaml.safe_load((ROOT / "compose.qdrant.yaml").read_text("utf-8"))
    nodes = composed["services"]
    assert len(nodes) == 3
    ports = [port for node in nodes.values() for port in node.get("ports", [])]
    assert ports == ["127.0.0.1:6333:6333"]
    assert composed["networks"]["nodes"] == {"internal": True}
    for name, node in nodes.items():
        image, _, version = node["image"].rpartition(":v")
        assert image == "qdrant/qdrant"
        assert tuple(map(int, version.split(".")))[:2] >= LEAST_VERSION
        assert node["volumes"] == [f"{name}:/qdrant/storage"]
        assert name in composed["volumes"]
        assert node["environment"]["QDRANT__SERVICE__API_KEY"].startswith("${QDRANT_KEY:?")
        assert node["environment"]["QDRANT__TELEMETRY_DISABLED"] == "true"
        joins = "--bootstrap" in node["command"]
        assert joins == (name != "first")
        assert f"http://{name}:6335" in node["command"]
