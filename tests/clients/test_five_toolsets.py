"""What the five toolsets share: one index, one choice, one list of names."""

from __future__ import annotations

from pathlib import Path

import pytest

from bookwheel.errors import BadRequest
from bookwheel.serve.toolsets import choose, load_contracts
from tests.clients.assistant import Assistant, assisting
from tests.clients.handbook import fill, refusal
from tests.conftest import Shelf

NAMES = {"documents", "folder", "pages", "files", "archives"}
SEARCHES = {
    "documents": "documents_search",
    "folder": "search_documents",
    "pages": "search_docs",
    "files": "searchFiles",
    "archives": "searchLocalArchives",
}


def finds(assistant: Assistant, toolset: str, word: str) -> bool:
    reply = assistant.call(SEARCHES[toolset], query=word)
    assert not reply.is_error, reply.text
    return "bird.md" in reply.text


@pytest.mark.requirement("X-001", "X-010")
def test_all_five_answer_from_one_index_and_see_its_changes(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    library = fill(shelf, {"bird.md": "# The bird\n\nA cassowary.\n"})
    with library, assisting(library) as assistant:
        listed = {tool["name"] for tool in assistant.tools()}
        assert SEARCHES["documents"] in listed
        assert listed.isdisjoint(SEARCHES[name] for name in NAMES - {"documents"})
        for name in NAMES:
            assert finds(assistant, name, "cassowary")
        shelf.put("bird.md", "# The bird\n\nA kookaburra.\n", at=1_800_000_000_000_000_000)
        library.update()
        for name in NAMES:
            assert finds(assistant, name, "kookaburra")


@pytest.mark.requirement("X-010")
@pytest.mark.parametrize("chosen", sorted(NAMES))
def test_after_a_choice_other_tools_are_named_with_their_toolset(
    tmp_path: Path, chosen: str
) -> None:
    library = fill(Shelf(tmp_path), {"bird.md": "# The bird\n"})
    with library, assisting(library, chosen) as assistant:
        assert all(tool["name"] for tool in assistant.tools())
        for name in NAMES - {chosen}:
            code, message, data = refusal(assistant.call, SEARCHES[name], query="x")
            assert code == -32602
            assert f"--toolsets {name}" in message
            assert f"/mcp/{name}" in message
            assert data["toolset"] == name


@pytest.mark.requirement("X-007")
def test_an_unknown_toolset_is_refused_with_the_five() -> None:
    with pytest.raises(BadRequest) as caught:
        choose(load_contracts(), "archive")
    assert set(load_contracts()) == NAMES
    assert all(name in (caught.value.hint or "") for name in NAMES)


@pytest.mark.requirement("X-012")
@pytest.mark.parametrize("chosen", sorted(NAMES))
def test_resources_come_with_three_of_the_five(tmp_path: Path, chosen: str) -> None:
    library = fill(Shelf(tmp_path), {"bird.md": "# The bird\n"})
    with library, assisting(library, chosen) as assistant:
        if chosen in ("folder", "documents", "archives"):
            assert [each["uri"] for each in assistant.resources()] == ["docs://bird.md"]
        else:
            assert refusal(assistant.resources)[0] == -32601
