"""A cold search: `bookwheel search` in a new process against a bare Python that asks once."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from bench.clocks import run, run_python
from bench.corpus import Corpus
from bench.figures import Figure, at_most
from bench.known_items import swap_middle
from bookwheel.engines.place import DATABASE

LIMIT = 1.5
_FLOOR = Path(__file__).parent / "floors" / "cold.py"


def measure(corpus: Corpus) -> list[Figure]:
    """Ask in turn and compare the medians; what meaning and a misspelt word add is shown beside."""
    rounds = [ask(corpus, question) for question in warm_and_measured(corpus)][1:]
    floor, words, both, slipped = map(statistics.median, zip(*rounds, strict=True))
    return [
        at_most(
            "cold search by words, CPU",
            *(words / floor, LIMIT),
            shown=f"{words / floor:.2f} x",
            target=f"<= {LIMIT} x",
            how=f"{words * 1e3:.0f} ms against {floor * 1e3:.0f} ms, medians of {corpus.repeats}",
        ),
        Figure(
            "cold search by words and meaning, CPU",
            *(both / floor, f"{both / floor:.2f} x"),
            how=f"{both * 1e3:.0f} ms; loads numpy, the model and the vectors, which the floor "
            "has none of",
        ),
        Figure(
            "the same, one word misspelt, CPU",
            *(slipped / floor, f"{slipped / floor:.2f} x"),
            how=f"{slipped * 1e3:.0f} ms; reads the vocabulary and loads the speller",
        ),
    ]


def warm_and_measured(corpus: Corpus) -> list[str]:
    """Return the questions to ask; the first compiles the modules and is not counted."""
    return (corpus.questions * (corpus.repeats + 1))[: corpus.repeats + 1]


def ask(corpus: Corpus, question: str) -> tuple[float, float, float, float]:
    """Return the CPU of the floor, of a search by words, by both, and with a slip in it."""
    word = max(question.split(), key=len)
    floor = [str(_FLOOR), str(corpus.index / DATABASE), word]
    slip = question.replace(word, swap_middle(word))
    return (
        run_python(floor).cpu,
        run([*command(corpus, question), "--mode", "lexical"]).cpu,
        run(command(corpus, question)).cpu,
        run(command(corpus, slip)).cpu,
    )


def command(corpus: Corpus, question: str) -> list[str]:
    """Return the command line of a search as a user would type it."""
    place = ["--index", str(corpus.index), "--json"]
    return [*program(), "search", question, *corpus.folders, *place]


def program() -> list[str]:
    """Return how the program is started."""
    installed = Path(sys.executable).with_name("bookwheel")
    return [str(installed)] if installed.exists() else [sys.executable, "-m", "bookwheel"]
