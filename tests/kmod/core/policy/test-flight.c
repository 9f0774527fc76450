// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cases/suites.h"
#include "kmod/core/case-runner.h"

int main(void)
{
	return case_suite_run(&spe_suite_flight);
}
