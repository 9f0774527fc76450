# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Find and unpack Debian packages from the mirrors of the machine's own apt configuration. Nothing is installed.

The package lists are shared with scripts/kernel-headers, so that modules are built against the
headers of the kernel that a guest boots. They are those of Debian 12 on every machine, unless the
caller names another suite. A root directory that runs programs built here has the machine's own
release instead (host_release()).
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
# Debian release of the package lists.
SUITE = "bookworm"
LISTS_SECONDS = 12 * 3600
# This script runs a command whose programs are built for arm64 on another machine.
EMULATED = Path(__file__).resolve().parents[1] / "emulated"


def lists_root():
    return cache_root().parent / "headers"


def host_release():
    """Return the code name of the Debian release that this machine runs."""
    found = re.search(r"^VERSION_CODENAME=(\S+)$", Path("/etc/os-release").read_text(), re.MULTILINE)
    return found[1] if found else SUITE


def lists_of(suite):
    """Return the directory with the package lists of SUITE, which scripts/kernel-headers also uses."""
    return lists_root() / ("apt" if suite == SUITE else f"apt-{suite}")


def apt_options(suite):
    apt = lists_of(suite)
    # Debian's container images configure apt without a cache, so that each call would parse all lists.
    return ["-q", "-o", "APT::Architectures::=amd64", "-o", "APT::Architectures::=arm64",
            "-o", f"Dir::State::Lists={apt}/lists", "-o", f"Dir::Cache={apt}",
            "-o", f"Dir::Etc::SourceList={apt}/sources.list", "-o", "Dir::Etc::SourceParts=/dev/null",
            "-o", "Dir::Cache::pkgcache=pkgcache.bin", "-o", "Dir::Cache::srcpkgcache=srcpkgcache.bin",
            "-o", "APT::Sandbox::User=", "-o", "Acquire::Languages=none"]


@functools.cache
def refresh_lists(suite):
    """Update the lists of SUITE twice a day. Without a network, use the old ones."""
    apt = lists_of(suite)
    stamp = apt / "lists.stamp"
    for part in ("lists/partial", "archives/partial"):
        (apt / part).mkdir(parents=True, exist_ok=True)
    with open(lists_root() / ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and (os.environ.get("SPEPROF_OFFLINE") or
                               time.time() - stamp.stat().st_mtime < LISTS_SECONDS):
            return
        try:
            (apt / "sources.list").write_text(debian_sources(suite))
            run_tool(["apt-get", *apt_options(suite), "update"], "package lists")
            stamp.touch()
        except LaneError:
            if not stamp.exists():
                raise


def apt_tool(tool, *args, suite=SUITE, **kwargs):
    """Run an apt command on the lists of SUITE in the cache."""
    refresh_lists(suite)
    return run_tool([tool, *apt_options(suite), *args], "package lists", **kwargs)


def debian_sources(suite):
    """Return the one-line sources of a release, from this machine's mirrors."""
    return run_tool([ROOT / "scripts" / "debian-sources", suite], f"sources of {suite}")


def transport_options():
    """Return this machine's settings to reach its mirror, such as proxies, as lines of apt.conf."""
    wanted = re.compile(r"Acquire::(https?::|Check-|Retries)")
    dump = run_tool(["apt-config", "dump"], "apt configuration")
    return "".join(line + "\n" for line in dump.splitlines() if wanted.match(line))


def newer(a, b):
    return subprocess.run(["dpkg", "--compare-versions", a, "gt", b], check=False).returncode == 0


def candidates(pattern, suite=SUITE):
    """Return (version, package) of every package in SUITE with a name that matches, oldest first."""
    names = [line.split(" ", 1)[0] for line in
             apt_tool("apt-cache", "search", "--names-only", pattern, suite=suite).splitlines()]
    if not names:
        return []
    found = []
    package = None
    for line in apt_tool("apt-cache", "policy", *names, suite=suite).splitlines():
        if line and not line.startswith(" "):
            package = line.rstrip(":")
        elif line.startswith("  Candidate: ") and not line.endswith("(none)"):
            found.append((line.split()[1], package))
    order = functools.cmp_to_key(lambda a, b: newer(a[0], b[0]) - newer(b[0], a[0]))
    return sorted(found, key=order)


def unpack(package, version, into, scratch, suite=SUITE):
    """Download PACKAGE from SUITE and unpack it into a directory, without installing it."""
    scratch.mkdir(parents=True, exist_ok=True)
    apt_tool("apt-get", "download", f"{package}={version}" if version else package,
             suite=suite, cwd=scratch)
    deb = next(scratch.glob(f"{package.partition(':')[0]}_*.deb"))
    run_tool(["dpkg-deb", "-x", deb, into], f"unpacking of {package}")
    deb.unlink()


def is_emulated(architecture):
    """Return true if this machine runs programs of ARCHITECTURE (Debian's name) by emulation."""
    return architecture == "arm64" and os.uname().machine != "aarch64"


def debootstrap(what, packages, into, *options, emulated=False, suite=SUITE):
    """
    Install PACKAGES of SUITE and their dependencies into INTO/root by mmdebstrap. Return that path.

    EMULATED: the programs in it are those of arm64, and this machine emulates them.
    """
    aptconf = into / "apt.conf"
    # The settings and addresses of a mirror may contain a password.
    aptconf.touch(mode=0o600)
    aptconf.write_text(transport_options())
    sources = into / "sources.list"
    sources.write_text(debian_sources(suite))
    by = []
    if emulated:
        # mmdebstrap would search for arch-test, to test that such programs run.
        by, options = [EMULATED], [*options, "--skip=check/qemu"]
    run_tool([*by, "mmdebstrap", "--mode=root", "--format=directory", f"--aptopt={aptconf}",
              "--skip=cleanup/reproducible", f"--include={','.join(packages)}", *options, suite,
              into / "root", sources], what)
    for path in (aptconf, sources):
        path.unlink()
    return into / "root"
