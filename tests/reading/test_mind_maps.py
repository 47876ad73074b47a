"""Mind maps of FreeMind, Freeplane and XMind."""

from __future__ import annotations

import json

import pytest
from office_files import zipped
from reading_files import read

from ragkit.errors import ReadingError

FREEMIND = """<?xml version="1.0"?>
<!-- drawn by hand --><map version="1.0.1"><node TEXT="Trip to Kyoto" ID="1">
<hook NAME="MapStyle"><map_styles><stylenode TEXT="default"/></map_styles></hook>
<node TEXT="Hotel &amp; bath" LINK="https://example.org/hotel">
<richcontent TYPE="NOTE"><html><body><p>Near the <b>river</b>.</p><ul><li>quiet</li></ul></body>
</html></richcontent><attribute NAME="price" VALUE="90"/>
<node TEXT="Room 12"><node TEXT="window" LINK="#ID_9"/></node>
<node><richcontent TYPE="NODE"><html><body><p>A <i>rich</i> topic</p></body></html></richcontent>
</node>
</node>
<node TEXT="&lt;html&gt;&lt;p&gt;By &lt;b&gt;t&lt;/b&gt;rain&lt;/p&gt;
&lt;p&gt;7 &amp;amp; 9&lt;/p&gt;&lt;/html&gt;"/>
<node><richcontent TYPE="DETAILS">Only a note</richcontent></node>
</node></map>"""
READ = """\
# Trip to Kyoto

## Hotel & bath <https://example.org/hotel>

Near the river.
quiet
price: 90

- Room 12
  - window
- A rich topic

## By train 7 & 9

## Only a note"""

SHEETS = [
    {
        "title": "Map 1",
        "rootTopic": {
            "title": "Trip to Kyoto",
            "children": {
                "attached": [
                    {
                        "title": "Hotel",
                        "href": "https://example.org",
                        "notes": {"plain": {"content": "Near the river.\n\nQuiet."}},
                        "labels": ["dear", "old"],
                        "children": {"attached": [{"title": "Room 12", "href": "xmind:#4"}]},
                    },
                    {"title": "Train"},
                ],
                "detached": [{"title": "Floating\nidea"}],
            },
        },
    },
    {"title": "Map 2", "rootTopic": {"title": "Costs", "children": {"attached": [{"title": "9"}]}}},
]
OLD = """<?xml version="1.0"?><xmap-content xmlns="urn:xmind:xmap:xmlns:content:2.0"
xmlns:xlink="http://www.w3.org/1999/xlink"><sheet><topic xlink:href="https://example.org">
<title>Trip</title><children><topics type="attached"><topic><title>Hotel</title>
<notes><plain>Near the river.</plain></notes><labels><label>dear</label></labels>
<children><topics type="attached"><topic><title>Room</title></topic></topics></children></topic>
</topics><topics type="detached"><topic><title>Floating</title></topic></topics></children></topic>
<title>Map 1</title></sheet></xmap-content>"""


def xmind(sheets=SHEETS):
    return zipped({"content.json": json.dumps(sheets), "metadata.json": "{}"})


def test_a_map_of_freemind_is_an_outline_around_its_middle(tmp_path):
    reading = read(tmp_path, "a.mm", FREEMIND.encode())
    assert (reading.text, reading.title) == (READ, "Trip to Kyoto")


def test_topics_that_have_none_below_them_are_a_list(tmp_path):
    text = '<map version="1.0"><node TEXT="Pack"><node TEXT="Rope"/><node TEXT="Tar"/></node></map>'
    assert read(tmp_path, "a.mm", text.encode()).text == "# Pack\n\n- Rope\n- Tar"


def test_another_file_of_that_name_is_code(tmp_path):
    reading = read(
        tmp_path, "a.mm", b"#import <Foundation/Foundation.h>\nint main() { return 0; }\n"
    )
    assert reading.text.startswith("#import <Foundation/Foundation.h>")
    assert reading.markup.value == "code"


def test_the_sheets_of_a_map_of_xmind_are_read(tmp_path):
    reading = read(tmp_path, "a.xmind", xmind())
    assert reading.title == "Trip to Kyoto"
    assert reading.text == (
        "# Trip to Kyoto\n\n## Hotel <https://example.org>\n\n"
        "Near the river.\nQuiet.\ndear, old\n\n- Room 12\n\n## Train\n\n## Floating idea\n\n"
        "# Costs\n\n- 9"
    )


def test_maps_of_xmind_8_are_read(tmp_path):
    data = zipped({"content.xml": OLD, "meta.xml": "<meta/>", "META-INF/manifest.xml": "<m/>"})
    assert read(tmp_path, "a.xmind", data).text == (
        "# Trip\n\n## Hotel\n\nNear the river.\ndear\n\n- Room\n\n## Floating"
    )


def test_a_deep_map_has_all_its_topics(tmp_path):
    depth = 3000
    text = '<map version="1.0">' + "".join(f'<node TEXT="t{n}">' for n in range(depth))
    found = read(tmp_path, "a.mm", (text + "</node>" * depth + "</map>").encode()).text
    assert all(f"t{number}" in found for number in (0, 1, depth - 1))


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.mm", b'<map version="1.0"><node TEXT="torn">', "is damaged"),
        ("a.mm", b'<map version="1.0"><node/></map>', "contains no text"),
        ("a.mm", b'<!DOCTYPE m [<!ENTITY a "b">]><map version="1"/>', ""),
        ("a.xmind", zipped({"content.json": "[1, {"}), "is damaged"),
        ("a.xmind", zipped({"content.json": '[1, {"rootTopic": 2}]'}), "contains no text"),
        ("a.xmind", zipped({"content.xml": "<torn>"}), "is damaged"),
        ("a.xmind", zipped({"other": "x"}), "the content is that of archives"),
        ("a.xmind", b"PK\x03\x04torn", "is damaged|Archives are not read|of archives"),
        ("a.xmind", b"no zip", "the content is something else"),
    ],
)
def test_what_is_no_map_says_why(tmp_path, name, data, said):
    if not said:
        assert read(tmp_path, name, data).markup.value == "code"
        return
    with pytest.raises(ReadingError, match=said):
        read(tmp_path, name, data)
