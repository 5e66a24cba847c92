"""Everything that the documentation shows is carried out, and everything that it points at is there."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest
from doc_pages import NOT_RUN, PAGES, ROOT, Block, Reader, assert_shown, blocks_of

from botz.control.teleop.messages import DRIVE_KEYS
from botz.endpoints.teleop.slave import REASONS
from botz.errors import InputError
from botz.scenario import library
from botz.scenario.families import FAMILIES
from botz.scenario.load import load_robot

LANGUAGES = {"python", "yaml", "sh", "text", "toml", "csv", "bibtex", "math", "pycon"}
LAUNCHER_LEVEL = re.compile(
    r"git clone \S+|cd \S+|\.ci/run|sudo apt install .+|pipx? install .+|python -m venv .+|\. \S+/bin/activate"
    r"|botz doctor|mkdir -p \S+ && ln -s .+"
    r"|\./botz (demo|test|verify|bench)\b.*|python (tools|tests)/\w+(/\w+)*\.py\b.*|BOTZ_PYTHON=\S+ \./botz .+"
)
"""What a test cannot do here: it installs something, or runs everything that there is."""
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)|!\[[^\]\n]*\]\(([^)\s]+)\)")
CITATION = re.compile(r"(?<!ignore)\[(virtualbotz|titan4|[a-z]{3,}(?:-[a-z]{3,}|\d{4}))\]")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_page_does_what_it_shows(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform == "win32":
        pytest.skip("the pages show commands of a POSIX shell")
    folder = tmp_path / "reader"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    reader = Reader(folder)
    for block in blocks_of(page):
        assert block.language in LANGUAGES, f"{page}:{block.line}: language {block.language!r}"
        if not block.not_run and block.possible:
            try:
                reader.follow(block)
            except (Exception, SystemExit) as error:
                pytest.fail(f"{name_of(page)}:{block.line}: {type(error).__name__}: {error}", pytrace=False)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_only_launcher_commands_are_not_run(page: Path) -> None:
    reasons = NOT_RUN.findall(page.read_text(encoding="utf-8"))
    skipped = [block for block in blocks_of(page) if block.not_run]
    assert len(reasons) == len(skipped), "a 'not run' comment stands right before its block"
    for block in skipped:
        for command in block.commands:
            assert LAUNCHER_LEVEL.fullmatch(command.split("  #")[0].strip()), f"{page}:{block.line}: {command!r}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for link, picture in LINK.findall(without_code(page)):
        target = link or picture
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        file, _, heading = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        assert path.exists(), f"{name_of(page)}: {target}"
        if heading:
            assert heading in headings_of(path), f"{name_of(page)}: {target}"


def without_code(page: Path) -> str:
    return re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def headings_of(page: Path) -> set[str]:
    """Anchors of a page's headings, as code hosts make them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_picture_is_shown() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    docs = ROOT / "docs"
    for picture in [*(docs / "pictures").rglob("*.*"), *(docs / "videos").iterdir()]:
        assert picture.relative_to(docs).as_posix() in text, f"{picture.name} is on no page"
        assert picture.stat().st_size < 400_000, f"{picture.name} is large"


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "index.md" or f"]({page.name})" in index


def test_citations_and_references_agree() -> None:
    entries = set(re.findall(r"^@\w+\{([\w-]+),", (ROOT / "docs" / "references.bib").read_text("utf-8"), re.MULTILINE))
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.yaml"), *PAGES]
    cited = {key for file in sources for key in CITATION.findall(file.read_text(encoding="utf-8"))}
    assert cited - entries == set(), "cited, but not in docs/references.bib"
    assert entries - cited == set(), "in docs/references.bib, but cited nowhere"


def test_generated_tables_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    """`python tools/make_tables.py` writes them; the bench is left out, because its numbers differ each time."""
    monkeypatch.syspath_prepend(ROOT / "tools")
    tool = runpy.run_path(str(ROOT / "tools" / "make_tables.py"))
    for page, name, table in tool["tables"]():
        shown = tool["table_in"](page.read_text(encoding="utf-8"), name)
        assert shown == table, f"{name_of(page)}: table {name!r} is out of date; run python tools/make_tables.py"


@pytest.mark.parametrize("engine", FAMILIES)
@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md"])
def test_robots_are_counted(page: str, engine: str) -> None:
    """In the entry (a row of a table, an item of a list) of each family."""
    count = sum(load_robot(name).data["engine"] == engine for name in library.names("robot"))
    entries = re.split(r"\n(?=[|#-])", (ROOT / page).read_text(encoding="utf-8"))
    counted = [entry for entry in entries if f"`{engine}`" in entry and re.search(rf"\b{count} robot", entry)]
    assert counted, f"there are {count} robots of engine {engine}"


def test_messages_of_masters_are_described() -> None:
    """Every key that a master may send, and every reason for which its message is ignored, is in a table."""
    page = (ROOT / "docs" / "arms.md").read_text(encoding="utf-8")
    section = page.partition("\n### Messages\n")[2].partition("\n### ")[0]
    first_cells = re.findall(r"^\| ([^|]+) \|", section, flags=re.MULTILINE)
    described = {key for cell in first_cells for key in re.findall(r"`(\w+)`", cell)}
    assert {*DRIVE_KEYS, *REASONS} - described == set()


def test_shown_output_is_really_compared() -> None:
    assert_shown("a  b\n…\nc … e\n", "x\na b\ny\nc d e\n")
    with pytest.raises(AssertionError):
        assert_shown("c\na\n", "a\nc\n")
    with pytest.raises(AssertionError):
        assert_shown("a\n", "a b\n")


def test_a_wrong_snippet_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    reader = Reader(tmp_path)
    with pytest.raises(InputError):
        reader.follow(Block("yaml", "robots: {rover: {poes: [0, 0, 0]}}\n", 1))
    with pytest.raises(AssertionError):
        reader.follow(Block("sh", "botz show no-such-robot\n", 1))
    reader.follow(Block("sh", "botz show no-such-robot  # exit code 2\n", 1))
    with pytest.raises(ZeroDivisionError):
        reader.follow(Block("python", "1 / 0\n", 1))
