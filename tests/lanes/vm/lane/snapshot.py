# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Snapshots of guests that have booted and wait for their job: QEMU's migration stream, and an overlay
with the boot's writes to the root disk. A boot under emulation takes half a minute; to restore a
snapshot takes a second.
"""

import dataclasses
import json
import os
import shlex
import subprocess
import time
from pathlib import Path

from . import LaneError, guest, rootfs, verdict
from .cache import cached, content_key, run_tool
from .counter import counter_khz

STATE, ROOT, BACKING = "state", "root.qcow2", "root.ext4"
# Time limits of the boot, and of QEMU's exit after the snapshot is saved.
BOOT_SECONDS, QUIT_SECONDS = 900, 60


class Monitor:
    """QEMU's machine protocol on a process's standard input and output."""

    def __init__(self, process):
        self.process = process
        self.read()
        self.ask("qmp_capabilities")

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise LaneError("QEMU exited")
        return json.loads(line)

    def ask(self, command, **arguments):
        request = {"execute": command, "arguments": arguments}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        while True:
            answer = self.read()
            if "error" in answer:
                raise LaneError(f"QEMU's {command}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]


def is_ready(directory):
    live = directory / "live.log"
    return live.exists() and guest.READY in live.read_text(errors="replace")


def wait_ready(process, directory):
    """Wait until the guest reports that it waits for its job."""
    end = time.monotonic() + BOOT_SECONDS
    while not is_ready(directory):
        if process.poll() is not None:
            raise LaneError(f"QEMU exited {process.returncode} while the guest booted")
        if problem := guest.internal_error(directory):
            raise LaneError(problem)
        if time.monotonic() > end:
            raise LaneError(f"the guest did not boot within {BOOT_SECONDS} s")
        time.sleep(0.1)


def save(monitor, path):
    """
    Stop the guest and save it.

    If the CPUs run meanwhile, QEMU 7.2 can miss their last writes to memory: then each restored guest finds the
    same corrupted kernel.
    """
    monitor.ask("stop")
    monitor.ask("migrate-set-parameters", **{"max-bandwidth": 1 << 40})
    monitor.ask("migrate", uri=f"exec:cat >{shlex.quote(str(path))}")
    while (now := monitor.ask("query-migrate"))["status"] != "completed":
        if now["status"] in ("failed", "cancelled"):
            raise LaneError(f"QEMU cannot save the guest: {now.get('error-desc', now['status'])}")
        time.sleep(0.1)
    monitor.ask("quit")
    # QEMU may keep tables of the overlay in memory until it closes the disk.
    try:
        monitor.process.wait(QUIT_SECONDS)
    except subprocess.TimeoutExpired:
        raise LaneError(f"QEMU did not end within {QUIT_SECONDS} s") from None


def complaint(directory):
    """Return the kernel's first warning during the boot, or None, and whether a further boot may pass."""
    console = (directory / "console.log").read_text(errors="replace")
    lines = verdict.bad_lines(console)
    return lines[0] if lines else None, bool(verdict.foreign_failure(console))


def boot_once(machine, into):
    """Boot MACHINE until it waits for its job, and save it. Return what complaint() returns."""
    disks = [into / "in", into / "out"]
    for disk, size in zip(disks, (guest.IN_DISK_BYTES, guest.OUT_DISK_BYTES)):
        disk.touch()
        os.truncate(disk, size)
    # Without the state of the stopped source, the restored guest runs at once.
    argv = [*guest.qemu_argv(machine, into, *disks), "-qmp", "stdio", "-global", "migration.store-global-state=off"]
    with open(into / "qemu.log", "wb") as log, \
         subprocess.Popen(argv, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=log) as process:
        try:
            monitor = Monitor(process)
            wait_ready(process, into)
            save(monitor, into / STATE)
        except LaneError:
            if process.poll() in guest.CRASHES:
                return f"QEMU crashed with signal {-process.returncode}", True
            raise
        finally:
            process.kill()
    for disk in disks:
        disk.unlink()
    return complaint(into)


def make(machine, into):
    (into / BACKING).symlink_to(machine.root)
    for left in reversed(range(verdict.BOOTS)):
        (into / ROOT).unlink(missing_ok=True)
        run_tool(["qemu-img", "create", "-q", "-f", "qcow2", "-b", BACKING, "-F", "raw", into / ROOT],
                 "root disk of the booted guest")
        what, may_pass = boot_once(dataclasses.replace(machine, root=into / ROOT), into)
        if not what:
            return
        if not (may_pass and left):
            raise LaneError(f"the guest did not boot: {what}")
        print(f"AGAIN booted-{machine.kernel.release}: {what}", flush=True)


def booted(machine):
    """Return MACHINE with the snapshot of it from the cache, in which it waits for its job."""
    version = run_tool(["qemu-system-x86_64", "--version"], "QEMU").splitlines()[0]
    parts = [str(getattr(machine, field.name)) for field in dataclasses.fields(machine)]
    # A restored guest relies on the frequency of the host's counter. Measurements of it differ by less
    # than the 10 MHz to which it is rounded here.
    key = content_key(version, *parts, str(round(counter_khz() or 0, -4)), Path(__file__), Path(guest.__file__), Path(rootfs.__file__))
    entry = cached("booted-amd64", key, lambda into: make(machine, into))
    return dataclasses.replace(machine, root=entry / ROOT, state=entry / STATE)
