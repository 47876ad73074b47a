"""Long texts of an address: bounded, and each browser's own."""

from __future__ import annotations

from pages.parts.common.kept_texts import MARK, KeptTexts, browser_of


def test_a_text_is_found_by_its_name_in_its_own_browser_alone():
    kept = KeptTexts()
    name = kept.put("one", "a long text")
    assert name.startswith(MARK)
    assert len(name) < 30
    assert kept.put("one", "a long text") == name
    assert kept.get("one", name) == "a long text"
    assert kept.get("two", name) is None
    assert KeptTexts().put("one", "a long text") != name


def test_the_texts_used_last_stay():
    kept = KeptTexts(most=2, most_characters=10)
    first, second = kept.put("", "one"), kept.put("", "two")
    assert kept.get("", first) == "one"
    third = kept.put("", "three")
    assert [kept.get("", name) for name in (first, second, third)] == ["one", None, "three"]
    large = kept.put("", "x" * 100)
    assert kept.get("", large) == "x" * 100
    assert kept.get("", third) is None


def test_a_browser_is_known_under_every_mask():
    one = browser_of("2|76d827e4|578988b6158b14e7f4ec3db08f4b7f00|1795397290")
    assert one == browser_of("2|1dd5d108|3c847e5a7e86e20b9fe1cb5ce44689ec|1795397290")
    assert len(one) == 32
    assert browser_of("") == browser_of("2|zz|00") == browser_of("2||00|1") == ""
