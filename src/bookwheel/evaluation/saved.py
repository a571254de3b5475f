"""Runs as JSON: to keep and to compare with later, and as scripts read them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bookwheel import __version__
from bookwheel.errors import BadRequest, NotFound
from bookwheel.evaluation.compare import Comparison
from bookwheel.evaluation.result import Miss, Result

KIND = "bookwheel-eval"
_DIGITS = 6


class Saved(NamedTuple):
    """What a comparison needs of a saved result."""

    documents: int
    per_query: Mapping[str, float]


def describe_run(
    results: Sequence[Result], comparisons: Sequence[Comparison] = (), *, misses: int = 0
) -> dict[str, Any]:
    """Return a run as JSON has it, with up to so many misses of each set."""
    run: dict[str, Any] = {
        "kind": KIND,
        "version": __version__,
        "sets": [
            # Each query exactly, so that the same run differs by nothing.
            {"set": each.name, **_describe(each, misses), "perQuery": dict(each.per_query)}
            for each in results
        ],
    }
    if comparisons:
        run["comparisons"] = [_describe_comparison(each) for each in comparisons]
    return run


def describe_answer(
    results: Sequence[Result], comparisons: Sequence[Comparison] = (), *, misses: int = 0
) -> dict[str, Any]:
    """Return the figures of a run by the names of its sets, as scripts rely on them."""
    compared = {each.name: {"comparison": _describe_comparison(each)} for each in comparisons}
    return {each.name: _describe(each, misses) | compared.get(each.name, {}) for each in results}


def _describe(result: Result, misses: int) -> dict[str, Any]:
    seconds = result.index_seconds
    return {
        "ndcg10": round(result.scores.ndcg, _DIGITS),
        "recall100": round(result.scores.recall, _DIGITS),
        "mrr10": round(result.scores.mrr, _DIGITS),
        "hit10": round(result.scores.hit, _DIGITS),
        "p50_ms": round(result.p50_ms, 3),
        "p95_ms": round(result.p95_ms, 3),
        "index_s": None if seconds is None else round(seconds, 3),
        "bytesPerDocument": round(result.bytes_per_document),
        "documents": result.documents,
        "queries": result.queries,
        "leftOut": result.left_out,
        "unknown": result.unknown,
        "misses": [_describe_miss(each) for each in result.misses[:misses]],
    }


def _describe_miss(miss: Miss) -> dict[str, Any]:
    return {
        "query": miss.query,
        "wanted": list(miss.wanted),
        "place": miss.place,
        "instead": list(miss.instead),
    }


def _describe_comparison(comparison: Comparison) -> dict[str, Any]:
    return {
        "set": comparison.name,
        "queries": comparison.queries,
        "before": round(comparison.before, _DIGITS),
        "after": round(comparison.after, _DIGITS),
        "difference": round(comparison.difference, _DIGITS),
        "interval": [round(comparison.low, _DIGITS), round(comparison.high, _DIGITS)],
        "pValue": round(comparison.p_value, _DIGITS),
        "verdict": str(comparison.verdict),
    }


def read_run(file: Path) -> dict[str, Saved]:
    """Return the sets of a saved run by name."""
    try:
        run = json.loads(file.read_text(encoding="utf-8"))
        if run["kind"] != KIND:
            raise ValueError("it is of another kind")
        return {
            str(each["set"]): Saved(
                int(each["documents"]),
                {query: float(score) for query, score in each["perQuery"].items()},
            )
            for each in run["sets"]
        }
    except FileNotFoundError:
        raise NotFound(f"There is no saved run {file}.", hint=_HOW) from None
    except OSError as error:
        raise BadRequest(f"{file} cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadRequest(f"{file} is not a saved run.", hint=_HOW) from None


_HOW = "`bookwheel eval DATASET --out FILE.json` saves one."
