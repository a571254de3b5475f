"""The ways that tests reach a server all lead to the same answers."""

from __future__ import annotations

import pytest
from mcp.shared.exceptions import MCPError

from tests.clients.assistant import LEGACY, MODERN, assisting, command, connected, http_server
from tests.conftest import Shelf


@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_memory_stdio_and_http_give_the_same_tools_and_answers(shelf: Shelf, era: str) -> None:
    shelf.put("zebra.md", "# Zebra\n\nA zebra has stripes.")
    shelf.update()
    where = (shelf.folder, "--index", shelf.place / "index")
    seen = []

    with shelf.open() as library, assisting(library, era=era) as assistant:
        library.embed()  # as a server does by itself, now or a moment later
        seen.append((assistant.tools(), assistant.call("documents_search", query="stripes")))
    with connected(command(*where), era) as assistant:
        seen.append((assistant.tools(), assistant.call("documents_search", query="stripes")))
    with http_server(*where) as url, connected(f"{url}/mcp", era) as assistant:
        seen.append((assistant.tools(), assistant.call("documents_search", query="stripes")))

    assert seen[0] == seen[1] == seen[2]
    assert seen[0][1].json[0]["documentId"] == "zebra.md"


def test_an_error_of_json_rpc_is_raised(shelf: Shelf) -> None:
    with shelf.open() as library, assisting(library) as assistant, pytest.raises(MCPError):
        assistant.call("no_such_tool")
