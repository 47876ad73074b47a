"""Adding documents in a real browser: dropping files and folders, naming a folder."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import expect


def drop(page, paths):
    """Drop real files or folders, as the system's file manager would."""
    zone = page.locator(".st-key-drop [data-testid=stFileUploaderDropzone]").locator("visible=true")
    zone.wait_for()
    session = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    box, before = zone.bounding_box(), None
    # What the page says of the last drop moves the place; a drop beside it would be lost.
    while box is None or box != before:
        if box:
            place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
            for kind in ("dragEnter", "dragOver"):
                session.send("Input.dispatchDragEvent", {"type": kind, "data": data, **place})
        box, before = zone.bounding_box(), box
    session.send("Input.dispatchDragEvent", {"type": "drop", "data": data, **place})


def expect_found(page, served, question, *paths):
    """Search once the worker has read the files; return the card of the first."""
    served.wait_until_read(*paths)
    page.goto(f"{served.url}/?q={question}")
    cards = [page.locator(f'.rk-card[data-path="{path}"]') for path in paths]
    for card in cards:
        expect(card).to_be_visible()
    return cards[0]


def test_dropping_a_file_and_a_folder(open_page, served, tmp_path):
    file = tmp_path / "marmot.md"
    file.write_text("# Marmots\n\nThe marmot whistles twice when a kestrel crosses the ridge.\n")
    folder = tmp_path / "atlas"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep/glacier.txt").write_text("The Vernagt glacier calves into a turquoise tarn.\n")
    page = open_page("library")
    drop(page, [file])
    # The watcher may look again at once, so that this can already be the second line.
    expect(page.locator(".st-key-live")).to_contain_text(
        re.compile("1 indexed|1 unchanged"), timeout=20_000
    )
    drop(page, [folder])
    served.wait_until_read("glacier.txt")
    card = expect_found(page, served, "marmot+kestrel+ridge", "marmot.md")
    expect(card).to_contain_text("whistles twice")
    card = expect_found(page, served, "vernagt+turquoise+tarn", "glacier.txt")
    expect(card).to_contain_text("calves into a")


def test_drops_that_follow_at_once_are_all_kept(open_page, served, tmp_path):
    words = ("alder", "birch", "cedar", "damson", "elder", "feijoa")
    page = open_page("library")
    for number, word in enumerate(words):
        file = tmp_path / f"{word}.txt"
        file.write_text(f"The {word} was felled in the year of the long frost.\n")
        drop(page, [file])
        # From at once to after the page has been drawn again.
        page.wait_for_timeout(100 * number)
    expect_found(page, served, "felled+long+frost", *(f"{word}.txt" for word in words))


def test_what_is_refused_is_told_beside_what_is_stored(open_page, served, tmp_path):
    big, small = tmp_path / "tome.txt", tmp_path / "leaflet.txt"
    big.write_bytes(b"a" * (51 << 20))
    small.write_text("The leaflet praises the quince.\n")
    page = open_page("library")
    drop(page, [big, small])
    served.wait_until_read("leaflet.txt")
    told = page.locator(".st-key-drop .stFileChip").locator("visible=true")
    expect(told).to_have_count(1)
    expect(told).to_contain_text("tome.txt")
    expect(told).to_contain_text("must be 50.0MB or smaller")
    expect_found(page, served, "leaflet+quince", "leaflet.txt")


def test_a_zip_has_a_line_for_each_file_until_they_are_dismissed(open_page, tmp_path):
    with zipfile.ZipFile(tmp_path / "trip.zip", "w") as archive:
        archive.writestr("day one/ferry.md", "# Ferry\n\nThe ferry to Skye leaves at seven.\n")
        archive.writestr("map.png", b"\x89PNG\r\n\x1a\n" + bytes(200))
        archive.writestr("../../out.txt", "out")
    page = open_page("library")
    drop(page, [tmp_path / "trip.zip"])
    tray = page.locator(".rk-tray")
    ferry = tray.locator("li", has_text="trip.zip › day one/ferry.md")
    expect(ferry).to_contain_text("Indexed", timeout=20_000)
    expect(tray.locator("li", has_text="out.txt")).to_contain_text("leads out of the archive")
    page.reload()
    expect(tray.locator("li", has_text="map.png")).to_contain_text("Text in a picture needs OCR")
    page.locator("html[data-ragkit-listens]").wait_for(state="attached")
    page.get_by_role("button", name="Dismiss").click()
    expect(tray).to_have_count(0)
    page.get_by_role("link", name="trip/day one/ferry.md").click()
    expect(page).to_have_url(re.compile(r"/document\?id=\d+"))


