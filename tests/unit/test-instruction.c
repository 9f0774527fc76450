// SPDX-License-Identifier: LGPL-2.1-or-later
#include "case-runner.h"
#include "suites.h"

int main(void)
{
	return case_suite_run(&spe_suite_instruction) | case_suite_run(&spe_suite_accesses) |
	       case_suite_run(&spe_suite_collected) | case_suite_run(&spe_suite_spu_walk) |
	       case_suite_run(&spe_suite_reach) | case_suite_run(&spe_suite_instruction_property);
}
