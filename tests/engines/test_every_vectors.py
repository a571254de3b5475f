"""What every engine must do with vectors, whatever it is made of."""

from __future__ import annotations

import numpy as np
import pytest

from bookwheel.engines.base import Matrix, Vector
from bookwheel.engines.base import WritableEngine as Engine
from tests.engines.drafts import draft, fill, key_of, problems

ONE, OTHER = "one model", "another model"
TWO_CHUNKS = "# Title\n\n" + "walrus " * 140 + "\n\n## More\n\n" + "penguin " * 140


def toward(*numbers: float) -> Vector:
    """Return a vector of length one in a direction."""
    vector = np.array(numbers, np.float32)
    return vector / np.float32(np.linalg.norm(vector))


def rows(*vectors: Vector) -> Matrix:
    return np.stack(vectors)


X, Y, Z = toward(1, 0, 0), toward(0, 1, 0), toward(0, 0, 1)


def give(engine: Engine, vectors: dict[str, Matrix], fingerprint: str = ONE) -> None:
    """Write vectors of documents, by path."""
    engine.begin_writing()
    keyed = {key_of(engine, path): matrix for path, matrix in vectors.items()}
    engine.write_vectors(fingerprint, next(iter(vectors.values())).shape[1], keyed)
    engine.keep_vectors(fingerprint)
    engine.end_writing()


def near(engine: Engine, query: Vector, *, fingerprint: str = ONE, limit: int = 9) -> list[str]:
    """Return the paths of the nearest chunks with their numbers, best first."""
    found = engine.nearest(fingerprint, query, limit).entries
    named = engine.documents_by_key([key for key, _, _ in found])
    return [f"{named[key].path} {ordinal}" for key, ordinal, _ in found]


def lacking(engine: Engine, fingerprint: str = ONE) -> list[tuple[str, int]]:
    """Return the titles of documents without vectors, and how many chunks they have."""
    return [(title, len(each)) for title, each in engine.without_vectors(fingerprint, 99)]


def test_an_engine_without_vectors_says_so_and_finds_none(engine: Engine) -> None:
    fill(engine, draft("a.md", TWO_CHUNKS), draft("empty.md", ""))
    assert (engine.has_vectors(), engine.lacks_vectors(ONE)) == (False, True)
    assert (engine.embedded(ONE), lacking(engine)) == ((0, 2), [("Title", 2)])
    assert (near(engine, X), engine.vectors(ONE, [key_of(engine, "a.md")])) == ([], {})


def test_what_lacks_vectors_comes_with_its_title_and_the_text_of_each_chunk(
    engine: Engine,
) -> None:
    fill(engine, draft("a.md", TWO_CHUNKS), draft("b.md", "otter"))
    (first, passages), (second, short) = engine.without_vectors(ONE, 9)
    assert (first, second) == ("Title", "b")
    assert [passage.text.split()[-1] for passage in (*passages, *short)] == [
        "walrus",
        "penguin",
        "otter",
    ]
    assert {passage.document for passage in passages} == {key_of(engine, "a.md")}


def test_vectors_are_read_back_and_the_nearest_chunks_found_in_order(engine: Engine) -> None:
    fill(engine, draft("a.md", TWO_CHUNKS), draft("b.md", "otter"))
    give(engine, {"a.md": rows(X, toward(1, 1, 0)), "b.md": rows(Z)})
    key = key_of(engine, "a.md")
    assert near(engine, X) == ["a.md 1", "a.md 2", "b.md 1"]
    assert near(engine, X, limit=1) == ["a.md 1"]
    assert [round(score, 2) for _, _, score in engine.nearest(ONE, X, 9).entries] == [1, 0.71, 0]
    assert list(engine.vectors(ONE, [key, 999])) == [key]
    assert np.allclose(engine.vectors(ONE, [key])[key], rows(X, toward(1, 1, 0)), atol=1e-3)
    assert (engine.has_vectors(), engine.lacks_vectors(ONE), engine.embedded(ONE)) == (
        True,
        False,
        (3, 3),
    )
    assert problems(engine) == []


def test_a_changed_document_loses_its_vectors_until_it_gets_new_ones(engine: Engine) -> None:
    fill(engine, draft("a.md", TWO_CHUNKS), draft("b.md", "otter"))
    give(engine, {"a.md": rows(X, X), "b.md": rows(Y)})
    assert near(engine, X, limit=2) == ["a.md 1", "a.md 2"]
    fill(engine, draft("a.md", "seal"))
    assert (near(engine, X), lacking(engine)) == (["b.md 1"], [("a", 1)])
    give(engine, {"a.md": rows(Z)})
    assert (near(engine, Z), lacking(engine)) == (["a.md 1", "b.md 1"], [])


def test_vectors_can_be_replaced_after_they_were_asked_for(engine: Engine) -> None:
    fill(engine, draft("a.md", "seal"), draft("b.md", "otter"))
    give(engine, {"a.md": rows(X), "b.md": rows(Y)})
    assert near(engine, X, limit=1) == ["a.md 1"]
    give(engine, {"a.md": rows(Y), "b.md": rows(X)})
    assert near(engine, X) == ["b.md 1", "a.md 1"]


def test_vectors_of_a_removed_document_are_gone(engine: Engine) -> None:
    fill(engine, draft("a.md", "seal"), draft("b.md", "otter"))
    give(engine, {"a.md": rows(X), "b.md": rows(Y)})
    assert near(engine, X) == ["a.md 1", "b.md 1"]
    key = key_of(engine, "a.md")
    engine.begin_writing()
    engine.remove("notes", ["a.md"])
    engine.commit()
    engine.end_writing()
    assert (near(engine, X), engine.vectors(ONE, [key])) == (["b.md 1"], {})
    assert problems(engine) == []


