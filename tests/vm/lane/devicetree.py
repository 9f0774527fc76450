# SPDX-License-Identifier: LGPL-2.1-or-later
"""The device tree of an arm64 guest: QEMU's own and an SPU, which QEMU does not have."""

from .cache import run_tool

NODE = "/spe-pmu"
COMPATIBLE = "arm,statistical-profiling-extension-v1"
# type (0 SPI, 1 PPI), number, flags (4: level, high)
PPI = ("1", "5", "4")
SPI = ("0", "100", "4")
SPUS = {"none": None, "ppi": PPI, "spi": SPI, "no-interrupt": ()}


def write_device_tree(qemu, spu, path):
    """
    Dump the tree of the machine that the arguments QEMU make, add an SPU and write it to PATH.

    It names the machine's CPUs and devices, so it is made anew for each machine.
    """
    index = qemu.index("-machine") + 1
    dump = [*qemu[:index], f"{qemu[index]},dumpdtb={path}", *qemu[index + 1:]]
    run_tool([*dump, "-display", "none"], "device tree")
    interrupt = SPUS[spu]
    if interrupt is None:
        return
    run_tool(["fdtput", "-c", path, NODE], "device tree")
    run_tool(["fdtput", "-t", "s", path, NODE, "compatible", COMPATIBLE], "device tree")
    if interrupt:
        run_tool(["fdtput", "-t", "i", path, NODE, "interrupts", *interrupt], "device tree")
