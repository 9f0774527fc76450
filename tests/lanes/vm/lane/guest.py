# SPDX-License-Identifier: LGPL-2.1-or-later
"""One boot: files in by a tar on one disk, results out by a tar on another."""

import io
import os
import re
import shlex
import signal
import subprocess
import tarfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import LaneError
from .counter import counter_khz
from .devicetree import write_device_tree

# A restored guest knows the sizes of both disks from its snapshot, so they are fixed. The input disk is sparse.
IN_DISK_BYTES, OUT_DISK_BYTES = 4 << 30, 256 << 20
# guest/ci-run writes this line to the second serial port when the guest waits for its job.
READY = "ci-run: waits for its job"
# Time limits of a job, and of the boot and the transfer of results together. They only end guests
# that hang: a busy machine may need ten times as long as an idle one.
JOB_SECONDS = 3600
BOOT_SECONDS = 900
# A busy host stops a guest's CPUs for many seconds, which the guest cannot tell from a lockup. So the
# guest reports a lockup after two minutes: a deadlock lasts longer. no_timer_check: a stopped CPU
# also makes x86 believe that its timer does not tick.
PATIENCE = "watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=120 no_timer_check"
# An oops ends the guest at once: a guest seldom shuts down after an oops, and the console has the report.
COMMAND_LINE = ("oops=panic panic=-1 quiet loglevel=4 log_buf_len=4M printk.devkmsg=on "
                "random.trust_cpu=on audit=0 net.ifnames=0 systemd.show_status=0 " + PATIENCE)
ACCELERATION = {"kvm": ["-accel", "kvm"],
                "tcg": ["-accel", "tcg,thread=multi"],
                # Linux 7 finds corrupted lists of its scheduler if QEMU 7.2 emulates CPUs in parallel.
                "serial": ["-accel", "tcg,thread=single"],
                # The guest's clock counts instructions: one is a nanosecond.
                "icount": ["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off"]}


# Signals that end a program for an error of its own.
CRASHES = (-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT)
# QEMU writes this line, stops the guest's CPUs and does not end.
INTERNAL_ERROR = re.compile(r"KVM internal error.*")
# How often the runner reads what QEMU wrote, in seconds.
POLL_SECONDS = 1


@dataclass
class Machine:
    """
    A virtual machine. root is None if the guest has only its initramfs. cpu, el2 and spu apply to arm64
    only. If state names a migration stream, the guest is restored from it and waits for its job.
    """
    kernel: object
    root: Path
    smp: int = 2
    mem: int = 1024
    accel: str = "tcg"
    append: str = ""
    arch: str = "amd64"
    cpu: str = "max"
    el2: bool = False
    spu: str = "ppi"
    nodes: int = 1
    state: Path = None


@dataclass
class Limits:
    """Seconds. The guest ends a job after `job`; the host ends the VM after job + rest."""
    job: int
    rest: int = BOOT_SECONDS


@dataclass
class Result:
    """The results of one job. status is None if the job did not run to its end."""
    status: int = None
    timed_out: bool = False
    exit_qemu: int = 0
    problem: str = ""
    files: dict = field(default_factory=dict)


def add_file(tar, source, name):
    try:
        info = tar.gettarinfo(str(source), name.lstrip("/"))
    except OSError as err:
        raise LaneError(f"--file {source}: {err.strerror}") from None
    if info is None:
        raise LaneError(f"--file {source}: not a file, a directory or a link")
    info.uid = info.gid = 0
    info.uname = info.gname = "root"
    if info.isreg():
        with open(source, "rb") as content:
            tar.addfile(info, content)
        return
    tar.addfile(info)
    if info.isdir():
        for child in sorted(os.listdir(source)):
            add_file(tar, Path(source) / child, f"{name}/{child}")


def add_bytes(tar, name, data, mode=0o644):
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(data), mode
    tar.addfile(info, io.BytesIO(data))


