"""Settings: which value counts, where it came from, and what is said of bad ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bookwheel.errors import BadRequest, NotFound
from bookwheel.model import Collection
from bookwheel.settings import SETTINGS, Row, Settings, load

_NO_EMBEDDER = "must be static, minilm, http, none, or a kind such as model2vec:MODEL"
BAD = [
    ("BOOKWHEEL_WORKERS", "many", "must be a whole number from 1 to 64"),
    ("BOOKWHEEL_WORKERS", "65", "must lie between 1 and 64"),
    ("BOOKWHEEL_MAX_FILE_MB", "-1", "must lie between 1 and 2000"),
    ("MCP_SNIPPET_LENGTH", "1e3", "must be a whole number from 40 to 2000"),
    ("DEBUG", "perhaps", "must be true or false"),
    ("CACHE_ROOT", "~no-such-user/x", "must not begin with the home folder of an unknown user"),
    ("BOOKWHEEL_INDEX", "a\0b", "holds a NUL character"),
    ("BOOKWHEEL_EMBEDDER", "model2vec:", _NO_EMBEDDER),
    ("BOOKWHEEL_EMBEDDER", "fastembed: ", _NO_EMBEDDER),
    ("BOOKWHEEL_EMBEDDER", "model2vec", _NO_EMBEDDER),
]


def of(**environment: str) -> Settings:
    return load(environment=environment, use_start_folder=False)


def usable(row: Row, *values: str) -> str:
    """Return the first of some values that a setting can have."""
    for value in values:
        try:
            row.parse(value)
        except ValueError:
            continue
        return value
    raise AssertionError(row.name)


def written(folder: Path, text: str) -> str:
    file = folder / "bookwheel.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


@pytest.mark.parametrize(("name", "value", "why"), BAD)
def test_a_value_that_cannot_be_used_is_refused_by_the_name_it_was_given_under(
    name: str, value: str, why: str
) -> None:
    with pytest.raises(BadRequest) as caught:
        of(**{name: value})

    assert caught.value.message == f"{name} is {value!r}, but it {why}."
    assert caught.value.hint in {row.help for row in SETTINGS}


@pytest.mark.requirement("X-044")
def test_a_flag_wins_over_the_environment_that_over_the_file_and_that_over_the_default(
    tmp_path: Path,
) -> None:
    config = written(tmp_path, "workers = 2\nmax_file_mb = 7\nsnippet_length = 300\n")
    environment = {"BOOKWHEEL_WORKERS": "3", "BOOKWHEEL_MAX_FILE_MB": "8"}

    settings = load({"workers": 4, "debug": None}, config=config, environment=environment)

    names = ("workers", "max_file_mb", "snippet_length", "debug")
    assert {name: (settings[name], settings.origins[name]) for name in names} == {
        "workers": (4, "flag"),
        "max_file_mb": (8, "BOOKWHEEL_MAX_FILE_MB"),
        "snippet_length": (300, "bookwheel.toml"),
        "debug": (False, "default"),
    }


@pytest.mark.requirement("X-043")
def test_our_own_name_of_a_setting_wins_over_the_established_one_with_a_remark(
    tmp_path: Path,
) -> None:
    for row in SETTINGS:
        value = usable(
            *(row, str(tmp_path), "yes", "7", "99", "10.0.0.5", "http://a", "none", "all", "full"),
            *("model", "US", "/a", "off", "json", "opensearch+http://a"),
        )
        for other in row.other_names:
            both = of(**{row.variable: value, other: "0"})
            assert (both[row.name], both.origins[row.name]) == (row.parse(value), row.variable)
            assert both.remarks == (
                f"{row.variable} and {other} are both set; {row.variable} is used.",
            )
            alone = of(**{other: value})
            assert (alone[row.name], alone.origins[row.name]) == (row.parse(value), other)
            assert alone.remarks == ()


def test_every_setting_has_a_name_of_ours() -> None:
    assert [row.variable for row in SETTINGS] == [
        f"BOOKWHEEL_{row.name.upper()}" for row in SETTINGS
    ]
    assert len({row.variable for row in SETTINGS}) == len(SETTINGS)


@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("on", True), ("Yes", True), ("0", False), ("off", False)]
)
def test_debug_is_understood_in_many_spellings(text: str, value: bool) -> None:
    assert of(DEBUG=text)["debug"] is value


def test_an_empty_variable_is_as_good_as_none() -> None:
    settings = of(CACHE_ROOT="", BOOKWHEEL_WORKERS="")

    assert (settings["cache_root"], settings["workers"]) == (None, None)
    assert set(settings.origins.values()) == {"default"}


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("worker = 2\n", "has an unknown setting 'worker'.", "Did you mean 'workers'?"),
        ("zzz = 2\n", "has an unknown setting 'zzz'.", "Known are index, "),
        ("workers = [2]\n", "workers must be a whole number from 1 to 64", "Processes that"),
        ("workers = 2.5\n", "workers is '2.5', but it must be a whole number", "Processes that"),
        ("index = {}\n", "index must be a path, not a list or table.", "Folder that holds"),
        ("workers = \n", "is not valid TOML", ""),
        ("collections = 3\n", "must be written as [[collections]] tables", ""),
        ("[[collections]]\nname = 'a'\n", "a collection lacks its path", ""),
        (
            "[[collections]]\npath = 'a'\nroot = '/'\n",
            "unknown key 'root'",
            "Known are access, alias, ",
        ),
        ("[[collections]]\npath = 'a'\ninclude = '*'\n", "include must be a list", ""),
        ("[[collections]]\npath = '~no-such-user'\n", "an unknown user", ""),
    ],
)
def test_a_configuration_file_with_a_mistake_is_refused_with_a_way_out(
    tmp_path: Path, text: str, message: str, hint: str
) -> None:
    with pytest.raises(BadRequest) as caught:
        load(config=written(tmp_path, text), environment={})

    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


def test_a_configuration_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bookwheel.toml").write_bytes(b"\xff\xfe")

    with pytest.raises(BadRequest, match="is not valid TOML"):
        load(config=str(tmp_path / "bookwheel.toml"), environment={})


@pytest.mark.parametrize("name", ["none.toml", "~no-such-user/x.toml", "x" * 300, "."])
def test_a_configuration_file_that_is_named_must_be_there(name: str) -> None:
    with pytest.raises(NotFound, match="There is no configuration file"):
        load(config=name, environment={})
    with pytest.raises(NotFound, match="There is no configuration file"):
        load(environment={"BOOKWHEEL_CONFIG": name})


def test_paths_in_a_configuration_file_start_where_the_file_lies(tmp_path: Path) -> None:
    config = written(tmp_path, "index = 'store'\n[[collections]]\npath = 'notes'\n")

    settings = load(config=config, environment={})

    assert settings["index"] == str(tmp_path / "store")
    assert settings.collections == (Collection(name="", path=str(tmp_path / "notes")),)
    assert settings.config == config


def test_a_configured_collection_has_all_that_the_operator_may_say(tmp_path: Path) -> None:
    config = written(
        tmp_path,
        "[[collections]]\npath = '/srv/a'\nname = 'A'\nalias = 'b'\ndescription = 'c'\n"
        "version = 2\nsource = 'd'\nlanguage = 'de'\ninclude = ['*.md']\nexclude = ['old/']\n",
    )

    assert load(config=config, environment={}).collections == (
        Collection("A", "/srv/a", "b", "c", "2", "d", "de", ("*.md",), ("old/",)),
    )


def test_the_file_in_the_start_folder_counts_only_when_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, "workers = 5\n")
    monkeypatch.chdir(tmp_path)

    assert load(environment={})["workers"] == 5
    assert load(environment={}, use_start_folder=False)["workers"] is None


def test_a_variable_with_a_slip_in_its_name_is_told_of() -> None:
    settings = of(BOOKWHEEL_TOKENN="x", BOOKWHEEL_PORT="tcp://10.0.0.1:80", BOOKWHEEL_TEST_X="1")

    assert settings.remarks == (
        "BOOKWHEEL_TOKENN is no setting and does nothing. Did you mean BOOKWHEEL_TOKEN?",
    )


def test_a_token_that_no_header_can_carry_is_refused_and_not_shown() -> None:
    with pytest.raises(BadRequest) as caught:
        of(BOOKWHEEL_TOKEN="schlüssel")

    assert caught.value.message == (
        "BOOKWHEEL_TOKEN is set, but it must consist of characters that can be sent: printable "
        "ASCII."
    )


def test_a_start_folder_that_may_not_be_entered_holds_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, "workers = 5\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nowhere")
    tmp_path.chmod(0)
    before = os.geteuid()
    try:
        if not before:
            os.seteuid(65534)  # root may enter any folder
        assert load(environment={})["workers"] is None
    finally:
        if not before:
            os.seteuid(before)
        tmp_path.chmod(0o700)


def test_a_users_own_folder_that_may_not_be_entered_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the file there hides would be shown if it were left out."""
    own = tmp_path / "own"
    own.mkdir(0o700)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(own))
    before = os.geteuid()
    own.chmod(0)
    try:
        if not before:
            os.seteuid(65534)  # root may enter any folder
        with pytest.raises(BadRequest, match="may not be looked for") as caught:
            load(environment={}, use_start_folder=False)
    finally:
        if not before:
            os.seteuid(before)
        own.chmod(0o700)
    assert caught.value.hint is not None
    assert "--config" in caught.value.hint


