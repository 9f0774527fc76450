# SPDX-License-Identifier: LGPL-2.1-or-later
"""Provide what the lanes of packages share: verdicts, metadata of packages, and a root to install them in."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "lanes" / "vm"))
from lane import LaneError, apt, inroot  # noqa: E402
from lane.cache import cache_root, cached, content_key, run_tool  # noqa: E402

# A machine has these packages before the installation: systemd, dkms with its signing tool, and a compiler.
MACHINE = ("systemd", "dbus", "kmod", "dkms", "openssl", "gcc", "libc6-dev", "make", "pkg-config")
BUILD_DEB = ROOT / "scripts/build-deb"
SERIES = ("6.1", "6.12")
DEFAULT = "6.12"


def verdict(name, complaint=""):
    """Print the verdict. Return true if there is no complaint."""
    print(f"{'FAIL' if complaint else 'PASS'} {name}{': ' + complaint if complaint else ''}",
          flush=True)
    return not complaint


def project_version():
    text = (ROOT / "meson.build").read_text()
    return re.search(r"^  version : '(.*)',", text, re.M)[1]


def complaint_of(argv):
    """Return the output of a command that fails; "" if it succeeds."""
    done = subprocess.run(argv, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    return (done.stdout[-4000:] or "no output") if done.returncode else ""


def build_root(suite):
    """Return the root of a Debian SUITE in which packages are built and checked."""
    text = run_tool([ROOT / "scripts/deps", "--print", "deb"], "list of packages")
    return inroot.bare_root(suite, sorted({*text.split(), "ccache", "git"}))


def complaint_in(root, folder, argv):
    """Run a command in ROOT, with this tree and FOLDER mounted at their own paths. Return its output if it
    fails."""
    # The compilers of all releases share the directory: ccache distinguishes them.
    ccache = cache_root().parent / "ccache-debian13"
    ccache.mkdir(parents=True, exist_ok=True)
    # The repository of a git worktree is in another directory.
    git = Path(run_tool(["git", "-C", ROOT, "rev-parse", "--path-format=absolute", "--git-common-dir"],
                        "repository").strip())
    binds = [(path, str(path).lstrip("/")) for path in dict.fromkeys((ROOT, git, folder))]
    environment = ["CCACHE_DIR=/mnt/ccache", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory",
                   "GIT_CONFIG_VALUE_0=*"]
    done = inroot.run_in(root, [*binds, (ccache, "mnt/ccache")], ["env", *environment, *argv], text=True,
                         errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return (done.stdout[-4000:] or "no output") if done.returncode else ""


def complaint_on_debian12(folder, argv):
    """Run a command that builds or checks packages of Debian 12: here if this machine runs it, else in a root.
    Packages that are built on a later release depend on libraries that Debian 12 does not have."""
    if apt.host_release() == apt.SUITE:
        return complaint_of(argv)
    return complaint_in(build_root(apt.SUITE), folder, list(map(str, argv)))


def lintian_command(out):
    return ["lintian", "--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0",
            *map(str, out.glob("*.changes"))]


def lintian(out):
    return complaint_on_debian12(out, lintian_command(out))


def depends(debs):
    """Return the names of the packages that these packages need, without themselves."""
    names = set()
    for package in debs:
        text = run_tool(["dpkg-deb", "-f", package, "Depends"], "dependencies")
        names |= {re.match(r"[a-z0-9.+-]+", d.strip())[0] for d in text.split(",") if d.strip()}
    return sorted(names - {package.name.split("_")[0] for package in debs})


def libraries(names):
    """Return the packages that speprof's packages need and that a root of the VM lane does not have."""
    return [f"--package={name}" for name in names if name.startswith("lib")]


def headers(series, flavour, suite=apt.SUITE):
    """Return the package with the newest headers of SERIES in SUITE, and its release."""
    names = [name.partition(":")[0] for _, name in
             apt.candidates(rf"^linux-headers-{re.escape(series)}\.[0-9][0-9.+a-z]*(-[0-9]+)?-{flavour}$", suite)]
    if not names:
        raise LaneError(f"the package lists have no headers of {series} for {flavour}")
    return names[-1], names[-1].removeprefix("linux-headers-")


# Packages of headers depend on the kernel. Omit the modules of that kernel, for which depmod would
# take 24 minutes under emulation.
NO_MODULES = "--dpkgopt=path-exclude=/lib/modules/*/kernel/*"


def root_of(packages, architectures="amd64", options=(), suite=apt.SUITE):
    """Return the root of a Debian SUITE with PACKAGES, from the cache. OPTIONS are options of mmdebstrap."""
    key = content_key(suite, " ".join((*packages, *options)), Path(apt.__file__))
    return cached(f"packages-{architectures.replace(',', '-')}", key, lambda into: apt.debootstrap(
        "root for packages", packages, into, f"--architectures={architectures}", "--variant=minbase",
        *options, emulated=apt.is_emulated(architectures), suite=suite)) / "root"


def copy_root(root, debs, versions, own):
    run_tool(["cp", "-a", "--reflink=auto", root, own], "copy of the root")
    (own / "debs").mkdir()
    for version in dict.fromkeys(versions):
        target = own / "debs" / version
        target.mkdir()
        for package in (debs / version).glob("*.deb"):
            shutil.copy(package, target)
    shutil.copy(ROOT / "tests/lanes/packages/in-root", own / "debs/in-root")


def run_in(root, debs, versions, releases, by=()):
    """
    Run in-root in a copy of ROOT. The copy is removed, except for DKMS's modules, which are saved in DEBS. BY
    is the command that runs programs of the root.
    """
    with tempfile.TemporaryDirectory(dir=debs) as scratch:
        own = Path(scratch) / "root"
        copy_root(root, debs, versions, own)
        # The root has its own /proc, which is unmounted when the namespaces end.
        inside = ["unshare", "--mount", "--pid", "--fork", f"--root={own}", "--mount-proc",
                  "/debs/in-root", *versions, *releases]
        if by:
            # Mapped users cannot create devices, so the root has none. Bind-mount /dev.
            inside = [*by, "sh", "-c", 'mount --rbind /dev "$0/dev" && exec "$@"', own, *inside]
        done = subprocess.run(inside, stdin=subprocess.DEVNULL, check=False)
        shutil.rmtree(debs / "modules", ignore_errors=True)
        if (own / "debs/modules").is_dir():
            shutil.copytree(own / "debs/modules", debs / "modules")
    return done.returncode == 0
