from __future__ import annotations

import json

from reading_files import read, said, sessions


def node(key, parent, role, parts, children=(), **more):
    content = {"content_type": "text", "parts": parts}
    message = {"author": {"role": role}, "create_time": 1770127533.5, "content": content, **more}
    return {"id": key, "parent": parent, "children": list(children), "message": message}


def test_chatgpt_follows_the_current_branch(tmp_path):
    mapping = {
        "r": {"id": "r", "parent": None, "children": ["s"], "message": None},
        "s": node("s", "r", "system", ["be kind"], ["a"]),
        "a": node("a", "s", "user", ["Hello?"], ["b1", "b2"]),
        "b1": node("b1", "a", "assistant", ["first try"]),
        "b2": node("b2", "a", "assistant", ["second try\n\n# Title\n\n```py\n# code\n```"], ["t"]),
        "t": node("t", "b2", "tool", ["result " * 200], ["u"]),
        "u": node("u", "t", "user", [{"content_type": "image_asset_pointer"}, "and this?"]),
    }
    value = [
        {"title": "Greeting", "mapping": mapping, "current_node": "u"},
        {"title": "Loop", "current_node": "x",
         "mapping": {"x": node("x", "x", "user", ["round"])}},
    ]  # fmt: skip
    reading = read(tmp_path, "conversations.json", value)
    assert (reading.title, sessions(reading)) == ("ChatGPT conversations", ["Greeting", "Loop"])
    at = "2026-02-03T14:05:33.500000+00:00"
    found = said(reading)
    assert found[:2] == [
        ("User", at, "Hello?"),
        ("ChatGPT", at, "second try\n\n\\# Title\n\n```py\n# code\n```"),
    ]
    assert found[2][2].startswith("(result: result result")
    assert len(found[2][2]) < 320
    assert found[3:] == [("User", at, "(picture)\nand this?"), ("User", at, "round")]
    one = read(tmp_path, "one.json", value[0])
    assert (one.title, sessions(one), len(one.messages)) == ("Greeting", [], 4)


def test_claude(tmp_path):
    value = [
        {
            "uuid": "1", "name": "Soup", "created_at": "2026-02-03T14:05:33.123Z",
            "chat_messages": [
                {"sender": "human", "text": "Recipe?", "created_at": "2026-02-03T14:05:33.123Z",
                 "attachments": [{"file_name": "list.txt"}], "files": [{"file_name": "list.txt"}]},
                {"sender": "assistant", "text": "old", "created_at": "2026-02-03T14:05:40Z",
                 "content": [{"type": "thinking", "thinking": "hm"},
                             {"type": "tool_use", "name": "search", "input": {"q": "soup"}},
                             {"type": "tool_result",
                              "content": [{"type": "text", "text": "3 hits"}]},
                             {"type": "text", "text": "Potatoes."}]},
            ],
        },
    ]  # fmt: skip
    reading = read(tmp_path, "conversations.json", value)
    assert (reading.title, reading.metadata["platform"]) == ("Soup", "Claude")
    assert said(reading) == [
        ("User", "2026-02-03T14:05:33.123000+00:00", "Recipe?\n(attached: list.txt)"),
        ("Claude", "2026-02-03T14:05:40+00:00",
         '(tool search: {"q": "soup"})\n\n(result: 3 hits)\n\nPotatoes.'),
    ]  # fmt: skip


def test_transcripts_of_agents(tmp_path):
    lines = [
        {"type": "summary", "summary": "Fix the test"},
        {"type": "user", "timestamp": "2026-02-03T14:05:33Z",
         "message": {"role": "user", "content": "Why does it fail?"}},
        {"type": "assistant", "timestamp": "2026-02-03T14:05:40Z",
         "message": {"role": "assistant", "content": [
             {"type": "text", "text": "I look."},
             {"type": "tool_use", "name": "Shell", "input": {"command": "x" * 900}}]}},
        {"type": "user", "timestamp": "2026-02-03T14:05:41Z",
         "message": {"role": "user", "content": [{"type": "tool_result", "content": "2 failed"}]}},
        {"type": "response_item", "timestamp": "2026-02-03T14:05:42Z", "payload": {
            "type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": "Fixed."}]}},
        {"role": "system", "content": "be brief"},
        {"role": "tool", "name": "Shell", "content": "ok"},
    ]  # fmt: skip
    reading = read(tmp_path, "run.jsonl", "\n".join(json.dumps(one) for one in lines))
    assert [(one[0], one[2]) for one in said(reading)] == [
        ("User", "Why does it fail?"),
        ("Assistant", 'I look.\n\n(tool Shell: {"command": "' + "x" * 286 + "…)"),
        ("User", "(result: 2 failed)"),
        ("Assistant", "Fixed."),
        ("Shell", "(result: ok)"),
    ]
    assert reading.messages[0].at == "2026-02-03T14:05:33+00:00"
    many = [{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}]
    tuned = read(tmp_path, "set.jsonl", "\n".join([json.dumps(many[0])] * 2))
    assert sessions(tuned) == ["Conversation 1", "Conversation 2"]
