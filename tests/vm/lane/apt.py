# SPDX-License-Identifier: LGPL-2.1-or-later
"""Debian packages by way of the machine's own apt configuration; nothing is installed."""

import functools
import re
import subprocess

from . import LaneError
from .cache import run_tool

SUITE = "bookworm"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def debian_sources():
    """One-line sources of this suite, as this machine reaches them."""
    out = run_tool(["apt-get", "indextargets", "--format",
                    "$(ORIGIN) $(CODENAME) $(COMPONENT) $(REPO_URI) $(RELEASE)",
                    "Created-By: Packages"], "package sources")
    lines = []
    for fields in (line.split() for line in out.splitlines()):
        if len(fields) != 5:
            continue
        origin, codename, component, uri, release = fields
        if origin == "Debian" and component == "main" and codename.startswith(SUITE):
            lines.append(f"deb [signed-by={KEYRING}] {uri} {release} main")
    if not lines:
        raise LaneError(f"apt has no package lists of Debian {SUITE}: run apt-get update")
    return sorted(set(lines))


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
             run_tool(["apt-cache", "search", "--names-only", pattern],
                      "package lists").splitlines()]
    if not names:
        return []
    found = []
    package = None
    for line in run_tool(["apt-cache", "policy", *names], "package lists").splitlines():
        if line and not line.startswith(" "):
            package = line.rstrip(":")
        elif line.startswith("  Candidate: ") and not line.endswith("(none)"):
            found.append((line.split()[1], package))
    order = functools.cmp_to_key(lambda a, b: newer(a[0], b[0]) - newer(b[0], a[0]))
    return sorted(found, key=order)


def unpack(package, version, into, scratch):
    """Download PACKAGE and unpack it into a directory, without installing it."""
    scratch.mkdir(parents=True, exist_ok=True)
    run_tool(["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download",
              f"{package}={version}" if version else package],
             f"download of {package}", cwd=scratch)
    deb = next(scratch.glob(f"{package}_*.deb"))
    run_tool(["dpkg-deb", "-x", deb, into], f"unpacking of {package}")
    deb.unlink()
