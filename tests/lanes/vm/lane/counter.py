# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Measure the frequency of this machine's time-stamp counter, which amd64 guests under TCG read as their own.

A guest measures the counter against QEMU's timers while it boots. On a busy machine QEMU delivers
timers late: guests measured 111 MHz instead of 2600, and their clock ran 23 times too fast.
"""

import ctypes
import functools
import mmap
import os
import time

# rdtsc; shl rdx, 32; or rax, rdx; ret
READ_COUNTER = bytes.fromhex("0f31 48c1e220 4809d0 c3")
NANOSECONDS_APART = 200_000_000


def counter_and_time(read, tries=100):
    """Read the counter and the time at one moment: return the attempt of TRIES that the scheduler disturbed
    least."""
    best = None
    for _ in range(tries):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        counter = read()
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        if best is None or after - before < best[0]:
            best = after - before, counter, (before + after) // 2
    return best[1:]


@functools.cache
def counter_khz():
    """Return the frequency in kHz; None on a machine that is not x86_64."""
    if os.uname().machine != "x86_64":
        return None
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(READ_COUNTER)
    read = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    counter, began = counter_and_time(read)
    while time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - began < NANOSECONDS_APART:
        time.sleep(0.01)
    last_counter, ended = counter_and_time(read)
    return (last_counter - counter) * 1_000_000 // (ended - began)
