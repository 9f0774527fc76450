/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is known about the value of a register without running the program: an address on the stack,
 * a pointer to a type, a constant, or a multiple of a number.
 */
#ifndef SPEPROF_REGISTER_VALUE_H
#define SPEPROF_REGISTER_VALUE_H

#include "codec/env.h"

/** enum value_kind - kinds of values */
enum value_kind {
	VALUE_NUMBER, /* any multiple of step */
	VALUE_CONSTANT, /* offset */
	VALUE_STACK, /* the canonical frame address, plus offset, plus any multiple of step */
	VALUE_POINTER, /* the address of a type, plus offset, plus any multiple of step */
};

/**
 * struct register_value - what is known about a value
 * @kind: &enum value_kind
 * @type: VALUE_POINTER: number of the type
 * @symbol: VALUE_NUMBER: if not 0, numbers of the same symbol are @step times the same integer
 * @step: VALUE_NUMBER: at least 1; of an address 0, if it has no unknown part
 * @offset: bytes, or the constant
 * @name: VALUE_POINTER: name of the variable or field with the pointer; NULL if there are several
 */
struct register_value {
	u8 kind;
	u32 type;
	u32 symbol;
	u64 step;
	s64 offset;
	const char *name;
};

/** value_make_unknown() - return a value of which nothing is known */
static inline struct register_value value_make_unknown(void)
{
	return (struct register_value){ .kind = VALUE_NUMBER, .step = 1 };
}

/** value_make_constant() - return a constant */
static inline struct register_value value_make_constant(s64 constant)
{
	return (struct register_value){ .kind = VALUE_CONSTANT, .offset = constant };
}

/**
 * value_join() - return what is known if a value is @a or @b
 *
 * A pointer or a null pointer is the pointer, because no access uses a null pointer. The result has
 * no symbol. If @a includes @b, the result is @a.
 */
struct register_value value_join(const struct register_value *a, const struct register_value *b);

/** value_equals() - return whether the same is known about two values */
bool value_equals(const struct register_value *a, const struct register_value *b);

/** value_add() - return @a + @b, or with @subtract @a - @b */
struct register_value value_add(const struct register_value *a, const struct register_value *b,
				bool subtract);

/**
 * value_scale() - return a value times a number
 * @factor: at least 1
 */
struct register_value value_scale(const struct register_value *a, u64 factor);

/** value_multiply() - return @a times @b */
struct register_value value_multiply(const struct register_value *a,
				     const struct register_value *b);

/**
 * value_truncate() - return the low bits of a value, which may be extended with a sign
 * @bits: number of bits, 1 to 64
 */
struct register_value value_truncate(const struct register_value *a, unsigned int bits);

/** value_narrow() - return the low 32 bits of a value, with zeros above them */
struct register_value value_narrow(const struct register_value *a);

#endif