def test_documents_that_come_later_are_found_at_once(engine: Engine) -> None:
    fill(engine, draft("a.md", "seal"))
    give(engine, {"a.md": rows(X)})
    assert near(engine, Y) == ["a.md 1"]
    fill(engine, draft("b.md", "otter"))
    assert (near(engine, Y), lacking(engine)) == (["a.md 1"], [("b", 1)])
    give(engine, {"b.md": rows(Y)})
    assert near(engine, Y) == ["b.md 1", "a.md 1"]


def test_a_document_has_vectors_of_several_models_which_never_mix(engine: Engine) -> None:
    fill(engine, draft("a.md", "seal"), draft("b.md", "otter"))
    give(engine, {"a.md": rows(X), "b.md": rows(Y)})
    assert near(engine, X) == ["a.md 1", "b.md 1"]
    give(engine, {"b.md": rows(X)}, OTHER)
    assert near(engine, X) == ["a.md 1", "b.md 1"]
    assert near(engine, X, fingerprint=OTHER) == ["b.md 1"]
    assert (lacking(engine), lacking(engine, OTHER)) == ([], [("a", 1)])
    assert (engine.lacks_vectors(ONE), engine.lacks_vectors(OTHER)) == (False, True)
    assert (engine.embedded(ONE), engine.embedded(OTHER)) == ((2, 2), (1, 2))
    assert engine.vectors(OTHER, [key_of(engine, "a.md")]) == {}
    key = key_of(engine, "b.md")
    read = {each: engine.vectors(each, [key])[key].tolist() for each in (ONE, OTHER)}
    assert read == {ONE: [Y.tolist()], OTHER: [X.tolist()]}
    assert problems(engine) == []


def test_models_may_have_different_dimensions(engine: Engine) -> None:
    fill(engine, draft("a.md", "seal"))
    give(engine, {"a.md": rows(X)})
    assert near(engine, toward(1, 0)) == []
    give(engine, {"a.md": rows(toward(1, 0))}, OTHER)
    assert near(engine, toward(1, 0), fingerprint=OTHER) == ["a.md 1"]
    assert near(engine, X) == ["a.md 1"]


def test_a_document_that_changes_loses_the_vectors_of_every_model(engine: Engine) -> None:
    fill(engine, draft("a.md", "seal"), draft("b.md", "otter"))
    for model in (ONE, OTHER):
        give(engine, {"a.md": rows(X), "b.md": rows(Y)}, model)
    fill(engine, draft("a.md", "penguin"))
    for model in (ONE, OTHER):
        assert near(engine, X, fingerprint=model) == ["b.md 1"]
        assert lacking(engine, model) == [("a", 1)]
    assert problems(engine) == []


def test_the_vectors_of_all_models_but_some_can_be_dropped(engine: Engine) -> None:
    fill(engine, draft("a.md", "seal"), draft("b.md", "otter"))
    for model in (ONE, OTHER, "third"):
        give(engine, {"a.md": rows(X), "b.md": rows(Y)}, model)
    assert near(engine, X, fingerprint=OTHER) == ["a.md 1", "b.md 1"]
    engine.begin_writing()
    engine.drop_vectors([ONE, "third"])
    engine.end_writing()
    assert (near(engine, X, fingerprint=OTHER), engine.embedded(OTHER)) == ([], (0, 2))
    assert lacking(engine, OTHER) == [("a", 1), ("b", 1)]
    assert (near(engine, X), lacking(engine)) == (["a.md 1", "b.md 1"], [])
    give(engine, {"b.md": rows(X)}, OTHER)
    assert near(engine, X, fingerprint=OTHER) == ["b.md 1"]
    assert problems(engine) == []


@pytest.mark.parametrize("count", [0, 2])
def test_a_document_that_changed_meanwhile_gets_no_vectors(engine: Engine, count: int) -> None:
    fill(engine, draft("a.md", "seal"))
    give(engine, {"a.md": np.zeros((count, 3), np.float32)})
    assert (engine.has_vectors(), lacking(engine)) == (False, [("a", 1)])


def test_only_allowed_documents_are_found(engine: Engine) -> None:
    fill(engine, *[draft(f"{name}.md", name) for name in "abc"])
    give(engine, {"a.md": rows(X), "b.md": rows(toward(1, 1, 0)), "c.md": rows(Y)})
    allowed = [key_of(engine, "c.md"), key_of(engine, "b.md"), 999]
    found = engine.nearest(ONE, X, 9, allowed).entries
    assert [key for key, _, _ in found] == [key_of(engine, "b.md"), key_of(engine, "c.md")]
    assert engine.nearest(ONE, X, 9, []).entries == ()


def test_a_forgotten_collection_leaves_no_vectors(engine: Engine) -> None:
    fill(engine, draft("a.md", "seal"), draft("p.md", "otter", collection="papers"))
    engine.begin_writing()
    both = {key_of(engine, "a.md"): rows(X), key_of(engine, "p.md", "papers"): rows(Y)}
    engine.write_vectors(ONE, 3, both)
    engine.forget("papers")
    engine.end_writing()
    assert (near(engine, Y), engine.embedded(ONE)) == (["a.md 1"], (1, 1))
    assert problems(engine) == []
