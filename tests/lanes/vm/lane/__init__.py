# SPDX-License-Identifier: LGPL-2.1-or-later
"""The VM lane: stock Debian kernels under QEMU, with systemd as PID 1."""


class LaneError(Exception):
    """The lane cannot work here. The text is one sentence for the user."""
