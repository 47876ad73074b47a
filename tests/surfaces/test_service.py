"""``ragkit service``: what is written for each system, and what its programs are asked to do."""

from __future__ import annotations

import configparser
import json
import plistlib
import shlex
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ragkit.errors import RagkitError
from ragkit.paths import LibraryPaths
from ragkit.surfaces.service import launchd, program, systemd, task_scheduler
from ragkit.surfaces.service.program import Program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are shell scripts")

ODD = '/tmp/Bücher & <co>/100% "of" $HOME\'s \\ %h;${A}'


@pytest.fixture
def odd(monkeypatch):
    monkeypatch.setenv("RAGKIT_CONFIG", f"{ODD}.toml")
    return program.program(LibraryPaths(Path(ODD)), 8600)


# -- what is run ---------------------------------------------------------------------------


def test_it_serves_the_pages_of_one_library_by_absolute_paths(odd):
    assert odd.command == (
        sys.executable, "-P", "-m", "ragkit", "serve", "--no-browser", "--port", "8600",
        "--library", ODD,
    )  # fmt: skip
    assert odd.environment == {"RAGKIT_CONFIG": f"{ODD}.toml"}
    assert not odd.background
    assert Path(odd.command[0]).is_absolute()


def test_it_answers_on_the_address_that_is_asked_for(in_process):
    run = program.program(LibraryPaths(Path("/l")), 8501, host="0.0.0.0")
    assert run.command[4:10] == ("serve", "--no-browser", "--port", "8501", "--host", "0.0.0.0")
    said = in_process("service", "install", "--print", "--host", "example.org")
    assert (said.returncode, said.stdout) == (2, "")
    assert "example.org is not an address" in said.stderr
    said = in_process("service", "install", "--print", "--worker-only", "--port", "80")
    assert (said.returncode, said.stdout) == (2, "")


def test_the_worker_alone_waits_for_its_turn_and_serves_nothing():
    run = program.program(LibraryPaths(Path("l")), 8501, collection="a b", worker_only=True)
    assert run.command[3:] == (
        "ragkit", "worker", "--wait", "--library", str(Path("l").absolute()), "--collection", "a b",
    )  # fmt: skip
    assert run.background


def test_variables_that_are_not_passed_on_are_named(monkeypatch):
    monkeypatch.setenv("RAGKIT_CONFIG", "/settings.toml")
    monkeypatch.setenv("RAGKIT_WEB__KEY", "secret")
    run = program.program(LibraryPaths(Path("/l")), 8501)
    assert "RAGKIT_WEB__KEY" in program.not_passed_on(run)
    assert "RAGKIT_CONFIG" not in program.not_passed_on(run)
    assert "secret" not in systemd.unit(run)
    monkeypatch.setattr(sys, "platform", "win32")
    run = program.program(LibraryPaths(Path("/l")), 8501)
    assert run.environment == {}
    assert "RAGKIT_CONFIG" in program.not_passed_on(run)


@pytest.mark.parametrize("name", ["a\nb", "a\x1fb", "a\x7fb", "a\udcffb"])
def test_a_path_that_no_such_file_can_hold_is_refused(name):
    with pytest.raises(RagkitError, match="a service definition cannot contain"):
        program.program(LibraryPaths(Path(name)), 8501)


# -- systemd -------------------------------------------------------------------------------


def parsed(text):
    unit = configparser.RawConfigParser()
    unit.optionxform = str
    unit.read_string(text)
    return unit


def test_the_unit_holds_the_paths_as_systemd_reads_them(odd):
    text = systemd.unit(odd)
    unit = parsed(text)
    # systemd: quotes and backslashes are escaped by backslashes, % by %%, and in a command $ by $$.
    escaped = '/tmp/Bücher & <co>/100%% \\"of\\" $HOME\'s \\\\ %%h;${A}'
    assert unit["Service"]["Environment"] == f'"RAGKIT_CONFIG={escaped}.toml"'
    assert unit["Service"]["ExecStart"] == (
        f'"{sys.executable}" "-P" "-m" "ragkit" "serve" "--no-browser" "--port" "8600" '
        f'"--library" "{escaped.replace("$", "$$")}"'
    )
    assert systemd.command_in(text) == odd.command
    assert unit["Unit"]["Description"].startswith("ragkit")
    assert unit["Install"]["WantedBy"] == "default.target"


