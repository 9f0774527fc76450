# SPDX-License-Identifier: LGPL-2.1-or-later
"""Store directories in a cache. The name of each contains a hash of its inputs."""

import fcntl
import hashlib
import os
import subprocess
import time
from pathlib import Path

from . import LaneError

UNUSED_DAYS = 21


def cache_root():
    base = os.environ.get("SPEPROF_CACHE") or Path.home() / ".cache" / "speprof"
    return Path(base) / "vm"


def content_key(*parts):
    """Return a short name for the given strings and files."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, Path) else str(part).encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:16]


def run_tool(argv, what, **kwargs):
    """Run a command. Raise LaneError if it fails: the lane cannot be set up."""
    try:
        done = subprocess.run([str(a) for a in argv], stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              errors="replace", check=False, **kwargs)
    except FileNotFoundError:
        raise LaneError(f"{what}: {argv[0]} is not installed (make deps)") from None
    if done.returncode:
        lines = [line for line in done.stdout.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith(("E:", "error"))]
        reason = (errors or lines or ["no output"])[-1]
        raise LaneError(f"{what}: {argv[0]} exited {done.returncode}: {reason}")
    return done.stdout


def remove_tree(path):
    """Remove a directory, but nothing that is mounted below it: mmdebstrap leaves /proc and /sys if it is killed."""
    for line in reversed(Path("/proc/self/mounts").read_text(errors="replace").splitlines()):
        mounted = line.split(" ")[1]
        if mounted.startswith(f"{path}/"):
            subprocess.run(["umount", "--lazy", mounted], stderr=subprocess.DEVNULL, check=False)
    subprocess.run(["rm", "-rf", "--one-file-system", path], check=False)


def prune(root, keep):
    """Remove entries that no run has used for weeks. A run touches the entries that it uses."""
    oldest = time.time() - UNUSED_DAYS * 86400
    for entry in root.iterdir():
        if entry.is_dir() and entry != keep and entry.stat().st_mtime < oldest:
            remove_tree(entry)


def cached(name, key, build):
    """
    Return the directory NAME-KEY of the cache. build(dir) makes it if it is missing.

    The directory gets its name only when it is complete (rename). Only one process builds it (flock, which the
    kernel releases when the process ends). So an interrupted or a concurrent run never uses an incomplete
    entry. The next build removes the files of an interrupted one.
    """
    root = cache_root()
    root.mkdir(parents=True, exist_ok=True)
    entry = root / f"{name}-{key}"
    if not entry.is_dir():
        with open(root / f".{name}-{key}.lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not entry.is_dir():
                partial = root / f".{name}-{key}.partial"
                remove_tree(partial)
                partial.mkdir()
                build(partial)
                partial.rename(entry)
                prune(root, entry)
    os.utime(entry)
    return entry
