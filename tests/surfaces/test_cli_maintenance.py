from __future__ import annotations

import json
import shutil
import sys
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from ragkit.catalog import Catalog
from ragkit.library import Library
from ragkit.surfaces.cli.app import main


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A folder with a file, and a place for a library."""
    made = tmp_path_factory.mktemp("cli")
    (made / "files").mkdir()
    (made / "files" / "guide.md").write_text("# Guide\n\nOAuth tokens are signed.\n")
    return made


@pytest.fixture
def run(root, monkeypatch, capsys):
    """Runs ``ragkit`` on a small library of its own; gives code, output and errors."""
    monkeypatch.setenv("RAGKIT_MODELS__EMBEDDER", "hash")
    monkeypatch.setenv("NO_COLOR", "1")
    opened, original = [], Library.open.__func__

    def remembering(cls, *arguments, **more):
        opened.append(original(cls, *arguments, **more))
        return opened[-1]

    monkeypatch.setattr(Library, "open", classmethod(remembering))

    def ragkit(*arguments: object, library: Path | None = None) -> tuple[int, str, str]:
        monkeypatch.setenv("RAGKIT_LIBRARY", str(library or root / "lib"))
        monkeypatch.setattr(sys, "argv", ["ragkit", *map(str, arguments)])
        code: object = 0
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
        while opened:
            opened.pop().close()
        out, err = capsys.readouterr()
        return int(str(code)), out, err

    ragkit.root = root
    if not (root / "lib").exists():
        assert ragkit("add", root / "files")[0] == 0
    return ragkit


def _damage(run, statement: str) -> None:
    catalog = Catalog.open(run.root / "lib" / "catalog.sqlite")
    with closing(catalog):
        catalog.connections.get().execute(statement)


def test_doctor_finds_nothing_wrong_with_a_sound_library(run):
    code, out, err = run("doctor")
    assert code == 0
    assert err == "All checks passed.\n"
    assert all(line.startswith("ok ") for line in out.splitlines())
    assert "Catalog, keywords and vectors agree" in out


def test_doctor_mends_what_can_be_mended(run):
    _damage(run, "DELETE FROM vectors")
    code, out, err = run("doctor", "--json")
    found = json.loads(out)
    assert (code, err, found["ok"]) == (1, "", False)
    bad = [one for one in found["findings"] if not one["ok"]]
    assert [(one["name"], one["mend"]) for one in bad] == [("embedder", "reread")]
    code, out, err = run("doctor", "--mend")
    assert code == 0
    assert "Fixing: reread" in err
    assert "NOT" not in out
    assert run("verify")[0] == 0


def test_verify_ends_with_1_when_a_document_is_torn(run):
    _damage(run, "UPDATE texts SET text = upper(text)")
    code, out, err = run("verify")
    assert code == 1
    assert err == "1 of 11 checks failed.\n"
    assert "FAIL  contents   1 damaged document (guide.md: " in out
    assert run("doctor")[0] == 0
    assert run("verify", "--json", "--collection", "default")[0] == 1
    assert run("verify", "--collection", "nowhere")[0] == 5
    document = json.loads(run("verify", "--json")[1])
    assert {one["name"] for one in document["findings"] if not one["ok"]} == {"contents"}
    _damage(run, "UPDATE texts SET text = '# Guide' || char(10, 10) || 'OAuth tokens are signed.' "
                 "|| char(10)")  # fmt: skip
    assert run("verify")[0] == 0


def test_compact_and_jobs(run):
    code, out, err = run("compact")
    assert (code, out) == (0, "")
    assert err.startswith("Merged 1 collection;")
    assert run("compact", "--collection", "nowhere")[0] == 5
    code, out, err = run("jobs", "-n", "1")
    assert (code, err) == (0, "")
    assert "done       compact" in out
    job = json.loads(run("jobs", "--json", "-n", "1")[1])
    assert (job["kind"], job["state"]) == ("compact", "done")


def test_export_and_import(run, tmp_path):
    file = tmp_path / "library.zip"
    code, out, err = run("export", file)
    assert (code, out) == (0, "")
    assert err.startswith(f"Wrote {file}: 1 document, 0 uploaded files")
    code, _, err = run("export", file)
    assert code == 1
    assert "already exists" in err
    assert run("export", file, "--force")[0] == 0
    code, out, err = run("import", file, library=tmp_path / "new")
    assert (code, out) == (0, "")
    assert f"Watching the folder {run.root / 'files'}." in err
    assert (
        run("search", "tokens", "--json")[1].split('"trace"')[0].split('"results"')[1]
        == (
            run("search", "tokens", "--json", library=tmp_path / "new")[1]
            .split('"trace"')[0]
            .split('"results"')[1]
        )
    )
    assert run("import", file, library=tmp_path / "new")[0] == 3
    code, _, err = run("import", tmp_path / "none.zip", library=tmp_path / "newer")
    assert (code, "There is no file" in err) == (5, True)
    (tmp_path / "notes.md").write_text("# Notes")
    code, _, err = run("import", tmp_path / "notes.md", library=tmp_path / "newer")
    assert (code, "is not a whole ZIP archive" in err) == (1, True)
    assert not (tmp_path / "newer").exists()


def test_an_evil_archive_is_refused(run, tmp_path):
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as evil:
        evil.writestr("../evil.txt", "x")
    code, out, err = run("import", tmp_path / "evil.zip", library=tmp_path / "new")
    assert (code, out) == (3, "")
    assert err.startswith("ragkit: The archive is refused")
    assert not (tmp_path / "new").exists()
    assert not (tmp_path / "evil.txt").exists()


def test_without_a_library_every_command_says_so(run, tmp_path):
    for command in (["doctor"], ["verify"], ["compact"], ["jobs"], ["export", "x.zip"]):
        code, out, err = run(*command, library=tmp_path / "none")
        assert (code, out) == (3, "")
        assert "There is no library" in err


def _fail_file(run, status: str = "failed") -> None:
    _damage(
        run,
        f"UPDATE documents SET status = '{status}', reason = 'It failed.', hash = '', recipe = ''",
    )


def test_retry_reads_again_what_failed_and_names_what_did_not(run):
    assert run("retry") == (0, "", "No failed files.\n")
    for path in (None, "guide.md", run.root / "files", run.root / "files" / "guide.md"):
        _fail_file(run)
        code, _out, err = run("retry", *([] if path is None else [path]))
        assert (code, err) == (0, "1 indexed.\n")
    _fail_file(run)
    code, _out, err = run("retry", run.root / "fil")
    assert code == 5
    assert "No failed file at" in err
    assert run("retry")[0] == 0


def test_doctor_mends_all_that_it_prints_and_leaves_no_worker_behind(run):
    _fail_file(run)
    _damage(run, "INSERT INTO workers VALUES ('', 999999, 0, 0, 'idle', '{}')")
    code, out, _err = run("doctor")
    assert code == 1
    assert "[worker]" not in out
    printed = {line.rpartition("  [")[2].rstrip("]") for line in out.splitlines() if "  [" in line}
    code, out, err = run("doctor", "--mend")
    assert code == 0
    mended = {line.partition("Fixing: ")[2] for line in err.splitlines() if "Fixing: " in line}
    assert mended == printed
    assert {"sync", "retry"} <= mended
    assert "NOT" not in out
    assert "1 indexed, 0 pending, 0 skipped, 0 failed" in run("status")[1]
    holder = json.loads((run.root / "lib" / "writer.json").read_text("utf-8"))
    assert holder["role"] == "command"


def test_backup_restore_and_recover_bring_a_lost_catalog_back(run, tmp_path):
    catalog = run.root / "lib" / "catalog.sqlite"
    shutil.rmtree(catalog.with_name("backups"), ignore_errors=True)
    assert run("restore", "--list") == (0, "", "No backups yet. ragkit backup makes one.\n")
    code, out, err = run("backup")
    assert (code, out) == (0, "")
    assert err.startswith(f"Wrote {run.root / 'lib' / 'backups' / 'catalog-'}")
    assert run("backup", tmp_path / "mine.sqlite")[0] == 0
    assert "Backups    1 backup, " in run("status")[1]
    for command in ("restore", "recover"):
        catalog.write_bytes(b"")
        code, out, err = run("doctor")
        assert (code, out) == (3, "")
        assert f"ragkit {command}" in err
        assert run(command)[0] == 2
        assert catalog.stat().st_size == 0
        code, out, err = run(command, "--yes")
        assert (code, out) == (0, "")
        assert "is kept as" in err
        assert "guide.md" in run("search", "tokens")[1]
        assert run("verify")[0] == 0
    listed = run("restore", "--list")[1].splitlines()
    assert len(listed) == 1
    assert listed[0].endswith(".sqlite")
    assert run("restore", tmp_path / "mine.sqlite", "--yes")[0] == 0
    assert run("doctor")[0] == 0
