# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Decide whether a job in a VM passed or failed, and why.

A job runs again only if speprof cannot have caused the failure (EMULATOR): QEMU crashed, executed a
breakpoint that the kernel had removed, or the kernel failed before a module of speprof was loaded.
"""

import re

BAD_LINE = re.compile(r"BUG:|WARNING:|UBSAN:|Oops|possible circular|possible recursive|"
                      r"suspicious RCU|KASAN|KCSAN|kmemleak|leaked|detected stall|\[#\d+\]")
PANIC = "Kernel panic"
# A kernel with these checkers prints these messages when it boots.
HARMLESS = re.compile(r"kmemleak: (Kernel memory leak detector initialized|"
                      r"Automatic memory scanning thread started)")
# A kernel reports an x86 breakpoint that it did not set, and the bytes in memory around it. The byte in < >
# follows the breakpoint.
STRAY_INT3 = re.compile(r"\bint3: 0000 \[#1\]")
CODE = re.compile(r"\bCode: (?:[0-9a-f]{2} )*([0-9a-f]{2}) <[0-9a-f]{2}>")

(PASSED, JOB_FAILED, USAGE, KERNEL_COMPLAINED, TIMED_OUT, DID_NOT_RUN, LANE_BROKEN,
 EMULATOR) = range(8)
SKIPPED = 77
# A report of the kernel names the process, and the kernel's taints. A module from outside the kernel's
# source taints it until the next boot (O).
PROCESS = re.compile(r"\bCPU: \d+ (?:UID: \d+ )?PID: \d+ Comm: ")
UNTAINTED = re.compile(r"\bNot tainted\b")
# Maximum number of boots of one job while speprof cannot be the cause of its failure (testing.md).
BOOTS = 3
# timeout(1) in the guest has these exit statuses after it sent SIGTERM, and after it sent SIGKILL.
GUEST_TIMEOUT = (124, 137)


def bad_lines(text):
    return [line for line in text.splitlines()
            if BAD_LINE.search(line) and not HARMLESS.search(line)]


def first_complaint(text):
    """Return the lines of TEXT from the first error report of the kernel on; [] without one."""
    lines = text.splitlines()
    return next((lines[i:] for i, line in enumerate(lines)
                 if (BAD_LINE.search(line) or PANIC in line) and not HARMLESS.search(line)), [])


def executed_removed_breakpoint(report):
    """
    Return the lines that prove that REPORT is due to a defect of QEMU: it executed a breakpoint from an
    old translation of code that the kernel has changed since. [] if they do not.
    """
    if not report or not STRAY_INT3.search(report[0]):
        return []
    code = next((line for line in report if "Code: " in line), "")
    byte = CODE.search(code)
    return [report[0], code] if byte and byte.group(1) != "cc" else []


def failed_untainted(report):
    """Return the lines that prove that the kernel of REPORT had loaded no module of speprof. [] if they do not."""
    process = next((line for line in report if PROCESS.search(line)), "")
    return [report[0], process] if UNTAINTED.search(process) else []


def foreign_failure(text):
    """Return (sentence, lines that prove it) if speprof cannot have caused the first error report in TEXT; None
    else."""
    report = first_complaint(text)
    for find, sentence in ((executed_removed_breakpoint, "QEMU executed a breakpoint that is not in memory"),
                           (failed_untainted, "the kernel failed before a module of speprof was loaded")):
        if lines := find(report):
            return sentence, lines
    return None


def judge(result, console):
    """Return (exit status, one sentence, lines that prove it)."""
    if result.exit_qemu:
        return EMULATOR, f"QEMU crashed with signal {-result.exit_qemu}", []
    dmesg = result.files.get("dmesg", "")
    complaining = dmesg if bad_lines(dmesg) else console
    if foreign := foreign_failure(complaining):
        return EMULATOR, *foreign
    lines = bad_lines(complaining)
    lines += result.files.get("kmemleak", "").splitlines()
    if lines:
        return KERNEL_COMPLAINED, f"the kernel complained ({len(lines)} lines)", lines
    if PANIC in console:
        lines = [line for line in console.splitlines() if PANIC in line]
        return KERNEL_COMPLAINED, "the kernel panicked", lines
    if result.timed_out:
        return TIMED_OUT, "the VM did not end in time", console.splitlines()[-5:]
    if result.status is None:
        return DID_NOT_RUN, result.problem or "the job did not run", console.splitlines()[-5:]
    if result.status in GUEST_TIMEOUT:
        return TIMED_OUT, "the job did not end in time", []
    if "Linux version" not in dmesg:
        return DID_NOT_RUN, "the start of dmesg is missing, so the run cannot be judged", []
    if result.status == SKIPPED:
        return SKIPPED, "the job reports that it cannot run here", []
    if result.status:
        return JOB_FAILED, f"the job exited {result.status}", []
    return PASSED, "", []
