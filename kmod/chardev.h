/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /dev/speprof: arguments come in here, and are checked here.
 */
#ifndef SPEPROF_CHARDEV_H
#define SPEPROF_CHARDEV_H

/**
 * speprof_chardev_init() - register the device; nothing of the module's init may fail after it
 *
 * Return: 0; otherwise a negative errno, and the device was never open.
 */
int speprof_chardev_init(void);

/** speprof_chardev_deinit() - no descriptor is open, and none can be opened after this */
void speprof_chardev_deinit(void);

#endif
