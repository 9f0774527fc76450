/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The help of a verb: usage, options and examples. */
#ifndef SPEPROF_HELP_H
#define SPEPROF_HELP_H

#include <stdio.h>

#include "codec/env.h"

/**
 * help_print() - print usage, each option, and two examples
 * @verb: name of the verb
 * @synopsis: its arguments
 * @help: description in one line
 * @width: columns of the terminal; 0: lines of any length
 */
void help_print(FILE *out, const char *verb, const char *synopsis, const char *help, size_t width);

#endif
