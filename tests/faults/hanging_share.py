"""A share that hangs when told to: a file system of its own, in a process that may do nothing.

`python -m tests.faults.hanging_share FOLDER PLACE SIGN COMMAND...` shows FOLDER at PLACE to the
command alone. While SIGN is there nothing is listed; while it says `all`, nothing is answered.
Needs `unshare --mount`. Speaks what /dev/fuse does (linux/fuse.h), since nothing else has to be
installed for it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import signal
import stat
import struct
import sys
from pathlib import Path

_HEADER = struct.Struct("<IIQQIIIHH")
_LOOKUP, _FORGET, _GETATTR, _OPEN, _READ = 1, 2, 3, 14, 15
_RELEASE, _FLUSH, _INIT, _OPENDIR, _READDIR, _RELEASEDIR = 18, 25, 26, 27, 28, 29
_UNANSWERED = (_FORGET, 36, 38, 42)
"""Those who send one of these wait for nothing: forget, interrupt, destroy, batch_forget."""
_LARGEST = 1 << 18
_DIES_WITH_PARENT = 1


class Share:
    """Shows a folder to the kernel, which asks for one thing after the other."""

    def __init__(self, folder: Path, device: int, sign: Path) -> None:
        self._device = device
        self._sign = sign
        self._nodes = [folder, folder]  # the root is number 1
        self._waiting: list[bytes] = []

    def serve(self) -> None:
        """Answer until the file system is gone; what hung is answered when the sign is gone."""
        while True:
            if select.select([self._device], [], [], 0.05)[0]:
                try:
                    self._waiting.append(os.read(self._device, _LARGEST))
                except OSError:  # unmounted
                    return
            self._waiting = [each for each in self._waiting if not self._answer(each)]

    def _answer(self, request: bytes) -> bool:
        """Answer, or leave it for later."""
        _, code, number, node, *_ = _HEADER.unpack_from(request)
        if code in _UNANSWERED:
            return True
        if code != _INIT and self._hangs(code):
            return False
        try:
            error, data = 0, self._look_up(code, node, request[_HEADER.size :])
        except OSError as trouble:
            error, data = trouble.errno or errno.EIO, b""
        try:
            os.write(self._device, struct.pack("<IiQ", 16 + len(data), -error, number) + data)
        except FileNotFoundError:
            pass  # whoever asked is gone
        return True

    def _hangs(self, code: int) -> bool:
        try:
            sign = self._sign.read_text(encoding="ascii")
        except FileNotFoundError:
            return False
        return code == _READDIR or sign == "all"

    def _look_up(self, code: int, node: int, body: bytes) -> bytes:
        if code == _INIT:
            return struct.pack("<IIIIHHI36x", 7, 31, 0, 0, 0, 0, 4096)
        path = self._nodes[node]
        if code == _LOOKUP:
            below = path / os.fsdecode(body.partition(b"\0")[0])
            attributes = self._attributes(below)
            return struct.pack("<QQQQII", self._number(below), 0, 0, 0, 0, 0) + attributes
        if code == _GETATTR:
            return struct.pack("<QII", 0, 0, 0) + self._attributes(path)
        if code in (_OPEN, _OPENDIR):
            return bytes(16)
        if code in (_READ, _READDIR):
            _, offset, size = struct.unpack_from("<QQI", body)
            if code == _READ:
                return path.read_bytes()[offset : offset + size]
            return b"" if offset else self._listing(path)
        if code in (_RELEASE, _RELEASEDIR, _FLUSH):
            return b""
        raise OSError(errno.ENOSYS, "not needed")

    def _number(self, path: Path) -> int:
        if path not in self._nodes:
            self._nodes.append(path)
        return len(self._nodes) - 1 - self._nodes[::-1].index(path)

    def _attributes(self, path: Path) -> bytes:
        state = path.lstat()
        seconds, rest = divmod(state.st_mtime_ns, 1_000_000_000)
        times = (seconds, seconds, seconds, rest, rest, rest)
        about = (self._number(path), state.st_size, 8, *times, state.st_mode, 1, 0, 0, 0, 4096, 0)
        return struct.pack("<6Q10I", *about)

    def _listing(self, path: Path) -> bytes:
        listed = b""
        for offset, each in enumerate(sorted(path.iterdir()), 1):
            name = os.fsencode(each.name)
            kind = stat.S_IFMT(each.lstat().st_mode) >> 12
            listed += struct.pack("<QQII", self._number(each), offset, len(name), kind)
            listed += name + bytes(-len(name) % 8)
        return listed


def main(folder: str, place: str, sign: str, *command: str) -> None:
    """Mount the share, serve it from a child, and become the command."""
    libc = ctypes.CDLL(None, use_errno=True)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40755,user_id=0,group_id=0,allow_other"
    if libc.mount(b"share", os.fsencode(place), b"fuse", 0, options.encode()):
        sys.exit(f"mounting is not permitted here: {os.strerror(ctypes.get_errno())}")
    parent = os.getpid()
    if os.fork() == 0:
        libc.prctl(_DIES_WITH_PARENT, signal.SIGKILL)
        if os.getppid() == parent:  # else it ended before that was said
            Share(Path(folder), device, Path(sign)).serve()
        os._exit(0)
    os.close(device)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
