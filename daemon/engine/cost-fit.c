// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cost-fit.h"

/* Weight of a period relative to its successor. */
#define DECAY 0.75

/*
 * If the bytes have not varied for this number of periods (five minutes), the fixed part counts as
 * unknown.
 */
#define FIXED_PERIODS 60

/* Minimum standard deviation of the bytes, relative to their mean, for a usable slope. */
#define VARIATION 0.1

static double clamp(double value, double least, double most)
{
	return value < least ? least : value > most ? most : value;
}

void cost_fit_add(struct cost_fit *fit, double bytes, double cost)
{
	double x, y, variance, slope;

	if (++fit->age > FIXED_PERIODS)
		fit->fixed = 0;
	fit->weight = fit->weight * DECAY + 1;
	fit->x = fit->x * DECAY + bytes;
	fit->y = fit->y * DECAY + cost;
	fit->xx = fit->xx * DECAY + bytes * bytes;
	fit->xy = fit->xy * DECAY + bytes * cost;
	x = fit->x / fit->weight;
	y = fit->y / fit->weight;
	variance = fit->xx / fit->weight - x * x;
	if (variance > x * x * VARIATION * VARIATION) {
		slope = (fit->xy / fit->weight - x * y) / variance;
		fit->fixed = y - clamp(slope, 0, y / x) * x;
		fit->age = 0;
	}
	/* If there were no bytes, there is no proportional part. */
	fit->fixed = x > 0 ? clamp(fit->fixed, 0, y) : y;
}

double cost_fit_slope(const struct cost_fit *fit)
{
	return fit->x > 0 ? (fit->y - fit->fixed * fit->weight) / fit->x : 0;
}
