"""Which names are passed over: agreement with git itself, then our own rules."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bookwheel.errors import BadRequest
from bookwheel.indexing.ignore import CollectionRules, Verdict, explain, rules_for
from bookwheel.indexing.names import Skip, skip_name
from bookwheel.indexing.patterns import MAX_WILD_RULES, RuleSet, parse_line, parse_rules
from bookwheel.indexing.scan import scan
from bookwheel.model import Collection
from bookwheel.safety.opener import Root

SUPPORTED = frozenset({".md", ".txt"})
FOLDERS = ["a", "b", "a/b", "a/b/c", "build", "build/a", "foo", "x y", "#a", "!b", "a]", "ä", "b/a"]
LEAVES = ["a.md", "b.md", "ab.md", "ä.md", "a*.md", "x y.md", "#a.md", "!b.md", "[a].md", "a\\.md"]


@dataclass(frozen=True)
class Repository:
    """A work tree with the same leaves in every folder, and what git says of them."""

    path: Path
    files: tuple[str, ...]

    def write_rules(self, top: list[str], nested: list[str]) -> None:
        for folder, lines in (("", top), ("a", nested)):
            (self.path / folder / ".gitignore").write_bytes("\n".join(lines).encode())

    def seen_by_git(self) -> set[str]:
        command = ["git", "-c", "core.ignorecase=false", "check-ignore", "--no-index", "-z"]
        nowhere = {"HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"}
        done = subprocess.run(
            [*command, "--stdin"],
            cwd=self.path,
            input="\0".join(self.files).encode() + b"\0",
            capture_output=True,
            check=False,
            env=os.environ | nowhere | {"GIT_CONFIG_NOSYSTEM": "1"},
        )
        assert done.returncode in (0, 1), done.stderr
        return set(self.files) - set(done.stdout.decode().split("\0"))

    def seen_by_us(self) -> set[str]:
        with Root.open(self.path) as root:
            found = scan(root, CollectionRules(), supported=SUPPORTED)
        return {file.path for file in found.files}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    path = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(path)], check=True)
    files = []
    for folder in ["", *FOLDERS]:
        (path / folder).mkdir(parents=True, exist_ok=True)
        for leaf in LEAVES:
            (path / folder / leaf).touch()
            files.append(f"{folder}/{leaf}".lstrip("/"))
    return Repository(path, tuple(files))


TOKENS = ["a", "b", "ab", "*", "**", "?", "/", "/", ".md", "[ab]", "[!a]", "[^a]", "[a-c]", "\\"]
TOKENS += ["build", "foo", "**/", "/**", "*.md", " ", "x y", "[[:alpha:]]", "[]a]", "[", "#", "!"]
TOKENS += ["{a,b}", "ä", "[b-a]", "[[:x:]]", "[a-]", "[\\]]", "***", "\t", "\r"]
PATTERNS = st.lists(st.sampled_from(TOKENS), min_size=1, max_size=6).map("".join)
PATTERN_LISTS = st.lists(PATTERNS, max_size=4)


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(PATTERN_LISTS, PATTERN_LISTS)
@example(["*", "!*/", "!*.md"], ["b.md"])
@example(["a/**", "!a/b/", "!a/b/**"], [])
@example(["/*", "!/a"], ["*", "!a.md"])
@example(["*.md"], ["!a.md", "!b/"])
@example(["build/", "!build/a.md", "foo/*", "!foo/a.md"], ["/b/c"])
@example(["a/**/a.md", "**/b/a.md", "a**/b.md", "\\#a.md", "\\!b.md", "x\\ y.md"], [])
@example(["\ufeff*.md", "a.md   ", "b.md\\ ", "a\\", "[a", "//", "/", "!", "#a.md"], [])
@example(["?.md", "[[:alpha:]].md", "a\\*.md", "[[]a].md", "*\\\\.md"], ["\ufeff"])
def test_the_same_files_are_left_as_git_leaves(
    repository: Repository, top: list[str], nested: list[str]
) -> None:
    repository.write_rules(top, nested)
    assert repository.seen_by_us() == repository.seen_by_git()


@pytest.mark.faults
@pytest.mark.timeout(3600)
@settings(max_examples=10_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(PATTERN_LISTS, PATTERN_LISTS)
def test_the_same_files_are_left_as_git_leaves_for_very_many_patterns(
    repository: Repository, top: list[str], nested: list[str]
) -> None:
    repository.write_rules(top, nested)
    assert repository.seen_by_us() == repository.seen_by_git()


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 40 + "*b", "a" * 250),
        ("*[a]" * 40 + "*b", "a" * 250),
        ("*?a" * 40 + "*b", "a" * 250),
        ("**/a/" * 40 + "b", "a/" * 120 + "c"),
        ("**/*a*a*a/" * 20 + "b", "aaaa/" * 120 + "c"),
        ("a**/" + "*a*/**/" * 30 + "b", "a/" * 120 + "c"),
    ],
)
def test_t15_hostile_patterns_are_answered_at_once(pattern: str, path: str) -> None:
    """A backtracking matcher would meet the test's time limit here, not its answer."""
    rules = RuleSet(parse_rules(pattern.encode()), "x")
    assert rules.find(path, path.rpartition("/")[2], is_folder=False) is None


