# SPDX-License-Identifier: LGPL-2.1-or-later
"""
From what a VM handed out to passed, failed and why.

Nothing is ever tried again, but for what QEMU is proven to have done itself (EMULATOR).
"""

import re

BAD_LINE = re.compile(r"BUG:|WARNING:|UBSAN:|Oops|possible circular|possible recursive|"
                      r"suspicious RCU|KASAN|KCSAN|kmemleak|leaked|detected stall|\[#\d+\]")
# Messages of a kernel with these checkers when it boots.
HARMLESS = re.compile(r"kmemleak: (Kernel memory leak detector initialized|"
                      r"Automatic memory scanning thread started)")
# The report of an x86 breakpoint that the kernel did not set, and the bytes in memory around it. The
# byte in < > follows the breakpoint.
STRAY_INT3 = re.compile(r"\bint3: 0000 \[#1\]")
CODE = re.compile(r"\bCode: (?:[0-9a-f]{2} )*([0-9a-f]{2}) <[0-9a-f]{2}>")

(PASSED, JOB_FAILED, USAGE, KERNEL_COMPLAINED, TIMED_OUT, DID_NOT_RUN, LANE_BROKEN,
 EMULATOR) = range(8)
SKIPPED = 77
# The number of boots of one job while QEMU crashes, or executes a removed breakpoint (testing.md).
BOOTS = 3
# The exit statuses of timeout(1) in the guest if it sent SIGTERM, and if it sent SIGKILL
GUEST_TIMEOUT = (124, 137)


def bad_lines(text):
    return [line for line in text.splitlines()
            if BAD_LINE.search(line) and not HARMLESS.search(line)]


def executed_what_is_not_there(text):
    """
    Return the lines that prove that the first complaint in TEXT is a defect of QEMU: it executed a
    breakpoint from an old translation of code that the kernel has changed since. [] if they do not.
    """
    lines = text.splitlines()
    first = next((i for i, line in enumerate(lines)
                  if BAD_LINE.search(line) and not HARMLESS.search(line)), None)
    if first is None or not STRAY_INT3.search(lines[first]):
        return []
    code = next((line for line in lines[first:] if "Code: " in line), "")
    byte = CODE.search(code)
    return [lines[first], code] if byte and byte.group(1) != "cc" else []


def judge(result, console):
    """Return (exit status, one sentence, lines that prove it)."""
    if result.exit_qemu:
        return EMULATOR, f"QEMU crashed with signal {-result.exit_qemu}", []
    dmesg = result.files.get("dmesg", "")
    complaining = dmesg if bad_lines(dmesg) else console
    lines = executed_what_is_not_there(complaining)
    if lines:
        return EMULATOR, "QEMU executed a breakpoint that is not in memory", lines
    lines = bad_lines(complaining)
    lines += result.files.get("kmemleak", "").splitlines()
    if lines:
        return KERNEL_COMPLAINED, f"the kernel complained ({len(lines)} lines)", lines
    if "Kernel panic" in console:
        lines = [line for line in console.splitlines() if "Kernel panic" in line]
        return KERNEL_COMPLAINED, "the kernel panicked", lines
    if result.timed_out:
        return TIMED_OUT, "the VM did not end in time", console.splitlines()[-5:]
    if result.status is None:
        return DID_NOT_RUN, result.problem or "the job did not run", console.splitlines()[-5:]
    if result.status in GUEST_TIMEOUT:
        return TIMED_OUT, "the job did not end in time", []
    if "Linux version" not in dmesg:
        return DID_NOT_RUN, "the start of dmesg is missing: it cannot be judged", []
    if result.status == SKIPPED:
        return SKIPPED, "the job says it cannot run here", []
    if result.status:
        return JOB_FAILED, f"the job exited {result.status}", []
    return PASSED, "", []
