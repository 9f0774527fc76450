/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* speprof emulate --run: sample an aarch64 program with an emulated SPU. */
#ifndef SPEPROF_EMULATE_RUN_H
#define SPEPROF_EMULATE_RUN_H

/** emulate_run_program() - parse the arguments of the verb with --run, and run it; see verb.h */
int emulate_run_program(int argc, char **argv);

#endif
