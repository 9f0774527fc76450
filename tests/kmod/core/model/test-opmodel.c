// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cases/suites.h"
#include "kmod/core/case-runner.h"

int main(void)
{
	return run_suite_of_cases(&spe_suite_opmodel);
}
