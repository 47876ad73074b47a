"""What a person may ask of a source on the Library page, run without a browser."""

from __future__ import annotations

from running import html, run

from ragkit.indexing.writer import writer_lock


def test_a_source_is_read_again_or_its_missing_documents_are_let_go(library, tmp_path):
    place = tmp_path / "papers"
    place.mkdir()
    (place / "heron.md").write_text("The heron stands.\n")
    library.jobs.wait(library.sources.sync(library.sources.add_folder(place)))
    [source] = library.sources.list()
    app = run(library, "library")
    with writer_lock(library.paths.lock, "test"):
        app.button(key=f"reread-{source.id}").click().run()
    [reread] = library.jobs.open()
    assert (reread.kind, reread.arguments) == ("sync", {"source_id": source.id, "reread": True})
    library.jobs.wait(reread.id)

    (place / "heron.md").unlink()
    library.jobs.wait(library.sources.sync(source))
    app = run(library, "library")
    assert "needs your decision" in html(app)
    assert "1 of 1 files are missing" in html(app)
    with writer_lock(library.paths.lock, "test"):
        app.button(key=f"gone-{source.id}").click().run()
    [accepted] = library.jobs.open()
    assert accepted.arguments == {"source_id": source.id, "accept_removals": True}
    library.jobs.wait(accepted.id)
    assert library.documents.list() == []
    assert "gone-" not in {button.key for button in run(library, "library").button}
