"""Show that every dependency comes as a wheel: for each Python, on each kind of machine.

`python -m release.wheels UV` lets uv resolve pyproject.toml for each of them with nothing but
wheels. This asks the package index, but downloads hardly more than names and requirements.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

PYTHONS = ("3.11", "3.12", "3.13")
PROMISED = ("x86_64-manylinux_2_28",)
OTHERS = ("aarch64-manylinux_2_28", "aarch64-apple-darwin", "x86_64-pc-windows-msvc")
"""Where we have not tried the program: whether packages would stand in the way."""
MACOS = "14.0"
_MISSING = re.compile(r"(\S+)==\S+ has no usable\s+wheels")


def resolve(uv: str, python: str, platform: str) -> tuple[int, str]:
    """Return how many packages are needed, and which has no wheel."""
    words = ["pip", "compile", "pyproject.toml", "--quiet", "--no-header", "--no-annotate"]
    target = ["--python-version", python, "--python-platform", platform]
    done = subprocess.run(
        [uv, *words, "--only-binary", ":all:", *target],
        env={**os.environ, "MACOSX_DEPLOYMENT_TARGET": MACOS},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if not done.returncode:
        return len(done.stdout.splitlines()), ""
    missing = sorted(set(_MISSING.findall(done.stderr)))
    return 0, f"no wheel of {', '.join(missing)}" if missing else done.stderr


def main(uv: str) -> int:
    """Print a row for each; return how many fail of those that are promised."""
    failed = 0
    for platform in PROMISED + OTHERS:
        for python in PYTHONS:
            number, missing = resolve(uv, python, platform)
            failed += bool(missing) and platform in PROMISED
            sys.stdout.write(f"{python}  {platform:24} {missing or f'{number} packages'}\n")
            sys.stdout.flush()
    return failed


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1])))
