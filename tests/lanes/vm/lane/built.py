# SPDX-License-Identifier: LGPL-2.1-or-later
"""Build kernels from Debian's source with checkers that Debian's own kernels lack."""

import inspect
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from . import LaneError
from .apt import candidates, unpack
from .cache import cache_root, cached, content_key, run_tool
from .kernel import GUEST, Kernel, new_initrd, write_initrd

LANES = Path(__file__).resolve().parents[2]
# Folders of the kernel's source that are not needed to build a module.
NOT_FOR_MODULES = ("Documentation", "LICENSES", "block", "certs", "crypto", "drivers", "fs", "init",
                   "io_uring", "ipc", "lib", "mm", "net", "rust", "samples", "security", "sound",
                   "usr", "virt")


@dataclass(frozen=True)
class Recipe:
    """Describe how a variant is built. CONFIGS may set options that a version lacks; REQUIRED options must
    exist."""
    arch: str
    image: str
    configs: tuple
    required: tuple
    edits: tuple = ()


# On a processor with AMX, ptrace() transfers 11,008 bytes of registers, or fails. Up to 6.12, UML
# reserves too little memory for them, and its init dies at the first system call. Some of these
# buffers are on stacks, so KERNEL_STACK_ORDER in um.config is larger, too.
UML = Recipe("um", "linux", ("kunit/configs/um.config",),
             ("KUNIT", "MODULES", "HOSTFS", "IO_URING", "DEBUG_FS"),
             (("arch/x86/um/user-offsets.c", "DEFINE_LONGS(HOST_FP_SIZE, 2696);",
               "DEFINE_LONGS(HOST_FP_SIZE, 12288);"),))
# The daemon's BPF programs need these: BTF, tp_btf and fentry.
BPF = ("DEBUG_INFO_BTF", "BPF_EVENTS", "DYNAMIC_FTRACE_WITH_DIRECT_CALLS")
RECIPES = {
    "kasan": Recipe("x86_64", "arch/x86/boot/bzImage",
                    ("vm/configs/x86.config", "vm/configs/x86-systemd.config",
                     "vm/configs/x86-kasan.config"),
                    ("KASAN", "PROVE_LOCKING", "DEBUG_KMEMLEAK", "UBSAN", "MODULES", "VIRTIO_BLK",
                     "EXT4_FS", "CGROUPS", "IO_URING", "KUNIT", "SMP", *BPF)),
    "kcsan": Recipe("x86_64", "arch/x86/boot/bzImage",
                    ("vm/configs/x86.config", "vm/configs/x86-systemd.config",
                     "vm/configs/x86-kcsan.config"),
                    ("KCSAN", "PROVE_LOCKING", "MODULES", "VIRTIO_BLK", "EXT4_FS", "CGROUPS",
                     "IO_URING", "SMP", *BPF)),
    "uml": UML,
    "uml-debug": Recipe(UML.arch, UML.image, (*UML.configs, "kunit/configs/um-debug.config"),
                        (*UML.required, "KASAN", "PROVE_LOCKING", "UBSAN", "UBSAN_BOUNDS"),
                        UML.edits),
}
NAME = re.compile(r"(\d+\.\d+)-([a-z-]+)")


@dataclass
class Variant:
    series: str
    name: str
    package: str
    version: str

    @property
    def cache_name(self):
        return f"kernel-{self.series}-{self.name}"

    @property
    def recipe(self):
        return RECIPES[self.name]

    @property
    def fragments(self):
        return [LANES / c for c in self.recipe.configs]

    @property
    def key(self):
        # The key contains the functions that build a variant, and not the whole file, so that a new variant
        # does not rebuild the others.
        steps = [inspect.getsource(step) for step in (make, edit, strip_tree, build_variant)]
        return content_key(self.version, self.recipe, *steps, GUEST / "init", *self.fragments)


def find_variant(kernel):
    """Return the Variant with a name such as 6.12-kasan; None if KERNEL is no such name."""
    match = NAME.fullmatch(kernel)
    if not match or match[2] not in RECIPES:
        return None
    found = candidates(f"^linux-source-{re.escape(match[1])}$")
    if not found:
        raise LaneError(f"the package lists have no linux-source-{match[1]}")
    version, package = found[-1]
    return Variant(match[1], match[2], package, version)