@settings(max_examples=1000, deadline=None)
@given(st.binary(max_size=200), st.text(max_size=20))
def test_no_ignore_file_raises(data: bytes, name: str) -> None:
    name = name.encode("utf-8", "replace").decode()
    RuleSet(parse_rules(data), "x").find(name, name, is_folder=True)


def test_control_characters_and_length_of_a_pattern_do_not_reach_people() -> None:
    rule = parse_line(b"a\x1b[31m*" + b"b" * 300)
    assert rule is None or (rule.text.isprintable() and len(rule.text) == 80)
    plain = parse_line(b"\x1b" + b"b" * 300)
    assert plain is not None
    assert plain.text == "\ufffd" + "b" * 78 + "…"


KEYS = [
    *("id_rsa", "id_rsa.pub", "id_rsa.txt", "ID_RSA.MD", "id_ed25519", "id_ecdsa.bak", "id_dsa"),
    *("server.pem", "server.pem.txt", "x.key", "x.KEY.md", "x.p12", "x.pfx", "x.kdbx", "x.jks"),
    *("x.keystore", ".env", ".env.local", "prod.env", ".netrc", "_netrc", "credentials"),
    *("credentials.json", "credentials.txt", "Credentials.md", "secrets.md", "secrets.yaml"),
    *("vpn.ovpn", ".htpasswd", "htpasswd", "htpasswd.txt", ".pgpass", ".npmrc", ".pypirc"),
    *(".git-credentials", "putty.ppk", "x.p8", "backup.gpg", "client_secret_1.json", "a.tfstate"),
    *("wallet.dat", "server.key.bak.txt", "x.pem.orig"),
]


@pytest.mark.parametrize("name", KEYS)
def test_t06_a_key_file_is_passed_over_under_any_name(name: str) -> None:
    assert skip_name(name, is_folder=False) is Skip.KEY


@pytest.mark.parametrize(
    ("name", "skip"),
    [
        (".hidden.md", Skip.HIDDEN),
        (".git", Skip.VERSION_CONTROL),
        ("CVS", Skip.VERSION_CONTROL),
        ("node_modules", Skip.TOOL),
        ("__pycache__", Skip.TOOL),
        ("~$report.docx", Skip.EDITOR),
        (".#notes.md", Skip.EDITOR),
        ("#notes.md#", Skip.EDITOR),
        ("notes.md~", Skip.EDITOR),
        (".notes.md.swp", Skip.EDITOR),
        (".~lock.report.odt#", Skip.EDITOR),
        ("bookwheel.toml", Skip.OWN),
        ("bookwheel.db-wal", Skip.OWN),
        ("bookwheel.log.1", Skip.OWN),
    ],
)
def test_a_name_is_passed_over_for_its_reason(name: str, skip: Skip) -> None:
    assert skip_name(name, is_folder=False) is skip


@pytest.mark.parametrize(
    "name",
    [
        *("notes.md", "keyboard.md", "key.md", "monkey.txt", "environment.md", "a#b.md", "#1.md"),
        *("secret-garden.md", "id-cards.md", "pem-format.md", "git.md", "Keynote.html", "x~y.md"),
        *("service-accounts.md", "tilde~.md", "...and then.md"[3:], "manifest.json"),
    ],
)
def test_a_name_that_only_sounds_like_it_is_looked_at(name: str) -> None:
    assert skip_name(name, is_folder=False) is None


