/* SPDX-License-Identifier: GPL-2.0-only */
#include "kmod/kernel/devices.h"
