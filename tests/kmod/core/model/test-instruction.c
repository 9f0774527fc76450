// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cases/suites.h"
#include "kmod/core/case-runner.h"

int main(void)
{
	return run_suite_of_cases(&spe_suite_instruction) |
	       run_suite_of_cases(&spe_suite_accesses) | run_suite_of_cases(&spe_suite_collected) |
	       run_suite_of_cases(&spe_suite_spu_translation) |
	       run_suite_of_cases(&spe_suite_sysreg_access) |
	       run_suite_of_cases(&spe_suite_instruction_property);
}
