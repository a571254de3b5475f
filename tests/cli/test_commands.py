"""The commands: answers on standard output, notes and errors on standard error, exit codes."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from bookwheel import __version__
from bookwheel.cli import COMMANDS, SUBCOMMANDS
from bookwheel.model import Counts, Priority
from bookwheel.settings import SETTINGS
from tests.cli.conftest import Call
from tests.conftest import Shelf

GUIDE = """\
# Guide

Intro about zebras.

## Set up

Install it.

### Examples

One.

## Examples

Two.
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """A library that no test changes."""
    shelf = Shelf(tmp_path_factory.mktemp("commands").resolve())
    shelf.put("guide.md", GUIDE)
    shelf.put("old/2021-05-06.txt", "A note on zebras.")
    shelf.put("old/lynx.txt", "Lynx.")
    shelf.put("image.md", b"\x89PNG\r\n\x1a\n")
    shelf.put("photo.png", b"\x89PNG\r\n\x1a\n")
    shelf.put("manifest.json", '{"description": "About", "version": "7"}')
    shelf.update()
    return shelf


@pytest.fixture
def here(made: Shelf) -> list[str]:
    """The arguments that name this library."""
    return [str(made.folder), "--index", str(made.place / "index")]


# ------------------------------------------------------------------- errors and exit codes


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["serch", "x"], 2, "There is no command 'serch'.\n  Did you mean 'search'?"),
        (["zzz"], 2, "There is no command 'zzz'.\n  There are index, search,"),
        (["search"], 2, "Missing argument 'QUERY'"),
        (["search", "x", "--jsn"], 2, "--json"),
        (["search", "x", "--limit", "0"], 2, "--limit"),
        (["search", "x", "--limit", "many"], 2, "--limit"),
        (["search", "x", "--in", "footnotes"], 2, "--in"),
        (["search", "-x"], 2, "No such option: -x"),
        (["search", "x", "/no/such/folder"], 4, "There is no folder '/no/such/folder'."),
        (["index", "/no/such/folder"], 4, "There is no folder '/no/such/folder'."),
        (["index", "/etc/hostname"], 2, "'/etc/hostname' is not a folder."),
        (["index", "--config", "none.toml"], 4, "There is no configuration file none.toml."),
    ],
)
def test_a_mistake_gets_a_message_on_standard_error_and_an_exit_code(
    call: Call, arguments: list[str], code: int, said: str
) -> None:
    answer = call(*arguments)

    assert (answer.code, answer.out) == (code, "")
    assert said in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["show", "gudie.md"], 4, 'Document "gudie.md" not found.\n  Near are "guide.md"'),
        (["show", "guide.md", "-c", "note"], 4, 'Collection "note" not found.\n  There is "notes"'),
        (["show", "guide.md", "-s", "Setup"], 4, '"Set up"'),
        (["show", "image.md"], 4, "has no text to show: binary (a PNG image named .md)"),
        (["show", "guide.md", "-l", "9-3"], 2, "the last must not come before the first"),
        (["show", "guide.md", "-l", "²"], 2, "'²' is no range of lines; write 40 or 40-60."),
        (["show", "guide.md", "-l", ""], 2, "'' is no range of lines"),
        (["show", "guide.md", "-l", "9" * 5000], 2, "is no range of lines"),
        (["show", "guide.md", "-l", "999"], 2, "The document has 15 lines."),
        (["show", "guide.md", "-l", "1", "-s", "Guide"], 2, "Only one of --section, --lines and"),
        (["show", "\udcff"], 4, "not found"),
        (["outline", "none.md"], 4, 'Document "none.md" not found.'),
        (["outline", "guide.md", "--depth", "7"], 2, "--depth"),
        (["list", "-c", "note"], 4, 'There is "notes".'),
        (["search", "x", "-c", "note"], 4, 'There is "notes".'),
        (["search", "x", "--since", "soon"], 2, "'soon' is no date; write 2024, 2024-05 or"),
        (["search", "x", "--since", "2024-13"], 2, "is no date"),
        (["search", "x", "--since", "2024-02-30"], 2, "is no date"),
        (["search", "x", "--until", "2024-1-1-1"], 2, "is no date"),
        (["search", "x", "--until", ""], 2, "is no date"),
        (["search", "x", "--folder", "\udcff"], 2, "is not valid Unicode"),
        (["status", "--why", "/etc/hostname"], 4, "lies in none of the folders"),
    ],
)
def test_a_mistake_about_documents_names_what_is_near(
    call: Call, here: list[str], arguments: list[str], code: int, said: str
) -> None:
    answer = call(*arguments, *here)

    assert (answer.code, answer.out) == (code, "")
    assert said in answer.err
    assert "Traceback" not in answer.err


