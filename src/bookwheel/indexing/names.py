"""Names that are never looked at, whatever the operator or an ignore file says, and why."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bookwheel.safety.opener import Kind

VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".bzr", ".jj", ".fslckout", "cvs", "_darcs"})
TOOL_FOLDERS = frozenset({"node_modules", "__pycache__"})

KEY_NAMES = frozenset(
    {".netrc", "_netrc", ".pgpass", ".npmrc", ".pypirc", ".my.cnf", "wallet.dat", "htpasswd"}
)
KEY_STARTS = (
    *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "credentials", "secrets.", "client_secret"),
    *(".env", ".git-credentials", ".htpasswd"),
)
KEY_ENDS = (
    *(".pem", ".key", ".p8", ".p12", ".pfx", ".pkcs12", ".ppk", ".kdb", ".kdbx", ".jks"),
    *(".keystore", ".ovpn", ".env", ".gpg", ".pgp", ".agekey", ".htpasswd", ".tfstate", ".tfvars"),
)
DISGUISES = (".txt", ".text", ".md", ".bak", ".old", ".orig", ".backup", ".copy", ".save", ".html")
"""Endings that people and programs hang onto a key file's own."""

ARCHIVES = frozenset(
    (
        *(".zip", ".tar", ".tgz", ".gz", ".bz2", ".tbz2", ".xz", ".txz", ".zst", ".7z", ".rar"),
        *(".jar", ".war", ".cab", ".deb", ".rpm", ".whl", ".iso", ".dmg", ".pst", ".mbox"),
    )
)

EDITOR_STARTS = ("~$", ".#", ".~lock.")
EDITOR_ENDS = ("~", ".swp", ".swo", ".swx")

OWN_STARTS = ("bookwheel.toml", "bookwheel.db", "bookwheel.sqlite", "bookwheel.log")
OWN_AT_TOP = frozenset({"manifest.json"})


class Skip(StrEnum):
    """Why a file or folder is passed over, in the words that `status` counts by."""

    HIDDEN = "hidden name"
    VERSION_CONTROL = "version control folder"
    TOOL = "folder of a tool"
    KEY = "key or credential file"
    EDITOR = "left over by an editor"
    OWN = "file of Bookwheel itself"
    EXCLUDED = "excluded by the collection"
    IGNORED = "ignored by an ignore file"
    NOT_INCLUDED = "not among the collection's include patterns"
    LINK = "link, never followed"
    SPECIAL = "not a regular file"
    NAME = "name is not UTF-8"
    LONG = "path is too long"
    ARCHIVE = "archive, not looked into"
    UNSUPPORTED = "unsupported extension"


def skip_name(name: str, *, is_folder: bool) -> Skip | None:
    """Say why a name alone is enough to pass over it."""
    lower = name.lower()
    if lower in VERSION_CONTROL:
        return Skip.VERSION_CONTROL
    if lower in TOOL_FOLDERS:
        return Skip.TOOL
    if not is_folder and is_key(lower):
        return Skip.KEY
    enclosed = lower[0] == "#" == lower[-1]
    if enclosed or lower.startswith(EDITOR_STARTS) or lower.endswith(EDITOR_ENDS):
        return Skip.EDITOR
    if lower.startswith(OWN_STARTS):
        return Skip.OWN
    return Skip.HIDDEN if lower[0] == "." else None


def is_key(lower: str) -> bool:
    """Tell whether a name in lower case is a key's or a password file's, also in disguise."""
    if lower in KEY_NAMES or lower.startswith(KEY_STARTS) or lower.endswith(KEY_ENDS):
        return True
    while lower.endswith(DISGUISES):
        lower = lower.rpartition(".")[0]
        if lower in KEY_NAMES or lower.endswith(KEY_ENDS):
            return True
    return False


def skip_kind(kind: Kind) -> Skip | None:
    """Say why neither a link nor a special file is looked at."""
    return {"link": Skip.LINK, "special": Skip.SPECIAL}.get(kind)
