# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Debian packages from the mirrors of the machine's own apt configuration; nothing is installed.

Package lists are those of scripts/kernel-headers, in the cache: modules are built for the
newest kernel that they name, which must be the one to boot. They are Debian 12's on every
machine. A root that runs programs built here has the machine's own release instead (HOST).
"""

import fcntl
import functools
import os
import re
import subprocess
import time
from pathlib import Path

from . import LaneError
from .cache import cache_root, run_tool

ROOT = Path(__file__).resolve().parents[4]
# The release that the package lists are of.
SUITE = "bookworm"
LISTS_SECONDS = 12 * 3600
# Runs a command whose programs are arm64's, where the machine is not.
EMULATED = Path(__file__).resolve().parents[1] / "emulated"


def lists_root():
    return cache_root().parent / "headers"


def host_release():
    """The code name of the Debian release that this machine runs."""
    found = re.search(r"^VERSION_CODENAME=(\S+)$", Path("/etc/os-release").read_text(), re.MULTILINE)
    return found[1] if found else SUITE


def apt_options():
    apt = lists_root() / "apt"
    # An image of Debian has apt keep no cache of its lists, which it then reads anew each time.
    return ["-q", "-o", "APT::Architectures::=amd64", "-o", "APT::Architectures::=arm64",
            "-o", f"Dir::State::Lists={apt}/lists", "-o", f"Dir::Cache={apt}",
            "-o", f"Dir::Etc::SourceList={apt}/sources.list", "-o", "Dir::Etc::SourceParts=/dev/null",
            "-o", "Dir::Cache::pkgcache=pkgcache.bin", "-o", "Dir::Cache::srcpkgcache=srcpkgcache.bin",
            "-o", "APT::Sandbox::User=", "-o", "Acquire::Languages=none"]


@functools.cache
def refresh_lists():
    """Bring the lists up to date twice a day; without a network, old ones have to do."""
    apt = lists_root() / "apt"
    stamp = apt / "lists.stamp"
    for part in ("lists/partial", "archives/partial"):
        (apt / part).mkdir(parents=True, exist_ok=True)
    with open(lists_root() / ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and (os.environ.get("SPEPROF_OFFLINE") or
                               time.time() - stamp.stat().st_mtime < LISTS_SECONDS):
            return
        try:
            (apt / "sources.list").write_text(debian_sources(SUITE))
            run_tool(["apt-get", *apt_options(), "update"], "package lists")
            stamp.touch()
        except LaneError:
            if not stamp.exists():
                raise


def apt_tool(tool, *args, **kwargs):
    """Run an apt command on the lists of the cache."""
    refresh_lists()
    return run_tool([tool, *apt_options(), *args], "package lists", **kwargs)


def debian_sources(suite):
    """One-line sources of a release, from this machine's mirrors."""
    return run_tool([ROOT / "scripts" / "debian-sources", suite], f"sources of {suite}")


def transport_options():
    """How this machine reaches its mirror (proxies and the like), as apt.conf lines."""
    wanted = re.compile(r"Acquire::(https?::|Check-|Retries)")
    dump = run_tool(["apt-config", "dump"], "apt configuration")
    return "".join(line + "\n" for line in dump.splitlines() if wanted.match(line))


def newer(a, b):
    return subprocess.run(["dpkg", "--compare-versions", a, "gt", b], check=False).returncode == 0


def candidates(pattern):
    """(version, package) of every package whose name matches, oldest first."""
    names = [line.split(" ", 1)[0] for line in
             apt_tool("apt-cache", "search", "--names-only", pattern).splitlines()]
    if not names:
        return []
    found = []
    package = None
    for line in apt_tool("apt-cache", "policy", *names).splitlines():
        if line and not line.startswith(" "):
            package = line.rstrip(":")
        elif line.startswith("  Candidate: ") and not line.endswith("(none)"):
            found.append((line.split()[1], package))
    order = functools.cmp_to_key(lambda a, b: newer(a[0], b[0]) - newer(b[0], a[0]))
    return sorted(found, key=order)


def unpack(package, version, into, scratch):
    """Download PACKAGE and unpack it into a directory, without installing it."""
    scratch.mkdir(parents=True, exist_ok=True)
    apt_tool("apt-get", "download", f"{package}={version}" if version else package,
             cwd=scratch)
    deb = next(scratch.glob(f"{package.partition(':')[0]}_*.deb"))
    run_tool(["dpkg-deb", "-x", deb, into], f"unpacking of {package}")
    deb.unlink()


def is_emulated(architecture):
    """Whether programs of ARCHITECTURE, by Debian's name, run here by emulation."""
    return architecture == "arm64" and os.uname().machine != "aarch64"


def debootstrap(what, packages, into, *options, emulated=False, suite=SUITE):
    """Packages of SUITE and what they need, unpacked to INTO/root by mmdebstrap; EMULATED: with programs of arm64."""
    aptconf = into / "apt.conf"
    # Ways to a mirror may have a password in them.
    aptconf.touch(mode=0o600)
    aptconf.write_text(transport_options())
    sources = into / "sources.list"
    sources.write_text(debian_sources(suite))
    by = []
    if emulated:
        # mmdebstrap looks for a program that would tell it that they run.
        by, options = [EMULATED], [*options, "--skip=check/qemu"]
    run_tool([*by, "mmdebstrap", "--mode=root", "--format=directory", f"--aptopt={aptconf}",
              "--skip=cleanup/reproducible", f"--include={','.join(packages)}", *options, suite,
              into / "root", sources], what)
    for path in (aptconf, sources):
        path.unlink()
    return into / "root"
