// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cases/suites.h"
#include "kmod/core/case-runner.h"

int main(void)
{
	return run_suite_of_cases(&spe_suite_spu_config) |
	       run_suite_of_cases(&spe_suite_spu_sampling) |
	       run_suite_of_cases(&spe_suite_spu_record) |
	       run_suite_of_cases(&spe_suite_spu_buffer) |
	       run_suite_of_cases(&spe_suite_spu_filter) |
	       run_suite_of_cases(&spe_suite_spu_levels) | run_suite_of_cases(&spe_suite_inject) |
	       run_suite_of_cases(&spe_suite_property) | run_suite_of_cases(&spe_suite_faults) |
	       run_suite_of_cases(&spe_suite_edges);
}
