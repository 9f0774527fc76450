# SPDX-License-Identifier: LGPL-2.1-or-later
"""Boot stock Debian kernels under QEMU, with systemd as PID 1, and run jobs in them."""


class LaneError(Exception):
    """Report that the lane cannot run on this machine. The text is one sentence for the user."""
