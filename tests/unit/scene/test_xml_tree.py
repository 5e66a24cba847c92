"""The light XML tree: lines, refusals, numbers and writing."""

from __future__ import annotations

from pathlib import Path

import pytest

from botz.errors import InputError
from botz.models import xml_tree
from botz.models.xml_tree import XmlNode, XmlReading, parsed_numbers, read_xml, shown, xml_text


def test_elements_know_line_attributes_text_and_file(tmp_path: Path):
    file = tmp_path / "a.xml"
    file.write_text(
        "<?xml version='1.0'?>\n<a x='1 2'>\n  hello\n  <b/>\n  <!-- no -->\n  <c y=\"&lt;\">3</c> you\n</a>\n"
    )
    root = read_xml(file)
    assert (root.tag, root.attributes, root.line, root.file) == ("a", {"x": "1 2"}, 2, file)
    assert root.text.split() == ["hello", "you"]
    assert [(child.tag, child.line) for child in root.children] == [("b", 4), ("c", 6)]
    assert (root.value("c"), root.first("c").get("y"), root.value("d", "none"), root.first("d")) == (
        "3",
        "<",
        "none",
        None,
    )


def test_a_text_can_be_read_in_place_of_a_file():
    assert read_xml("<a>\n<b/></a>", Path("x.urdf")).first("b").place.problem("wrong").__str__() == "x.urdf:2: wrong"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "not well-formed XML: no element"),
        ("<a>\n<b>\n</a>", 3, "mismatched tag"),
        ("<a>\n&big;</a>", 2, "undefined entity"),
        ("<!DOCTYPE a>\n<a/>", 1, "document type"),
        ("<a/>\n<b/>", 2, "junk after document element"),
        ('<!DOCTYPE a [\n<!ENTITY x SYSTEM "file:///etc/hostname">]>\n<a>&x;</a>', 1, "document type"),
        ('<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><a/>', 1, "document type"),
        ("<a>" * 300 + "</a>" * 300, 1, "nested more than 200"),
        ("<a x='1' x='2'/>", 1, "duplicate attribute"),
    ],
)
def test_what_is_not_plain_xml_is_refused_with_its_line(tmp_path: Path, text: str, line: int, words: str):
    file = tmp_path / "bad.xml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words) as caught:
        read_xml(file)
    assert (caught.value.problems[0].file, caught.value.problems[0].line) == (file, line)


def test_a_growing_document_is_refused_before_it_grows():
    entities = "".join(f'<!ENTITY e{k + 1} "{f"&e{k};" * 10}">' for k in range(9))
    with pytest.raises(InputError, match="refused"):
        read_xml(f'<!DOCTYPE a [<!ENTITY e0 "ha">{entities}]><a>&e9;</a>')


def test_size_count_encoding_and_missing_file_have_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(InputError, match="no such file"):
        read_xml(tmp_path / "none.urdf")
    with pytest.raises(InputError, match="cannot be read"):
        read_xml(tmp_path)
    with pytest.raises(InputError, match="UTF-8"):
        read_xml("<?xml version='1.0' encoding='klingon'?><a/>")
    monkeypatch.setattr(xml_tree, "MOST_ELEMENTS", 3)
    with pytest.raises(InputError, match="more than 3 elements"):
        read_xml("<a><b/><b/><b/></a>")
    monkeypatch.setattr(xml_tree, "LARGEST", 10)
    with pytest.raises(InputError, match="larger than"):
        read_xml("<a>0123456789</a>")


@pytest.mark.parametrize(
    ("text", "count", "found"),
    [
        ("1 -2.5\n3e-4", 3, (1.0, -2.5, 3e-4)),
        ("", None, ()),
        ("1 2", 3, "needs 3 numbers, not 2 in '1 2'"),
        ("one", 1, "needs a number, not 'one'"),
        ("nan", 1, "needs a number that is finite, not 'nan'"),
        ("0 inf 0", 3, "needs 3 numbers that are finite, not 'inf'"),
        ("1_000", 1, "needs a number that is finite, not '1_000'"),
        ("1,5", 1, "needs a number, not '1,5'"),
    ],
)
def test_numbers(text: str, count: int | None, found: object):
    assert parsed_numbers(text, count) == found


def test_a_reading_keeps_all_problems_until_the_end():
    node = read_xml("<a x='1 2' y='three'>\n<b>4 5 6</b>\n<c>7 q</c></a>", Path("f.xml"))
    reading = XmlReading()
    assert reading.numbers(node, "x", 2) == (1.0, 2.0)
    assert reading.number(node, "z", 9.0) == 9.0
    assert reading.child_numbers(node, "b", 3) == (4.0, 5.0, 6.0)
    assert reading.child_number(node, "d", 1.5) == 1.5
    reading.finish()
    assert reading.number(node, "y") == 0.0
    assert reading.child_numbers(node, "c", 2) == (0.0, 0.0)
    assert reading.number(node, "missing") == 0.0
    with pytest.raises(InputError) as caught:
        reading.finish()
    assert [str(problem) for problem in caught.value.problems] == [
        "f.xml:1: a.y: needs a number, not 'three'",
        "f.xml:3: c: needs 2 numbers, not 'q'",
        "f.xml:1: <a> needs the attribute 'missing'",
    ]


def test_a_written_tree_is_read_back():
    root = XmlNode("robot", {"name": 'a "b" <c> &'})
    root.add("link", name="x").add("mass", "0.1 & <more>")
    again = read_xml(xml_text(root))
    assert again.attributes == root.attributes
    assert again.first("link").value("mass") == "0.1 & <more>"


@pytest.mark.parametrize("value", [0.1, 1.0, -0.0, 1e-300, 2.0032092e-5, 123456789.123, 1e22, -3.0])
def test_numbers_are_written_such_that_reading_gives_the_same(value: float):
    assert parsed_numbers(shown(value, value), 2) == (value, value)