def test_a_folder_called_credentials_is_looked_into() -> None:
    assert skip_name("credentials", is_folder=True) is None


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    for name, content in {
        ".gitignore": "build/\n*.tmp.md\n",
        "docs/.gitignore": "!keep.tmp.md\ndraft*\n",
        "docs/.bookwheelignore": "!draft-final.md\n",
        "docs/draft-1.md": "",
        "docs/draft-final.md": "",
        "docs/keep.tmp.md": "",
        "docs/guide.MD": "",
        "docs/image.png": "",
        "docs/README": "",
        "build/docs/page.md": "",
        "manifest.json": "",
        "sub/manifest.json": "",
        ".private/page.md": "",
        "index/bw/page.md": "",
        "id_rsa.txt": "",
    }.items():
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    (tmp_path / "root/link.md").symlink_to("docs/guide.MD")
    (tmp_path / "root/out").symlink_to("/")
    os.mkfifo(tmp_path / "root/fifo.md")
    with Root.open(tmp_path / "root") as opened:
        yield opened


@pytest.mark.parametrize(
    ("path", "verdict"),
    [
        ("docs/guide.MD", Verdict(False, "looked at")),
        ("docs/", Verdict(False, "a folder that is looked into")),
        ("docs/keep.tmp.md", Verdict(False, "looked at")),
        ("docs/draft-final.md", Verdict(False, "looked at")),
        (
            "docs/draft-1.md",
            Verdict(True, "ignored by docs/.gitignore: `draft*`", Skip.IGNORED),
        ),
        (
            "build/docs/page.md",
            Verdict(True, "ignored by .gitignore: `build/`", Skip.IGNORED),
        ),
        ("docs/image.png", Verdict(True, "unsupported extension: .png", skip=Skip.UNSUPPORTED)),
        ("docs/README", Verdict(True, "no extension", skip=Skip.UNSUPPORTED)),
        ("manifest.json", Verdict(True, Skip.OWN.value, skip=Skip.OWN)),
        (
            "sub/manifest.json",
            Verdict(True, "unsupported extension: .json", skip=Skip.UNSUPPORTED),
        ),
        (".private/page.md", Verdict(True, "hidden name", skip=Skip.HIDDEN)),
        ("index/bw/page.md", Verdict(True, Skip.OWN.value, skip=Skip.OWN)),
        ("id_rsa.txt", Verdict(True, "key or credential file", skip=Skip.KEY)),
        ("link.md", Verdict(True, "link, never followed", skip=Skip.LINK)),
        ("out/etc/passwd", Verdict(True, "link, never followed", skip=Skip.LINK)),
        ("fifo.md", Verdict(True, "not a regular file", skip=Skip.SPECIAL)),
        ("docs/nothing.md", Verdict(True, "it does not exist")),
        ("nothing/page.md", Verdict(True, "it does not exist")),
        ("docs/guide.MD/page.md", Verdict(True, "it does not exist")),
        ("../root/docs/guide.MD", Verdict(True, "its path does not lie in the collection")),
        ("/etc/passwd", Verdict(True, "its path does not lie in the collection")),
        ("", Verdict(True, "its path does not lie in the collection")),
    ],
)
def test_explain_says_why(root: Root, path: str, verdict: Verdict) -> None:
    rules = CollectionRules(own=frozenset({"index/bw"}))
    assert explain(root, rules, path, SUPPORTED) == verdict


