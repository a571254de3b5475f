"""Tests of the comparison with other programs: what is asked, how answers are read, the table."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from bench.known_items import Page, Score, score
from bench.rivals import bookwheel, compare, costs, qmd, recoll, vault
from bench.rivals.__main__ import install, main
from bench.rivals.askers import McpAsker, ProcessAsker
from bench.rivals.base import MCP, Command, NotInstalled, size_of
from bench.rivals.costs import Cost
from bench.rivals.fts5 import Fts5, all_words, any_word
from bench.rivals.questions import draw, identifiers, read_pages, title_of
from bench.rivals.table import Result, Timing, as_json, as_markdown

SERVER = """
import json, sys, time
while time.process_time() < 0.03:  # times of processes are told in hundredths of a second
    pass
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message"}), flush=True)
    query = asked["params"].get("arguments", {}).get("query")
    result = {"tools": [{"name": "find"}], "paths": [query]}
    if query == "refused":
        result["isError"] = True
    answer = {"jsonrpc": "2.0", "id": asked["id"], "result": result}
    if query == "broken":
        answer = {"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32602}}
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Return twelve pages with titles, words and identifiers of their own."""
    folder = tmp_path / "docs"
    names = ("amber", "birch", "cedar", "dogwood", "elder", "fir", "ginkgo", "hazel", "ivy")
    for name in (*names, "juniper", "kapok", "larch"):
        (folder / name).mkdir(parents=True)
        words = " ".join(f"{name}{ending}" for ending in ("like", "wood", "tree", "leaf", "seed"))
        text = f"---\ntitle: The {name} handbook\n---\n{words} shared forest. `{name}.getRoot()`\n"
        (folder / name / "index.md").write_text(text, encoding="utf-8")
    return folder


def test_a_title_is_that_of_the_front_matter_else_the_first_heading() -> None:
    assert title_of('---\ntitle: "`text-indent` CSS"\n---\n# Syntax\n') == "`text-indent` CSS"
    assert title_of("---\ntags: [a]\n---\n\n# Syntax #\n") == "Syntax"
    assert title_of("---\n: [\n---\nplain\n") == ""


def test_identifiers_stand_in_one_page_alone_and_are_no_prose() -> None:
    pages = [
        Page("a", "", "Call `tabs.getAll()` or `tabs.get()`; well-known at example.com."),
        Page("b", "", "As tabs.get and snake_case_name, in std::sort, or fooBar."),
        Page("c", "", "FOOBAR fooBAR, `@custom-media`."),
    ]
    assert identifiers(pages) == {
        "a": ["tabs.getAll()"],
        "b": ["snake_case_name", "std::sort"],
        "c": ["@custom-media"],
    }


def test_the_end_of_emphasised_words_is_no_identifier() -> None:
    text = "_Such a thing is unsupported._ **_Microsoft._** and my_own_name"
    assert identifiers([Page("a", "", text)]) == {"a": ["my_own_name"]}


def test_identifiers_are_not_taken_from_addresses_or_front_matter() -> None:
    text = (
        "---\ncompat: css.getGap\n---\n[See](/docs/Page_inspector#Some_anchor 'a_title') "
        "my_own_name, CPU-Intensive {{Embed('Live_sample')}} "
        "https://example.org/TP400_SW16 <a href='#link_target'>\n[1]: /far_away\n"
    )
    assert identifiers([Page("a", "", text)]) == {"a": ["my_own_name"]}
    linking = Page("b", "", "[there](/my_own_name)")
    assert identifiers([Page("a", "", text), linking]) == {}


def test_the_same_seed_draws_the_same_queries(docs: Path) -> None:
    pages = read_pages(docs)
    first = draw(pages, 5, seed=3)
    assert first == draw(pages, 5, seed=3) != draw(pages, 5, seed=4)
    assert {kind: len(asked) for kind, asked in first.items()} == {
        "exact title": 5,
        "one swapped letter": 5,
        "six body words": 5,
        "identifier": 5,
    }


def test_an_identifier_is_no_part_of_what_another_page_holds() -> None:
    pages = [
        Page("a", "", "`currentLocalName` and `my_own`"),
        Page("b", "", "`RTC.currentLocalName`"),
    ]
    assert draw(pages, 9, seed=1)["identifier"] == [("my_own", "a"), ("RTC.currentLocalName", "b")]


def test_answers_of_bookwheel_are_read() -> None:
    hits = [{"documentId": "a/b.md"}, {"documentId": "a/b.md"}, {"documentId": "c.md"}]
    assert bookwheel.paths_of_answer({"structuredContent": {"results": hits}}) == ["a/b.md", "c.md"]
    assert bookwheel.paths_of_output('{"results": [{"document": "c.md"}]}') == ["c.md"]
    assert bookwheel.paths_of_output("") == []


def test_answers_of_qmd_are_read() -> None:
    answer = {"structuredContent": {"results": [{"file": "docs/docs/a.md"}]}}
    assert qmd.paths_of_answer(answer) == ["docs/a.md"]
    assert qmd.paths_of_output('[{"file": "qmd://docs/css/@page/index.md"}]') == [
        "css/@page/index.md"
    ]
    assert qmd.paths_of_output("No results found.") == []


def test_answers_of_markdown_vault_mcp_are_read() -> None:
    answer = {"structuredContent": {"result": [{"path": "a.md"}, {"path": "b.md"}]}}
    assert vault.paths_of_answer(answer) == ["a.md", "b.md"]
    assert vault.paths_of_output('{"level": "INFO"}\n[\n {"path": "a.md"}\n]\n') == ["a.md"]
    assert vault.paths_of_output('{"level": "INFO"}\n') == []


def test_answers_of_recoll_are_files_and_no_folders() -> None:
    printed = (
        "Recoll query: ...\nfile:///d/css/text-indent\nfile:///d/css/text%20x/a.md\n"
        "file:///d/css/_doublecolon_/a.md\nfile:///other/a.md\n"
    )
    found = recoll.paths_of_output(printed, Path("/d"))
    assert found == ["css/text x/a.md", "css/_doublecolon_/a.md"]


def test_fts5_is_asked_for_all_words_then_for_any() -> None:
    assert all_words('`a-b` "c_d"') == '"a" "b" "c" "d"'
    assert any_word("tabs.get()") == '"tabs" OR "get"'
    assert all_words("()") == ""


def test_a_server_is_asked_on_its_standard_input(tmp_path: Path) -> None:
    with McpAsker(
        Command([sys.executable, "-c", SERVER]),
        tmp_path / "log",
        "find",
        lambda query: {"query": query},
        lambda answer: list(answer["paths"]),
    ) as asker:
        assert asker("words") == ["words"]
        assert (asker("refused"), asker("broken")) == ([], [])
        assert asker.tool_list() == (1, len('[{"name":"find"}]'))
        assert asker.memory() > 1_000_000
        assert asker.cpu() > 0


def test_a_server_that_ends_is_told_of(tmp_path: Path) -> None:
    asker = McpAsker(Command(["true"]), tmp_path / "log", "find", lambda _: {}, list)
    with pytest.raises(RuntimeError, match="no answer from true"), asker:
        pass


def test_a_second_command_is_tried_where_the_first_finds_nothing() -> None:
    tried = ["import sys; sys.exit(1)", "print('a.md')", "print('b.md')"]
    commands = [Command([sys.executable, "-c", code]) for code in tried]
    assert ProcessAsker(lambda _: commands, str.split)("x") == ["a.md"]
    assert ProcessAsker(lambda _: commands[:1], str.split)("x") == []


def test_what_a_command_costs_counts_its_children(tmp_path: Path) -> None:
    child = "import time; held = bytearray(60_000_000); time.sleep(0.7); sum(range(3_000_000))"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], check=True)"
    cost = costs.run(Command([sys.executable, "-c", code]), tmp_path / "log")
    assert cost.peak > 60_000_000
    assert cost.cpu > 0.02
    with pytest.raises(RuntimeError, match="no such module"):
        costs.run(
            Command([sys.executable, "-c", "raise SystemExit('no such module')"]), tmp_path / "log"
        )


class Missing(Fts5):
    """A program that cannot be had."""

    def install(self) -> None:
        Command([sys.executable, "-c", "raise SystemExit('no such package')"]).output()


def test_what_cannot_be_installed_is_named_with_the_way_out(tmp_path: Path) -> None:
    missing = Missing(tmp_path / "fts5", tmp_path, tmp_path / "place")
    with pytest.raises(NotInstalled) as raised:
        install([missing], ["recoll"])
    text = str(raised.value)
    assert text.startswith("SQLite FTS5 cannot be installed: ")
    assert "no such package" in text
    assert text.endswith("--without recoll --without fts5")


def test_a_folder_without_markdown_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == 2
    assert "no Markdown" in capsys.readouterr().err


def test_a_program_goes_through_the_whole_comparison(docs: Path, tmp_path: Path) -> None:
    rival, result = Fts5(tmp_path / "home", docs, tmp_path / "place"), Result("SQLite FTS5")
    compare.index(rival, result)
    compare.ask([rival], [result], draw(read_pages(docs), 4, seed=1), lambda _: None)
    assert result.scores["exact title"] == Score(4, 1.0, 1.0, 1.0, 0)
    again = Result("SQLite FTS5")
    compare.index(rival, again)
    assert (again.index, again.disk) == (result.index, result.disk)
    assert result.disk == size_of(rival.place) > 0
    assert json.loads(as_json([result]))[0]["scores"]["exact title"]["hit10"] == 1.0


def test_a_program_that_finds_nothing_is_not_taken_for_a_bad_one(
    docs: Path, tmp_path: Path
) -> None:
    rival, result = Fts5(tmp_path / "home", docs, tmp_path / "place"), Result("SQLite FTS5")
    compare.index(rival, result)
    with pytest.raises(RuntimeError, match="does not work"):
        compare.ask([rival], [result], {"exact title": [("amber", "other.md")]}, lambda _: None)


def test_ranks_become_scores() -> None:
    assert score([1, 2, 0, None]) == Score(4, 0.25, 0.5, 0.375, 1)


def test_the_table_has_a_column_for_each_program_and_says_what_was_not_run() -> None:
    full = Result(
        "one",
        "1.0",
        "by tool",
        "vectors: no model",
        installed=161_000_000,
        index=Cost(26.04, 45.0, 273_000_000),
        rescan=Cost(1.26, 2.0, 1),
        disk=3_400_000,
        serving=80_000_000,
        tools=(34, 54_900),
        scores={"exact title": Score(100, 0.72, 0.987, 0.8251, 3)},
        timings={MCP: Timing((0.007, 0.009, 0.5), 0.0123)},
    )
    lines = as_markdown([full, Result("two", scores={"exact title": full.scores["exact title"]})])
    assert lines.splitlines() == [
        "|  | one 1.0 | two |",
        "| --- | --- | --- |",
        "| exact title: hit@1 / hit@10 / MRR | 0.720 / 0.987 / 0.825 | 0.720 / 0.987 / 0.825 |",
        "| empty answers | 3 of 100 | 3 of 100 |",
        "| a query, MCP on stdio: p50 / CPU, ms | 9.0 / 12 | – |",
        "| a query, a process each: p50 / CPU, ms | – | – |",
        "| a query, in process: p50 / CPU, ms | – | – |",
        "| indexing, CPU s | 26.0 | – |",
        "| indexing, peak memory, MB | 273 | – |",
        "| index on disk, MB | 3 | – |",
        "| rescan, nothing changed, CPU s | 1.3 | – |",
        "| server after the queries, memory, MB | 80 | – |",
        "| tools/list, bytes | 54,900 (34 tools) | – |",
        "| installed, MB | 161 | – |",
        "",
        "- one: by tool. Not run: vectors: no model.",
        "- two: .",
    ]
