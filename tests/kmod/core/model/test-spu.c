// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cases/suites.h"
#include "kmod/core/case-runner.h"

int main(void)
{
	return case_suite_run(&spe_suite_spu_config) | case_suite_run(&spe_suite_spu_sampling) |
	       case_suite_run(&spe_suite_spu_record) | case_suite_run(&spe_suite_spu_buffer) |
	       case_suite_run(&spe_suite_spu_filter) | case_suite_run(&spe_suite_spu_levels) |
	       case_suite_run(&spe_suite_inject) | case_suite_run(&spe_suite_property) |
	       case_suite_run(&spe_suite_faults) | case_suite_run(&spe_suite_edges);
}
