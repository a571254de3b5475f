"""The only way to a file: an allowed folder held by descriptor, and everything opened beneath it.

Refuses links anywhere in a path, paths that leave the folder, and whatever is not a regular file.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
from functools import cache
from typing import Literal, NamedTuple, Self

from bookwheel.errors import BadRequest, BookwheelError, Forbidden, NotFound
from bookwheel.model import Status

Kind = Literal["file", "folder", "link", "special"]

PATH_LIMIT = 4096
"""PATH_MAX: the kernel takes no longer path, so the walk must not either."""

EARLIEST_NS, LATEST_NS = -(1 << 63), (1 << 63) - 1
"""From 1677 to 2262: a database keeps no others, and a damaged disk or archive gives files any."""

# O_NONBLOCK: opening a FIFO must not wait for its writer; O_NOCTTY: nor may a terminal become ours.
FILE_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NOCTTY
FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW

OPENAT2 = 437
RESOLVE_NO_MAGICLINKS = 0x02
RESOLVE_NO_SYMLINKS = 0x04
RESOLVE_BENEATH = 0x08

MISSING = frozenset({errno.ENOSYS, errno.EPERM, errno.EINVAL, errno.E2BIG})
"""No openat2 here: an older kernel, or a sandbox that forbids what it does not know."""

UNDECIDED = frozenset({errno.EAGAIN, errno.EINTR})
"""The kernel could not finish the lookup; the walk can."""

REASONS = {
    errno.ELOOP: "it is a link or lies behind one",
    errno.EACCES: "no permission to read it",
    errno.ENAMETOOLONG: "its path is too long",
    errno.ENXIO: "it is not a regular file",
    errno.EMFILE: "too many files are open",
    errno.ENFILE: "too many files are open",
}


class OpenRefused(Forbidden):
    """A file or folder that was not opened; `status` and `reason` are for the ledger."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(f"The file cannot be opened: {reason}.")
        self.status = status
        self.reason = reason

    def __reduce__(self) -> tuple[type[OpenRefused], tuple[Status, str]]:
        """Travel between processes, which the message alone could not."""
        return type(self), (self.status, self.reason)


class FileBytes(NamedTuple):
    """A file's content with the size and time it had while being read."""

    data: bytes
    size: int
    modified_ns: int


class FolderEntry(NamedTuple):
    """One name in a folder; size and time are 0 but for files, and -1 if they could not be read."""

    name: str
    kind: Kind
    size: int = 0
    modified_ns: int = 0


class OpenHow(ctypes.Structure):
    """`struct open_how` of openat2(2)."""

    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


@cache
def _system_call() -> ctypes._NamedFuncPointer:
    """Return syscall(2), looked up once: each look-up makes a class that is seldom let go of."""
    call = ctypes.CDLL(None, use_errno=True).syscall
    # c_long throughout: it is variadic, a narrower argument may carry garbage above.
    call.argtypes = (
        ctypes.c_long,
        ctypes.c_long,
        ctypes.c_char_p,
        ctypes.POINTER(OpenHow),
        ctypes.c_size_t,
    )
    call.restype = ctypes.c_long
    return call


