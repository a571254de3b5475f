"""Changes on disk reach connected clients unasked, and what they then ask for is new."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.clients.assistant import LEGACY, connected, http_server
from tests.clients.listener import Listener
from tests.conftest import Shelf

CHANGED = "notifications/resources/list_changed"


@contextmanager
def modern(url: str) -> Iterator[Listener]:
    """Connect a client of the newer era, which opens a stream for news."""
    heard: list[Any] = []
    with (
        connected(url) as assistant,
        assistant.entered(assistant.client.listen(resources_list_changed=True)) as news,
    ):

        async def follow() -> None:
            while True:
                heard.append(type(await anext(aiter(news))).__name__)

        following = assistant.begin(follow)
        yield Listener(assistant, heard)
        following.cancel()
    assert set(heard) == {"ResourcesListChanged"}


@contextmanager
def legacy(url: str) -> Iterator[Listener]:
    """Connect a client of the older era, which is told without having asked."""
    with connected(url, LEGACY) as assistant:
        yield Listener(assistant, assistant.heard)
    assert set(assistant.heard) == {CHANGED}


@pytest.mark.requirement("F-033", "F-034")
def test_clients_of_both_eras_hear_of_every_change_and_then_see_it(shelf: Shelf) -> None:
    shelf.put("a.md", "# A\n\nThe zebra.")
    shelf.update()
    where = (shelf.folder, "--index", shelf.place / "index", "--toolsets", "folder")
    folder = shelf.folder

    def write(path: str, text: str) -> Callable[[], object]:
        return lambda: (folder / path).write_text(text, encoding="utf-8")

    a, b = ("A", "The zebra."), ("B", "Another zebra.")
    retitled, described = ("A2", "The zebra."), ("A2", "One zebra.")
    changes: list[tuple[Callable[[], object], dict[str, tuple[str, str]]]] = [
        (write("b.md", "# B\n\nAnother zebra."), {"docs://a.md": a, "docs://b.md": b}),
        (lambda: (folder / "b.md").rename(folder / "c.md"), {"docs://a.md": a, "docs://c.md": b}),
        ((folder / "c.md").unlink, {"docs://a.md": a}),
        (write("a.md", "# A2\n\nThe zebra."), {"docs://a.md": retitled}),
        (write("a.md", "# A2\n\nOne zebra."), {"docs://a.md": described}),
    ]
    with http_server(*where) as url, legacy(f"{url}/mcp") as old, modern(f"{url}/mcp") as new:
        _wait_for_streams(shelf, (old, new))
        for change, expected in changes:
            change()
            old.see(expected)
            new.see(expected)


def _wait_for_streams(shelf: Shelf, listeners: tuple[Listener, ...]) -> None:
    """Make changes until all are told of one: an old client opens its stream some time late."""
    first = shelf.folder / "first.txt"
    for n in range(20):
        first.write_text(f"First {n}\n", encoding="utf-8")
        if all(listener.wait(2) for listener in listeners):
            break
    first.unlink()
    for listener in listeners:
        listener.see({"docs://a.md": ("A", "The zebra.")})