def test_a_collection_is_made_renamed_and_deleted(open_page):
    # Names of its own each time, in case it is tried twice.
    notes, herons = (f"{name} {uuid4().hex[:6]}" for name in ("Field notes", "Herons"))
    page = open_page("library")
    box = page.locator(".st-key-library_collection input")
    page.get_by_role("button", name="New collection").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill(notes)
    dialog.get_by_role("button", name="Create").click()
    expect(box).to_have_value(notes)
    expect(page.get_by_text("No documents yet")).to_be_visible()
    expect(page.locator(".st-key-live")).to_have_text("")
    page.get_by_role("button", name="Manage").click()
    page.get_by_role("menuitem", name="Rename …").click()
    dialog.get_by_label("Name").fill(herons)
    dialog.get_by_role("button", name="Rename").click()
    expect(box).to_have_value(herons)
    page.get_by_role("button", name="Manage").click()
    page.get_by_role("menuitem", name="Context prompts …").click()
    prompt = dialog.get_by_role("textbox", name="Prompt")
    expect(prompt).to_have_value(re.compile("^You describe passages of documents"))
    prompt.fill("Describe: {{passage}}")
    prompt.press("Control+Enter")
    expect(dialog).to_contain_text("The prompt has no place for the document. Write {{document}}")
    expect(dialog.get_by_role("button", name="Save")).to_be_disabled()
    prompt.fill("Describe: {{document}} {{passage}}")
    prompt.press("Control+Enter")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Manage").click()
    page.get_by_role("menuitem", name="Context prompts …").click()
    expect(dialog).to_contain_text(f"Your own prompt is used in the collection {herons}.")
    expect(prompt).to_have_value("Describe: {{document}} {{passage}}")
    dialog.get_by_role("button", name="Use the built-in prompt").click()
    expect(dialog).to_contain_text(f"The built-in prompt is used in the collection {herons}.")
    expect(prompt).to_have_value(re.compile("^You describe passages of documents"))
    dialog.get_by_role("button", name="Cancel").click()
    undo = page.get_by_role("button", name="Undo")

    def delete():
        page.get_by_role("button", name="Manage").click()
        page.get_by_role("menuitem", name="Delete …").click()
        expect(dialog).to_contain_text(f"{herons} will be deleted.")
        dialog.get_by_role("button", name="Delete").click()
        expect(box).to_have_value("default", timeout=20_000)
        expect(page.get_by_text(f"Deleting {herons} in")).to_be_visible()

    delete()
    undo.click()
    expect(box).to_have_value(herons)
    expect(undo).to_have_count(0)
    delete()


def test_adding_a_folder_by_its_path_and_removing_it(open_page, served, tmp_path):
    folder = tmp_path / "letters"
    folder.mkdir()
    (folder / "aunt.txt").write_text("Aunt Philippa sends seventeen jars of damson jam.\n")
    page = open_page("library")
    page.get_by_label("Folder", exact=True).fill(str(folder))
    page.get_by_role("button", name="Add folder").click()
    # It is not in the home of the person who serves the library.
    asked = page.get_by_role("dialog")
    expect(asked).to_contain_text(str(folder))
    asked.get_by_role("button", name="Add folder").click()
    source = page.locator("[class*=st-key-source-]").filter(has_text=str(folder))
    expect(source).to_contain_text("1 document")
    card = expect_found(page, served, "damson+philippa", "aunt.txt")
    expect(card).to_contain_text("seventeen jars")
    page.get_by_role("link", name="Library", exact=True).click()
    source.get_by_role("button", name="Remove").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1 document will be removed from the index.")
    dialog.get_by_role("button", name="Remove", exact=True).click()
    expect(source).to_have_count(0)
    assert (folder / "aunt.txt").is_file()