def write_input(path, job, args, files, limit, kept):
    """
    Write the input disk: the job and its files, as a tar archive.

    If the guest is restored from a snapshot (KEPT), the disk has the size that the snapshot knows, and
    a file with the present time. Other guests get a short disk, since busybox's tar would read all of it.
    """
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT, dereference=False) as tar:
        add_bytes(tar, "ci/limit", f"{limit}\n".encode())
        if kept:
            add_bytes(tar, "ci/now", f"{time.time():.3f}\n".encode())
        command = "#!/bin/sh\nexec /ci/program \"$@\"\n"
        if args:
            quoted = " ".join("'" + a.replace("'", "'\\''") + "'" for a in args)
            command = f"#!/bin/sh\nexec /ci/program {quoted}\n"
        add_bytes(tar, "ci/job", command.encode(), 0o755)
        add_bytes(tar, "ci/program", Path(job).read_bytes(), 0o755)
        for source, target in files:
            add_file(tar, source, target)
    if not kept:
        return
    if path.stat().st_size > IN_DISK_BYTES:
        raise LaneError(f"the job's files have {path.stat().st_size} bytes; the input disk has {IN_DISK_BYTES}")
    os.truncate(path, IN_DISK_BYTES)


def accelerator(arch, release=""):
    """
    The name in ACCELERATION for a guest that boots kernel RELEASE: TCG, unless SPEPROF_VM_ACCEL names another.

    KVM is used only on request: /dev/kvm may exist and still not boot a guest (Documentation/internal/testing.md).
    """
    asked = os.environ.get("SPEPROF_VM_ACCEL")
    if arch != "amd64":
        return "icount" if asked == "icount" else "tcg"
    return asked or ("serial" if re.match(r"[7-9]\.", release) else "tcg")


def memory_nodes(machine):
    """Return QEMU's arguments for NUMA nodes: equal shares of the memory, and CPUs in turn."""
    argv = []
    for node in range(machine.nodes if machine.nodes > 1 else 0):
        cpus = ",".join(f"cpus={cpu}" for cpu in range(node, machine.smp, machine.nodes))
        argv += ["-object", f"memory-backend-ram,id=node{node},size={machine.mem // machine.nodes}M",
                 "-numa", f"node,nodeid={node},memdev=node{node},{cpus}"]
    return argv


def amd64_clock(accel):
    """
    Kernel parameters for the time-stamp counter of an amd64 guest.

    A guest that was stopped for long finds its counter unstable, and patches sched_clock() while all
    CPUs run it: QEMU may then execute a breakpoint that the kernel has removed (testing.md).
    """
    return f"tsc=reliable tsc_early_khz={counter_khz()}" if accel in ("tcg", "serial") else "tsc=reliable"


def amd64_cpu(accel):
    """Return the argument of -cpu for the accelerator ACCEL."""
    return "host" if accel == "kvm" else "max,la57=off"


def machine_amd64(machine, out_dir):
    # With the older machine type a kernel with kmemleak spends 40 s in ACPI's interpreter.
    return ["qemu-system-x86_64", *ACCELERATION[machine.accel], "-cpu", amd64_cpu(machine.accel),
            "-smp", machine.smp, "-m", machine.mem, "-machine", "q35", *memory_nodes(machine),
            "-nodefaults", "-no-user-config",
            "-serial", f"file:{out_dir / 'console.log'}",
            "-serial", f"file:{out_dir / 'live.log'}"], "ttyS0"


def machine_arm64(machine, out_dir):
    # With QEMU's own algorithm for pointer authentication, a boot takes half as long.
    cpu = "max,pauth-impdef=on" if machine.cpu == "max" else machine.cpu
    virt = "virt,gic-version=3" + (",virtualization=on" if machine.el2 else "")
    argv = ["qemu-system-aarch64", *ACCELERATION[machine.accel], "-cpu", cpu,
            "-smp", str(machine.smp), "-m", str(machine.mem), "-machine", virt,
            *memory_nodes(machine), "-nodefaults", "-no-user-config"]
    tree = out_dir / "machine.dtb"
    write_device_tree(argv, machine.spu, tree)
    return [*argv, "-dtb", tree, "-serial", f"file:{out_dir / 'console.log'}"], "ttyAMA0"