def test_the_unit_comes_back_stops_in_good_order_and_hides_nothing(odd):
    service = dict(parsed(systemd.unit(odd))["Service"])
    del service["ExecStart"], service["Environment"]
    assert service == {
        "Type": "exec", "Restart": "always", "RestartSec": "10", "KillMode": "mixed",
        "TimeoutStopSec": "60",
    }  # fmt: skip
    worker = Program(("/usr/bin/python", "-V"), Path("log"), background=True)
    assert parsed(systemd.unit(worker))["Service"]["Nice"] == "10"


def test_a_program_that_systemd_would_not_start_is_refused():
    with pytest.raises(RagkitError, match="a quote or backslash in its path"):
        systemd.unit(Program(('/opt/"x"/python',), Path("log")))
    # Of a program's own path, systemd reads no variables.
    unit = systemd.unit(Program(("/opt/$x 1%/python", "$x"), Path("log")))
    assert 'ExecStart="/opt/$x 1%%/python" "$$x"\n' in unit
    assert systemd.command_in(unit) == ("/opt/$x 1%/python", "$x")


# -- launchd, Task Scheduler ---------------------------------------------------------------


def test_the_property_list_holds_the_paths(odd):
    value = plistlib.loads(launchd.property_list(odd).encode())
    assert value == {
        "Label": "local.ragkit",
        "ProgramArguments": list(odd.command),
        "EnvironmentVariables": {"RAGKIT_CONFIG": f"{ODD}.toml"},
        "RunAtLoad": True,
        "KeepAlive": True,
        "ThrottleInterval": 10,
        "ExitTimeOut": 60,
        "ProcessType": "Standard",
        "StandardOutPath": f"{ODD}/logs/service.log",
        "StandardErrorPath": f"{ODD}/logs/service.log",
    }
    worker = Program(("python",), Path("log"), background=True)
    assert plistlib.loads(launchd.property_list(worker).encode())["ProcessType"] == "Background"


def test_the_task_runs_at_this_persons_logon_without_a_window(monkeypatch):
    monkeypatch.setenv("USERDOMAIN", "R&D")
    monkeypatch.setenv("USERNAME", "Jörg")
    command = ("C:\\Program Files\\py\\python.exe", "-P", "--library", "D:\\A & <b> 5%\\ü")
    text = task_scheduler.task(Program(command, Path("log")))
    root = ElementTree.fromstring(text.partition("\n")[2])
    names = {"t": "http://schemas.microsoft.com/windows/2004/02/mit/task"}

    def of(path):
        return root.findtext(path, None, names)

    assert of("t:Triggers/t:LogonTrigger/t:UserId") == "R&D\\Jörg"
    assert of("t:Principals/t:Principal/t:UserId") == "R&D\\Jörg"
    assert of("t:Principals/t:Principal/t:RunLevel") == "LeastPrivilege"
    assert of("t:Triggers/t:LogonTrigger/t:Repetition/t:Interval") == "PT5M"
    assert of("t:Settings/t:MultipleInstancesPolicy") == "IgnoreNew"
    assert of("t:Settings/t:ExecutionTimeLimit") == "PT0S"
    assert of("t:Settings/t:DisallowStartIfOnBatteries") == "false"
    assert of("t:Actions/t:Exec/t:Command") == "conhost.exe"
    assert of("t:Actions/t:Exec/t:Arguments") == (
        '--headless "C:\\Program Files\\py\\python.exe" -P --library "D:\\A & <b> 5%\\ü"'
    )
    assert task_scheduler.command_in(text) == command


def test_a_path_that_task_scheduler_would_read_as_a_variable_is_refused():
    with pytest.raises(RagkitError, match="between two % in a path"):
        task_scheduler.task(Program(("python", "C:\\%TEMP%\\x"), Path("log")))


# -- the commands, with stand-ins for the system's programs ----------------------------------


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Put a script on the path that notes its arguments, then does what it is told; its notes."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "bin").mkdir()
    notes = tmp_path / "asked"

    def put(name, does="exit 0"):
        file = tmp_path / "bin" / name
        file.write_text(f'#!/bin/sh\necho "{name} $*" >> {shlex.quote(str(notes))}\n{does}\n')
        file.chmod(0o700)

    def asked():
        lines = notes.read_text().splitlines() if notes.exists() else []
        notes.unlink(missing_ok=True)
        return lines

    put.asked = asked
    return put


