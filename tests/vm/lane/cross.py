# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs for an arm64 guest that has no library: cross-built, static."""

from pathlib import Path

from .cache import run_tool
from .sysroot import sysroot

ROOT = Path(__file__).resolve().parents[3]
COMPILER = "aarch64-linux-gnu-gcc"
# Sources and headers below the root, and libraries.
PROGRAMS = {"ktest": (("tests/vm/ktest", "kmod/core"), ("uapi", "kmod/core"), ("-luring",))}


def newest(folders):
    return max(path.stat().st_mtime for folder in folders
               for path in (ROOT / folder).rglob("*.[ch]"))


def build_program(name, into):
    """Build a program of PROGRAMS into a directory, unless it is newer than its sources."""
    folders, includes, libraries = PROGRAMS[name]
    target = Path(into) / name
    if target.exists() and target.stat().st_mtime > newest((*folders, *includes)):
        return target
    Path(into).mkdir(parents=True, exist_ok=True)
    sources = sorted(path for folder in folders for path in (ROOT / folder).glob("*.c"))
    run_tool([COMPILER, f"--sysroot={sysroot('arm64')}", "-static", "-O2", "-g", "-Wall", "-D_GNU_SOURCE",
              "-Wextra", "-Wno-missing-field-initializers", *(f"-I{ROOT / i}" for i in includes), *sources, *libraries, "-lpthread",
              "-o", target], f"{name} for arm64")
    return target