@pytest.mark.parametrize("name", ["library", "health"])
def test_an_open_page_follows_a_folder_that_goes_and_comes_back(open_page, served, tmp_path, name):
    folder, away = tmp_path / "drive", tmp_path / "away"
    folder.mkdir()
    (folder / "aunt.txt").write_text("Aunt Philippa sends seventeen jars of damson jam.\n")
    with served.opened() as library:
        source = library.sources.add_folder(folder)
        served.wait_for_job(library.sources.sync(source))
    try:
        page = open_page(name)
        expect(page.locator(".rk-status")).to_contain_text("up to date", timeout=40_000)
        # While a page is drawn anew, its old part may stand beside the new one.
        states = page.locator(".st-key-sources, .st-key-findings").first
        gone = f"The folder {folder} is not there. Connect its drive"
        folder.rename(away)
        expect(states).to_contain_text(gone, timeout=40_000)
        away.rename(folder)
        expect(states).not_to_contain_text(gone, timeout=40_000)
    finally:
        with served.opened() as library:
            served.wait_for_job(library.sources.remove(source.id))


def test_a_folder_that_is_not_there_is_said(open_page):
    page = open_page("library")
    page.get_by_label("Folder", exact=True).fill("/nowhere/at/all")
    page.get_by_role("button", name="Add folder").click()
    expect(page.get_by_text("/nowhere/at/all is not a folder.")).to_be_visible()
    page.get_by_label("Folder", exact=True).fill("docs")
    page.get_by_role("button", name="Add folder").click()
    expect(page.get_by_text("Type the whole path, like ")).to_be_visible()


def test_a_file_is_no_folder_and_its_folder_is_offered(open_page, served, tmp_path):
    file = tmp_path / "lists/osprey.txt"
    file.parent.mkdir()
    file.write_text("The osprey dives for perch.\n")
    page = open_page("library")
    page.get_by_label("Folder", exact=True).fill(str(file))
    page.get_by_role("button", name="Add folder").click()
    expect(page.get_by_text(f"{file} is a file.")).to_be_visible()
    page.get_by_role("button", name=f"Add its folder {file.parent} instead").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"{file.parent} is not in your home folder")
    dialog.get_by_role("button", name="Cancel").click()
    ledge = Path(served.environment["HOME"]) / "Ledge"
    ledge.mkdir(exist_ok=True)
    page.get_by_label("Folder", exact=True).fill(str(ledge))
    page.get_by_role("button", name="Browse …").click()
    expect(dialog).to_contain_text("0 files directly in Ledge")


def test_what_an_uploader_refused_is_gone_with_the_next_files(open_page, tmp_path):
    (tmp_path / "large.txt").write_bytes(bytes(51_000_000))
    (tmp_path / "small.txt").write_text("The dabchick dives.\n")
    page = open_page("library")
    given = page.locator(".st-key-drop input[type=file]")
    given.last.set_input_files(tmp_path / "large.txt")
    refused = page.locator(".st-key-drop [role=alert]").filter(has_text="File must be")
    expect(refused).to_be_visible()
    given.last.set_input_files(tmp_path / "small.txt")
    expect(page.locator(".rk-tray")).to_contain_text("small.txt")
    expect(refused).to_be_hidden()


def test_deleting_a_collection_takes_its_name_as_it_is_typed(open_page, tmp_path):
    (tmp_path / "pochard.txt").write_text("The pochard dives.\n")
    page = open_page("library")
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="New collection").click()
    dialog.get_by_label("Name").fill("Pochards")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("combobox", name="Collection")).to_have_value("Pochards")
    page.locator(".st-key-drop input[type=file]").last.set_input_files(tmp_path / "pochard.txt")
    expect(page.locator(".rk-tray")).to_contain_text("pochard.txt")
    page.get_by_role("button", name="Manage").click()
    page.get_by_role("menuitem", name="Delete …").click()
    expect(dialog).to_contain_text("1 uploaded file will be deleted from disk, too.")
    name = dialog.get_by_label("Type its name to delete it")
    name.fill("Pochard")
    dialog.get_by_role("button", name="Delete").click()
    expect(dialog).to_contain_text("Nothing was deleted: the name is Pochards.")
    name.press("End")
    name.press_sequentially("s")
    dialog.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Deleting Pochards in")).to_be_visible()
    expect(page.get_by_text("Deleting Pochards in")).to_have_count(0, timeout=40_000)