RUNNING = """case "$*" in *show*ActiveState*)
echo ActiveState=active; echo UnitFileState=enabled; echo MainPID=41; echo Result=success;; esac"""


@pytest.fixture
def unit_file(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    monkeypatch.setattr(sys, "platform", "linux")
    return tmp_path / "configuration" / "systemd" / "user" / "ragkit.service"


def test_install_status_and_remove_on_linux(in_process, stand_in, unit_file, tmp_path):
    stand_in("systemctl", RUNNING)
    library = tmp_path / "my library"
    for _ in range(2):
        done = in_process("service", "install", "--library", library, "--port", 8600)
        assert done.returncode == 0, done.stderr
        assert stand_in.asked() == [
            "systemctl --user show --property=Version",
            "systemctl --user daemon-reload",
            "systemctl --user enable ragkit.service",
            "systemctl --user restart ragkit.service",
        ]
        assert f"Installed: {unit_file}" in done.stderr
        assert "loginctl enable-linger" in done.stderr
        assert "RAGKIT_MODELS__EMBEDDER" in done.stderr
    assert f'"--port" "8600" "--library" "{library}"' in unit_file.read_text()
    assert unit_file.stat().st_mode & 0o077 == 0
    shown = in_process("service", "status")
    assert shown.returncode == 0
    assert shown.stdout.splitlines() == [
        f"Installed  {unit_file}",
        "At login   starts",
        "Running    yes, process 41",
        f"Command    {sys.executable} -P -m ragkit serve --no-browser --port 8600 "
        f"--library '{library}'",
        "Pages      not there",
    ]
    as_json = json.loads(in_process("service", "status", "--json").stdout)
    assert as_json["installed"]
    assert (as_json["enabled"], as_json["running"], as_json["process"]) == (True, True, 41)
    assert as_json["command"][-1] == str(library)
    stand_in.asked()
    removed = in_process("service", "remove")
    assert stand_in.asked() == [
        "systemctl --user show --property=Version",
        "systemctl --user disable --now ragkit.service",
        "systemctl --user daemon-reload",
        "systemctl --user reset-failed ragkit.service",
    ]
    assert removed.stderr == "Stopped and removed. The library stays.\n"
    assert not unit_file.exists()
    assert in_process("service", "remove").stderr == "None is installed.\n"
    gone = in_process("service", "status")
    assert (gone.returncode, gone.stdout) == (1, "Installed  no (ragkit service install)\n")


def test_one_that_is_installed_and_failed_says_so(in_process, stand_in, unit_file):
    stand_in("systemctl", RUNNING.replace("=active", "=failed").replace("=success", "=exit-code")
             .replace("41", "0").replace("=enabled", "=disabled"))  # fmt: skip
    assert in_process("service", "install", "--library", "/nowhere/library").returncode == 0
    shown = in_process("service", "status")
    assert shown.returncode == 1
    assert shown.stdout.splitlines()[1:3] == ["At login   does not start", "Running    no"]
    assert "journalctl --user -u ragkit" in shown.stderr


def test_what_systemd_cannot_be_asked_is_not_known(in_process, stand_in, unit_file):
    stand_in("systemctl")
    assert in_process("service", "install", "--library", "/nowhere/library").returncode == 0
    stand_in("systemctl", "echo Failed to connect to bus >&2; exit 1")
    shown = in_process("service", "status")
    assert shown.returncode == 1
    assert shown.stdout.splitlines()[1:3] == ["At login   does not start", "Running    not known"]
    assert "Failed to connect to bus" in shown.stderr
    wanted = unit_file.parent / "default.target.wants" / unit_file.name
    wanted.parent.mkdir()
    wanted.symlink_to(unit_file)
    assert "At login   starts" in in_process("service", "status").stdout
    refused = in_process("service", "remove")
    assert refused.returncode == 1
    assert "does not answer here" in refused.stderr
    assert unit_file.exists()


@pytest.mark.parametrize("there", [True, False])
def test_without_systemd_there_is_an_error_and_no_file(
    in_process, stand_in, unit_file, there, tmp_path, monkeypatch
):
    if there:
        stand_in("systemctl", "echo 'Failed to connect to bus: No medium found' >&2; exit 1")
    else:
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    said = in_process("service", "install", "--library", "/nowhere/library")
    assert said.returncode == 1
    why = "Failed to connect to bus" if there else "There is no systemctl here"
    assert why in said.stderr
    assert "ragkit service install --print" in said.stderr
    assert not unit_file.parent.exists()


@pytest.mark.parametrize("before", [None, "[Service]\nExecStart=/bin/true\n"])
def test_an_installation_that_fails_leaves_what_was(in_process, stand_in, unit_file, before):
    if before:
        unit_file.parent.mkdir(parents=True)
        unit_file.write_text(before)
    stand_in("systemctl", 'case "$*" in *restart*) echo no such program >&2; exit 1;; esac')
    said = in_process("service", "install", "--library", "/nowhere/library")
    assert said.returncode == 1
    assert "failed: no such program" in said.stderr
    assert (unit_file.read_text() if unit_file.exists() else None) == before
    assert (
        stand_in.asked()[-1]
        == f"systemctl --user {'restart ragkit.service' if before else 'daemon-reload'}"
    )


def test_what_would_be_written_is_printed_and_nothing_is_done(in_process, stand_in, unit_file):
    stand_in("systemctl", "exit 1")
    said = in_process("service", "install", "--print", "--worker-only", "--library", "/l x")
    assert said.returncode == 0
    assert 'ragkit" "worker" "--wait" "--library" "/l x"\n' in said.stdout
    assert parsed(said.stdout)["Install"]["WantedBy"] == "default.target"
    assert str(unit_file) in said.stderr
    assert stand_in.asked() == []
    assert not unit_file.parent.exists()


def test_install_status_and_remove_on_a_mac(stand_in, odd, tmp_path, monkeypatch):
    monkeypatch.setattr(launchd.time, "sleep", lambda _: None)
    loaded, refused = tmp_path / "loaded", tmp_path / "refused"
    # launchd refuses to load for a moment after it has unloaded.
    stand_in(
        "launchctl",
        f"""case "$1 $2" in
"print gui/"*/local.ragkit) test -e {loaded} || exit 113; printf '\\tpid = 7\\n';;
"print-disabled "*) printf '\\t"local.ragkit" => enabled\\n';;
"bootstrap "*) test -e {refused} || {{ touch {refused}; echo "Bootstrap failed: 5" >&2; exit 5; }}
touch {loaded};;
"bootout "*) test -e {loaded} || exit 3; rm {loaded};;
esac""",
    )
    odd = Program(odd.command, tmp_path / "library" / "logs" / "service.log")
    mac = launchd.Launchd()
    for _ in range(2):
        mac.install(odd)
        state = mac.state()
        assert (state.enabled, state.running, state.process) == (True, True, 7)
        assert state.command == odd.command
        assert state.library == Path(ODD)
    file = tmp_path / "home" / "Library" / "LaunchAgents" / "local.ragkit.plist"
    assert plistlib.loads(file.read_bytes())["ProgramArguments"] == list(odd.command)
    assert mac.remove()
    assert not file.exists()
    assert not loaded.exists()
    assert not mac.remove()
    assert mac.state().place == ""


def test_install_status_and_remove_on_windows(stand_in, tmp_path):
    kept = tmp_path / "kept.xml"
    stand_in(
        "schtasks",
        f"""case "$1" in /Create) cp "$5" {kept};; /Delete) rm {kept};;
/Query) test -e {kept} || exit 1; iconv -f utf-16 -t utf-8 {kept};; /End) exit 1;; esac""",
    )
    stand_in("powershell", "echo Running")
    windows = task_scheduler.TaskScheduler()
    command = ("C:\\py\\python.exe", "-m", "ragkit", "--library", "D:\\my library")
    windows.install(Program(command, Path("log")))
    assert [line.split()[1] for line in stand_in.asked()] == ["/End", "/Create", "/Run"]
    state = windows.state()
    assert (state.enabled, state.running, state.command) == (True, True, command)
    assert windows.remove()
    assert not kept.exists()
    assert not windows.remove()
