// SPDX-License-Identifier: LGPL-2.1-or-later
#include "case-runner.h"
#include "suites.h"

int main(void)
{
	return case_suite_run(&spe_suite_event_routing) | case_suite_run(&spe_suite_collection);
}
