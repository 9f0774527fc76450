# SPDX-License-Identifier: LGPL-2.1-or-later
"""Write the device tree of an arm64 guest: QEMU's own, with SPUs added."""

import re

from .cache import run_tool

NODE = "/spe-pmu"
COMPATIBLE = "arm,statistical-profiling-extension-v1"
# Cells of an interrupt: type (0 SPI, 1 PPI), number, flags (4: level-triggered, active high). All
# cells are hexadecimal.
PPI = ("1", "5", "4")
SPI = ("0", "64", "4")
SPUS = {"none": (), "ppi": (PPI,), "spi": (SPI,), "no-interrupt": (None,),
        # This machine has two kinds of CPUs. Their PPIs share a number.
        "partitioned": (PPI, PPI), "acpi": (PPI,)}
# No driver matches this node. speprof_trap.ko reads it and creates the device, like ACPI would.
ACPI = "speprof,spe-of-acpi"
# First phandle of the added nodes. QEMU's own phandles begin at 0x8000.
PARTITION_HANDLE = 0x9001


def longer_interrupts(text):
    """Return the source of a tree with a fourth cell in each interrupt: 0, which means no partition."""
    def widen(cells, entry, what):
        assert len(cells) % entry == 0, what
        return " ".join(" ".join([*cells[i:i + entry], "0x00"])
                        for i in range(0, len(cells), entry))

    text = re.sub(r"(\binterrupts = <)([^>]*)>",
                  lambda m: m[1] + widen(m[2].split(), 3, m[0]) + ">", text)
    # An entry of interrupt-map has 10 cells: 4 of the child, 1 for the parent, 2 of the parent's
    # address, and 3 of its interrupt.
    text = re.sub(r"(\binterrupt-map = <)([^>]*)>",
                  lambda m: m[1] + widen(m[2].split(), 10, m[0]) + ">", text)
    return text.replace("#interrupt-cells = <0x03>", "#interrupt-cells = <0x04>")


def cpu_handles(text):
    """Return the CPUs' phandles in the order of their numbers."""
    found = re.findall(r"\bcpu@([0-9a-f]+) \{\s*(?:[^{}]*\s)?phandle = <(0x[0-9a-f]+)>", text)
    return [handle for _, handle in sorted(found, key=lambda pair: int(pair[0], 16))]


def partition_interrupts(path):
    """Partition the tree's PPIs into CPUs with even and with odd numbers. Return the phandles of both."""
    text = run_tool(["dtc", "-q", "-I", "dtb", "-O", "dts", path], "device tree")
    source = path.with_suffix(".dts")
    source.write_text(longer_interrupts(text))
    run_tool(["dtc", "-q", "-I", "dts", "-O", "dtb", "-o", path, source], "device tree")
    controller = "/" + re.search(r"\bintc@[0-9a-f]+", text)[0]
    run_tool(["fdtput", "-c", path, f"{controller}/ppi-partitions"], "device tree")
    cpus, handles = cpu_handles(text), []
    for i, half in enumerate((cpus[0::2], cpus[1::2])):
        node = f"{controller}/ppi-partitions/interrupt-partition-{i}"
        handles.append(hex(PARTITION_HANDLE + i))
        run_tool(["fdtput", "-c", path, node], "device tree")
        run_tool(["fdtput", "-t", "x", path, node, "affinity", *half], "device tree")
        run_tool(["fdtput", "-t", "x", path, node, "phandle", handles[i]], "device tree")
    return handles


def write_device_tree(qemu, spu, path):
    """
    Dump the tree of the machine that the arguments QEMU define, add SPUs and write it to PATH.

    The tree lists the machine's CPUs and devices, so each machine needs a tree of its own.
    """
    index = qemu.index("-machine") + 1
    dump = [*qemu[:index], f"{qemu[index]},dumpdtb={path}", *qemu[index + 1:]]
    run_tool([*dump, "-display", "none"], "device tree")
    partitions = partition_interrupts(path) if spu == "partitioned" else []
    for i, interrupt in enumerate(SPUS[spu]):
        node = f"{NODE}-{i}" if i else NODE
        run_tool(["fdtput", "-c", path, node], "device tree")
        run_tool(["fdtput", "-t", "s", path, node, "compatible",
                  ACPI if spu == "acpi" else COMPATIBLE], "device tree")
        if interrupt:
            run_tool(["fdtput", "-t", "x", path, node, "interrupts", *interrupt,
                      *partitions[i:i + 1]], "device tree")
