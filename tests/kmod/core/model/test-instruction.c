// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cases/suites.h"
#include "kmod/core/case-runner.h"

int main(void)
{
	return case_suite_run(&spe_suite_instruction) | case_suite_run(&spe_suite_accesses) |
	       case_suite_run(&spe_suite_collected) | case_suite_run(&spe_suite_spu_translation) |
	       case_suite_run(&spe_suite_sysreg_access) | case_suite_run(&spe_suite_instruction_property);
}
