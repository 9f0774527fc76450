# SPDX-License-Identifier: LGPL-2.1-or-later
"""Build or collect programs for an arm64 guest without libraries: cross-built and static, or from Debian's
packages with the libraries that they need."""

import re
import shutil

from pathlib import Path

from .cache import run_tool
from .sysroot import sysroot

ROOT = Path(__file__).resolve().parents[4]
COMPILER = "aarch64-linux-gnu-gcc"
# Each program has its source and header directories below the root, and its libraries.
PROGRAMS = {"ktest": (("tests/lanes/vm/ktest", "kmod/core/codec", "kmod/core/policy", "kmod/core/model"),
                      ("uapi", "kmod/core"), ("-luring",))}


# Each entry has Debian's package, and the path of the program in it.
PACKAGED = {"perf": ("linux-perf", "usr/bin/perf"), "dbus": ("dbus-daemon", "usr/bin/dbus-daemon")}
# Files of the build (tests/lanes/arm64/cross-build) that a guest runs, with their paths in the
# guest.
DAEMON = {"daemon/main/speprofd": "usr/bin/speprofd", "tools/speprof": "usr/bin/speprof",
          "tools/speprof-symbols": "usr/bin/speprof-symbols",
          "demo/chase": "ci/demo/chase", "demo/stream": "ci/demo/stream"}
LIBRARIES = "lib/aarch64-linux-gnu"
LOADER = "lib/ld-linux-aarch64.so.1"


def needed(path):
    out = run_tool(["readelf", "-d", path], "libraries")
    return re.findall(r"\(NEEDED\)\s+Shared library: \[([^\]]+)\]", out)


def stage_libraries(programs, root, stage):
    """Copy all libraries that @programs need from a root."""
    wanted, seen = list(programs), set()
    (stage / LIBRARIES).mkdir(parents=True, exist_ok=True)
    while wanted:
        for library in needed(wanted.pop()):
            if library in seen or library.startswith("ld-linux"):
                continue
            seen.add(library)
            source = next(p / library for p in (root / "usr" / LIBRARIES, root / LIBRARIES)
                          if (p / library).exists())
            shutil.copy(source, stage / LIBRARIES / library)
            wanted.append(source)
    # The link points to a file of libc6.
    shutil.copy(root / LIBRARIES / "ld-linux-aarch64.so.1", stage / LOADER)


def stage_program(name, into):
    """Copy a program of PACKAGED and its libraries, at their paths in a root."""
    package, program = PACKAGED[name]
    root = sysroot("arm64", (package,))
    stage = Path(into) / name
    if (stage / program).exists():
        return
    stage_libraries([root / program], root, stage)
    (stage / program).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(root / program, stage / program)


def stage_daemon(build, into):
    """Copy the daemon, the command and the demo's programs from a build for arm64."""
    stage = Path(into) / "daemon"
    for name, target in DAEMON.items():
        (stage / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(build) / name, stage / target)
    stage_libraries([Path(build) / name for name in DAEMON], sysroot("arm64"), stage)


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
