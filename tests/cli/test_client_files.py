"""Entries in JSON and TOML files of any content and layout: put in, taken out, all else kept."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bookwheel.cli.client_files import ClientFile, Content, drop_entry, put_entry
from bookwheel.cli.json_entries import parse_json
from bookwheel.cli.toml_entries import parse_toml, write_key, write_value

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
SERVERS = st.dictionaries(TEXTS, VALUES, max_size=3)
ENTRIES = st.fixed_dictionaries({"command": TEXTS, "args": st.lists(TEXTS, max_size=3)})
LAYOUTS = st.sampled_from([None, 0, 1, 2, 4, "\t"])
JSON = ClientFile(Path("settings.json"), "json", "servers", comments=True)
TOML = ClientFile(Path("config.toml"), "toml", "servers")


def content_of(place: ClientFile, text: str) -> Content:
    values = parse_toml(text) if place.kind == "toml" else parse_json(text, comments=True)
    return Content(place, text.encode(), text, values)


@given(
    st.dictionaries(TEXTS, VALUES, max_size=3),
    st.none() | SERVERS,
    TEXTS,
    ENTRIES,
    LAYOUTS,
    st.data(),
)
def test_any_json_keeps_what_it_says(
    values: dict[str, Any],
    servers: dict[str, Any] | None,
    name: str,
    entry: dict[str, Any],
    layout: Any,
    data: st.DataObject,
) -> None:
    values.pop("servers", None)
    if servers is not None:
        values["servers"] = servers
    text = json.dumps(values, indent=layout, ensure_ascii=data.draw(st.booleans()))

    put = put_entry(content_of(JSON, text), name, entry)

    known = {**values, "servers": {**(servers or {}), name: entry}}
    assert json.dumps(json.loads(put)) == json.dumps(known)
    dropped = drop_entry(content_of(JSON, put), name)
    del known["servers"][name]
    assert json.dumps(json.loads(dropped)) == json.dumps(known)


@given(st.data())
def test_any_json_with_comments_keeps_every_comment(data: st.DataObject) -> None:
    remark = st.sampled_from(["", " ", "\n", '// { " , }\n', '/* " } */', "\r\n  "])

    def gap() -> str:
        return data.draw(remark)

    servers = data.draw(st.dictionaries(TEXTS, SCALARS, max_size=3))
    inner = ("," + gap()).join(
        f"{gap()}{json.dumps(key)}{gap()}:{gap()}{json.dumps(value)}{gap()}"
        for key, value in servers.items()
    )
    comma = data.draw(st.sampled_from(["", ","])) if servers else ""
    text = f'{gap()}{{{gap()}"servers"{gap()}:{gap()}{{{inner}{comma}{gap()}}}{gap()}}}{gap()}'
    remarks = text.count("//") + text.count("/*")

    put = put_entry(content_of(JSON, text), "our own", {"command": "x"})
    dropped = drop_entry(content_of(JSON, put), "our own")

    wanted = {"servers": {**servers, "our own": {"command": "x"}}}
    assert parse_json(put, comments=True) == wanted
    assert parse_json(dropped, comments=True) == {"servers": servers}
    assert [each.count("//") + each.count("/*") for each in (put, dropped)] == [remarks, remarks]


@given(st.dictionaries(TEXTS, ENTRIES, max_size=3), TEXTS, ENTRIES, st.sampled_from(["\n", "\r\n"]))
def test_any_toml_keeps_what_it_says(
    servers: dict[str, Any], name: str, entry: dict[str, Any], newline: str
) -> None:
    lines = ["# first", 'model = "x"', ""]
    for key, each in servers.items():
        lines += [f"[servers.{write_key(key)}] # mine"]
        lines += [f"{inner} = {write_value(value)}" for inner, value in each.items()]
    lines += ["[last]", "a = [", "  1,", "]", ""]
    text = newline.join(lines)

    put = put_entry(content_of(TOML, text), name, entry)

    known = {"model": "x", "servers": {**servers, name: entry}, "last": {"a": [1]}}
    assert tomllib.loads(put) == known
    dropped = drop_entry(content_of(TOML, put), name)
    del known["servers"][name]  # type: ignore[attr-defined] # a table
    assert {"servers": {}, **tomllib.loads(dropped)} == known


@given(VALUES.filter(lambda value: "null" not in json.dumps(value)))
def test_a_value_written_as_toml_is_read_as_it_was(value: Any) -> None:
    assert tomllib.loads(f"a = {write_value(value)}") == {"a": value}
