"""The HTTP API: the values that commands print, and a sentence for whatever is hostile."""

from __future__ import annotations

import asyncio
import json
import threading
import time

import pytest
from api_client import PORT, api_of, make_library, served
from starlette.testclient import TestClient
from support import run_async, until

from ragkit.catalog.records import JobState
from ragkit.paths import LibraryPaths
from ragkit.settings import Settings
from ragkit.surfaces import render, render_documents
from ragkit.surfaces.render_status import status_as_json

REFUND = "How long may a customer ask for a refund?"


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with api_of(make_library(tmp_path_factory.mktemp("api"))) as client:
        yield client


@pytest.fixture(scope="module")
def ids(api):
    return {record.path: record.id for record in api.library.documents.list()}


def _without_times(value):
    value = json.loads(json.dumps(value))
    del value["trace"]
    return value


def problem(response, status):
    """The sentences of an error, which has one form whatever went wrong."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    value = response.json()
    assert value["type"] == "about:blank"
    assert value["status"] == status
    assert value["title"]
    assert "Traceback" not in response.text
    return f"{value['detail']} {value['cure']}".strip()


def sent(api, body, path="search"):
    return api.post(path, content=body, headers={"Content-Type": "application/json"})


# -- what it answers -----------------------------------------------------------------------------


def test_a_search_has_the_values_that_the_command_prints(api):
    options = {"mode": "keyword", "limit": 2, "mmr_lambda": None}
    found = api.post("search", json={"query": REFUND, "options": options, "marks": True})
    answer = api.library.search(REFUND, mode="keyword", limit=2)
    quoted = api.library.answers.excerpts(REFUND, answer.results)
    assert found.status_code == 200
    assert found.headers["cache-control"] == "no-store"
    assert _without_times(found.json()) == _without_times(render.answer_as_json(answer, quoted))
    assert found.json()["results"][0]["document"]["path"] == "handbook/refunds.md"
    simple = api.get("search", params={"q": REFUND, "limit": 2, "collection": "default"})
    plain = api.library.search(REFUND, limit=2)
    value = render.answer_as_json(plain, marks=False)
    assert _without_times(simple.json()) == _without_times(value)
    assert "highlights" not in simple.text


def test_null_leaves_an_option_off_that_a_collection_sets(api):
    api.library.collections.set_search("default", {"mmr_lambda": 0.4, "limit": 1})
    try:
        kept = api.post("search", json={"query": "a"}).json()["results"]
        off = api.post("search", json={"query": "a", "options": {"limit": 3, "mmr_lambda": None}})
        assert len(kept) == 1
        assert len(off.json()["results"]) == 3
    finally:
        api.library.collections.set_search("default", {})


def test_a_long_text_is_answered_by_its_topics(api, ids):
    text = f"{REFUND}\n\nWann brauchen die Tomaten Wasser?"
    asked = {"text": text, "chunked": {"limit": 2}, "exclude": [ids["handbook/refunds.md"]]}
    found = api.post("search/long", json=asked).json()
    chunked = api.library.chunked_options(limit=2, exclude=frozenset(asked["exclude"]))
    answer = api.library.search_chunked(text, chunked=chunked)
    assert _without_times(found) == _without_times(render.chunked_answer_as_json(answer))
    assert ids["handbook/refunds.md"] not in {one["document"]["id"] for one in found["results"]}


def test_documents_are_listed_in_parts_and_shown(api, ids):
    first = api.get("documents", params={"limit": 2}).json()
    rest = api.get("documents", params={"limit": 3, "offset": 2}).json()
    listed = [render.document_as_json(record) for record in api.library.documents.list()]
    assert first["documents"] + rest["documents"] == listed
    assert api.get("documents", params={"filters": " ", "limit": 2}).json() == first
    assert (first["more"], rest["more"]) == (True, False)
    named = api.get("documents", params={"containing": "handbook", "status": "indexed"}).json()
    assert [one["path"] for one in named["documents"]] == [
        "handbook/login.md",
        "handbook/refunds.md",
    ]
    number = ids["handbook/refunds.md"]
    detail = api.library.documents.get(number)
    assert api.get(f"documents/{number}").json() == json.loads(
        json.dumps(render_documents.detail_as_json(detail, {}, []))
    )


def test_parts_of_a_document_are_read_by_their_place(api, ids):
    number = ids["handbook/refunds.md"]
    text = api.library.documents.get(number).text
    part = api.get(f"documents/{number}/text", params={"start": 11, "end": 62}).json()
    assert (part["text"], part["heading_path"]) == (text[11:62], ["Refunds"])
    assert api.get(f"documents/{number}/text").json()["text"] == text
    chunk = api.get(f"documents/{number}/chunks/0", params={"neighbours": 2}).json()
    assert (chunk["text"], chunk["chunks"]) == (text.rstrip(), [0, 0])
    assert problem(api.get(f"documents/{number}/chunks/1"), 404) == (
        f"Document {number} has no chunk 1. It has 1 chunk, counted from 0."
    )
    assert problem(api.get(f"documents/{number}/text", params={"start": 9, "end": 3}), 422) == (
        f"There is no text from 9 to 3. Ask for a part of 0 to {len(text)}."
    )
    beyond = api.get(f"documents/{number}/text", params={"start": len(text) + 1})
    assert problem(beyond, 422) == (
        f"There is no text from {len(text) + 1}. Ask for a part of 0 to {len(text)}."
    )


def test_filters_restrict_what_is_searched(api):
    asked = {"query": "Tomaten refund", "filters": "type:txt", "collections": ["default"]}
    found = api.post("search", json=asked).json()["results"]
    assert [one["document"]["path"] for one in found] == ["notes/garten.txt"]
    assert problem(api.post("search", json={**asked, "filters": "tomatoes"}), 422) == (
        "These are not only filters: tomatoes Words, phrases and exclusions are no filters. "
        "Put them into the question instead."
    )
    assert problem(api.post("search", json={**asked, "filters": "typ:txt"}), 422) == (
        'These are not only filters: typ:txt There is no filter "typ:". Did you mean type:txt?'
    )


def test_the_status_is_that_of_the_command(api):
    assert api.get("status").json() == status_as_json(api.library)
    one = api.get("status", params={"collection": "default"}).json()
    assert one == status_as_json(api.library, "default")
    assert problem(api.get("status", params={"collection": "x"}), 404)


def test_a_collection_is_made_renamed_and_deleted(api):
    made = api.post("collections", json={"name": "a/b"})
    assert (made.status_code, made.json()["name"]) == (201, "a/b")
    assert api.get("collections/a%2Fb").json() == made.json()
    assert api.patch("collections/a%2Fb", json={"name": "c"}).json()["name"] == "c"
    names = [one["name"] for one in api.get("collections").json()["collections"]]
    assert names == ["c", "default"]
    deleted = api.delete("collections/c")
    assert (deleted.status_code, deleted.json()["kind"]) == (202, "remove_collection")
    assert api.library.jobs.wait(deleted.json()["id"]).state is JobState.DONE
    assert problem(api.get("collections/c"), 404) == (
        'There is no collection "c". Available: default.'
    )


def test_an_upload_becomes_a_document_under_a_safe_name(api):
    files = [
        ("files", ("../..\\..\\x:?.md", b"# Ferries\n\nThe ferry leaves at nine.\n")),
        ("files", ("CON.txt", b"A device, says Windows.\n")),
    ]
    api.post("collections", json={"name": "sent"})
    stored = api.post("uploads", params={"collection": "sent"}, files=files)
    assert stored.status_code == 202
    assert [one["path"] for one in stored.json()["files"]] == ["x__.md", "_CON.txt"]
    job = stored.json()["job"]["id"]
    done = threading.Thread(target=api.library.jobs.wait, args=(job,))
    done.start()
    waited = api.get(f"jobs/{job}", params={"wait": 60}).json()
    done.join()
    assert (waited["state"], waited["message"]) == ("done", "2 indexed.")
    lines = api.get("uploads", params={"collection": "sent"}).json()["files"]
    assert [(one["name"], one["state"]) for one in lines] == [
        ("../..\\..\\x:?.md", "indexed"), ("CON.txt", "indexed"),
    ]  # fmt: skip
    found = api.get("search", params={"q": "ferry", "collection": "sent"}).json()["results"]
    assert found[0]["document"]["path"] == "x__.md"
    removed = api.delete(f"documents/{found[0]['document']['id']}").json()
    assert api.library.jobs.wait(removed["id"]).message == "Removed 1 document."
    assert problem(api.delete(f"documents/{found[0]['document']['id']}"), 404)
    kept = api.library.documents.list("default", limit=1)[0]
    assert problem(api.delete(f"documents/{kept.id}"), 422) == (
        f"{kept.path} is in a watched folder. "
        "Delete the file, or list it in a .ragkitignore file in the folder."
    )


def test_jobs_are_queued_listed_and_cancelled(api):
    queued = api.post("sync", json={"collection": "default", "reread": True})
    job = queued.json()
    assert (queued.status_code, job["kind"], job["state"]) == (202, "sync", "pending")
    assert job["arguments"] == {"collection": "default", "reread": True}
    assert api.get("jobs", params={"limit": 1}).json() == {"jobs": [job]}
    began = time.monotonic()
    assert api.get(f"jobs/{job['id']}", params={"wait": 1}).json() == job
    assert time.monotonic() - began >= 1
    assert api.post(f"jobs/{job['id']}/cancel").json()["cancelled"]
    assert api.library.jobs.wait(job["id"]).state is JobState.CANCELLED


def test_judgments_are_kept_and_listed(api, ids):
    number = ids["handbook/refunds.md"]
    judged = {"question": REFUND, "document": number, "grade": 2, "span": {"start": 11, "end": 62}}
    kept = api.post("judgments", json=judged)
    assert kept.status_code == 201
    place = {"document": number, "path": "handbook/refunds.md", "grade": 2, "span": judged["span"]}
    assert kept.json() == {"id": 1, "question": REFUND, **place}
    assert api.get("judgments").json()["questions"] == [
        {"question": REFUND, "kind": "", "written_by": "", "filter": "",
         "judgments": [{"id": 1, **place, "state": "here", "why": ""}]}
    ]  # fmt: skip
    assert api.get("judgments/sets").json() == {
        "sets": [{"set": "", "questions": 1, "judgments": 1}]
    }
    assert problem(api.get("judgments", params={"set": "x"}), 404) == (
        'There is no question set "x". GET /api/judgments/sets lists them.'
    )
    judged["span"] = {"start": 5, "end": 4}
    assert problem(api.post("judgments", json=judged), 422) == (
        "There is no passage from 5 to 4. A passage ends after it begins."
    )
    length = len(api.library.documents.get(ids["handbook/refunds.md"]).text)
    judged["span"] = {"start": 5, "end": length + 1}
    assert problem(api.post("judgments", json=judged), 422) == (
        f"handbook/refunds.md has {length} characters, and no passage from 5 to {length + 1}. "
        "If it has changed since it was shown, search again, then rate it."
    )


# -- answers to a question ------------------------------------------------------------------------


def events(text):
    """The events of a stream, each with its name and its value."""
    told = [dict(line.split(": ", 1) for line in one.splitlines()) for one in text.split("\n\n")]
    return [(one["event"], json.loads(one["data"])) for one in told if "event" in one]


@pytest.fixture
def writing(tmp_path, server):
    """An API whose library has a model that writes."""
    server.reply = lambda _messages: "Within thirty days [1]. Gift cards are excepted [1]."
    settings = make_library(tmp_path, ollama_url=server.url)
    with api_of(settings) as client:
        yield client


def test_a_question_is_answered_at_once_and_then_by_a_model(writing):
    told = events(writing.post("ask", json={"question": REFUND}).text)
    names = [name for name, _ in told]
    assert (names[0], set(names[1:-1]), names[-1]) == ("quick", {"answer"}, "done")
    quick, done = told[0][1], told[-1][1]
    assert quick["quick"][0]["text"] == "A customer may ask for a refund within thirty days."
    assert quick["answer"] is None
    assert quick["results"] == done["results"]
    assert [one["text"] for one in done["answer"]["sentences"]] == [
        "Within thirty days.", "Gift cards are excepted.",
    ]  # fmt: skip
    assert done["answer"]["state"] == "done"


def test_the_model_judges_what_it_wrote_before_the_answer_is_done(writing, server):
    def reply(messages):
        if "Claim 1:" not in messages[-1]["content"]:
            return "Within thirty days [1]."
        return json.dumps({"judgments": [{"claim": 1, "verdict": "supported"}]})

    server.reply = reply
    asked = {"question": REFUND, "check": True}
    answer = events(writing.post("ask", json=asked).text)[-1][1]["answer"]
    assert (answer["state"], answer["judged"]) == ("done", True)


def test_without_ollama_the_quick_answer_stands_and_the_failure_is_an_event(api):
    told = events(api.post("ask", json={"question": REFUND}).text)
    assert [name for name, _ in told if name != "answer"] == ["quick", "failed", "done"]
    failed = next(value for name, value in told if name == "failed")
    assert failed["status"] == 503
    assert failed["detail"] == "Ollama does not answer at http://127.0.0.1:11434."
    assert failed["cure"]
    assert told[-1][1]["quick"]
    assert told[-1][1]["answer"] is None
    alone = events(api.post("ask", json={"question": REFUND, "no_model": True}).text)
    assert [name for name, _ in alone] == ["quick", "done"]


def test_each_of_several_questions_is_answered_by_itself(api):
    question = f"{REFUND} How many characters has a password?"
    told = events(api.post("ask", json={"question": question, "no_model": True}).text)
    for _, value in told:
        answers = {one["question"]: one["text"] for one in reversed(value["quick"])}
        assert answers == {
            REFUND: "A customer may ask for a refund within thirty days.",
            "How many characters has a password?": "A password has at least twelve characters.",
        }


async def _leave_early(app, token, body):
    """Ask, and go away once the model has begun to write."""
    given = {"content-type": "application/json", "host": f"localhost:{PORT}", **token}
    head = [(name.lower().encode(), value.encode()) for name, value in given.items()]
    scope = {"type": "http", "method": "POST", "path": "/api/ask", "raw_path": b"/api/ask",
             "query_string": b"", "headers": head, "root_path": "", "http_version": "1.1",
             "scheme": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}}  # fmt: skip
    asked, begun = [{"type": "http.request", "body": body}], asyncio.Event()

    async def receive():
        if asked:
            return asked.pop()
        await begun.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        if b"event: answer" in message.get("body", b""):
            begun.set()

    await app(scope, receive, send)


def test_the_model_is_stopped_when_nobody_listens_any_more(writing, server):
    server.reply, server.pause = lambda _messages: "Thirty days [1]. " * 1000, 0.05
    run_async(_leave_early(writing.app, writing.token, json.dumps({"question": REFUND}).encode()))
    until(lambda: all(one.name != "ragkit-writing" for one in threading.enumerate()), 5)


def test_searches_of_programs_are_noted_in_the_log_of_the_person(api):
    api.post("search", json={"query": "a noted question"})
    api.post("search/long", json={"text": "a noted text"})
    api.post("ask", json={"question": "a noted doubt", "no_model": True})
    noted = [(one.question, one.door) for one in api.library.searches.log()[:3]]
    assert noted == [
        ("a noted doubt", "api"), ("a noted text", "api"), ("a noted question", "api"),
    ]  # fmt: skip


# -- what is hostile -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"", 422, "body: is missing."),
        (b"null", 422, "body: must be an object."),
        (b"[]", 422, "body: must be an object."),
        (b'{"query": ', 400, "The body is not valid JSON, at character 10."),
        (b"\xff\xfe{", 400, "The body cannot be read."),
        (b"[" * 100_000, 400, "The body cannot be read."),
        (b'{"query": "a", "options": {"limit": %s}}' % (b"9" * 5000), 400, "The body cannot be"),
        (b'{"query": %s1%s}' % (b"[" * 500, b"]" * 500), 422, "query: must be text."),
        (b'{"query": "\\ud800"}', 422, "query: has a lone surrogate"),
        (b'{"query": "a\\u0000b"}', 422, "query: must not be blank, or have a NUL character."),
        (b'{"query": " "}', 422, "query: must not be blank, or have a NUL character."),
        (b'{"query": "a", "q": 1}', 422, "q: there is no such field here."),
        (b'{"query": "a", "limit": 3}', 422, "limit: belongs in options."),
        (b'{"query": "a", "options": {"min_score": NaN}}', 422,
         "options.min_score: must be a finite number."),
        (b'{"query": "a", "options": {"min_score": Infinity}}', 422,
         "options.min_score: must be a finite number."),
        (b'{"query": "a", "options": {"limit": 1e300}}', 422,
         "options.limit: must be at most 200."),
        (b'{"query": "a", "options": {"limit": "5"}}', 422,
         "options.limit: must be a whole number."),
        (b'{"query": "a", "options": {"limit": true}}', 422,
         "options.limit: must be a whole number."),
        (b'{"query": "a", "options": {"mode": "guess"}}', 422,
         "options.mode: must be 'hybrid', 'keyword' or 'vector'."),
        (b'{"query": "a", "options": {"nonsense": 1}}', 422,
         "options.nonsense: there is no such field here."),
        (b'{"query": "a", "collections": []}', 422, "collections: must not be empty."),
        (b'{"query": "a", "collections": [%s]}' % b",".join([b'"default"'] * 1000), 422,
         "collections: must have at most 100 parts."),
        (b'{"query": "a", "collections": ["elsewhere"]}', 404,
         'There is no collection "elsewhere". Available:'),
    ],
)  # fmt: skip
def test_a_wrong_search_is_refused_with_a_sentence(api, body, status, said):
    assert problem(sent(api, body), status).startswith(said)


def test_wrong_values_are_named_one_by_one(api):
    refused = api.post("search", json={"options": {"limit": 0, "rrf_k": "x"}})
    assert refused.json()["fields"] == [
        {"field": "options.rrf_k", "problem": "must be a whole number"},
        {"field": "options.limit", "problem": "must be at least 1"},
        {"field": "query", "problem": "is missing"},
    ]


def test_without_the_token_nothing_is_answered(api):
    for headers in ({"Authorization": ""}, {"Authorization": "Bearer guessed"}):
        for path in ("search?q=a", "openapi.json", "nothing", ""):
            assert problem(api.get(path, headers=headers), 401).startswith(
                "Programs need the token"
            )
    assert problem(api.get("status", headers={"Host": "evil.example"}), 421)
    assert problem(api.get("status", headers={"Origin": "http://evil.example"}), 403)
    # What is a page's answer elsewhere is one for programs here.
    assert problem(api.get(str(api.base_url).rstrip("/")), 404)


def test_bodies_of_another_kind_or_too_large_are_refused(api):
    big, parts = b"a" * 10_000_000, [b"a" * 1_000_000] * 10
    too_large = "The body has more than 8.0 MB. Send less at once; a file is added by an upload."
    assert problem(sent(api, big), 413) == too_large
    assert problem(sent(api, iter(parts)), 413) == too_large
    assert problem(api.post("search", data={"query": "a"}), 415) == (
        "The body is not application/json. Send Content-Type: application/json."
    )
    assert problem(api.post("uploads", json={}), 415) == (
        "The body is not multipart/form-data. Send Content-Type: multipart/form-data."
    )
    head = {"Content-Type": "multipart/form-data; boundary=x", "Content-Length": "101000001"}
    assert problem(api.post("uploads", content=iter([b""]), headers=head), 413) == (
        "The body has more than 101 MB. "
        "Send fewer files at once, or raise reading.max_file_mb in the settings."
    )
    assert problem(api.post("uploads", content=b"x", headers=head | {"Content-Length": "1"}), 400)
    many = [("files", (f"{number}.md", b"x")) for number in range(1001)]
    assert problem(api.post("uploads", files=many), 413) == (
        "The body has more than 1,000 files. Send fewer at once, or a zip of them."
    )
    boundary = {"Content-Type": "multipart/form-data; boundary=x"}
    body = b'--x\r\nContent-Disposition: form-data; name="files"\r\n\r\n# Ferries\r\n--x--\r\n'
    assert problem(api.post("uploads", content=body, headers=boundary), 422) == (
        "files.0: must be a file, with a filename. "
        "Change it; /api/openapi.json describes what is valid."
    )


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("nothing", 404, "There is no such address. The addresses are in /api/openapi.json."),
        ("search/", 404, "There is no such address. The addresses are in /api/openapi.json."),
        ("", 404, "There is no such address. The addresses are in /api/openapi.json."),
        ("documents/0", 422, "document: must be at least 1."),
        ("documents/99999999999999999999", 422, "document: must be at most 9007199254740991."),
        ("documents/9007199254740991", 404, "There is no document 9007199254740991."),
        ("documents/x", 422, "document: must be a whole number."),
        ("documents?limit=0", 422, "limit: must be at least 1."),
        ("documents?containing=%00", 422, "containing: must not be blank, or have a NUL"),
        ("jobs/77", 404, "There is no job 77. GET /api/jobs lists the last ones."),
        ("search", 422, "q: is missing."),
        ("search?q=a&limit=201", 422, "limit: must be at most 200."),
        ("search?q=a" + "&collection=default" * 101, 422, "collection: must have at most 100"),
        ("collections/a%0Ab", 404, "There is no such address."),
    ],
)
def test_a_wrong_address_is_refused_with_a_sentence(api, path, status, said):
    assert problem(api.get(path), status).startswith(said)


def test_a_wrong_method_names_the_right_ones(api):
    refused = api.put("search")
    assert problem(refused, 405).startswith("PUT is not possible here.")
    assert refused.headers["allow"] == "GET, POST"
    assert api.post("collections/x").headers["allow"] == "DELETE, GET, PATCH"


def test_a_library_that_cannot_be_used_is_said_so(tmp_path):
    nowhere = Settings(library=tmp_path / "library")
    headers = {"Authorization": "Bearer t", "Host": f"localhost:{PORT}"}
    (tmp_path / "library").mkdir()
    token = tmp_path / "library" / LibraryPaths(tmp_path).token.name
    token.write_text("t", "utf-8")
    token.chmod(0o600)
    with TestClient(served(nowhere), headers=headers) as client:
        said = problem(client.get("/api/jobs/1"), 503)
    assert said.startswith(f"There is no library in {tmp_path / 'library'}. Add a folder first:")


def test_a_failure_that_nobody_foresaw_is_a_sentence_without_a_traceback(api, monkeypatch):
    def broken(*_arguments, **_options):
        raise RuntimeError("at /home/someone/secret.md")

    monkeypatch.setattr("ragkit.surfaces.http.api.search.render.answer_as_json", broken)
    refused = api.post("search", json={"query": "a"})
    assert problem(refused, 500) == (
        "Something unexpected went wrong. The server's log says what happened."
    )
    assert "secret" not in refused.text
