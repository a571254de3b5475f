"""A small research archive: notes by date, saved pages and papers that cite one another."""

from __future__ import annotations

from typing import Any

from bookwheel.library import Library
from tests.conftest import Shelf

RESEARCH = {
    "2025-05-20/machine_learning_intro.md": (
        "---\ntitle: Introduction to Machine Learning\n---\n"
        "# Introduction\n\nMachine learning is a subset of artificial intelligence.\n\n"
        "For more information on ML algorithms, see [this resource]"
        "(https://example.com/ml-algorithms). It is worth a day.\n"
    ),
    "2025-05-21/naïve bayes & <friends>.md": (
        "# Naïve Bayes & <friends>\n\nA quokka classifier, \"naïve\" & 'cheap', if x < y.\n\n"
        "Read [the start](../2025-05-20/machine_learning_intro.md#introduction) before it.\n"
    ),
    "2025-05-22/chain one.md": "# Chain one\n\nThe zebrafish study. Next: [[Chain two]].\n",
    "2025-05-23/chain-two.md": "# Chain two\n\nNext is [three](chain%20three.md).\n",
    "2025-05-23/chain three.md": "# Chain three\n\nNext: <docs://research/loops/four>.\n",
    "loops/four.md": "---\ndate: 2024-02-29\nsource: diary\n---\n# Chain four\n\nThe end.\n",
    "loops/ouroboros.md": (
        "# Ouroboros\n\nIt eats [its tail](tail.md), [itself](ouroboros.md) and [[#Ouroboros]].\n"
    ),
    "loops/tail.md": "# The tail\n\nIt belongs to [the head](ouroboros.md), so the head says.\n",
    "papers/attention.md": (
        "---\narxiv: 1706.03762\ndoi: 10.48550/arXiv.1706.03762\n---\n# Attention paper\n\nHeads.\n"
    ),
    "papers/reading list.txt": (
        "Reading list\n\nFirst arXiv:1706.03762v7 on walrus heads.\n"
        "Then https://dx.doi.org/10.48550/ARXIV.1706.03762 again;\nsee 10.1000/182 elsewhere.\n"
    ),
    "broken.md": "# Broken\n\nA wombat: [gone](2025-05-20/gone.md) and [[Nobody]].\n",
}
SAVED = {
    "ml-algorithms.html": (
        "<html><head><title>Machine Learning Algorithms</title>"
        '<link rel="canonical" href="https://www.example.com/ml-algorithms/"></head>'
        "<body><h1>Algorithms</h1><p>Trees, forests and the pangolin.</p></body></html>"
    ),
}


def fill_archive(shelf: Shelf, **flags: Any) -> Library:
    """Write both collections, `research` and `saved`, index them and return their library."""
    for name, files in (("research", RESEARCH), ("saved", SAVED)):
        for path, content in files.items():
            shelf.put(f"../{name}/{path}", content)
    library = shelf.open(shelf.place / "research", shelf.place / "saved", **flags)
    library.update()
    return library