def is_cached(variant):
    return (cache_root() / f"{variant.cache_name}-{variant.key}").is_dir()


def has_ccache():
    return bool(shutil.which("ccache"))


def ccache_env(base):
    """Return variables that make ccache use our cache, and hit it whatever directory BASE is.

    Debug information then has the paths of another build, which does not matter for these kernels.
    """
    return {"CCACHE_DIR": str(cache_root().parent / "ccache"), "CCACHE_BASEDIR": str(base),
            "CCACHE_MAXSIZE": "3G", "CCACHE_NOHASHDIR": "1"}


def make(recipe, source, log, *args):
    env = dict(os.environ, **ccache_env(source), KBUILD_BUILD_TIMESTAMP="1970-01-01",
               KBUILD_BUILD_USER="speprof", KBUILD_BUILD_HOST="speprof")
    argv = ["nice", "-n", "10", "make", "-s", f"ARCH={recipe.arch}", "O=build", *args]
    if subprocess.run(argv, cwd=source, env=env, stdin=subprocess.DEVNULL, stdout=log,
                      stderr=subprocess.STDOUT, check=False).returncode:
        raise LaneError(f"make {args[-1]} of the kernel failed: see {log.name}")


def check_config(path, variant):
    have = set(path.read_text().splitlines())
    missing = [o for o in variant.recipe.required if f"CONFIG_{o}=y" not in have]
    if missing:
        raise LaneError(f"the {variant.name} kernel came out without {', '.join(missing)}")


def edit(recipe, source):
    for name, before, after in recipe.edits:
        text = (source / name).read_text()
        if text.count(before) != 1:
            raise LaneError(f"{name} of the kernel has {before!r} not once, but {text.count(before)} times")
        (source / name).write_text(text.replace(before, after))


def strip_tree(source):
    """Keep only the files that out-of-tree modules are built with: 200 MB instead of 3 GB."""
    for name in NOT_FOR_MODULES:
        shutil.rmtree(source / name, ignore_errors=True)
    build = source / "build"
    tools = (build / "scripts", build / "tools")
    for path in build.rglob("*"):
        if path.suffix in (".o", ".a", ".cmd") and not any(t in path.parents for t in tools):
            path.unlink()
    for name in ("vmlinux", "vmlinux.unstripped"):
        (build / name).unlink(missing_ok=True)


def build_variant(variant, into):
    scratch = into / "scratch"
    unpack(variant.package, variant.version, scratch / "deb", scratch)
    source = into / "source"
    source.mkdir()
    tarball = scratch / "deb" / "usr" / "src" / f"linux-source-{variant.series}.tar.xz"
    run_tool(["tar", "-xJf", tarball, "-C", source, "--strip-components=1"], "kernel source")
    edit(variant.recipe, source)

    fragment = scratch / "fragment"
    fragment.write_text("".join(path.read_text() for path in variant.fragments))
    log_path = cache_root() / f"{variant.cache_name}.log"
    compiler = ["CC=ccache gcc"] if has_ccache() else []
    with open(log_path, "w", encoding="utf-8") as log:
        make(variant.recipe, source, log, f"KCONFIG_ALLCONFIG={fragment}", "allnoconfig")
        check_config(source / "build" / ".config", variant)
        make(variant.recipe, source, log, *compiler, f"-j{os.cpu_count()}", "all")
    build = source / "build"
    release = (build / "include/config/kernel.release").read_text().strip()
    shutil.copy(build / variant.recipe.image, into / "vmlinuz")
    (into / "release").write_text(release)
    unpack("busybox-static", None, scratch / "busybox", scratch)
    write_initrd(new_initrd(scratch), into / "initrd")
    shutil.rmtree(scratch)
    strip_tree(source)


def built_kernel(variant):
    if not is_cached(variant):
        print(f"building {variant.package} as {variant.name}: some minutes",
              file=sys.stderr)
    entry = cached(variant.cache_name, variant.key, lambda into: build_variant(variant, into))
    release = (entry / "release").read_text()
    return Kernel(release, entry / "vmlinuz", entry / "initrd", entry / "source" / "build")
