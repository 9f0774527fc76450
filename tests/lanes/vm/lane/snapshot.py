# SPDX-License-Identifier: LGPL-2.1-or-later
"""
A guest that has booted, kept at the point where it waits for its job: QEMU's migration stream, and
what the boot wrote to the root disk. A boot under emulation takes half a minute; to go on from
there takes a second.
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
# Once for many jobs, so with more patience than each of them has; and what QEMU may take to end.
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
            raise LaneError("QEMU is gone")
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
    """Until the guest says that it waits for its job."""
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
    """While it runs, as one that was stopped would be when it is gone on from."""
    monitor.ask("migrate-set-parameters", **{"max-bandwidth": 1 << 40})
    monitor.ask("migrate", uri=f"exec:cat >{shlex.quote(str(path))}")
    while (now := monitor.ask("query-migrate"))["status"] != "completed":
        if now["status"] in ("failed", "cancelled"):
            raise LaneError(f"QEMU cannot save the guest: {now.get('error-desc', now['status'])}")
        time.sleep(0.1)
    monitor.ask("quit")
    # It closes the disk, whose tables may be in its memory until then.
    try:
        monitor.process.wait(QUIT_SECONDS)
    except subprocess.TimeoutExpired:
        raise LaneError(f"QEMU did not end within {QUIT_SECONDS} s") from None


def complaint(directory):
    """What the kernel had to complain of while it booted, None, or again where it was QEMU's."""
    console = (directory / "console.log").read_text(errors="replace")
    lines = verdict.bad_lines(console)
    return lines[0] if lines else None, bool(verdict.executed_what_is_not_there(console))


def boot_once(machine, into):
    """Boot MACHINE to where it waits, and save it; what its kernel complained of, and QEMU's part."""
    disks = [into / "in", into / "out"]
    for disk, size in zip(disks, (guest.IN_DISK_BYTES, guest.OUT_DISK_BYTES)):
        disk.touch()
        os.truncate(disk, size)
    argv = [*guest.qemu_argv(machine, into, *disks), "-qmp", "stdio"]
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
        what, emulator = boot_once(dataclasses.replace(machine, root=into / ROOT), into)
        if not what:
            return
        if not (emulator and left):
            raise LaneError(f"the guest did not boot: {what}")
        print(f"AGAIN booted-{machine.kernel.release}: {what}", flush=True)


def booted(machine):
    """MACHINE as it is when it has booted and waits for its job, from the cache."""
    version = run_tool(["qemu-system-x86_64", "--version"], "QEMU").splitlines()[0]
    parts = [str(getattr(machine, field.name)) for field in dataclasses.fields(machine)]
    # A saved guest counts on the frequency of the counter: to 10 MHz, which is above what measuring it varies by.
    key = content_key(version, *parts, str(round(counter_khz() or 0, -4)), Path(__file__), Path(guest.__file__), Path(rootfs.__file__))
    entry = cached("booted-amd64", key, lambda into: make(machine, into))
    return dataclasses.replace(machine, root=entry / ROOT, state=entry / STATE)
