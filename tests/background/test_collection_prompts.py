"""A collection's own prompts: set, checked, used from the next chunk on, taken back."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from context_library import Model
from small_library import HANDBOOK, add, make_older, open_library, write_files

from ragkit.background.contexts import Backfill
from ragkit.catalog.context_records import ContextCounts
from ragkit.catalog.schema import MIGRATIONS
from ragkit.catalog.summaries import SummaryRecord
from ragkit.errors import NotFoundError, SettingsError
from ragkit.models.context_prompt import PROMPT_KINDS, prompt_of

OWN = "Briefly.\n=====\n{{document}}\n{{passage}}"
CHAT = "---\nspeakers: [Ada, Bo]\n---\nAda: Shall we sail?\nBo: Tomorrow.\n"


class Asked(Model):
    """Writes with the prompts of its collection, by their real hashes."""

    def __init__(self, collection):
        super().__init__()
        self.prompts = collection.prompts

    def prompt_hash(self, kind):
        return prompt_of(kind, self.prompts.get(kind, "")).hash


def work(library):
    opened = []

    def open_model(collection):
        opened.append(Asked(collection))
        return opened[-1]

    Backfill(library.writer(), open_model).work()
    return sum(len(one.asked) for one in opened)


def test_a_prompt_is_of_one_collection_and_follows_its_name(library):
    assert {one.own for one in library.contexts.prompts("default").values()} == {False}
    library.contexts.set_prompt("default", "document", f"\n{OWN}\n")
    library.collections.add("other")
    library.collections.rename("default", "sea")
    prompts = library.contexts.prompts("sea")
    assert prompts["document"] == prompt_of("document", OWN)
    assert not prompts["conversation"].own
    assert not library.contexts.prompts("other")["document"].own
    library.contexts.set_prompt("sea", "document")
    assert library.contexts.prompts("sea") == {one: prompt_of(one) for one in PROMPT_KINDS}
    assert library.collections.get("sea").settings == {}
    with pytest.raises(NotFoundError):
        library.contexts.set_prompt("default", "document", OWN)


def test_what_is_no_prompt_is_refused_and_changes_nothing(library):
    library.contexts.set_prompt("default", "document", OWN)
    with pytest.raises(SettingsError, match="no place for the passage"):
        library.contexts.set_prompt("default", "document", "{{document}}")
    with pytest.raises(SettingsError, match=r"unknown placeholder: {{chunk}}"):
        library.contexts.outdated("default", "document", "{{document}} {{passage}} {{chunk}}")
    assert library.contexts.prompts("default")["document"].text == OWN


def test_contexts_of_another_prompt_are_counted_and_written_again(library, tmp_path):
    make_older(write_files(tmp_path / "files", {"chat.md": CHAT}))
    library.jobs.wait(library.sources.sync(library.sources.list()[0]))
    assert work(library) == 6
    assert library.contexts.outdated("default", "document", OWN) == 5
    assert library.contexts.outdated("default", "conversation", OWN) == 1
    assert library.contexts.outdated("default", "document") == 0
    library.contexts.set_prompt("default", "document", OWN)
    assert work(library) == 0
    done = library.jobs.wait(library.contexts.rewrite("default", "document"))
    assert done.message == "5 contexts of default will be regenerated."
    assert library.contexts.status().counts == ContextCounts(pending=5, complete=1)
    assert work(library) == 5
    assert library.contexts.outdated("default", "document", OWN) == 0
    # What a person wrote is of no prompt.
    record = library.documents.list(containing="login")[0]
    library.jobs.wait(library.contexts.edit(record.id, 0, "My own words."))
    assert library.contexts.outdated("default", "document") == 4


def test_another_prompt_for_summaries_concerns_long_documents(library):
    work(library)
    record = library.documents.list(containing="login")[0]
    kept = SummaryRecord(record.hash, "small:3b", prompt_of("summary").hash, "Logins.")
    library.catalog.summaries.keep(kept)
    other = "{{document}} in a word"
    assert library.contexts.outdated("default", "summary") == 0
    assert library.contexts.outdated("default", "summary", other) == record.chunks
    library.contexts.set_prompt("default", "summary", other)
    library.jobs.wait(library.contexts.rewrite("default", "summary"))
    assert library.contexts.status().counts.pending == record.chunks


def test_a_prompt_that_is_changed_meanwhile_is_used_from_the_next_document_on(library):
    hashes = []

    class Changing(Asked):
        def write(self, request, attempt=0):
            library.contexts.set_prompt("default", "document", OWN)
            hashes.append(self.prompt_hash("document"))
            return super().write(request, attempt)

    Backfill(library.writer(), Changing).work()
    assert hashes[0] == prompt_of("document").hash
    assert hashes[-1] == prompt_of("document", OWN).hash


def test_prompts_that_stood_in_files_are_taken_up(tmp_path):
    opened = open_library(tmp_path / "library")
    make_older(write_files(tmp_path / "files", HANDBOOK))
    add(opened, tmp_path / "files")
    number = opened.collections.get("default").id
    opened.close()
    file = tmp_path / "library" / "catalog.sqlite"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("DELETE FROM meta WHERE value GLOB 'm*_prompts *'")
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) - 1}")
    folder = tmp_path / "library" / "prompts"
    files = {f"{number}/document.txt": OWN, "conversation.txt": OWN, "document.txt": "of no use"}
    write_files(folder, files)
    opened = open_library(tmp_path / "library", create=False)
    assert opened.collections.get("default").prompts == {"document": OWN, "conversation": OWN}
    opened.close()
