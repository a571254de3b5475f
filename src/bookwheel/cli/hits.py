"""How the hits of a search are shown: as JSON, as plain lines, in colour on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bookwheel.cli.output import one_line
from bookwheel.library import Library
from bookwheel.query import SearchHit

if TYPE_CHECKING:
    from rich.console import Console


def hit_as_json(hit: SearchHit, *, explain: bool = False) -> dict[str, Any]:
    """Return a hit in the form that scripts rely on."""
    return {
        "collection": hit.collection,
        "document": hit.document,
        "title": hit.title,
        "heading": hit.heading,
        "pointer": hit.pointer,
        "snippet": _snippet(hit),
        "score": hit.score,
        "trail": list(hit.trail),
        "lines": [hit.start_line, hit.end_line],
        "matched_in": hit.matched_in,
        "date": hit.date,
        **({"why": _reasons(hit)} if explain else {}),
    }


def print_hits(
    library: Library, hits: Sequence[SearchHit], console: Console | None, *, explain: bool = False
) -> None:
    """Print hits, the best first."""
    several = len(library.collections) > 1
    for number, hit in enumerate(hits, start=1):
        place = one_line(f"{hit.collection}/{hit.document}" if several else hit.document)
        where = " > ".join(hit.trail)
        if console is None:
            print(f"{number}. {hit.title} ({hit.score:.2f})")
            print(f"   {place} · {hit.pointer}" + (f" · {where}" if where else ""))
            print(f"   {_snippet(hit)}")
        else:
            _print_rich(console, number, hit, place, where)
        if explain:
            print(f"   {one_line(_why(hit))}")


def _reasons(hit: SearchHit) -> dict[str, Any]:
    """Return what a hit's place in the answer comes from."""
    return {
        "rank_score": round(hit.rank_score, 4),
        "word_score": None if hit.word_score is None else round(hit.word_score, 4),
        "matched_in": hit.matched_in,
        "words": [hit.snippet.text[start:end] for start, end in hit.snippet.marks],
        "similarity": None if hit.similarity is None else round(hit.similarity, 4),
        "near_words": None if hit.near_words is None else round(hit.near_words, 4),
        "second_look": None if hit.second_look is None else round(hit.second_look, 4),
        "passage": f"{hit.chunk} of {hit.chunks}",
    }


def _why(hit: SearchHit) -> str:
    words = ", ".join(dict.fromkeys(hit.snippet.text[a:b] for a, b in hit.snippet.marks))
    found = f"in {hit.matched_in.value}: {words}" if words else "none in its passage"
    share = "" if hit.word_score is None else f" {hit.word_score:.2f}"
    meaning = "not compared" if hit.similarity is None else f"cosine {hit.similarity:.2f}"
    near = "" if hit.near_words is None else f", near words {hit.near_words:.2f}"
    again = "" if hit.second_look is None else f" · second look: cosine {hit.second_look:.2f}"
    return (
        f"ranked by {hit.rank_score:.3f} · words{share}, {found} "
        f"· meaning: {meaning}{near}{again} · passage {hit.chunk} of {hit.chunks}"
    )


def _snippet(hit: SearchHit) -> str:
    before = "…" if hit.snippet.cut_before else ""
    after = "…" if hit.snippet.cut_after else ""
    return f"{before}{hit.snippet.text}{after}"


def _print_rich(console: Any, number: int, hit: SearchHit, place: str, where: str) -> None:
    from rich.padding import Padding
    from rich.text import Text

    head = Text.assemble((f"{number}. ", "dim"), (hit.title, "bold"), (f"  {hit.score:.2f}", "dim"))
    about = f" · {hit.pointer}" + (f" · {where}" if where else "")
    text = Text(hit.snippet.text)
    for start, end in hit.snippet.marks:
        text.stylize("bold yellow", start, end)
    before = "…" if hit.snippet.cut_before else ""
    after = "…" if hit.snippet.cut_after else ""
    console.print(head)
    console.print(Padding(Text.assemble((place, "cyan"), (about, "dim")), (0, 0, 0, 3)))
    console.print(Padding(Text.assemble(before, text, after), (0, 0, 0, 3)))
