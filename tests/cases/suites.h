/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The suites of core/, for both runners. */
#ifndef SPE_CASES_SUITES_H
#define SPE_CASES_SUITES_H

#include "check.h"

extern const struct spe_suite spe_suite_window;
extern const struct spe_suite spe_suite_syndrome;
extern const struct spe_suite spe_suite_collect;
extern const struct spe_suite spe_suite_report;
extern const struct spe_suite spe_suite_spu_config;
extern const struct spe_suite spe_suite_spu_sampling;
extern const struct spe_suite spe_suite_spu_record;
extern const struct spe_suite spe_suite_spu_buffer;
extern const struct spe_suite spe_suite_spu_filter;
extern const struct spe_suite spe_suite_spu_levels;
extern const struct spe_suite spe_suite_opmodel;
extern const struct spe_suite spe_suite_synthetic;

#endif
