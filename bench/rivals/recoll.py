"""Recoll: desktop search on Xapian, from the packages of Debian."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from bench.rivals.askers import ProcessAsker
from bench.rivals.base import LIMIT, PROCESS, Asker, Command, NotInstalled, Rival, unique

_PACKAGES = ("recollcmd", "libxapian30", "libaspell15", "libchm1")


class Recoll(Rival):
    """The one program that is installed for the whole machine: it comes by apt alone."""

    name = "recoll"
    asked = "`recollq`; where it finds nothing all terms (`-a`), then any (`-o`)"
    where = "by apt, for the whole machine, unless it is there"
    ways = (PROCESS,)

    def install(self) -> None:
        if shutil.which("recollq") and shutil.which("recollindex"):
            return
        if not shutil.which("apt-get"):
            raise NotInstalled("recoll comes by apt, which this system does not have")
        quiet = ["install", "-y", "-qq", "--no-install-recommends"]
        environment = {"DEBIAN_FRONTEND": "noninteractive"}
        Command(["apt-get", "update", "-qq"], environment).output()
        Command(["apt-get", *quiet, _PACKAGES[0]], environment).output()

    def version(self) -> str:
        shown = ["dpkg-query", "-W", "-f", "${Version}", _PACKAGES[0]]
        return Command(shown).output().split("-")[0]

    def installed(self) -> int:
        shown = ["dpkg-query", "-W", "-f", "${Installed-Size}\n", *_PACKAGES]
        return sum(map(int, Command(shown).output().split())) * 1024

    def index(self) -> Command:
        settings = f"topdirs = {self.docs}\nloglevel = 2\n"
        (self.place / "recoll.conf").write_text(settings, encoding="utf-8")
        return Command(["recollindex", "-c", str(self.place), "-z"])

    def rescan(self) -> Command:
        return Command(["recollindex", "-c", str(self.place)])

    def asking(self, way: str) -> Asker:
        return ProcessAsker(self._searches, lambda text: paths_of_output(text, self.docs))

    def _searches(self, query: str) -> Sequence[Command]:
        # Folders stand among the hits: twice as many are asked for, and files are taken.
        ask = ["recollq", "-c", str(self.place), "-b", "-n", str(2 * LIMIT)]
        return [Command([*ask, *mode, "--", query]) for mode in ((), ("-a",), ("-o",))]


def paths_of_output(text: str, docs: Path) -> list[str]:
    """Return the Markdown files of what `recollq -b` prints, one address in each line."""
    root = f"file://{docs}/"
    lines = (line for line in text.splitlines() if line.startswith(root) and line.endswith(".md"))
    return unique(unquote(line.removeprefix(root)) for line in lines)
