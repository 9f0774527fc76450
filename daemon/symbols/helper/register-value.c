// SPDX-License-Identifier: LGPL-2.1-or-later
#include "register-value.h"

#include <string.h>

/* Larger steps are replaced by 1, which is always correct, so that no product overflows. */
#define STEP_MAX (1ULL << 31)

/* Return the greatest common divisor; 0 and a number have the number. */
static u64 compute_divisor(u64 a, u64 b)
{
	while (b) {
		u64 rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static u64 get_magnitude(s64 number)
{
	return number < 0 ? 0 - (u64)number : (u64)number;
}

static struct register_value make_number(u64 step, u32 symbol)
{
	if (step > STEP_MAX)
		return value_make_unknown();
	if (!step)
		return value_make_constant(0);
	return (struct register_value){ .kind = VALUE_NUMBER, .step = step, .symbol = symbol };
}

/* Return the number of which a constant or a number is a multiple; 0 for the constant 0. */
static u64 get_step(const struct register_value *a)
{
	if (a->kind == VALUE_CONSTANT)
		return get_magnitude(a->offset);
	return a->kind == VALUE_NUMBER ? a->step : 1;
}

static bool is_address(const struct register_value *a)
{
	return a->kind == VALUE_STACK || a->kind == VALUE_POINTER;
}

/* Return an address plus @constant, and plus any multiple of @step. */
static struct register_value move_address(const struct register_value *a, u64 constant, u64 step)
{
	struct register_value value = *a;

	value.offset = (s64)((u64)a->offset + constant);
	value.step = step > STEP_MAX ? 1 : step;
	return value;
}

static bool is_null(const struct register_value *a)
{
	return a->kind == VALUE_CONSTANT && !a->offset;
}

static bool names_equal(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

struct register_value value_join(const struct register_value *a, const struct register_value *b)
{
	struct register_value value;
	u64 distance;

	if (is_address(a) && is_null(b))
		return *a;
	if (is_address(b) && is_null(a))
		return *b;
	if (a->kind == VALUE_CONSTANT && value_equals(a, b))
		return *a;
	if (!is_address(a) && !is_address(b))
		return make_number(compute_divisor(get_step(a), get_step(b)), 0);
	if (a->kind != b->kind || a->type != b->type)
		return value_make_unknown();
	distance = get_magnitude((s64)((u64)a->offset - (u64)b->offset));
	value = move_address(a, 0, compute_divisor(compute_divisor(a->step, b->step), distance));
	if (!names_equal(a->name, b->name))
		value.name = NULL;
	return value;
}

bool value_equals(const struct register_value *a, const struct register_value *b)
{
	return a->kind == b->kind && a->type == b->type && a->symbol == b->symbol &&
	       a->step == b->step && a->offset == b->offset && names_equal(a->name, b->name);
}

static struct register_value add_numbers(const struct register_value *a,
					 const struct register_value *b, bool subtract)
{
	u64 sum;

	if (a->kind == VALUE_CONSTANT && b->kind == VALUE_CONSTANT)
		return value_make_constant((s64)(subtract ? (u64)a->offset - (u64)b->offset :
							    (u64)a->offset + (u64)b->offset));
	if (b->kind == VALUE_CONSTANT && !b->offset)
		return *a;
	if (a->kind == VALUE_CONSTANT && !a->offset && !subtract)
		return *b;
	if (a->symbol && a->symbol == b->symbol) {
		sum = subtract ? a->step - b->step : a->step + b->step;
		/* A negative multiple of an integer is a multiple of another integer. */
		return (s64)sum < 0 ? make_number(0 - sum, 0) : make_number(sum, a->symbol);
	}
	return make_number(compute_divisor(get_step(a), get_step(b)), 0);
}

struct register_value value_add(const struct register_value *a, const struct register_value *b,
				bool subtract)
{
	if (!is_address(a) && !is_address(b))
		return add_numbers(a, b, subtract);
	if (!subtract && is_address(b) && !is_address(a))
		return value_add(b, a, false);
	if (is_address(b))
		return value_make_unknown();
	if (b->kind == VALUE_CONSTANT)
		return move_address(a, subtract ? 0 - (u64)b->offset : (u64)b->offset, a->step);
	return move_address(a, 0, compute_divisor(a->step, b->step));
}

struct register_value value_scale(const struct register_value *a, u64 factor)
{
	if (factor == 1)
		return *a;
	if (a->kind == VALUE_CONSTANT)
		return value_make_constant((s64)((u64)a->offset * factor));
	if (factor > STEP_MAX)
		return value_make_unknown();
	return a->kind == VALUE_NUMBER ? make_number(a->step * factor, a->symbol) :
					 make_number(factor, 0);
}

struct register_value value_multiply(const struct register_value *a, const struct register_value *b)
{
	if (a->kind == VALUE_CONSTANT && a->offset > 0)
		return value_scale(b, (u64)a->offset);
	if (b->kind == VALUE_CONSTANT && b->offset > 0)
		return value_scale(a, (u64)b->offset);
	return value_make_unknown();
}

struct register_value value_truncate(const struct register_value *a, unsigned int bits)
{
	if (bits == 64)
		return *a;
	if (a->kind == VALUE_CONSTANT)
		return a->offset >> (bits - 1) ? value_make_unknown() : *a;
	if (a->kind != VALUE_NUMBER)
		return value_make_unknown();
	/* Multiples of a power of two remain multiples of it without the high bits. */
	return make_number(a->step & (0 - a->step), 0);
}

struct register_value value_narrow(const struct register_value *a)
{
	if (a->kind == VALUE_CONSTANT)
		return value_make_constant((s64)(u32)a->offset);
	return value_truncate(a, 32);
}
