# SPDX-License-Identifier: LGPL-2.1-or-later
"""From what a VM handed out to passed, failed and why. Nothing is ever retried."""

import re

BAD_LINE = re.compile(r"BUG:|WARNING:|UBSAN:|Oops|possible circular|possible recursive|"
                      r"suspicious RCU|KASAN|KCSAN|kmemleak|leaked|detected stall")
# What a kernel built with these checkers says of itself when it boots.
HARMLESS = re.compile(r"kmemleak: (Kernel memory leak detector initialized|"
                      r"Automatic memory scanning thread started)")

PASSED, JOB_FAILED, USAGE, KERNEL_COMPLAINED, TIMED_OUT, DID_NOT_RUN, LANE_BROKEN = range(7)
SKIPPED = 77
# timeout(1) in the guest, by TERM and by KILL
GUEST_TIMEOUT = (124, 137)


def bad_lines(text):
    return [line for line in text.splitlines()
            if BAD_LINE.search(line) and not HARMLESS.search(line)]


def judge(result, console):
    """(exit status, one sentence, lines that prove it)"""
    dmesg = result.files.get("dmesg", "")
    lines = bad_lines(dmesg) or bad_lines(console)
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