REACHING = (
    "embedder = 'http'\nembedding_url = 'https://elsewhere.example/v1'\n"
    "embedding_model = 'm'\nembedding_key = 'k'\nworkers = 5\n"
)
REACH = ("embedder", "embedding_url", "embedding_model", "embedding_key")


def reach(settings: Settings) -> list[object]:
    return [settings[name] for name in REACH]


def test_a_file_that_only_lay_in_the_start_folder_lets_no_text_leave_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path, REACHING)
    monkeypatch.chdir(tmp_path)

    settings = load(environment={})

    assert reach(settings) == ["static", None, None, None]
    assert settings["workers"] == 5
    assert settings.remarks == tuple(
        f"{name} in {file} is not used: the file only lay in the start folder. "
        f"Name the file with --config, or set BOOKWHEEL_{name.upper()}."
        for name in REACH
    )


def test_a_file_that_only_lay_in_the_start_folder_lets_nobody_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = 'public = true\nhosts = "evil.example"\ntrusted_proxies = "0.0.0.0/0"\ntoken = "x"\n'
    file = written(tmp_path, text)
    monkeypatch.chdir(tmp_path)

    settings, named = load(environment={}), load(config=file, environment={})

    names = ("public", "hosts", "trusted_proxies", "token")
    assert [settings[name] for name in names] == [False, None, None, None]
    assert [remark.partition(" ")[0] for remark in settings.remarks] == [
        "token",
        "hosts",
        "trusted_proxies",
        "public",
    ]
    assert (named["public"], named["hosts"]) == (True, "evil.example")


