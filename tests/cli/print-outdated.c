// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Print the line of "speprof status" after an upgrade of the module, for a fake machine made of
 * files.
 *
 * usage: print-outdated ROOT
 */
#include "kernel-module.h"

int main(int argc, char **argv)
{
	struct examined_machine machine;

	if (argc != 2)
		return STATUS_USAGE;
	machine_identify(&machine, argv[1]);
	kmod_print_outdated(&machine, stdout);
	return STATUS_OK;
}