class Root:
    """One allowed folder. Close it only when its readers are done."""

    def __init__(self, path: str, descriptor: int, *, use_openat2: bool = True) -> None:
        self.path = path
        self.device = os.fstat(descriptor).st_dev
        self.steps = 0
        """How many names were listed: whoever waits sees that it goes on."""
        self._descriptor = descriptor
        self._use_openat2 = use_openat2 and sys.platform == "linux"
        self._syscall = _system_call()
        resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS
        self._hows = {flags: OpenHow(flags, 0, resolve) for flags in (FILE_FLAGS, FOLDER_FLAGS)}

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, use_openat2: bool = True) -> Root:
        """Open an allowed folder; links in its own path are followed once, here."""
        given = os.fspath(path)
        if not given:  # would be the working folder
            raise BadRequest("A collection needs a folder; its path is empty.")
        try:
            resolved = os.path.realpath(given, strict=True)
            descriptor = os.open(resolved, FOLDER_FLAGS)
        except (OSError, ValueError) as error:
            raise explain_root(given, error) from None
        try:
            return cls(resolved, descriptor, use_openat2=use_openat2)
        except BaseException:
            os.close(descriptor)
            raise

    def close(self) -> None:
        """Let go of the folder; a second call does nothing."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open_file(self, relative: str) -> int:
        """Open a regular file and return its descriptor, which the caller closes."""
        check_path(relative)
        descriptor = self._open(relative, FILE_FLAGS)
        try:
            mode = os.fstat(descriptor).st_mode
            if not stat.S_ISREG(mode):
                is_folder = stat.S_ISDIR(mode)
                reason = "it is a folder" if is_folder else REASONS[errno.ENXIO]
                raise OpenRefused(Status.UNREADABLE, reason)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def read_file(self, relative: str, *, max_bytes: int) -> FileBytes:
        """Read a whole file as it was at one moment; if it changes meanwhile, once again."""
        found = self._read_once(relative, max_bytes) or self._read_once(relative, max_bytes)
        if found is None:
            raise OpenRefused(Status.UNREADABLE, "it kept changing while it was read")
        return found

    def list_folder(self, relative: str) -> list[FolderEntry]:
        """List a folder (`""` is the root itself) in the order of the file system."""
        descriptor = self._open_folder(relative)
        try:
            with os.scandir(descriptor) as entries:
                found = [self._describe(entry) for entry in entries]
        except OSError as error:
            raise refusal_for(error.errno) from None
        finally:
            os.close(descriptor)
        return [entry for entry in found if entry is not None]

    def stat_file(self, relative: str) -> FolderEntry:
        """Tell what stands at a path, without following it."""
        parent, _, name = relative.rpartition("/")
        if relative:
            check_path(relative)
        descriptor = self._open_folder(parent)
        try:
            found = os.stat(name or ".", dir_fd=descriptor, follow_symlinks=False)
        except OSError as error:
            raise refusal_for(error.errno) from None
        finally:
            os.close(descriptor)
        kind = kind_of(found.st_mode)
        size, modified_ns = (found.st_size, modified_ns_of(found)) if kind == "file" else (0, 0)
        return FolderEntry(name, kind, size, modified_ns)

    def _read_once(self, relative: str, max_bytes: int) -> FileBytes | None:
        descriptor = self.open_file(relative)
        try:
            before = os.fstat(descriptor)
            if before.st_size > max_bytes:
                raise OpenRefused(Status.TOO_LARGE, f"it is larger than {max_bytes:,} bytes")
            data = read_all(descriptor, before.st_size)
            after = os.fstat(descriptor)
        except OSError as error:
            raise refusal_for(error.errno) from None
        finally:
            os.close(descriptor)
        same = before.st_size == after.st_size == len(data)
        if same and before.st_mtime_ns == after.st_mtime_ns:
            return FileBytes(data, after.st_size, modified_ns_of(after))
        return None

    def _describe(self, entry: os.DirEntry[str]) -> FolderEntry | None:
        self.steps += 1
        return describe_entry(entry)

    def _open_folder(self, relative: str) -> int:
        if relative:
            check_path(relative)
        return self._open(relative or ".", FOLDER_FLAGS)

    def _open(self, relative: str, flags: int) -> int:
        if self._use_openat2:
            how = self._hows[flags]
            descriptor: int = self._syscall(
                OPENAT2, self._descriptor, os.fsencode(relative), how, ctypes.sizeof(how)
            )
            if descriptor >= 0:
                return descriptor
            number = ctypes.get_errno()
            if number in MISSING:
                self._use_openat2 = False
            elif number not in UNDECIDED:
                raise refusal_for(number)
        return self._walk(relative, flags)

    def _walk(self, relative: str, flags: int) -> int:
        """Open part by part, each beneath the last and none through a link."""
        *folders, leaf = relative.split("/")
        current = self._descriptor
        try:
            for part in folders:
                below = open_part(part, FOLDER_FLAGS, current)
                if current != self._descriptor:
                    os.close(current)
                current = below
            return open_part(leaf, flags, current)
        finally:
            if current != self._descriptor:
                os.close(current)


def follow_links(path: str) -> str | None:
    """Return where an absolute path leads, through all its links; None for what is no path.

    It may lead to nothing. This finds out where something lies; it opens nothing, and whoever
    opens what it names does so by a Root.
    """
    try:
        if "\0" in path or not path.startswith("/") or len(os.fsencode(path)) >= PATH_LIMIT:
            return None
        resolved = os.path.realpath(path)
        resolved.encode()
    except (OSError, ValueError):  # halves of characters, names that are not UTF-8
        return None
    return resolved


def open_part(part: str, flags: int, folder: int) -> int:
    """Open one name in a folder held by descriptor."""
    try:
        return os.open(part, flags, dir_fd=folder)
    except OSError as error:
        number = error.errno
        # Linux answers ENOTDIR for a link opened as a folder; say the same as openat2 does.
        if number == errno.ENOTDIR and is_link(part, folder):
            number = errno.ELOOP
        raise refusal_for(number) from None


def is_link(part: str, folder: int) -> bool:
    """Tell whether a name is a link; for the wording of a refusal only, never for a decision."""
    try:
        return stat.S_ISLNK(os.stat(part, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def check_path(relative: str) -> None:
    """Refuse what is not a plain relative path, before the file system hears of it."""
    parts = relative.split("/")
    if "\0" in relative or "" in parts or ".." in parts or "." in parts:
        raise OpenRefused(Status.UNREADABLE, "its path does not lie in the collection")
    try:
        length = len(os.fsencode(relative))
    except UnicodeEncodeError:
        raise OpenRefused(Status.UNREADABLE, "its path does not lie in the collection") from None
    if length >= PATH_LIMIT:
        raise refusal_for(errno.ENAMETOOLONG)


def refusal_for(number: int | None) -> OpenRefused:
    """Turn an error number into a refusal in words."""
    if number in (errno.ENOENT, errno.ENOTDIR, errno.ESTALE):
        return OpenRefused(Status.VANISHED, "it does not exist")
    if number == errno.EXDEV:  # what RESOLVE_BENEATH answers for a path that leaves the root
        number = errno.ELOOP
    return OpenRefused(Status.UNREADABLE, REASONS.get(number or 0) or os.strerror(number or 0))


def explain_root(given: str, error: OSError | ValueError) -> BookwheelError:
    """Say why a folder that the operator named cannot be a collection."""
    number = error.errno if isinstance(error, OSError) else errno.EINVAL
    if number in (errno.ENOENT, errno.ELOOP):
        return NotFound(f"There is no folder {given!r}.", hint="Check the path of the collection.")
    if number in (errno.ENOTDIR, errno.EINVAL):
        return BadRequest(f"{given!r} is not a folder.", hint="A collection is a folder of files.")
    why = REASONS.get(number or 0) or os.strerror(number or 0)
    return Forbidden(
        f"The folder {given!r} cannot be read: {why}.",
        hint="Give the user who runs Bookwheel the right to read and enter it.",
    )


def kind_of(mode: int) -> Kind:
    """Name what a file mode stands for."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "special"


def modified_ns_of(found: os.stat_result) -> int:
    """Return when a file was modified, or the nearest time that can be kept."""
    return max(EARLIEST_NS, min(found.st_mtime_ns, LATEST_NS))


def describe_entry(entry: os.DirEntry[str]) -> FolderEntry | None:
    """Describe one listed name, or nothing if it has vanished since."""
    try:
        if entry.is_file(follow_symlinks=False):
            found = entry.stat(follow_symlinks=False)
            return FolderEntry(entry.name, "file", found.st_size, modified_ns_of(found))
        if entry.is_dir(follow_symlinks=False):
            return FolderEntry(entry.name, "folder")
        return FolderEntry(entry.name, "link" if entry.is_symlink() else "special")
    except FileNotFoundError:
        return None
    except OSError:
        return FolderEntry(entry.name, "file", -1, -1)


def read_all(descriptor: int, size: int) -> bytes:
    """Read to the end, but at most one byte more than `size`: enough to see that a file grew."""
    parts: list[bytes] = []
    wanted = size + 1
    while wanted > 0 and (part := os.read(descriptor, wanted)):
        parts.append(part)
        wanted -= len(part)
    return b"".join(parts)