def test_an_index_that_another_process_writes_is_a_conflict_yet_can_be_searched(
    call: Call, shelf: Shelf
) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    arguments = [shelf.folder, "--index", shelf.place / "index"]

    with shelf.open() as writer, writer.writing():
        index = call("index", *arguments)
        search = call("search", "zebra", *arguments, "--json")

    assert (index.code, index.out) == (5, "")
    assert f"Another process (pid {os.getpid()}) is writing this index." in index.err
    assert (search.code, len(search.value["results"])) == (0, 1)
    assert search.err.startswith("bookwheel: searching the index as it is: Another process")


def test_an_index_that_cannot_be_used_is_said_to_be_so(call: Call, shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    (shelf.place / "index").mkdir()
    (shelf.place / "index" / "catalog.db").write_bytes(b"my diary" * 100)

    for command in (["index"], ["search", "zebra"], ["status"]):
        answer = call(*command, shelf.folder, "--index", shelf.place / "index")
        assert (answer.code, answer.out) == (6, "")
        assert "the file is no Bookwheel index" in answer.err


def test_a_setting_that_cannot_be_used_ends_the_start(
    call: Call, here: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOOKWHEEL_WORKERS", "many")

    answer = call("search", "zebra", *here)

    assert (answer.code, answer.out) == (2, "")
    assert "BOOKWHEEL_WORKERS is 'many'" in answer.err


# ------------------------------------------------------------------- answers as JSON


@pytest.mark.parametrize(
    "command",
    [
        ["index"],
        ["search", "zebras"],
        ["show", "guide.md"],
        ["show", "guide.md", "-s", "Examples"],
        ["show", "guide.md", "-l", "2-3"],
        ["outline", "guide.md"],
        ["related", "guide.md"],
        ["list"],
        ["list", "--limit", "1"],
        ["list", "--folder", "none"],
        ["status"],
        ["status", "--why", "photo.png"],
        ["doctor"],
        ["doctor", "--repair"],
    ],
)
def test_every_command_answers_with_one_json_value_and_notes_stay_off_it(
    call: Call, made: Shelf, tmp_path: Path, command: list[str]
) -> None:
    shutil.copytree(made.place, tmp_path / "copy")
    (tmp_path / "copy" / "notes" / "manifest.json").write_text("{", encoding="utf-8")
    where = [tmp_path / "copy" / "notes", "--index", tmp_path / "copy" / "index"]

    answer = call(*command, *where, "--json")

    assert answer.code == 0
    assert answer.value is not None
    assert "manifest.json is ignored: it is not valid JSON." in answer.err


@pytest.mark.requirement("X-047")
def test_search_answers_hits_from_best_to_worst(call: Call, here: list[str]) -> None:
    answer = call("search", "zebras", *here, "--json")

    assert (answer.code, answer.err) == (0, "")
    assert {"query", "results", "total", "relaxed"} <= set(answer.value)
    assert (answer.value["query"], answer.value["total"]) == ("zebras", 2)
    results = answer.value["results"]
    keys = {"collection", "document", "title", "heading", "pointer", "snippet", "score"}
    assert all(keys <= set(result) for result in results)
    assert {(row["collection"], row["document"]) for row in results} == {
        ("notes", "guide.md"),
        ("notes", "old/2021-05-06.txt"),
    }
    scores = [row["score"] for row in results]
    assert all(0 <= score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)
    by_document = {row["document"]: row for row in results}
    assert by_document["guide.md"]["title"] == "Guide"
    assert "Intro about zebras." in by_document["guide.md"]["snippet"]


@pytest.mark.parametrize(
    "query",
    ["", "   ", "-x", "--", '"', "\udcff\ud800", "\x1b[31m", "🦓" * 50, "x" * 100_000, "( OR *"],
)
def test_any_text_can_be_searched_for(call: Call, here: list[str], query: str) -> None:
    answer = call("search", "--json", *here[1:], "--", query, here[0])

    assert answer.code == 0
    assert answer.value["query"] == query
    assert call("search", *here[1:], "--", query, here[0]).code == 0


@pytest.mark.parametrize(
    ("options", "documents"),
    [
        (["--type", "TXT"], ["old/2021-05-06.txt"]),
        (["--type", ".md"], ["guide.md"]),
        (["--folder", "/old/"], ["old/2021-05-06.txt"]),
        (["--since", "2021-05-06", "--until", "2021-05-06"], ["old/2021-05-06.txt"]),
        (["--until", "2021-05"], ["old/2021-05-06.txt"]),
        (["--since", "2021-06", "--until", "2022"], []),
        (["--since", "2022"], ["guide.md"]),
        (["--tag", "none"], []),
        (["-c", "notes", "-n", "1", "--offset", "5"], []),
        (["--in", "title"], ["old/2021-05-06.txt"]),
    ],
)
def test_options_narrow_a_search(
    call: Call, here: list[str], options: list[str], documents: list[str]
) -> None:
    answer = call("search", "zebras", *here, "--json", "--no-fuzzy", *options)

    assert [row["document"] for row in answer.value["results"]] == documents


def test_show_gives_a_document_as_json(call: Call, here: list[str]) -> None:
    assert call("show", "guide.md", *here, "--json").value == {
        "collection": "notes",
        "document": "guide.md",
        "title": "Guide",
        "description": "Intro about zebras.",
        "tags": [],
        "author": None,
        "date": "2023-11-14",
        "mime": "text/markdown",
        "size": len(GUIDE),
        "words": 12,
        "content": GUIDE,
        "totalChars": len(GUIDE),
    }


def test_show_gives_a_section_with_its_lines_and_its_namesakes(call: Call, here: list[str]) -> None:
    answer = call("show", "guide.md", *here, "--section", "examples", "--json")

    assert answer.value == {
        "collection": "notes",
        "document": "guide.md",
        "section": "Examples",
        "level": 3,
        "content": "### Examples\n\nOne.\n",
        "startLine": 9,
        "endLine": 12,
        "others": ["Guide > Examples"],
    }
    plain = call("show", "guide.md", *here, "--section", "Set up", "--no-subsections")
    assert plain.out == "## Set up\n\nInstall it.\n\n"


def test_outline_gives_headings_with_their_lines(call: Call, here: list[str]) -> None:
    answer = call("outline", "guide.md", *here, "--depth", "2", "--json")

    assert answer.value == {
        "collection": "notes",
        "document": "guide.md",
        "title": "Guide",
        "outline": [
            {"level": 1, "text": "Guide", "line": 1},
            {"level": 2, "text": "Set up", "line": 5},
            {"level": 2, "text": "Examples", "line": 13},
        ],
    }
    assert "no headings" in call("outline", "old/lynx.txt", *here).out


def test_list_gives_a_page_of_documents(call: Call, here: list[str]) -> None:
    answer = call("list", *here, "--folder", "old", "-n", "1", "--json")

    (page,) = answer.value
    assert [row["id"] for row in page["documents"]] == ["old/2021-05-06.txt"]
    assert (page["collection"], page["total"], page["hasMore"]) == ("notes", 2, True)


def test_a_category_is_listed_of_the_folders_that_have_it(call: Call, tmp_path: Path) -> None:
    for path in ("one/Guides/a.md", "two/other/b.md"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text("# A", encoding="utf-8")
    folders = [str(tmp_path / "one"), str(tmp_path / "two")]

    assert call("list", *folders, "--category", "guides").out == "Guides/a.md\tA\n"
    assert call("list", *folders, "--category", "none").code == 4


@pytest.mark.requirement("P-060")
def test_status_tells_version_time_root_and_number_of_documents(
    call: Call, here: list[str], made: Shelf
) -> None:
    status: dict[str, Any] = call("status", *here, "--json").value
    (collection,) = status["collections"]

    assert collection.pop("indexedAt").endswith("Z")
    assert status == {
        "version": __version__,
        "index": str(made.place / "index" / "catalog.db"),
        "remarks": [],
        "collections": [
            {
                "collection": "notes",
                "path": str(made.folder),
                "alias": None,
                "source": "notes",
                "description": "About",
                "version": "7",
                "documents": 3,
                "unreadable": [
                    {"document": "image.md", "status": "binary", "reason": "a PNG image named .md"}
                ],
                "skipped": collection["skipped"],
            }
        ],
        "jobs": [],
    }
    assert {"reason": "unsupported extension", "extension": ".png", "files": 1} in collection[
        "skipped"
    ]
    plain = call("status", *here).out
    assert "3 documents, indexed 2" in plain
    assert "binary: image.md (a PNG image named .md)" in plain


@pytest.mark.requirement("R-023")
def test_status_shows_what_is_being_indexed_and_what_waits(
    call: Call, here: list[str], made: Shelf
) -> None:
    with made.open() as library:
        running = library.jobs.ask("notes", "old")
        library.jobs.ask("notes", "new", full=True, priority=Priority.HIGH)
        with library.writing() as engine:
            engine.queue.start(running.number)
            engine.queue.note(running.number, Counts(indexed=3, done=4, total=1200))
            shown = call("status", *here).out
            first, second = call("status", *here, "--json").value["jobs"]

    assert shown.splitlines()[-3:-1] == [
        "Being indexed, or waiting for it:",
        f"  notes/old: 4 of 1,200 files, by process {os.getpid()}",
    ]
    assert re.fullmatch(r"  notes/new: waiting since 20\S+Z, high priority", shown.splitlines()[-1])
    assert (first["folder"], first["status"], first["indexed"]) == ("old", "running", 3)
    assert (second["full"], second["priority"], second["process"]) == (True, "high", None)


def test_status_says_why_a_file_is_not_indexed(call: Call, here: list[str]) -> None:
    assert call("status", *here, "--why", "photo.png").out == (
        "photo.png is not indexed: unsupported extension: .png.\n"
    )


@pytest.mark.requirement("X-044")
def test_doctor_shows_every_setting_with_where_it_came_from(
    call: Call, made: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "bookwheel.toml"
    config.write_text("max_file_mb = 7\nworkers = 1\n", encoding="utf-8")
    monkeypatch.setenv("BOOKWHEEL_WORKERS", "2")
    where = [made.folder, "--index", made.place / "index", "--config", config]

    report = call("doctor", *where, "--json").value

    origins = {row["name"]: (row["value"], row["origin"]) for row in report["settings"]}
    assert list(origins) == [row.name for row in SETTINGS]
    assert origins["index"] == (str(made.place / "index"), "flag")
    assert origins["workers"] == (2, "BOOKWHEEL_WORKERS")
    assert origins["max_file_mb"] == (7, "bookwheel.toml")
    assert origins["snippet_length"] == (200, "default")
    assert report["installed"]["packages"] > 20
    plain = call("doctor", *where).out
    assert all(f"{name:<18} " in plain for name in origins)
    assert plain.endswith("The index is sound.\n")


@pytest.mark.requirement("X-043")
def test_the_start_mentions_a_setting_given_under_two_names(
    call: Call, here: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_SNIPPET_LENGTH", "99")
    monkeypatch.setenv("BOOKWHEEL_SNIPPET_LENGTH", "100")

    assert call("search", "zebras", *here, "--json").err == (
        "bookwheel: BOOKWHEEL_SNIPPET_LENGTH and MCP_SNIPPET_LENGTH are both set; "
        "BOOKWHEEL_SNIPPET_LENGTH is used.\n"
    )


def test_doctor_prints_what_whoever_helps_would_ask(call: Call, shelf: Shelf) -> None:
    shelf.put("a.md", "# Zebra\n\nA zebra has stripes.\n")
    shelf.put("secret-plan.pdf", "no PDF at all")
    where = [shelf.folder, "--index", shelf.place / "index"]
    assert call("doctor", *where, "--json").value["state"] is None
    shelf.update()

    report = call("doctor", *where, "--json").value
    assert report["platform"] == platform.platform()
    assert report["cores"] >= 1
    assert report["free_bytes"] > 0
    assert report["config"] is None
    assert report["packages"]["bookwheel"] == __version__
    assert {"apsw", "tantivy", "mcp", "pydantic-core"} <= set(report["packages"])
    size = report["state"].pop("bytes")
    assert size > 0
    assert report["state"] == {
        "documents": 1,
        "passages": 1,
        "change": report["state"]["change"],
        "embedded": False,
        "unreadable": {"unreadable": 1},
        "written": False,
        "writers": [],
        "waiting": 0,
    }
    lines = call("doctor", *where).out.splitlines()
    assert f"Holds: 1 document, 1 passage, not all with vectors; {size / 1e6:.1f} MB" in lines
    assert "Not read: 1 unreadable; `bookwheel status` names them" in lines
    assert not any("secret-plan" in line for line in lines)


def test_doctor_says_who_is_writing(call: Call, shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    where = [shelf.folder, "--index", shelf.place / "index"]
    with shelf.open() as library, library.writing():
        assert "Being written; 0 folders wait" in call("doctor", *where).out.splitlines()


def test_doctor_tells_damage_and_repairs_it(call: Call, shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    where = [shelf.folder, "--index", shelf.place / "index"]
    assert call("doctor", *where).out.endswith("There is no index here yet.\n")
    shelf.update()
    with (shelf.place / "index" / "catalog.db").open("r+b") as file:
        file.seek(100)
        file.write(b"\xaa" * 4000)

    hurt = call("doctor", *where, "--json")
    assert (hurt.code, len(hurt.value["problems"])) == (6, 1)
    nameless = call("doctor", *where[1:], "--repair")
    assert (nameless.code, nameless.out) == (6, "")
    assert "Name its folders: `bookwheel doctor FOLDER..." in nameless.err
    healed = call("doctor", *where, "--repair", "--json")
    assert (healed.code, bool(healed.value["repaired"])) == (0, True)
    assert call("doctor", *where, "--repair").out.endswith("Nothing had to be repaired.\n")
    assert call("search", "zebra", *where, "--json").value["total"] == 1


# ------------------------------------------------------------------- indexing


@pytest.mark.requirement("X-045")
def test_index_makes_and_refreshes_an_index_and_its_exit_code_tells_whether_it_could(
    call: Call, shelf: Shelf
) -> None:
    shelf.put("a.md", "zebra")
    other = shelf.place / "other"
    other.mkdir()
    (other / "b.md").write_text("zebra", encoding="utf-8")
    where = [shelf.folder, other, "--index", shelf.place / "made" / "here"]

    first = call("index", *where)
    assert (first.code, first.err) == (0, "")
    assert [line.partition(" in ")[0] for line in first.out.splitlines()] == [
        "notes: 1 file indexed, 0 unchanged",
        "other: 1 file indexed, 0 unchanged",
    ]
    shelf.put("c.md", "zebra")
    again = call("index", *where, "--json")
    assert (again.value[0]["indexed"], again.value[0]["unchanged"]) == (1, 1)
    shutil.rmtree(other)
    gone = call("index", *where)
    assert gone.code == 1
    assert "Its documents are kept as they were." in gone.err
    assert call("search", "zebra", *where, "--json").value["total"] == 3


@pytest.mark.requirement("P-056")
def test_a_search_with_debug_on_rebuilds_the_index_first(
    call: Call, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    shelf.put("a.md", "otter")  # same size, same time
    where = [shelf.folder, "--index", shelf.place / "index", "--json"]

    assert call("search", "otter", *where, "--no-fuzzy").value["total"] == 0
    monkeypatch.setenv("DEBUG", "1")
    assert call("search", "otter", *where, "--no-fuzzy").value["total"] == 1


def test_a_first_search_makes_the_index_and_a_later_one_sees_changes(
    call: Call, shelf: Shelf
) -> None:
    shelf.put("a.md", "zebra")
    where = [shelf.folder, "--index", shelf.place / "index", "--json"]

    assert call("search", "zebra", *where).value["total"] == 1
    shelf.put("b.md", "zebra")
    assert call("search", "zebra", *where, "--no-refresh").value["total"] == 1
    assert call("search", "zebra", *where).value["total"] == 2


# ------------------------------------------------------------------- plain output and help


def test_a_search_prints_plain_lines_into_a_pipe(call: Call, here: list[str]) -> None:
    answer = call("search", "lynx", *here)

    assert "\x1b" not in answer.out
    assert answer.out.splitlines()[0].startswith("1. Lynx")
    assert "   old/lynx.txt · " in answer.out
    assert answer.err.startswith("1 of about 1 document.\n")
    said = "Note: 1 of 4 files in scope could not be read. `bookwheel status` says why."
    assert said in answer.err


def test_names_that_could_steer_a_terminal_are_printed_harmlessly(call: Call, shelf: Shelf) -> None:
    shelf.put("a\x1b[31m\nb.md", '---\ntitle: "T\\x1b]0;x\\x07"\n---\nzebra')
    where = [shelf.folder, "--index", shelf.place / "index"]

    assert call("list", *where).out == "a[31m b.md\tT]0;x\n"
    assert "\x1b" not in call("search", "zebra", *where).out
    (page,) = call("list", *where, "--json").value
    assert page["documents"][0]["id"] == "a\x1b[31m\nb.md"


def test_a_listing_that_goes_on_says_how(call: Call, here: list[str]) -> None:
    answer = call("list", *here, "-n", "2")

    assert answer.out == "guide.md\tGuide\nold/2021-05-06.txt\tA note on zebras.\n"
    assert answer.err == "3 in all; go on with --offset 2.\n"


@pytest.mark.parametrize("command", [*COMMANDS, *SUBCOMMANDS])
def test_the_help_of_every_command_teaches_by_example(call: Call, command: str) -> None:
    answer = call(*command.split(), "--help")

    assert answer.code == 0
    examples = [line for line in answer.out.splitlines() if line.startswith("      bookwheel ")]
    assert examples
    assert all(line.startswith(f"      bookwheel {command} ") for line in examples)
    assert (COMMANDS | SUBCOMMANDS)[command] in answer.out


def test_the_help_of_the_program_lists_the_commands(call: Call) -> None:
    answer = call("-h")

    assert all(name in answer.out and text in answer.out for name, text in COMMANDS.items())
    assert call("--version").out == f"bookwheel {__version__}\n"


def test_json_is_json_whatever_the_names(call: Call, shelf: Shelf) -> None:
    shelf.put("Straße 🦓.md", "zebra")
    answer = call("list", shelf.folder, "--index", shelf.place / "index", "--json")

    assert "Straße 🦓.md" in answer.out
    assert json.loads(answer.out)[0]["documents"][0]["id"] == "Straße 🦓.md"


@pytest.mark.parametrize("variable", ["BOOKWHEEL_LLM_KEY", "OPENAI_API_KEY"])
def test_no_command_shows_a_key(
    call: Call, made: Shelf, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "sk-nobody-may-see-it")
    where = [made.folder, "--index", made.place / "index"]

    for command in (["doctor"], ["doctor", "--json"], ["status", "--json"]):
        answer = call(*command, *where)
        assert "sk-nobody" not in answer.out + answer.err
    rows = {row["name"]: row for row in call("doctor", *where, "--json").value["settings"]}
    assert (rows["llm_key"]["value"], rows["llm_key"]["origin"]) == ("(set)", variable)


def test_a_folder_named_without_its_configuration_stays_for_previews_only(
    call: Call, shelf: Shelf
) -> None:
    shelf.put("a.md", "# Zebra\n")
    config = shelf.place / "shut.toml"
    config.write_text(f'[[collections]]\npath = "{shelf.folder}"\naccess = "preview"\n')
    index = ("--index", shelf.place / "index")
    assert call("index", "--config", config, *index).code == 0
    assert call("search", "zebra", shelf.folder, *index).code == 0
    assert call("index", shelf.folder, *index, "--full").code == 0
    assert call("show", "a.md", shelf.folder, *index).code == 3