def test_a_dialog_keeps_the_cursor_and_why_a_click_had_no_effect(open_page, served):
    page = open_page("library")
    page.get_by_label("Folder", exact=True).fill("nowhere/at/all")
    page.get_by_role("button", name="Add folder").click()
    refused = page.get_by_text("Type the whole path")
    expect(refused).to_be_visible()
    page.get_by_role("button", name="New collection").click()
    dialog = page.get_by_role("dialog")
    name = dialog.get_by_label("Name")
    name.fill("default")
    dialog.get_by_role("button", name="Create").click()
    said = dialog.get_by_text('There is already a collection "default".')
    expect(said).to_be_visible()
    name.press("Home")
    (served.folder / "teal.md").write_text("The teal is the smallest duck.\n")
    try:
        served.wait_until_read("teal.md")
        # The page looks for news every three seconds.
        page.wait_for_timeout(4000)
        page.keyboard.type("not ")
        expect(name).to_have_value("not default")
        expect(said).to_be_visible()
        dialog.get_by_role("button", name="Close").click()
        expect(dialog).to_have_count(0)
        expect(page.locator(".rk-docs")).to_contain_text("teal.md")
        expect(refused).to_be_visible()
        page.get_by_role("button", name="New collection").click()
        expect(name).to_have_value("")
        expect(said).to_have_count(0)
    finally:
        (served.folder / "teal.md").unlink()


def test_a_dialog_is_closed_by_going_back(open_page):
    page = open_page()
    page.get_by_role("link", name="Library").click()
    page.get_by_role("button", name="New collection").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    page.go_back()
    expect(page).to_have_title("ragkit")
    expect(dialog).to_have_count(0)
    page.go_forward()
    expect(page.get_by_role("heading", name="Library")).to_be_visible()
    expect(page.locator(".st-key-live")).to_be_visible()
    expect(dialog).to_have_count(0)


def test_the_folder_chooser_walks_and_adds(open_page, served):
    home = Path(served.environment["HOME"])
    (home / "Shelf" / "Inner").mkdir(parents=True, exist_ok=True)
    (home / "Shelf/Inner/fern.txt").write_text("The fern unrolls on the ninth of April.\n")
    page = open_page("library")
    page.get_by_role("button", name="Browse …").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Shelf · 0 files").click()
    dialog.get_by_role("button", name="Inner · 1 file").click()
    expect(dialog).to_contain_text("1 file directly in Inner")
    dialog.get_by_role("button", name="Add this folder").click()
    expect_found(page, served, "fern+unrolls+april", "fern.txt")
    # Why a folder in it is not added is not said of the next folder.
    (home / "Shelf/Inner/Deeper").mkdir(exist_ok=True)
    page.goto(f"{served.url}/library")
    page.get_by_role("button", name="Browse …").click()
    for name in ("Shelf · 0 files", "Inner · 1 file", "Deeper · 0 files", "Add this folder"):
        dialog.get_by_role("button", name=name).click()
    refused = dialog.get_by_text("which is already in this collection")
    expect(refused).to_be_visible()
    dialog.get_by_role("button", name="Up").click()
    expect(dialog).to_contain_text("1 file directly in Inner")
    expect(refused).to_have_count(0)


def test_the_table_says_why_a_file_is_left_out_and_the_status_that_all_is_read(open_page, served):
    (served.folder / "notes/picture.md").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(200))
    with served.opened() as library:
        served.wait_for_job(library.sources.sync())
    page = open_page("library")
    page.get_by_label("Filter by name").fill("picture.md")
    page.keyboard.press("Enter")
    row = page.locator('.rk-docs tr[data-path="notes/picture.md"]')
    expect(row).to_contain_text("Skipped")
    expect(row).to_contain_text("the content is that of pictures. Text in a picture needs OCR")
    (served.folder / "notes/picture.md").unlink()
    expect(page.locator(".rk-status")).to_contain_text("up to date", timeout=20_000)


def test_without_ollama_the_choice_of_an_embedder_says_so(open_page):
    page = open_page("library")
    part = page.locator(".st-key-embedder")
    expect(part).to_contain_text("Embedding model: WordLlama")
    part.get_by_role("button", name="Change …").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Ollama does not answer")
    expect(dialog.get_by_role("button", name="Use this model")).to_have_count(0)
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)


_CLICK = "document.querySelector('[class*=st-key-remove-] button').click();"
_NEWS = "document.dispatchEvent(new Event('visibilitychange'));"


@pytest.mark.parametrize("moment", [_CLICK + _NEWS, _NEWS + _CLICK])
def test_a_click_that_comes_with_a_request_for_news_is_not_lost(open_page, moment):
    page = open_page("library")
    for _ in range(3):
        # The page asks for news when its tab is looked at again, once it has been at rest.
        page.wait_for_timeout(1_100)
        page.evaluate(moment)
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("Remove from the library?", timeout=5_000)
        dialog.get_by_role("button", name="Close").click()
        expect(dialog).to_have_count(0)
