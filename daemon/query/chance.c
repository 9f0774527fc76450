// SPDX-License-Identifier: LGPL-2.1-or-later
#include "chance.h"

#include <math.h>

/* The sum ends at a term below this share of it, because further terms do not change the sum. */
#define NEGLIGIBLE 1e-18

static double log_choose(double n, double k)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/*
 * Return the sum of the hypergeometric probabilities of @a, @a + @step, @a + 2 * @step and so on.
 * Of @all_a + @all_b samples, @marked have a property. The probability of k is that k of the first
 * @all_a samples have the property. @step is 1 or -1 and leads away from the mode.
 */
static double compute_hypergeometric_tail(double a, double all_a, double all_b, double marked,
					  double step)
{
	double p = exp(log_choose(all_a, a) + log_choose(all_b, marked - a) -
		       log_choose(all_a + all_b, marked));
	double sum = 0;

	while (p > NEGLIGIBLE * sum && p > 0) {
		sum += p;
		if (step > 0)
			p *= (all_a - a) * (marked - a) / ((a + 1) * (all_b - marked + a + 1));
		else
			p *= a * (all_b - marked + a) / ((all_a - a + 1) * (marked - a + 1));
		a += step;
	}
	return sum;
}

double chance_test_counts(u64 a, u64 all_a, u64 b, u64 all_b)
{
	double marked = (double)a + (double)b, all = (double)all_a + (double)all_b;
	double expected = all > 0 ? marked * (double)all_a / all : 0;
	double p;

	if (!all_a || !all_b || marked <= 0 || marked >= all)
		return 1;
	p = 2 * compute_hypergeometric_tail((double)a, (double)all_a, (double)all_b, marked,
					    (double)a > expected ? 1 : -1);
	return p < 1 ? p : 1;
}

/* Return the number of samples in the buckets from @first on. */
static u64 count_samples_from_bucket(const struct histogram *h, unsigned int first)
{
	u64 count = 0;

	for (unsigned int i = first; i < HISTOGRAM_BUCKETS; i++)
		count += h->bucket[i];
	return count;
}

static double test_counts_from_bucket(const struct histogram *a, double scale_a,
				      const struct histogram *b, double scale_b, unsigned int first)
{
	return chance_test_counts((u64)((double)count_samples_from_bucket(a, first) * scale_a),
				  (u64)((double)a->count * scale_a),
				  (u64)((double)count_samples_from_bucket(b, first) * scale_b),
				  (u64)((double)b->count * scale_b));
}

/* Return the mean of the squared values. Each sample counts with the upper bound of its bucket. */
static double mean_square(const struct histogram *h)
{
	double sum = 0;

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		sum += (double)h->bucket[i] * histogram_get_upper_bound(i) *
		       histogram_get_upper_bound(i);
	return sum / (double)h->count;
}

static double test_mean_difference(const struct histogram *a, double n_a, const struct histogram *b,
				   double n_b)
{
	double mean_a = (double)a->sum / (double)a->count;
	double mean_b = (double)b->sum / (double)b->count;
	double mean = (mean_a * n_a + mean_b * n_b) / (n_a + n_b);
	double square = (mean_square(a) * n_a + mean_square(b) * n_b) / (n_a + n_b);
	double variance = (square - mean * mean) * (1 / n_a + 1 / n_b);

	return variance > 0 ? erfc(fabs(mean_a - mean_b) / sqrt(2 * variance)) : 1;
}

double chance_test_means(const struct histogram *a, double scale_a, const struct histogram *b,
			 double scale_b)
{
	double n_a = (double)a->count * scale_a, n_b = (double)b->count * scale_b;
	double least = 1, of_means;
	unsigned int powers = 0;

	if (n_a < 1 || n_b < 1)
		return 1;
	of_means = test_mean_difference(a, n_a, b, n_b);
	for (unsigned int power = 0; power < 16; power++) {
		unsigned int first = histogram_get_bucket((u16)(1U << power)) + 1;
		u64 above =
			count_samples_from_bucket(a, first) + count_samples_from_bucket(b, first);
		double p;

		if (!above || above == a->count + b->count)
			continue;
		powers++;
		p = test_counts_from_bucket(a, scale_a, b, scale_b, first);
		least = p < least ? p : least;
	}
	least *= powers;
	least = least < 1 ? least : 1;
	return of_means > least ? of_means : least;
}

double chance_test_tails(const struct histogram *a, double scale_a, const struct histogram *b,
			 double scale_b)
{
	struct histogram both = *a;
	double above, from;
	unsigned int first;

	if (!a->count || !b->count)
		return 1;
	histogram_merge(&both, b);
	first = histogram_get_bucket((u16)histogram_get_quantile(&both, 990));
	above = test_counts_from_bucket(a, scale_a, b, scale_b, first + 1);
	from = test_counts_from_bucket(a, scale_a, b, scale_b, first);
	above = 2 * (above < from ? above : from);
	return above < 1 ? above : 1;
}

double chance_find_limit(const double *p, u32 count, double rate)
{
	for (u32 i = count; i > 0; i--)
		if (p[i - 1] <= rate * i / count)
			return p[i - 1];
	return -1;
}
