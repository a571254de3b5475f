"""The calls that the files toolset is introduced with, one after the other, as they stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.clients.assistant import LEGACY, MODERN, Assistant, command, connected
from tests.formats import making_office as office
from tests.formats import making_word as word

_PAGE_BREAK = '<w:r><w:br w:type="page"/></w:r>'


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """Return a share with two roots."""
    shared = tmp_path / "shared"
    for root in ("finance", "contracts"):
        (shared / root).mkdir(parents=True)
    (shared / "finance" / "budget.md").write_text("# Budget\n\nVendor X cost more in 2021.\n")
    pages = [f"Page {n}. Vendor X agrees to provide lot {n} in 2021." for n in (1, 2, 3, 4)]
    body = "".join(word.p(text, more=_PAGE_BREAK) for text in pages)
    (shared / "contracts" / "vendor_x_contract.docx").write_bytes(word.docx(body))
    slide = office.slide(
        office.shape("Vendor X 2021", "title"), office.shape("Scope of the contracts", "body")
    )
    (shared / "contracts" / "vendor_x_summary.pptx").write_bytes(office.pptx(slide))
    return shared


def ask(assistant: Assistant, tool: str, **arguments: Any) -> Any:
    answer = assistant.call(tool, **arguments)
    assert not answer.is_error, answer.text
    assert answer.structured == answer.json
    assert answer.json["mcp_version"] == "v1.0.0"
    return answer.json


@pytest.mark.requirement("R-074")
@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_the_five_calls_work_as_they_stand(shared: Path, era: str) -> None:
    finance, contracts = str(shared / "finance"), str(shared / "contracts")
    server = command(
        *(finance, contracts, "--index", shared.parent / "index", "--toolsets", "files"),
        BOOKWHEEL_SUMMARIES="extractive",
    )
    with connected(server, era) as assistant:
        assert ask(assistant, "listRoots")["roots"] == [finance, contracts]

        counts = ask(assistant, "indexFolder", root=finance, full=False)
        assert (counts["indexed"] + counts["skipped"], counts["removed"]) == (1, 0)

        ask(assistant, "indexFolder", root=contracts)
        found = ask(assistant, "searchFiles", query="vendor x 2021 ppt docx", k=10)["items"]
        names = {Path(item["path"]).name for item in found}
        assert names == {"vendor_x_contract.docx", "vendor_x_summary.pptx"}

        path = f"{contracts}/vendor_x_contract.docx"
        shown = ask(assistant, "openFile", path=path, pointer="page 3")
        assert shown["pointer"] == "page 3"
        assert "Page 3. Vendor X agrees to provide lot 3" in shown["preview"]

        results = [{"path": item["path"], "snippet": item["snippet"]} for item in found]
        summary = ask(
            assistant, "summarizeResults", query="vendor x 2021 contracts", results=results
        )
        assert "Vendor X" in summary["summary"]
