/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The character device /dev/speprof.
 */
#ifndef SPEPROF_CHARDEV_H
#define SPEPROF_CHARDEV_H

/**
 * speprof_chardev_init() - register the device
 *
 * The last step of the module's init that may fail: the device may be opened at once.
 *
 * Return: 0, or a negative errno: then the device was never registered.
 */
int speprof_chardev_init(void);

/**
 * speprof_chardev_deinit() - unregister the device. The module's use count says that none is open
 */
void speprof_chardev_deinit(void);

#endif
