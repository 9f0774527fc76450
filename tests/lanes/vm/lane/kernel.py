# SPDX-License-Identifier: LGPL-2.1-or-later
"""Stock Debian kernels, and an initramfs for each."""

import gzip
import lzma
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from . import LaneError
from .apt import SUITE, candidates, unpack
from .cache import cached, content_key, run_tool

GUEST = Path(__file__).resolve().parent.parent / "guest"
# amd64 boots into systemd on a root disk; arm64 stays in its initramfs.
BOOT_MODULES = {"amd64": ("virtio_pci", "virtio_blk", "ext4", "crc32c_generic"),
                "arm64": ("virtio_pci", "virtio_blk", "arm_spe_pmu")}
INIT = {"amd64": "init", "arm64": "init-arm64"}
SERIES = re.compile(r"\d+\.\d+")
# Debian 13's backports have Linux 7. They split linux-image-RELEASE into these packages, which keep
# the kernel itself below /usr/lib/modules/RELEASE.
BACKPORTS = "trixie-backports"
SPLIT = ("linux-binary-unsigned", "linux-modules", "linux-base")


@dataclass(frozen=True)
class Release:
    """A kernel release in Debian, and the packages of SUITE that contain it."""
    name: str
    version: str
    packages: tuple
    suite: str


@dataclass
class Kernel:
    release: str
    image: Path
    initrd: Path
    build: Path = None  # where modules are built, if this kernel is one of ours


def module_name(path):
    return re.sub(r"\.ko(\.[a-z]+)?$", "", Path(path).name).replace("-", "_")


def load_order(tree, wanted):
    """Return the paths below TREE of the wanted modules, each after the modules it depends on."""
    depends = {}
    for line in (tree / "modules.dep").read_text().splitlines():
        path, _, needs = line.partition(":")
        depends[module_name(path)] = (path, [module_name(n) for n in needs.split()])
    order = []

    def add(name):
        if name not in depends:
            return  # built in
        path, needs = depends[name]
        for need in needs:
            add(need)
        if path not in order:
            order.append(path)

    for name in wanted:
        add(name)
    return order


def copy_module(source, target):
    """Copy a module, unpacked: neither busybox nor every kernel reads compressed ones."""
    data = source.read_bytes()
    if source.suffix == ".xz":
        data = lzma.decompress(data)
        target = target.with_suffix("")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    return target


def write_initrd(root, path):
    """Pack ROOT as the initramfs PATH, the same bytes for the same content."""
    raw = path.with_suffix(".cpio")
    run_tool(["sh", "-c", 'find . | sort | cpio -o -H newc -R 0:0 --quiet >"$1"', "sh", raw],
             "initramfs", cwd=root)
    with gzip.GzipFile(path, "wb", compresslevel=1, mtime=0) as out:
        out.write(raw.read_bytes())
    raw.unlink()


def new_initrd(scratch, arch="amd64"):
    """Return a directory with busybox from SCRATCH and our init, without modules."""
    initrd = scratch / "initrd"
    for name in ("bin", "dev", "proc", "sys", "newroot", "lib/modules"):
        (initrd / name).mkdir(parents=True)
    shutil.copy(scratch / "busybox" / "bin" / "busybox", initrd / "bin" / "busybox")
    shutil.copy(GUEST / INIT[arch], initrd / "init")
    (initrd / "init").chmod(0o755)
    (initrd / "load-order").write_text("")
    return initrd


def unpack_release(release, into, scratch):
    """Unpack the packages of RELEASE into a directory. Return the kernel and the modules' directory."""
    for package in release.packages:
        unpack(package, release.version, into, scratch, release.suite)
    if not (into / "lib").exists():
        # Packages of Debian 13 have the modules in /usr/lib, and depmod looks for them in /lib.
        (into / "lib").symlink_to("usr/lib")
    modules = into / "lib" / "modules" / release.name
    run_tool(["depmod", "-b", into, release.name], "module dependencies")
    image = modules / "vmlinuz.unsigned" if release.suite == BACKPORTS else into / "boot" / f"vmlinuz-{release.name}"
    return image, modules


def build_kernel(release, arch, extra, into):
    """Fill a cache entry with vmlinuz, and initrd with the modules that a boot needs."""
    scratch = into / "scratch"
    image, modules = unpack_release(release, scratch / "kernel", scratch)
    unpack(f"busybox-static:{arch}", None, scratch / "busybox", scratch)
    shutil.copyfile(image, into / "vmlinuz")

    initrd = new_initrd(scratch, arch)
    target = initrd / "lib" / "modules" / release.name
    order = load_order(modules, BOOT_MODULES[arch])
    paths = [copy_module(modules / p, target / p).relative_to(initrd) for p in order]
    # The job loads the kernel's own driver of the SPU.
    (initrd / "load-order").write_text("".join(f"/{p}\n" for p in paths
                                               if module_name(p) != "arm_spe_pmu"))
    for path in load_order(modules, extra):
        copy_module(modules / path, target / path)
    for name in ("modules.order", "modules.builtin", "modules.builtin.modinfo"):
        shutil.copy(modules / name, target / name)
    run_tool(["depmod", "-b", initrd, release.name], "module dependencies of the initramfs")
    write_initrd(initrd, into / "initrd")
    shutil.rmtree(scratch)


def find_release(kernel, flavour, arch, stable=SUITE):
    """
    The newest Release of a series such as 6.1, or the Release with exactly this name. Kernels of
    Linux 6 are those of Debian STABLE.
    """
    suffix = {"generic": arch, "cloud": f"cloud-{arch}", "16k": f"{arch}-16k"}[flavour]
    major = re.match(r"\d+", kernel)
    suite = BACKPORTS if major and int(major[0]) >= 7 else stable
    prefix, end = (f"{SPLIT[0]}-", "") if suite == BACKPORTS else ("linux-image-", "-unsigned")
    name = re.escape(kernel)
    if SERIES.fullmatch(kernel):
        name = rf"{name}\.[0-9.+a-z]*(-[0-9]+)?-{suffix}"
    found = candidates(f"^{prefix}{name}{end}$", suite)
    if not found:
        raise LaneError(f"apt knows no Debian kernel {kernel} ({flavour} {arch}) in {suite}: "
                        "name another with --kernel")
    version, package = found[-1]
    name, colon, architecture = package.partition(":")
    release = name.removeprefix(prefix).removesuffix(end)
    packages = (package,)
    if suite == BACKPORTS:
        packages = tuple(f"{part}-{release}{colon}{architecture}" for part in SPLIT)
    return Release(release, version, packages, suite)


def stock_kernel(kernel, flavour, extra, arch="amd64", stable=SUITE):
    """Return the newest Debian kernel of a series, or the release with exactly that name, from the cache."""
    release = find_release(kernel, flavour, arch, stable)
    key = content_key(*release.packages, release.version, " ".join(sorted(extra)), Path(__file__),
                      GUEST / INIT[arch])
    entry = cached(f"kernel-{release.name}", key, lambda into: build_kernel(release, arch, extra, into))
    return Kernel(release.name, entry / "vmlinuz", entry / "initrd")
