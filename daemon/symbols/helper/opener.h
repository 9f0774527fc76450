/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The helper that opens files for the one that reads them. */
#ifndef SPEPROF_OPENER_H
#define SPEPROF_OPENER_H

/**
 * opener_serve() - answer requests (open-message.h) until their sender closes
 * @link: descriptor of the socket with requests
 * @hand: that of the socket to the reader, which gets the descriptors
 */
void __attribute__((noreturn)) opener_serve(int link, int hand);

#endif
