# SPDX-License-Identifier: LGPL-2.1-or-later
"""Headers and libraries of the other architecture, unpacked and not installed."""

import shutil
from pathlib import Path

from .apt import debootstrap
from .cache import cached, content_key

# Packages that the build of userspace needs (scripts/deps build and test), and those of the compiler.
PACKAGES = ("libc6-dev", "libgcc-12-dev", "libcmocka-dev", "libelf-dev", "libjson-c-dev",
            "libsystemd-dev", "liburing-dev", "libbpf-dev", "zlib1g-dev", "libdw-dev",
            "liblzma-dev", "libiberty-dev", "libseccomp-dev", "libsqlite3-dev", "libncurses-dev")


def unpack(architecture, packages, into):
    # mmdebstrap runs no program in this variant, so binfmt_misc is not needed.
    debootstrap(f"sysroot of {architecture}", packages, into, "--variant=extract",
                f"--architectures={architecture}")
    shutil.rmtree(into / "root/dev", ignore_errors=True)


def sysroot(architecture, packages=PACKAGES):
    """Return the folder with packages of @architecture and their dependencies, from the cache."""
    key = content_key(" ".join(packages), Path(__file__))
    entry = cached(f"sysroot-{architecture}", key,
                   lambda into: unpack(architecture, packages, into))
    return entry / "root"