def qemu_argv(machine, out_dir, in_disk, out_disk):
    make = {"amd64": machine_amd64, "arm64": machine_arm64}[machine.arch]
    argv, console = make(machine, out_dir)
    clock = amd64_clock(machine.accel) if machine.arch == "amd64" else None
    argv += ["-display", "none", "-no-reboot",
             "-kernel", machine.kernel.image, "-initrd", machine.kernel.initrd,
             "-append", " ".join(filter(None, (f"console={console}", COMMAND_LINE, clock, machine.append)))]
    # While a snapshot is made, the root disk is an overlay that must receive all writes.
    overlay = bool(machine.root) and machine.root.suffix == ".qcow2"
    kept = overlay and not machine.state
    disks = (("root", machine.root, "qcow2" if overlay else "raw", "off" if kept else "on"),
             ("in", in_disk, "raw", "off,readonly=on"), ("out", out_disk, "raw", "off"))
    for slot, (name, path, form, snapshot) in enumerate(disks, start=4):
        if path:
            argv += ["-drive", f"file={path},format={form},if=none,id={name},cache=unsafe,snapshot={snapshot}",
                     "-device", f"virtio-blk-pci,drive={name},serial={name},addr={slot:#x}"]
    if machine.state:
        argv += ["-incoming", f"exec:cat {shlex.quote(str(machine.state))}"]
    return [str(a) for a in argv]


def read_output(path, out_dir, result):
    try:
        with tarfile.open(path, "r:") as tar:
            for member in tar:
                name = os.path.normpath(member.name)
                if member.isreg() and "/" not in name:
                    data = tar.extractfile(member).read()
                    (out_dir / name).write_bytes(data)
                    result.files[name] = data.decode(errors="replace")
    except tarfile.TarError:
        result.problem = "the guest wrote no results to its output disk"
        return
    status = result.files.get("status", "").strip()
    if status.isdigit():
        result.status = int(status)


def internal_error(out_dir):
    """Return why QEMU stopped the guest's CPUs; "" if it did not."""
    found = INTERNAL_ERROR.search((out_dir / "qemu.log").read_text(errors="replace"))
    return f"QEMU stopped the guest: {found[0].strip()}" if found else ""


def run_qemu(argv, seconds, out_dir, result):
    """Run QEMU until it ends, stops the guest's CPUs, or SECONDS have passed."""
    end = time.monotonic() + seconds
    with open(out_dir / "qemu.log", "wb") as log, \
         subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT) as process:
        try:
            while not result.problem and not result.timed_out:
                try:
                    result.exit_qemu = process.wait(POLL_SECONDS)
                    return
                except subprocess.TimeoutExpired:
                    result.problem = internal_error(out_dir)
                    result.timed_out = time.monotonic() >= end
        finally:
            process.kill()


def boot(machine, job, args, files, limits, out_dir):
    """Run one job in one VM and return its Result; files of the run end up in out_dir."""
    in_disk, out_disk = out_dir / "in.tar", out_dir / "out.tar"
    write_input(in_disk, job, args, files, limits.job, bool(machine.state))
    with open(out_disk, "wb") as disk:
        disk.truncate(OUT_DISK_BYTES)
    result = Result()
    argv = qemu_argv(machine, out_dir, in_disk, out_disk)
    try:
        run_qemu(argv, limits.job + limits.rest, out_dir, result)
    except FileNotFoundError:
        raise LaneError(f"{argv[0]} is not installed (make deps)") from None
    if result.exit_qemu and result.exit_qemu not in CRASHES:
        lines = (out_dir / "qemu.log").read_text(errors="replace").splitlines()
        raise LaneError(f"QEMU exited {result.exit_qemu}: {lines[-1] if lines else 'no output'}")
    if not result.timed_out and not result.problem and not result.exit_qemu:
        read_output(out_disk, out_dir, result)
    in_disk.unlink()
    out_disk.unlink()
    return result
