# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Runs commands in a bare Debian of any release: a root directory of its own, with the machine's
devices and processes. Its mounts end with the command.
"""

import os
import signal
import subprocess
import uuid
from pathlib import Path

from .apt import debootstrap
from .cache import cached, content_key, remove_tree, run_tool

# Arguments: the root, directories to bind (SOURCE:TARGET), "--", and the command.
ENTER = r'''
set -eu
root=$1
shift
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs run "$root/run"
mkdir -p "$root/run/lock"
[ ! -e /etc/resolv.conf ] || cp -L /etc/resolv.conf "$root/etc/resolv.conf"
while [ "$1" != -- ]; do
	mkdir -p "$root/${1#*:}"
	mount --bind "${1%%:*}" "$root/${1#*:}"
	shift
done
shift
exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM=dumb "$@"
'''


def bare_root(suite, packages, options=()):
    """Return a root of SUITE with PACKAGES, from the cache. The caller copies it and does not write to it."""
    key = content_key(suite, " ".join((*packages, *options)), Path(__file__))
    return cached(f"bare-{suite}", key, lambda into: debootstrap(
        f"root of {suite}", packages, into, "--variant=minbase", *options, suite=suite)) / "root"


def copy_root(root, to):
    """Copy ROOT to TO and return TO. The copy shares its blocks with ROOT if the file system can."""
    remove_tree(to)
    run_tool(["cp", "-a", "--reflink=auto", root, to], f"copy of {root}")
    return to


def kill_left(mark):
    """Kill each process that has MARK in its environment: it would keep the command's mounts."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)
        except OSError:
            continue  # has ended, or is a kernel thread


def run_in(root, binds, argv, **kwargs):
    """
    Run ARGV in ROOT with directories (source, target) bound. Return what subprocess.run() returns.

    The command has the machine's PID namespace: BPF programs and perf report PIDs of that one only.
    """
    bound = [f"{source}:{target}" for source, target in binds]
    mark = f"SPEPROF_ROOT_RUN={uuid.uuid4()}"
    try:
        return subprocess.run(["unshare", "--mount", "sh", "-c", ENTER, "sh", str(root), *bound, "--", mark, *argv],
                              stdin=subprocess.DEVNULL, check=False, **kwargs)
    finally:
        kill_left(mark)
