# SPDX-License-Identifier: LGPL-2.1-or-later
"""Build for arm64 on an amd64 machine: packages, modules, the SPUs of tests/lanes/vm/trap, and programs."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from parts import ROOT, copy_root, root_of
from lane.cache import run_tool

# dpkg assumes that these packages are installed.
TOOLCHAIN = ("build-essential", "crossbuild-essential-arm64")


def build_depends():
    """Return the build dependencies of debian/control: libraries for arm64, programs for this machine."""
    text = re.search(r"^Build-Depends:\n((?: .*\n)+)", (ROOT / "debian/control").read_text(), re.M)[1]
    for name, native in re.findall(r"^ ([a-z0-9.+-]+)(:native)?", text, re.M):
        if name in ("debhelper-compat", "dh-sequence-installsysusers"):
            yield "debhelper"
        elif name.startswith("dh-sequence-"):
            yield name.replace("sequence-", "")
        elif not native and (name.endswith("-dev") or name == "pkg-config"):
            yield f"{name}:arm64"
        else:
            yield name


def stage_source(own):
    """Copy the files that git lists into a root. Return the timestamp of its packages."""
    (own / "speprof").mkdir()
    run_tool(["sh", "-c", 'git -C "$1" ls-files -z | tar -C "$1" --null -T - -cf - | tar -C "$2" -xf -',
              "sh", ROOT, own / "speprof"], "source")
    return run_tool(["git", "-C", ROOT, "log", "-1", "--format=%ct"], "source").strip()


def build(out, versions):
    """Build both versions into OUT/VERSION, in one copy of the root, which is then removed. Return the
    errors."""
    root = root_of(sorted({*TOOLCHAIN, *build_depends()}), "amd64,arm64")
    with tempfile.TemporaryDirectory(dir=out) as scratch:
        own = Path(scratch) / "root"
        copy_root(root, out, (), own)
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root",
                       "SOURCE_DATE_EPOCH": stage_source(own)}
        for version in versions:
            done = subprocess.run(
                ["unshare", "--mount", "--pid", "--fork", f"--root={own}", "--mount-proc",
                 "/speprof/scripts/build-deb", "-a", "arm64", "-v", version, "-o", f"/debs/{version}"],
                env=environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, check=False)
            if done.returncode:
                return done.stdout[-4000:]
            shutil.rmtree(out / version, ignore_errors=True)
            shutil.copytree(own / "debs" / version, out / version,
                            ignore=shutil.ignore_patterns("source"))
    return ""


def module(built, folder, series, name, *environment):
    """Return the path of a module that scripts/build-modules makes in a directory of BUILT."""
    target = f"arm64-{series}"
    run_tool(["env", *environment, ROOT / "scripts/build-modules", "-o", built / folder, target], folder)
    return built / folder / target / f"{name}.ko"


def spus(built, series):
    """Return the release of a guest, and the module that provides SPUs there."""
    path = module(built, "trap", series, "speprof_trap", "SPEPROF_TRAP=1")
    return run_tool(["modinfo", "-F", "vermagic", path], "modules").split()[0], path


def demo(built, static=False):
    """Return the two programs for a guest. With STATIC they run in a container without libraries."""
    programs = {Path(f"{built}-arm64/demo/{name}{'-static' * static}"): f"/ci/demo/{name}"
                for name in ("chase", "stream")}
    run_tool([ROOT / "tests/lanes/arm64/cross-build", "--build-only", built, *(f"demo/{path.name}" for path in programs)],
             "programs for arm64")
    return programs
