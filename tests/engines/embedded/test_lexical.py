"""The word index, with every trap of the binding as a test of what we do about it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import tantivy

from bookwheel.engines.asking import day_number, folder_terms
from bookwheel.engines.base import Field, Found, Match, Term
from bookwheel.engines.embedded import lexical
from bookwheel.engines.embedded.binding import WordsFailed, guarded
from bookwheel.engines.embedded.files import find_damage
from bookwheel.engines.embedded.lexical import WordIndex
from bookwheel.engines.embedded.word_entries import Entry
from bookwheel.model import PageTerms, PassageTerms
from bookwheel.query import Filters
from tests.engines.drafts import body


def entry(key: int, text: str, *, title: str = "", date: str = "") -> Entry:
    words = text + " "
    terms = PageTerms(title, title, "", "", (PassageTerms("", words, words, ""),))
    return Entry(key, "notes", f"a/{key}.md", ".md", title, (), date, terms)


def made(folder: Path, *entries: Entry, generation: int = 1) -> WordIndex:
    words = WordIndex(folder)
    words.start_writing()
    for each in entries:
        words.add(each)
    words.commit(generation)
    words.stop_writing()
    words.reload()
    return words


def keys(answer: Found) -> list[int]:
    return sorted(key for key, _, _ in answer.entries)


EVERYTHING = Match(())


def test_deleting_by_key_deletes_and_the_count_says_so(tmp_path: Path) -> None:
    words = made(tmp_path, *[entry(key, "walrus") for key in (1, 2, 3)])
    words.start_writing()
    words.delete([2, 77])
    words.commit(2)
    words.reload()
    assert words.page_count() == 2
    assert keys(words.match_pages(Match(body("walrus")), 10)) == [1, 3]
    assert keys(words.match_passages(Match(body("walrus")), 10)) == [1, 3]
    words.close()


def test_the_mark_is_neither_counted_nor_found(tmp_path: Path) -> None:
    words = made(tmp_path, generation=7)
    assert (words.page_count(), words.generation()) == (0, 7)
    assert words.match_pages(EVERYTHING, 10, count=True) == Found((), 0)
    assert words.match_passages(EVERYTHING, 10) == Found((), 0)
    assert words.documents() == ({}, {})
    assert words.vocabulary(Field.EXACT) == {}
    words.close()


def test_there_is_one_mark_however_often_is_committed(tmp_path: Path) -> None:
    words = made(tmp_path, entry(1, "walrus"))
    words.start_writing()
    for generation in (2, 3, 9):
        words.commit(generation)
    words.reload()
    assert (words.page_count(), words.generation()) == (1, 9)
    words.close()


def test_a_new_index_has_no_generation(tmp_path: Path) -> None:
    words = WordIndex(tmp_path)
    assert (words.generation(), words.page_count()) == (-1, 0)
    words.close()


def test_the_generation_is_that_of_the_index_that_lags(tmp_path: Path) -> None:
    words = made(tmp_path, entry(1, "walrus"), generation=3)
    words.start_writing()
    mark = tantivy.Document()
    mark.add_integer("document", -1)
    mark.add_integer("ordinal", 4)
    pages = words._writers["pages"]
    pages.delete_documents_by_term("document", -1)
    pages.add_document(mark)
    pages.commit()
    words.reload()
    assert words.generation() == 3
    words.close()


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_of_nothing_gives_nothing_and_does_not_panic(tmp_path: Path, limit: int) -> None:
    words = made(tmp_path, entry(1, "walrus"))
    assert words.match_pages(EVERYTHING, limit, count=True) == Found((), 1)
    words.close()


def test_a_phrase_of_one_word_or_none_does_not_panic(tmp_path: Path) -> None:
    words = made(tmp_path, entry(1, "walrus ice"), entry(2, "ice"))
    assert keys(words.match_pages(Match((), phrases=(("walrus",),)), 10)) == [1]
    assert keys(words.match_pages(Match((), phrases=((),)), 10)) == [1, 2]
    assert keys(words.match_pages(Match((), excluded_phrases=(("walrus",),)), 10)) == [2]
    words.close()


def test_the_terms_are_cut_the_same_after_opening_again(tmp_path: Path) -> None:
    made(tmp_path, entry(1, "c++ tabs.get() Walrus-ähm")).close()
    words = WordIndex(tmp_path)
    words.start_writing()
    words.add(entry(2, "c++ tabs.get() Walrus-ähm"))
    words.commit(2)
    words.reload()
    for term in ("c++", "tabs.get()", "Walrus-ähm"):
        assert keys(words.match_pages(Match(body(term)), 10)) == [1, 2]
    words.close()


def test_a_deleted_document_leaves_answers_though_frequency_may_lag(tmp_path: Path) -> None:
    words = made(tmp_path, entry(1, "walrus"), entry(2, "walrus"))
    words.start_writing()
    words.delete([1])
    words.commit(2)
    words.reload()
    assert 1 <= words.frequency(Field.BODY, "walrus") <= 2
    found = words.match_pages(Match(body("walrus")), 10, count=True)
    assert (keys(found), found.total) == ([2], 1)
    words.close()


def test_filters_do_not_change_scores(tmp_path: Path) -> None:
    words = made(tmp_path, entry(1, "walrus", date="2024-01-01"), entry(2, "walrus ice ice"))
    plain = words.match_pages(Match(body("walrus")), 10)
    filtered = words.match_pages(
        Match(body("walrus"), filters=Filters(("notes",), (".md",), ("a",))), 10
    )
    assert filtered == plain
    words.close()


@pytest.mark.parametrize("text", ["C++ [x]", '"unclosed', "a AND (b", "field:x", "\\", "*", "~2"])
def test_a_term_is_never_parsed(tmp_path: Path, text: str) -> None:
    words = made(tmp_path, entry(1, text))
    assert keys(words.match_pages(Match(body(text.split()[0])), 10)) == [1]
    words.close()


def test_a_reader_sees_a_commit_only_when_it_looks_again(tmp_path: Path) -> None:
    words = made(tmp_path, entry(1, "walrus"))
    reader = WordIndex(tmp_path)
    words.start_writing()
    words.add(entry(2, "walrus"))
    words.commit(2)
    assert (reader.page_count(), reader.reload(), reader.page_count()) == (1, True, 2)
    assert reader.reload() is False
    words.close()
    reader.close()


def test_two_commits_within_one_tick_of_the_clock_are_told_apart(tmp_path: Path) -> None:
    words = made(tmp_path, entry(1, "walrus"))
    reader = WordIndex(tmp_path)
    metas = [tmp_path / kind / "meta.json" for kind in ("pages", "passages")]
    times = [meta.stat() for meta in metas]
    words.start_writing()
    words.add(entry(2, "walrus"))
    words.commit(2)
    for meta, seen in zip(metas, times, strict=True):
        os.utime(meta, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert reader.reload()
    assert reader.page_count() == 2
    words.close()
    reader.close()


def test_whoever_follows_many_commits_holds_no_more_files_and_sees_them_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bookwheel.engines.embedded.lexical._REOPEN_AFTER", 3)
    words = made(tmp_path, entry(0, "walrus"))
    reader = WordIndex(tmp_path)
    first = reader._indexes
    for key in range(1, 9):
        words.start_writing()
        words.add(entry(key, "walrus"))
        words.commit(key)
        words.stop_writing()
        assert reader.reload()
        assert (reader.page_count(), words.reload(), words.page_count()) == (key + 1, True, key + 1)
    assert reader._indexes is not first
    words.close()
    reader.close()


def test_while_the_index_is_made_anew_a_reader_keeps_the_old_one(tmp_path: Path) -> None:
    folder = tmp_path / "words"
    made(folder, entry(1, "walrus")).close()
    reader = WordIndex(folder)
    folder.rename(tmp_path / "away")
    assert reader.reload() is False
    assert keys(reader.match_pages(Match(body("walrus")), 10)) == [1]
    made(folder, entry(5, "walrus")).close()
    assert reader.reload()
    assert keys(reader.match_pages(Match(body("walrus")), 10)) == [5]
    reader.close()


def test_what_was_not_committed_is_dropped(tmp_path: Path) -> None:
    words = made(tmp_path, entry(1, "walrus"))
    words.start_writing()
    words.add(entry(2, "walrus"))
    words.stop_writing()
    words.stop_writing()
    assert not words.is_writing
    words.start_writing()
    words.commit(2)
    words.reload()
    assert words.page_count() == 1
    words.close()


def test_a_second_writer_of_the_binding_is_refused_as_an_error_of_ours(tmp_path: Path) -> None:
    first, second = WordIndex(tmp_path), WordIndex(tmp_path)
    first.start_writing()
    with pytest.raises(WordsFailed):
        second.start_writing()
    first.close()
    second.close()


def test_a_panic_of_the_binding_becomes_an_error_of_ours(tmp_path: Path) -> None:
    words = made(tmp_path, entry(1, "walrus"))
    query = tantivy.Query.all_query()
    with pytest.raises(WordsFailed), guarded():
        words._pages.search(query, limit=0)
    with pytest.raises(KeyboardInterrupt), guarded():
        raise KeyboardInterrupt
    words.close()


def test_a_missing_part_is_refused_at_opening(tmp_path: Path) -> None:
    made(tmp_path, entry(1, "walrus")).close()
    assert WordIndex.exists(tmp_path)
    for file in (tmp_path / "passages").glob("*.term"):
        file.unlink()
    with pytest.raises(WordsFailed):
        WordIndex(tmp_path)


def test_a_want_of_room_is_told_from_damage() -> None:
    assert WordsFailed("An IO error: 'No space left on device (os error 28)'").is_passing
    assert not WordsFailed("Data corrupted (os error 2)").is_passing
    with pytest.raises(WordsFailed) as trouble, guarded():
        raise OSError(24, "Too many open files")
    assert trouble.value.is_passing


def test_every_file_of_a_segment_is_checked_against_its_sum(tmp_path: Path) -> None:
    words = made(tmp_path, *[entry(key, f"walrus w{key}") for key in range(1, 20)])
    words.start_writing()
    words.delete([3])
    words.commit(2)
    words.close()
    assert find_damage(tmp_path) == []
    files = [p for p in tmp_path.rglob("*") if p.suffix and p.suffix not in (".json", ".lock")]
    assert {p.suffix for p in files} == {
        ".term",
        ".idx",
        ".pos",
        ".fieldnorm",
        ".fast",
        ".store",
        ".del",
    }
    for file in files:
        whole = file.read_bytes()
        name = f"{file.parent.name}/{file.name}"
        for data in (whole[:-1], whole[:3], b"", bytes([whole[0] ^ 1]) + whole[1:]):
            file.write_bytes(data)
            assert find_damage(tmp_path) == [f"the word index file {name} is damaged"]
        file.unlink()
        assert find_damage(tmp_path) == [f"the word index file {name} is damaged"]
        file.write_bytes(whole)
    assert find_damage(tmp_path) == []


@pytest.mark.parametrize("contents", [b"", b"[]", b"{", b"{}", b"\xff\xfe", b'{"segments": [1]}'])
def test_a_broken_table_of_contents_is_damage(tmp_path: Path, contents: bytes) -> None:
    made(tmp_path, entry(1, "walrus")).close()
    (tmp_path / "pages" / "meta.json").write_bytes(contents)
    assert find_damage(tmp_path) == ["the word index of pages has lost its table of contents"]


@pytest.mark.parametrize(
    ("date", "number"),
    [
        ("2024-05-06", 20240506),
        ("2024-05-06T10:00:00", 20240506),
        ("", 0),
        ("2024", 0),
        ("٢٠٢٤-٠٥-٠٦", 0),
        ("garbage!!", 0),
    ],
)
def test_a_date_is_one_comparable_number(date: str, number: int) -> None:
    assert day_number(date) == number


def test_every_folder_above_a_path_is_a_term() -> None:
    assert folder_terms("a/b c/d.md") == ["a", "a/b c"]
    assert folder_terms("d.md") == []


def test_a_title_counts_for_its_own_page_only(tmp_path: Path) -> None:
    words = made(tmp_path, entry(1, "ice", title="Walrus "), entry(2, "ice", title="Bear "))
    match = Match(((Term(Field.BODY, "ice", 1.0),),), titles=("bear",), title_bonus=100.0)
    assert [key for key, _, _ in words.match_pages(match, 10).entries] == [2, 1]
    words.close()


def test_a_large_vocabulary_is_not_read_again_after_every_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = made(tmp_path, entry(1, "walrus"))

    def known() -> set[str]:
        return {word for some in words.vocabulary(Field.EXACT).values() for word in some}

    assert known() == {"walrus"}
    monkeypatch.setattr(lexical, "_MANY_WORDS", 0)
    monkeypatch.setattr(lexical, "_WORDS_A_SECOND", 0.01)
    made(tmp_path, entry(2, "seal"), generation=2).close()
    words.reload()
    assert known() == {"walrus", "seal"}
    made(tmp_path, entry(3, "orca"), generation=3).close()
    words.reload()
    assert known() == {"walrus", "seal"}


def test_where_very_many_pages_match_the_best_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"walrus {'walrus ' * (n % 7)}{'tusk ' * (n % 3)}" for n in range(40)]
    words = made(tmp_path, *[entry(n, text) for n, text in enumerate(texts, start=1)])
    for all_clauses in (True, False):
        bonus = (Term(Field.BODY, "tusk", 1.0),)
        match = Match(body("walrus"), all_clauses=all_clauses, bonus=bonus)
        at_once = words.match_pages(match, 5, count=True)
        monkeypatch.setattr(lexical, "_MANY_PAGES", 10)
        in_steps = words.match_pages(match, 5, count=True)
        monkeypatch.undo()
        assert at_once.total == in_steps.total == 40
        assert [key for key, _, _ in in_steps.entries] == [key for key, _, _ in at_once.entries]
