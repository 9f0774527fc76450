# SPDX-License-Identifier: LGPL-2.1-or-later
"""
An arm64 guest that boots into systemd on a root disk, as amd64 guests do. This is a file of its own
because a change of kernel.py or rootfs.py makes all their cache entries again.
"""

import shutil
from pathlib import Path

from . import kernel, rootfs
from .apt import debootstrap, is_emulated, unpack
from .cache import cached, content_key, run_tool

ARCH = "arm64"
# Without arm_spe_pmu: udev would load it.
BOOT_MODULES = ("virtio_pci", "virtio_blk", "ext4", "crc32c_generic")


def write_boot(initrd, modules, release, extra):
    """Copy into INITRD the modules that it loads to reach the root disk, and EXTRA modules for the guest."""
    target = initrd / "lib" / "modules" / release
    order = kernel.load_order(modules, BOOT_MODULES)
    paths = [kernel.copy_module(modules / p, target / p).relative_to(initrd) for p in order]
    (initrd / "load-order").write_text("".join(f"/{p}\n" for p in paths))
    for path in kernel.load_order(modules, extra):
        kernel.copy_module(modules / path, target / path)
    for name in ("modules.order", "modules.builtin", "modules.builtin.modinfo"):
        shutil.copy(modules / name, target / name)
    run_tool(["depmod", "-b", initrd, release], "module dependencies of the initramfs")


def build_kernel(release, extra, into):
    """Fill a cache entry with vmlinuz and initrd."""
    scratch = into / "scratch"
    image, modules = kernel.unpack_release(release, scratch / "kernel", scratch)
    unpack(f"busybox-static:{ARCH}", None, scratch / "busybox", scratch)
    shutil.copyfile(image, into / "vmlinuz")
    # The init script of amd64, which mounts the disk and executes the disk's init.
    initrd = kernel.new_initrd(scratch, "amd64")
    write_boot(initrd, modules, release.name, extra)
    kernel.write_initrd(initrd, into / "initrd")
    shutil.rmtree(scratch)


def stock_kernel(name, flavour, extra):
    """Return the newest Debian kernel of a series, or the release with exactly that name, from the cache."""
    release = kernel.find_release(name, flavour, ARCH)
    key = content_key(*release.packages, release.version, " ".join(sorted(extra)), Path(__file__),
                      kernel.GUEST / kernel.INIT["amd64"])
    entry = cached(f"kernel-systemd-{release.name}", key, lambda into: build_kernel(release, extra, into))
    return kernel.Kernel(release.name, entry / "vmlinuz", entry / "initrd")


def build_rootfs(packages, into):
    root = debootstrap("root image", packages, into, "--variant=minbase", f"--architectures={ARCH}",
                       *rootfs.NO_DOCS, emulated=is_emulated(ARCH))
    rootfs.configure(root)
    run_tool(["mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-m", "0", "-d", root,
              into / "root.ext4", rootfs.DISK_SIZE], "root disk")
    shutil.rmtree(root)


def root_disk(extra=()):
    """Return the root disk with the packages of amd64 and the extra ones, from the cache."""
    packages = sorted(set(rootfs.PACKAGES) | set(extra))
    own = sorted(p for p in kernel.GUEST.iterdir() if not p.name.startswith("init"))
    key = content_key(" ".join(packages), Path(__file__), Path(rootfs.__file__), *own)
    return cached(f"root-{ARCH}", key, lambda into: build_rootfs(packages, into)) / "root.ext4"
