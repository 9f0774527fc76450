# SPDX-License-Identifier: LGPL-2.1-or-later
"""Build modules for Linux 7.2 and 7.3 with Debian 13's compiler, in a separate root directory."""

import os
import subprocess
from pathlib import Path

from . import LaneError
from .cache import cache_root
from .inroot import bare_root, run_in

ROOT = Path(__file__).resolve().parents[4]
PACKAGES = ("ccache", "gcc-14", "gcc-14-aarch64-linux-gnu", "libc6-dev", "libelf1t64", "make", "pahole")
# These variables of scripts/build-modules are passed to the environment of the root.
PASSED = ("SPEPROF_CASES", "SPEPROF_NO_CONTEXTIDR", "SPEPROF_PLANTED", "SPEPROF_TRAP")


def fetch_headers(target):
    """Bring the headers of TARGET (ARCH-SERIES[@FLAVOUR]) into the cache, where the root finds them."""
    series, _, flavour = target.partition("@")
    done = subprocess.run([ROOT / "scripts/kernel-headers", *series.split("-"), *filter(None, [flavour])],
                          check=False, stdout=subprocess.DEVNULL)
    if done.returncode:
        raise LaneError(f"{target}: no kernel headers")


def build_in_root(folder, target):
    """Build TARGET into FOLDER without a warning. Return the exit status and the output."""
    fetch_headers(target)
    cache = cache_root().parent
    ccache = cache / "ccache-debian13"
    for each in (ccache, folder):
        each.mkdir(parents=True, exist_ok=True)
    # The tree, its results and the headers contain absolute paths, so these paths must be the same in the root.
    binds = [(path, str(path).lstrip("/")) for path in (ROOT, folder, cache / "headers")]
    passed = [f"{name}={os.environ[name]}" for name in PASSED if name in os.environ]
    done = run_in(bare_root("trixie", PACKAGES), [*binds, (ccache, "mnt/ccache")],
                  ["env", "CCACHE_DIR=/mnt/ccache", "SPEPROF_OFFLINE=1", f"SPEPROF_CACHE={cache}", *passed,
                   str(ROOT / "scripts/build-modules"), "-w", "-o", str(folder), target],
                  text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout
