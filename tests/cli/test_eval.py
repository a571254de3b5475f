"""`bookwheel eval` and `bookwheel eval init`: tables, files, gates, mistakes, interruption."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Call
from tests.conftest import Shelf
from tests.evaluation.small import put_dataset
from tests.waiting import wait_until

ALIKE = "query-id\tcorpus-id\tscore\n1\tz\t1\n2\to\t1\n3\t7\t1\n4\t7\t1\n"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return put_dataset(tmp_path / "small")


@pytest.fixture
def animals(shelf: Shelf) -> Shelf:
    shelf.put("zebra.md", "# Zebras\n\nStripes.")
    shelf.put("otter.md", "# Otters\n\nThey swim in rivers.")
    shelf.put("river.md", "# River\n\nA river, rivers, and swimming.")
    return shelf


def judge(shelf: Shelf, text: str) -> Path:
    return shelf.put("bookwheel-eval.toml", text)


def timeless(figures: Any) -> Any:
    """Return the figures of a set without what differs between runs."""
    assert 0 < figures.pop("p50_ms") <= figures.pop("p95_ms")
    seconds = figures.pop("index_s")
    assert seconds is None or seconds >= 0
    assert figures.pop("bytesPerDocument") > 0
    return figures


# ------------------------------------------------------------------- test sets


@pytest.mark.requirement("X-048")
def test_a_test_set_is_measured_and_leaves_nothing_behind(
    call: Call, small: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    answer = call("eval", small)

    assert answer.code == 0
    heading, _, row = answer.out.splitlines()
    assert re.findall(r"[\w@%/ ]*\w", heading) == [
        *(" set", " documents", " queries", " nDCG@10", " Recall@100", " MRR@10", " hit@10"),
        *(" p50 ms", " p95 ms", " index s", " bytes/doc"),
    ]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[:7] == ["small", "3", "2", "0.807", "0.750", "1.000", "1.000"]
    assert answer.err.splitlines() == [
        "bookwheel: small: 3 documents, 2 queries",
        "bookwheel: small: 2 queries without a relevant document are left out.",
        "bookwheel: small: 2 judgements name a query or document that is not in the set; "
        "such queries are ignored, such documents count as not found.",
    ]
    assert list((tmp_path / "temporary").iterdir()) == []


def test_scripts_read_figures_by_the_names_of_sets_and_a_file_gets_each_query_too(
    call: Call, small: Path
) -> None:
    file, table = small / "run.json", small / "run.md"
    answer = call("eval", small, "--json", "--out", file, "--markdown", table, "--misses", "5")

    (saved,) = json.loads(file.read_text(encoding="utf-8"))["sets"]
    per_query = saved.pop("perQuery")
    assert {saved.pop("set"): saved} == answer.value
    assert timeless(answer.value["small"]) == {
        "documents": 3,
        "queries": 2,
        "leftOut": 2,
        "unknown": 2,
        "ndcg10": 0.806574,
        "recall100": 0.75,
        "mrr10": 1.0,
        "hit10": 1.0,
        "misses": [],
    }
    assert per_query == {"1": 1.0, "2": pytest.approx(0.613147, abs=1e-6)}
    assert table.read_text(encoding="utf-8").startswith("| set   | documents |")


def test_several_sets_are_rows_of_one_table(call: Call, small: Path, tmp_path: Path) -> None:
    other = put_dataset(tmp_path / "other", qrels=ALIKE)
    answer = call("eval", small, other, "--json")

    assert list(answer.value) == ["small", "other"]


def test_an_index_is_kept_on_request_and_can_be_searched(
    call: Call, small: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    answer = call("eval", small, "--keep", kept)
    found = call("search", "--no-refresh", "lynx", "--index", kept / "small", "--json")

    assert f"--index {kept / 'small'}" in answer.err
    assert [hit["document"] for hit in found.value["results"]] == ["7.md"]
    assert "holds an index already" in call("eval", small, "--keep", kept).err


def test_misses_of_a_test_set_are_listed_on_request(call: Call, tmp_path: Path) -> None:
    folder = put_dataset(tmp_path / "other", qrels=ALIKE)
    answer = call("eval", folder, "--misses", "1")

    assert answer.out.splitlines()[4:] == [
        "other: 3 queries of 4 not answered first",
        "  lynx",
        "    wanted o: not among the first 100",
        "    found  7",
        "  and 2 more; --misses shows them",
    ]


# ------------------------------------------------------------------- comparing and failing


def test_a_run_is_compared_with_a_saved_one(call: Call, tmp_path: Path) -> None:
    folder = put_dataset(tmp_path / "small", qrels=ALIKE)
    saved = tmp_path / "run.json"
    call("eval", folder, "--out", saved)
    before = json.loads(saved.read_text(encoding="utf-8"))
    (old,) = before["sets"]
    old["documents"] = 9
    old["perQuery"] = dict.fromkeys([*old["perQuery"], "gone"], 0.9)
    saved.write_text(json.dumps(before), encoding="utf-8")

    answer = call("eval", folder, "--baseline", saved, "--json")
    compared = answer.value["small"]["comparison"]
    low, high = compared.pop("interval")

    assert low < compared["difference"] < high
    assert 0 < compared.pop("pValue") < 1
    assert compared == {
        "set": "small",
        "queries": 4,
        "before": 0.9,
        "after": 0.25,
        "difference": -0.65,
        "verdict": "worse" if high < 0 else "no clear difference",
    }
    assert "small: compared over the 4 queries of both runs." in answer.err
    assert "small: 9 documents then, 3 now." in answer.err
    printed = call("eval", folder, "--baseline", saved).out
    assert "| set   | queries | before | after | difference |" in printed


@pytest.mark.parametrize(
    ("gate", "code", "said"),
    [
        (["--fail-below", "0.8"], 0, ""),
        (["--fail-below", "0.81"], 1, "small: nDCG@10 is 0.8066, below 0.81.\n"),
        (["--max-drop", "0"], 0, ""),
    ],
)
def test_a_gate_decides_the_exit_code(
    call: Call, small: Path, gate: list[str], code: int, said: str
) -> None:
    saved = small / "run.json"
    call("eval", small, "--out", saved)
    answer = call("eval", small, "--baseline", saved, *gate)

    assert answer.code == code
    assert said in answer.err
    assert "no clear difference" in answer.out


def test_a_drop_beyond_the_limit_fails(call: Call, small: Path) -> None:
    saved = small / "run.json"
    call("eval", small, "--out", saved)
    run = json.loads(saved.read_text(encoding="utf-8"))
    run["sets"][0]["perQuery"]["2"] = 1.0
    saved.write_text(json.dumps(run), encoding="utf-8")

    assert call("eval", small, "--baseline", saved, "--max-drop", "0.2").code == 0
    answer = call("eval", small, "--baseline", saved, "--max-drop", "0.1")
    assert answer.code == 1
    assert "small: nDCG@10 fell by 0.1934, more than 0.1." in answer.err


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"kind": "bookwheel-eval", "sets": [{}]}'])
def test_a_baseline_that_is_no_run_is_refused(call: Call, small: Path, content: str) -> None:
    file = small / "run.json"
    file.write_text(content, encoding="utf-8")
    answer = call("eval", small, "--baseline", file)

    assert (answer.code, answer.out) == (2, "")
    assert "is not a saved run" in answer.err


# ------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["/no/such/folder"], 4, "There is no folder '/no/such/folder'."),
        (["small", "nowhere"], 4, "There is no folder 'nowhere'."),
        (["empty"], 4, "'empty' is no test set, and has no bookwheel-eval.toml"),
        (["small", "--baseline", "none.json"], 4, "There is no saved run none.json."),
        (["small", "--max-drop", "0.1"], 2, "--max-drop needs --baseline"),
        (["small", "--max-drop", "2"], 2, "--max-drop"),
        (["small", "--out", "none/run.json"], 2, "none/run.json cannot be written"),
        (["small", "--markdown", "empty"], 2, "empty cannot be written"),
        (["small", "--index", "x"], 2, "--index is for the index of your own documents."),
        (["small", "--judged", "none.toml"], 4, "no file of judged queries none.toml"),
    ],
)
def test_a_mistake_is_answered_before_the_work(
    call: Call,
    small: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    said: str,
) -> None:
    monkeypatch.chdir(small.parent)
    Path("empty").mkdir()
    answer = call("eval", *arguments)

    assert (answer.code, answer.out) == (code, "")
    assert said in answer.err
    assert "documents, " not in answer.err


def test_a_baseline_of_other_sets_is_refused(call: Call, small: Path) -> None:
    saved = small / "run.json"
    call("eval", small, "--out", saved)
    saved.write_text(saved.read_text("utf-8").replace('"small"', '"large"'), encoding="utf-8")
    answer = call("eval", small, "--baseline", saved)

    assert answer.code == 2
    assert "The baseline has no query of these sets." in answer.err


# ------------------------------------------------------------------- own documents


def test_init_writes_examples_that_can_be_evaluated_at_once(call: Call, animals: Shelf) -> None:
    here = [animals.folder, "--index", animals.place / "index"]
    made = call("eval", "init", *here)
    file = animals.folder / "bookwheel-eval.toml"

    assert made.out == f"Wrote {file} with 3 examples.\n"
    assert "EXAMPLES" in file.read_text(encoding="utf-8")
    answer = call("eval", *here, "--json")
    found = timeless(answer.value["notes"])
    assert (found["documents"], found["queries"]) == (3, 3)
    assert found["mrr10"] == 1
    assert answer.err == ("bookwheel: notes: 3 of 3 queries are still examples; replace them.\n")


def test_init_keeps_what_is_there_unless_forced(call: Call, animals: Shelf) -> None:
    here = [animals.folder, "--index", animals.place / "index"]
    file = judge(animals, "mine")
    refused = call("eval", "init", *here)

    assert (refused.code, refused.out) == (2, "")
    assert "--force replaces it" in refused.err
    assert file.read_text(encoding="utf-8") == "mine"
    forced = call("eval", "init", *here, "--force", "--json")
    assert forced.value == {"file": str(file), "queries": ["Otters", "River", "Zebras"]}


def test_init_in_a_folder_without_documents_says_so(call: Call, shelf: Shelf) -> None:
    answer = call("eval", "init", shelf.folder, "--index", shelf.place / "index")

    assert answer.code == 4
    assert "There are no documents to make examples of." in answer.err


def test_own_documents_are_judged_and_misses_listed(call: Call, animals: Shelf) -> None:
    file = animals.place / "questions.toml"
    file.write_text(
        '[[query]]\nask = "zebras"\nfind = "zebra.md"\n'
        '[[query]]\nask = "river"\nfind = ["otter.md"]\n'
        '[[query]]\nask = "quokka"\nfind = ["zebr.md"]\n',
        encoding="utf-8",
    )
    where = [animals.folder, "--index", animals.place / "index"]
    answer = call("eval", *where, "--judged", file)

    assert answer.code == 0
    assert answer.out.splitlines()[3:] == [
        "",
        "notes: 2 queries of 3 not answered first",
        "  river",
        "    wanted otter.md: at 2",
        "    found  river.md (River)",
        "  quokka",
        "    wanted zebr.md: not among the first 100",
        "    found  nothing",
    ]
    assert "notes: query 'quokka': Document \"zebr.md\" not found. Near are" in answer.err


def test_own_documents_are_not_measured_by_words_where_the_model_fails(
    call: Call, animals: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge(animals, '[[query]]\nask = "zebras"\nfind = "zebra.md"\n')
    where = [animals.folder, "--index", animals.place / "index"]
    assert call("eval", *where).code == 0
    monkeypatch.setenv("BOOKWHEEL_EMBEDDER", "model2vec:/nowhere")

    answer = call("eval", *where)

    assert (answer.code, answer.out) == (2, "")
    assert "The model '/nowhere' cannot be loaded" in answer.err
    assert call("eval", *where, "--mode", "lexical").code == 0


def test_this_folder_is_meant_when_none_is_named(
    call: Call, animals: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(animals.folder)
    made = call("eval", "init")

    assert made.out == "Wrote bookwheel-eval.toml with 3 examples.\n"
    assert made.err.endswith("then: bookwheel eval\n")
    assert call("eval", "--json").value["notes"]["mrr10"] == 1


def test_a_configuration_in_this_folder_says_which_documents_are_meant(
    call: Call, animals: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(animals.place)
    Path("bookwheel.toml").write_text('[[collections]]\npath = "notes"\n', encoding="utf-8")
    judge = '[[query]]\nask = "zebras"\nfind = "zebra.md"\n'
    Path("bookwheel-eval.toml").write_text(judge, encoding="utf-8")
    (found,) = call("eval", "--json").value.values()

    assert (found["documents"], found["ndcg10"]) == (3, 1)


# ------------------------------------------------------------------- as a process


def test_ctrl_c_ends_it_without_a_trace(tmp_path: Path) -> None:
    text = "zebra and otter in the river " * 300
    rows = "".join(json.dumps({"_id": str(n), "text": text}) + "\n" for n in range(4000))
    folder = put_dataset(tmp_path / "large", corpus=rows, qrels="1\t1\t1\n")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with subprocess.Popen(
        [sys.executable, "-m", "bookwheel", "eval", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    ) as process:
        try:
            wait_until(lambda: any(temporary.glob("*/catalog.db")), 30)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()

    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "bookwheel: stopped; no run was saved."
    assert "Traceback" not in err
    assert list(temporary.iterdir()) == []