def seen(root: Root, *, include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> list[str]:
    rules = rules_for(Collection("x", root.path, include=include, exclude=exclude))
    return [file.path for file in scan(root, rules, supported=SUPPORTED).files]


EVERYTHING = ["docs/draft-final.md", "docs/guide.MD", "docs/keep.tmp.md", "index/bw/page.md"]


@pytest.mark.parametrize(
    ("include", "exclude", "expected"),
    [
        ((), (), EVERYTHING),
        (("docs/",), (), EVERYTHING[:3]),
        (("*.md",), (), [path for path in EVERYTHING if path.endswith(".md")]),
        (("docs/", "!keep*"), (), EVERYTHING[:2]),
        (("/index/**",), (), EVERYTHING[3:]),
        (("nothing",), (), []),
        ((), ("index",), EVERYTHING[:3]),
        ((), ("docs/*", "!guide.MD"), EVERYTHING[1:2] + EVERYTHING[3:]),
        (("docs/",), ("docs/d*",), EVERYTHING[1:3]),
        (("build/", ".private/", "id_rsa.txt", "docs/draft-1.md"), (), []),
    ],
)
def test_include_narrows_and_exclude_takes_away_but_neither_brings_back(
    root: Root, include: tuple[str, ...], exclude: tuple[str, ...], expected: list[str]
) -> None:
    assert seen(root, include=include, exclude=exclude) == expected


@pytest.mark.parametrize(
    ("include", "expected"),
    [
        (("*.py",), ["src/a.py"]),
        (("*.PY", "*.py", "*.md"), ["read.md", "src/a.py", "src/b.md"]),
        (("/src/*.py",), ["src/a.py"]),
        (("*.py", "src/**"), ["src/a.py", "src/b.md"]),
        (("src/**/*.py", "!a.py"), []),
        (("Makefile", "*.cpp"), ["Makefile", "src/c.cpp"]),
        (("src/",), ["src/b.md"]),
        (("*",), ["read.md", "src/b.md"]),
        (("*.zip", "*.gz", "*.c"), []),
        ((".env", "*.pem"), []),
    ],
)
def test_other_text_is_indexed_where_a_pattern_names_its_kind(
    tmp_path: Path, include: tuple[str, ...], expected: list[str]
) -> None:
    names = ("Makefile", "read.md", "a.zip", "a.tar.gz", ".env", "key.pem", "photo.png")
    for name in (*names, "src/a.py", "src/b.md", "src/c.cpp"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    with Root.open(tmp_path) as opened:
        assert seen(opened, include=include) == expected


def test_archives_are_passed_over_with_a_reason_of_their_own(tmp_path: Path) -> None:
    for name in ("a.zip", "b.tar.gz", "mails.mbox", "c.bin", "d.md"):
        (tmp_path / name).touch()
    with Root.open(tmp_path) as opened:
        found = scan(opened, CollectionRules(), supported=SUPPORTED)
        assert [file.path for file in found.files] == ["d.md"]
        assert found.skipped == {
            (Skip.ARCHIVE, ".zip"): 1,
            (Skip.ARCHIVE, ".gz"): 1,
            (Skip.ARCHIVE, ".mbox"): 1,
            (Skip.UNSUPPORTED, ".bin"): 1,
        }
        verdict = explain(opened, CollectionRules(), "a.zip", SUPPORTED)
        assert verdict == Verdict(True, f"{Skip.ARCHIVE}: .zip", skip=Skip.ARCHIVE)


def test_explain_names_the_collections_own_pattern(root: Root) -> None:
    rules = rules_for(Collection("x", root.path, exclude=("docs/",)))
    assert explain(root, rules, "docs/guide.MD", SUPPORTED) == Verdict(
        True, "excluded by the collection: `docs/`", Skip.EXCLUDED
    )


def test_t06_an_ignore_file_cannot_bring_back_what_is_never_opened(root: Root) -> None:
    Path(root.path, "docs/.bookwheelignore").write_text("!*\n!.*\n", encoding="utf-8")
    Path(root.path, "docs/id_rsa.md").touch()
    Path(root.path, "docs/.hidden.md").touch()
    assert not {"docs/id_rsa.md", "docs/.hidden.md"} & set(seen(root))


def test_an_ignore_file_that_is_a_link_counts_as_absent(root: Root, tmp_path: Path) -> None:
    (tmp_path / "rules").write_text("*\n", encoding="utf-8")
    Path(root.path, "docs/.bookwheelignore").unlink()
    Path(root.path, "docs/.bookwheelignore").symlink_to(tmp_path / "rules")
    assert "docs/guide.MD" in seen(root)


def test_too_many_patterns_of_the_operator_are_a_bad_request() -> None:
    with pytest.raises(BadRequest, match="more than 1,000 wildcard patterns"):
        rules_for(Collection("x", "/", exclude=("a?",) * (MAX_WILD_RULES + 1)))


def test_t06_our_own_files_are_found_by_absolute_or_relative_path_and_through_links(
    root: Root, tmp_path: Path
) -> None:
    (tmp_path / "alias").symlink_to("root")
    alias = str(tmp_path / "alias")
    own = ["docs", f"{alias}/index/bw", f"{root.path}/sub", root.path, str(tmp_path), "/elsewhere"]
    rules = rules_for(Collection("x", alias), own=own)
    assert rules.own == {"docs", "index/bw", "sub"}