def test_a_file_that_the_operator_names_or_keeps_may_name_an_endpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path, REACHING)
    monkeypatch.chdir(tmp_path)
    wanted = ["http", "https://elsewhere.example/v1", "m", "k"]

    assert reach(load(config=file, environment={})) == wanted
    assert reach(load(config="bookwheel.toml", environment={})) == wanted
    assert reach(load(environment={"BOOKWHEEL_CONFIG": file})) == wanted
    own = tmp_path / "own" / "bookwheel"
    own.mkdir(parents=True)
    written(own, REACHING)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(own.parent))
    assert reach(load(environment={}, use_start_folder=False)) == wanted


@pytest.mark.parametrize(
    ("embedder", "used"),
    [("none", "none"), ("minilm", "minilm"), ("model2vec:some/model", "static")],
)
def test_a_file_in_the_start_folder_may_choose_among_models_that_are_at_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, embedder: str, used: str
) -> None:
    written(tmp_path, f"embedder = '{embedder}'\n")
    monkeypatch.chdir(tmp_path)
    assert load(environment={})["embedder"] == used


def test_the_file_in_the_users_configuration_folder_comes_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "bookwheel").mkdir()
    written(tmp_path / "bookwheel", "workers = 6\n")
    other = tmp_path / "other"
    other.mkdir()
    written(other, "workers = 7\n")
    monkeypatch.chdir(other)

    assert load(environment={})["workers"] == 7
    assert load(environment={}, use_start_folder=False)["workers"] == 6


@pytest.mark.parametrize(
    ("own", "lying_there", "wanted"),
    [
        ("all", "off", "all"),
        ("secrets", None, "secrets"),
        ("secrets", "all", "all"),
        ("off", "secrets", "secrets"),
    ],
)
def test_a_file_that_only_lay_in_the_start_folder_hides_no_less_than_the_users_own(
    own: str,
    lying_there: str | None,
    wanted: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place, home = tmp_path / "place", tmp_path / "home"
    (home / "bookwheel").mkdir(parents=True)
    place.mkdir()
    rule = "[[redaction]]\nname = '{}'\nkind = 'badge'\npattern = 'B-[0-9]+'\n"
    (home / "bookwheel" / "bookwheel.toml").write_text(
        f"redact = '{own}'\naccess = 'preview'\nworkers = 3\n" + rule.format("mine")
    )
    stated = f"redact = '{lying_there}'\n" if lying_there else ""
    (place / "bookwheel.toml").write_text(stated + "access = 'full'\n" + rule.format("theirs"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.chdir(place)

    settings = load(environment={})

    assert (settings["redact"], settings["access"]) == (wanted, "preview")
    assert [name for name, _, _ in settings.redaction] == ["mine", "theirs"]
    assert settings["workers"] is None


def test_a_start_folder_may_be_its_own_collection_with_a_manifest(tmp_path: Path) -> None:
    config = written(tmp_path, "name = 'Handbook'\ninclude = ['*.md']\nworkers = 3\n")

    settings = load(config=config, environment={})

    assert (settings["workers"], settings.collections) == (3, ())


@pytest.mark.parametrize("text", ["10.0.0.5", "10.0.0.5, 2001:db8::/32"])
def test_trusted_proxies_are_addresses_and_networks(text: str) -> None:
    assert of(BOOKWHEEL_TRUSTED_PROXIES=text)["trusted_proxies"] == text


@pytest.mark.parametrize("text", ["*", "proxy.example", "10.0.0.5/8", "10.0.0.5,,"])
def test_trusting_whatever_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(BadRequest, match="BOOKWHEEL_TRUSTED_PROXIES"):
        of(BOOKWHEEL_TRUSTED_PROXIES=text)
