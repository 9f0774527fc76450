/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /dev/speprof: arguments come in here, and are checked here.
 */
#ifndef SPEPROF_CHARDEV_H
#define SPEPROF_CHARDEV_H

int chardev_init(void);
void chardev_deinit(void);

#endif
