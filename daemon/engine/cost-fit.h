/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fits a line through the last measurements of a cost. The cost has a fixed part, and a part that
 * is proportional to the sampled bytes. A longer sampling interval lowers only the proportional
 * part.
 */
#ifndef SPEPROF_COST_FIT_H
#define SPEPROF_COST_FIT_H

/**
 * struct cost_fit - weighted sums over the last periods; all 0 before the first
 * @weight: sum of the weights of all periods: the last one has weight 1, each earlier one three
 *	quarters of the weight of its successor
 * @x, @y: weighted sums of bytes and cost
 * @xx, @xy: weighted sums of the products bytes * bytes and bytes * cost
 * @fixed: cost that does not depend on the bytes; at most the mean cost
 * @age: number of periods since the bytes last varied enough to compute @fixed
 */
struct cost_fit {
	double weight;
	double x;
	double y;
	double xx;
	double xy;
	double fixed;
	unsigned int age;
};

/**
 * cost_fit_add() - add a period and fit again
 * @bytes: sampled bytes a second, in the period
 * @cost: cost in ns a second, in the same period
 *
 * If the bytes of the periods vary too little, the slope is unknown. @fit->fixed then keeps its
 * value for five minutes, and is 0 afterwards. Any further cost counts as proportional, until a
 * longer interval shows that the cost is fixed.
 */
void cost_fit_add(struct cost_fit *fit, double bytes, double cost);

/**
 * cost_fit_slope() - return the proportional cost of a byte in ns, 0 or more; 0 before the first
 * byte
 */
double cost_fit_slope(const struct cost_fit *fit);

#endif
