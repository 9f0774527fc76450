# SPDX-License-Identifier: LGPL-2.1-or-later
"""Boot a kernel with only busybox. The guest loads modules, and powers off. The only result is the
output on the console."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from . import LaneError, guest
from .kernel import write_initrd

INIT = Path(__file__).resolve().parents[2] / "kunit" / "init"
# The guest writes this line before it unloads the modules and powers off.
DONE = "kunit-lane: done"


def write_modules(loads, path):
    """Write the second archive of an initramfs: the init script, and each MODULE.ko with its arguments in one
    line."""
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        root = Path(scratch) / "root"
        (root / "kunit").mkdir(parents=True)
        (root / "debug").mkdir()
        shutil.copy(INIT, root / "kunit" / "init")
        lines = []
        for module, *arguments in loads:
            shutil.copy(module, root / "kunit" / Path(module).name)
            lines.append(" ".join([Path(module).name, *arguments]) + "\n")
        (root / "kunit" / "load").write_text("".join(lines))
        write_initrd(root, path)


def argv_of(kernel, initrd):
    common = "panic=-1 rdinit=/kunit/init"
    if kernel.build and (kernel.build / "arch" / "um").is_dir():
        return [str(kernel.image), "mem=512M", f"initrd={initrd}", "con=null", "console=tty0",
                "con0=null,fd:1", "ssl=null", *common.split()]
    accel = guest.accelerator("amd64")
    return ["qemu-system-x86_64", *guest.ACCELERATION[accel], "-cpu", guest.amd64_cpu(accel),
            "-smp", "2", "-m", "1024", "-machine", "q35", "-nodefaults", "-no-user-config",
            "-display", "none", "-no-reboot", "-serial", "stdio",
            "-kernel", str(kernel.image), "-initrd", str(initrd),
            # A busy host delays timer interrupts, which must not cause a panic.
            "-append", f"{guest.PATIENCE} {guest.amd64_clock(accel)} console=ttyS0 {common}"]


def boot(kernel, loads, out_dir):
    """Boot, load each of LOADS (a path and arguments), and return the console's output."""
    out_dir.mkdir(parents=True, exist_ok=True)
    modules, initrd = out_dir / "modules.img", out_dir / "initrd.img"
    write_modules(loads, modules)
    # Consecutive archives are unpacked one after the other.
    initrd.write_bytes(kernel.initrd.read_bytes() + modules.read_bytes())
    log = out_dir / "console.log"
    argv = argv_of(kernel, initrd)
    with open(log, "wb") as console:
        try:
            subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=console, check=False,
                           stderr=subprocess.STDOUT, timeout=guest.JOB_SECONDS, cwd=out_dir)
        except FileNotFoundError:
            raise LaneError(f"{argv[0]} is not installed (make deps)") from None
        except subprocess.TimeoutExpired:
            console.write(b"\nkunit-lane: the machine did not end in time\n")
    modules.unlink()
    initrd.unlink()
    return log.read_text(errors="replace").replace("\r", "")
