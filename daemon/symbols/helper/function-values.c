// SPDX-License-Identifier: LGPL-2.1-or-later
#include "function-values.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "debug-type.h"
#include "model/instruction.h"
#include "register-effect.h"
#include "register-value.h"
#include "util/a64.h"
#include "util/array.h"
#include "value-place.h"

#define CODE_MAX      (1U << 16) /* maximum number of instructions of a function */
#define BLOCKS_MAX    (1U << 13) /* maximum number of basic blocks of a function */
#define RANGES_MAX    16 /* maximum number of address ranges of a function */
#define TARGETS_MAX   1024 /* maximum number of types that pointers of a function point to */
#define CANDIDATES    8 /* maximum number of variables in one register */
#define EXECUTED_MAX  (1U << 21) /* maximum number of instructions that are followed */
#define CALLER_SAVED  0x4007ffffU /* X0 to X18, and X30: registers that a call may write */
#define FRAME_POINTER 29 /* X29, which begins the record of the frame */
#define REGISTERS     32 /* X0 to X30, and SP */
#define SLOTS	      16 /* maximum number of spilled registers that are followed */
/* First number of the symbols of instructions; smaller ones are of registers at the block's start */
#define SYMBOL_FIRST 64

/** struct code_range - instructions from @first to @end - 1; that of @first is at @low */
struct code_range {
	u64 low;
	u32 first;
	u32 end;
};

/** struct stack_slot - a spilled register, @offset bytes after the canonical frame address */
struct stack_slot {
	s64 offset;
	struct register_value value;
};

/** struct register_state - the values of all registers, and of spilled registers */
struct register_state {
	struct register_value x[REGISTERS];
	struct stack_slot slot[SLOTS];
	u32 slots;
};

/**
 * struct code_block - a basic block
 * @first: its first instruction
 * @reached: an edge to the block was found, so @state is set
 * @changed: @state has changed since the block was followed
 * @handler: it may be a handler of exceptions: nothing, or a call, is before it
 */
struct code_block {
	u32 first;
	bool reached;
	bool changed;
	bool handler;
	struct register_state state;
};

/** struct pointer_target - a type that pointers point to; @key: its DIE without qualifiers */
struct pointer_target {
	Dwarf_Die type;
	void *key;
	u64 size;
};

/**
 * struct function_values - the analysis of a function
 * @range, @ranges: address ranges of the function; the first one begins with its entry
 * @word, @count: the instructions
 * @leader: whether each instruction begins a block
 * @block, @blocks: basic blocks, in the order of @word
 * @target, @targets: types that pointers point to
 * @places: places of variables
 * @indirect: joined values at all branches to unknown addresses, which may lead to any instruction
 * @has_indirect: there is such a branch, and @indirect is set
 * @caught: joined values after all calls, with which handlers of exceptions begin
 * @has_caught: there is a call, and @caught is set
 * @exposed: lowest offset of an address of the stack frame that is in a register, but belongs to no
 *	variable. Other code may change memory from there on
 * @executed: number of instructions that were followed
 */
struct function_values {
	struct values_source source;
	struct code_range range[RANGES_MAX];
	u32 ranges;
	u32 *word;
	u8 *leader;
	u32 count;
	struct code_block *block;
	u32 blocks;
	struct pointer_target target[TARGETS_MAX];
	u32 targets;
	struct value_places places;
	struct register_state indirect;
	bool has_indirect;
	struct register_state caught;
	bool has_caught;
	s64 exposed;
	u32 executed;
};

/* ---- Code ---- */

static u64 get_address(const struct function_values *f, u32 index)
{
	for (u32 i = 0; i < f->ranges; i++)
		if (index >= f->range[i].first && index < f->range[i].end)
			return f->range[i].low + (u64)(index - f->range[i].first) * 4;
	return 0;
}

/* Return the number of the instruction at an address; UINT32_MAX if it is not in the function. */
static u32 get_index(const struct function_values *f, u64 address)
{
	for (u32 i = 0; i < f->ranges; i++) {
		const struct code_range *range = &f->range[i];

		if (address >= range->low && (address - range->low) / 4 < range->end - range->first)
			return range->first + (u32)((address - range->low) / 4);
	}
	return UINT32_MAX;
}

static bool is_range_end(const struct function_values *f, u32 index)
{
	for (u32 i = 0; i < f->ranges; i++)
		if (index == f->range[i].end)
			return true;
	return false;
}

/* Add the range with the entry before the others. */
static int add_range(struct function_values *f, u64 low, u64 high)
{
	u32 size;

	if (low >= high || low % 4)
		return 0;
	if (f->ranges == RANGES_MAX || (high - low) / 4 > CODE_MAX - f->count)
		return -E2BIG;
	size = (u32)((high - low) / 4);
	f->range[f->ranges++] =
		(struct code_range){ .low = low, .first = f->count, .end = f->count + size };
	f->count += size;
	return 0;
}

static int read_ranges(struct function_values *f, Dwarf_Die *function)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(function, at, &base, &low, &high)) > 0)
		if (add_range(f, low, high) < 0)
			return -E2BIG;
	return f->count ? 0 : -E2BIG;
}

static int read_code(struct function_values *f)
{
	f->word = calloc(f->count, sizeof(*f->word));
	f->leader = calloc(f->count, sizeof(*f->leader));
	if (!f->word || !f->leader)
		return -ENOMEM;
	for (u32 i = 0; i < f->count; i++)
		if (!f->source.read_code(f->source.ctx, get_address(f, i), &f->word[i]))
			return -E2BIG;
	return 0;
}

static bool ends_flow(const struct a64_instruction *a64)
{
	return a64->kind == SPE_INSTRUCTION_BRANCH &&
	       !(a64->flags & (SPE_INSTRUCTION_CONDITIONAL | SPE_INSTRUCTION_LINK));
}

static bool is_call(const struct a64_instruction *a64)
{
	return a64->kind == SPE_INSTRUCTION_BRANCH && a64->flags & SPE_INSTRUCTION_LINK;
}

static bool is_indirect_jump(const struct a64_instruction *a64)
{
	return ends_flow(a64) && a64->flags & SPE_INSTRUCTION_INDIRECT &&
	       !(a64->flags & SPE_INSTRUCTION_RETURN);
}

/* Return the instruction that a direct branch leads to; UINT32_MAX if it leaves the function. */
static u32 get_branch_target(const struct function_values *f, u32 index,
			     const struct a64_instruction *a64)
{
	if (a64->kind != SPE_INSTRUCTION_BRANCH ||
	    a64->flags & (SPE_INSTRUCTION_INDIRECT | SPE_INSTRUCTION_LINK))
		return UINT32_MAX;
	return get_index(f, get_address(f, index) + (u64)a64->offset);
}

static int find_blocks(struct function_values *f)
{
	struct a64_instruction a64;
	u32 target, at = 0;

	for (u32 i = 0; i < f->ranges; i++)
		f->leader[f->range[i].first] = 1;
	for (u32 i = 0; i < f->count; i++) {
		a64_decode(f->word[i], &a64);
		target = get_branch_target(f, i, &a64);
		if (target != UINT32_MAX)
			f->leader[target] = 1;
		if (i + 1 < f->count && a64.kind == SPE_INSTRUCTION_BRANCH &&
		    (f->source.unwinds || !is_call(&a64)))
			f->leader[i + 1] = 1;
	}
	for (u32 i = 0; i < f->count; i++)
		f->blocks += f->leader[i];
	if (f->blocks > BLOCKS_MAX)
		return -E2BIG;
	f->block = calloc(f->blocks, sizeof(*f->block));
	if (!f->block)
		return -ENOMEM;
	for (u32 i = 0; i < f->count; i++)
		if (f->leader[i])
			f->block[at++].first = i;
	for (u32 i = 1; i < f->blocks && f->source.unwinds; i++) {
		a64_decode(f->word[f->block[i].first - 1], &a64);
		f->block[i].handler = is_call(&a64) || ends_flow(&a64);
	}
	return 0;
}

/* Return the block with an instruction. */
static u32 block_find(const struct function_values *f, u32 index)
{
	u32 low = 0, high = f->blocks;

	while (high - low > 1) {
		u32 middle = low + (high - low) / 2;

		if (f->block[middle].first <= index)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* ---- States ---- */

static void state_init_unknown(struct register_state *state)
{
	for (u32 i = 0; i < REGISTERS; i++)
		state->x[i] = value_make_unknown();
	state->slots = 0;
}

static struct stack_slot *slot_find(const struct register_state *state, s64 offset)
{
	for (u32 i = 0; i < state->slots; i++)
		if (state->slot[i].offset == offset)
			return (struct stack_slot *)&state->slot[i];
	return NULL;
}

/* Keep only the slots that both states have; return whether this has changed @state. */
static bool slots_join(struct register_state *state, const struct register_state *from)
{
	bool changed = false;
	u32 kept = 0;

	for (u32 i = 0; i < state->slots; i++) {
		const struct stack_slot *other = slot_find(from, state->slot[i].offset);
		struct stack_slot slot = state->slot[i];

		if (other)
			slot.value = value_join(&slot.value, &other->value);
		if (!other || slot.value.kind == VALUE_NUMBER) {
			changed = true;
			continue;
		}
		changed |= !value_equals(&slot.value, &state->slot[i].value);
		state->slot[kept++] = slot;
	}
	state->slots = kept;
	return changed;
}

/* Join @from into @state; return whether this has changed @state. */
static bool state_join(struct register_state *state, const struct register_state *from)
{
	bool changed = slots_join(state, from);

	for (u32 i = 0; i < REGISTERS; i++) {
		struct register_value value = value_join(&state->x[i], &from->x[i]);

		value.symbol = 0;
		changed |= !value_equals(&value, &state->x[i]);
		state->x[i] = value;
	}
	return changed;
}

/* Copy a state without symbols, which are valid in one block only. */
static void state_copy(struct register_state *state, const struct register_state *from)
{
	*state = *from;
	for (u32 i = 0; i < REGISTERS; i++)
		state->x[i].symbol = 0;
}

static void block_join(struct code_block *block, const struct register_state *from)
{
	if (block->reached) {
		block->changed |= state_join(&block->state, from);
		return;
	}
	state_copy(&block->state, from);
	block->reached = true;
	block->changed = true;
}

/* Name the unknown numbers at the start of a block, so that their sums are known. */
static void state_add_symbols(struct register_state *state)
{
	for (u32 i = 0; i < REGISTERS; i++)
		if (state->x[i].kind == VALUE_NUMBER)
			state->x[i].symbol = i + 1;
}

/* ---- Pointers ---- */

/* Return the value of a pointer to a type; an unknown value if the type has no size. */
static struct register_value make_pointer(struct function_values *f, Dwarf_Die *pointer,
					  const char *name)
{
	Dwarf_Die target, plain;
	u64 size;
	u32 i;

	if (!debug_type_get_target(pointer, &target, &size) || dwarf_peel_type(&target, &plain))
		return value_make_unknown();
	for (i = 0; i < f->targets && f->target[i].key != plain.addr; i++)
		;
	if (i == TARGETS_MAX)
		return value_make_unknown();
	if (i == f->targets)
		f->target[f->targets++] = (struct pointer_target){ target, plain.addr, size };
	return (struct register_value){ .kind = VALUE_POINTER, .type = i, .name = name };
}

static bool place_is_valid(const struct value_place *place, u64 pc)
{
	return pc >= place->low && pc < place->high;
}

/* Get the pointers that variables in a register have at @pc; return their number. */
static u32 find_register_variables(struct function_values *f, u64 pc, u8 reg,
				   struct register_value *ret_value)
{
	u32 count = 0;

	for (u32 i = 0; i < f->places.count; i++) {
		struct value_place *place = &f->places.place[i];
		struct register_value value;

		if (place->memory || place->base != reg || !place_is_valid(place, pc))
			continue;
		value = make_pointer(f, &place->type, place->name);
		if (value.kind != VALUE_POINTER)
			continue;
		value.offset = place->offset;
		if (count == CANDIDATES)
			return 0;
		ret_value[count++] = value;
	}
	return count;
}

/* Return the value of a register before @pc. Debug information may know more than the code. */
static struct register_value register_read(struct function_values *f,
					   const struct register_state *state, u64 pc, u8 reg)
{
	struct register_value found[CANDIDATES];
	u32 count;

	if (reg == REGISTER_ZERO)
		return value_make_constant(0);
	if (state->x[reg].kind != VALUE_NUMBER)
		return state->x[reg];
	count = find_register_variables(f, pc, reg, found);
	for (u32 i = 1; i < count; i++)
		if (found[i].type != found[0].type || found[i].offset != found[0].offset)
			return state->x[reg];
	return count ? found[0] : state->x[reg];
}

static int place_compare(const void *x, const void *y)
{
	const struct value_place *a = x, *b = y;

	return compare_u64(a->low, b->low);
}

/* Read the registers in which variables begin to be at an instruction. */
static void read_new_variables(struct function_values *f, struct register_state *state, u64 pc)
{
	u32 first = ARRAY_COUNT_LEADING(f->places.count, i, f->places.place[i].low < pc);

	for (u32 i = first; i < f->places.count && f->places.place[i].low == pc; i++) {
		const struct value_place *place = &f->places.place[i];

		if (!place->memory)
			state->x[place->base] = register_read(f, state, pc, place->base);
	}
}

/* ---- Accesses ---- */

/* Get the start of a variable in the stack frame, relative to the canonical frame address. */
static bool place_get_stack_start(const struct value_place *place,
				  const struct register_state *state, s64 *ret_start)
{
	if (place->base == PLACE_FRAME)
		*ret_start = place->offset;
	else if (state->x[place->base].kind == VALUE_STACK && !state->x[place->base].step)
		*ret_start = (s64)((u64)state->x[place->base].offset + (u64)place->offset);
	else
		return false;
	return true;
}

static bool set_typed(struct access_target *to, const Dwarf_Die *type, u64 offset, const char *name)
{
	*to = (struct access_target){
		.kind = ACCESS_TYPED, .type = *type, .offset = offset, .name = name
	};
	return true;
}

/* Find the only variable of the stack frame at an offset from the canonical frame address. */
static bool find_stack_variable(struct function_values *f, const struct register_state *state,
				u64 pc, s64 offset, struct access_target *ret_target)
{
	struct access_target found = { .kind = ACCESS_STACK, .offset = (u64)offset };

	for (u32 i = 0; i < f->places.count; i++) {
		struct value_place *place = &f->places.place[i];
		Dwarf_Word size;
		s64 start;

		if (!place->memory || !place_is_valid(place, pc) ||
		    !place_get_stack_start(place, state, &start) || offset < start ||
		    dwarf_aggregate_size(&place->type, &size) || (u64)offset - (u64)start >= size)
			continue;
		if (found.kind == ACCESS_TYPED && (found.type.addr != place->type.addr ||
						   found.offset != (u64)offset - (u64)start))
			return false;
		set_typed(&found, &place->type, (u64)offset - (u64)start, place->name);
	}
	*ret_target = found;
	return true;
}

/* Return @number modulo @size, which is not negative. */
static u64 compute_remainder(s64 number, u64 size)
{
	s64 rest = number % (s64)size;

	return (u64)(rest < 0 ? rest + (s64)size : rest);
}

/*
 * Find the array in the stack frame from which an index selects an element. The compiler may have
 * added a constant to the address of the array, so it is only certain if there is one such array.
 */
static bool find_stack_array(struct function_values *f, const struct register_state *state,
			     const struct register_value *address, u64 bytes,
			     struct access_target *ret_target)
{
	struct access_target found = { .kind = ACCESS_UNKNOWN };
	s64 found_start = 0;

	for (u32 i = 0; i < f->places.count; i++) {
		struct value_place *place = &f->places.place[i];
		u64 first;
		s64 start;

		if (!place->memory || !debug_type_has_fields(&place->type))
			continue;
		if (!place_get_stack_start(place, state, &start))
			return false;
		if (!debug_type_find_array(&place->type, address->step, bytes, &first))
			continue;
		if (found.kind == ACCESS_TYPED &&
		    (found.type.addr != place->type.addr || found_start != start))
			return false;
		set_typed(&found, &place->type,
			  first + compute_remainder(address->offset - start - (s64)first,
						    address->step),
			  place->name);
		found_start = start;
	}
	*ret_target = found;
	return found.kind == ACCESS_TYPED;
}

/*
 * Find the field of a type that a pointer points to. An index that selects an element of an array
 * in the type is only certain if its step is the size of an element, if the offset without the index
 * is that of the first element, and if no other array is possible. A step of 1 is any number, such as
 * the size of a header, which is added to a pointer to the header.
 */
static bool find_field(struct pointer_target *target, const struct register_value *address,
		       u64 bytes, u64 *ret_offset)
{
	u64 start;

	if (address->step && address->step % target->size == 0) {
		*ret_offset = compute_remainder(address->offset, target->size);
		return true;
	}
	if (address->offset < 0)
		return false;
	*ret_offset = (u64)address->offset;
	if (!address->step)
		return *ret_offset < target->size || debug_type_is_open(&target->type);
	return debug_type_find_array(&target->type, address->step, bytes, &start) &&
	       *ret_offset >= start && *ret_offset - start < address->step &&
	       (address->step > 1 || start);
}

/* Find the target of an access of @bytes by an address; false if it is unknown. */
static bool find_target(struct function_values *f, const struct register_state *state, u64 pc,
			const struct register_value *address, u64 bytes,
			struct access_target *ret_target)
{
	struct pointer_target *target;
	u64 offset;

	if (address->kind == VALUE_CONSTANT) {
		*ret_target = (struct access_target){ .kind = ACCESS_GLOBAL,
						      .offset = (u64)address->offset };
		return true;
	}
	if (address->kind == VALUE_STACK)
		return address->step ?
			       find_stack_array(f, state, address, bytes, ret_target) :
			       find_stack_variable(f, state, pc, address->offset, ret_target);
	if (address->kind != VALUE_POINTER)
		return false;
	target = &f->target[address->type];
	if (!find_field(target, address, bytes, &offset))
		return false;
	/* A pointer to a number that is used for another size may point to something else. */
	if (!debug_type_has_fields(&target->type) &&
	    (offset ||
	     (bytes != target->size && (target->size == 1 || bytes < 16 || bytes % target->size))))
		return false;
	set_typed(ret_target, &target->type, offset, address->name);
	ret_target->pointer = true;
	return true;
}

static bool targets_are_equal(struct access_target *a, struct access_target *b)
{
	struct debug_datum x, y;

	if (a->kind != b->kind)
		return false;
	if (a->kind != ACCESS_TYPED)
		return a->offset == b->offset;
	return debug_type_describe(&a->type, a->offset, "", &x) &&
	       debug_type_describe(&b->type, b->offset, "", &y) && !strcmp(x.type, y.type) &&
	       !strcmp(x.field, y.field);
}

/* Return the sum of the base of an access, and its offset and index. */
static struct register_value compute_address(struct function_values *f,
					     const struct register_state *state, u64 pc,
					     const struct a64_instruction *a64,
					     const struct register_value *base)
{
	struct register_value offset = value_make_constant(a64->post ? 0 : a64->offset);
	struct register_value address = value_add(base, &offset, false), index;

	if (a64->index == A64_NO_REGISTER)
		return address;
	index = register_read(f, state, pc, a64->index == 31 ? REGISTER_ZERO : a64->index);
	index = value_truncate(&index, a64->extend & 1 ? 64 : 32);
	index = value_scale(&index, 1ULL << a64->shift);
	return value_add(&address, &index, false);
}

/*
 * Find the target of an access. Prefer the variables in the base register, because only they show
 * casts. If they do not agree on the target, it is unknown.
 */
static bool find_access(struct function_values *f, const struct register_state *state, u64 pc,
			const struct a64_instruction *a64, struct access_target *ret_target)
{
	struct register_value base[CANDIDATES + 1], address;
	struct access_target target, found = { .kind = ACCESS_NONE };
	u32 count = 0;

	if (!a64->bytes)
		return false;
	if (a64->base == A64_NO_REGISTER) {
		address = value_make_constant((s64)(pc + (u64)a64->offset));
		return find_target(f, state, pc, &address, a64->bytes, ret_target);
	}
	if (state->x[a64->base].kind == VALUE_NUMBER || state->x[a64->base].kind == VALUE_POINTER)
		count = find_register_variables(f, pc, a64->base, base);
	for (u32 i = 0; i < count; i++) {
		address = compute_address(f, state, pc, a64, &base[i]);
		if (!find_target(f, state, pc, &address, a64->bytes, &target))
			continue;
		if (found.kind != ACCESS_NONE && !targets_are_equal(&found, &target))
			return false;
		if (found.kind == ACCESS_NONE)
			found = target;
	}
	if (found.kind == ACCESS_NONE) {
		address = compute_address(f, state, pc, a64, &state->x[a64->base]);
		return find_target(f, state, pc, &address, a64->bytes, ret_target);
	}
	*ret_target = found;
	return true;
}

/* Return the value that a load of 8 bytes reads, @distance bytes after the start of the access. */
static struct register_value load_value(struct function_values *f,
					const struct register_state *state, u64 pc,
					const struct a64_instruction *a64, s64 distance)
{
	struct a64_instruction part = *a64;
	const struct stack_slot *slot;
	struct access_target target;
	Dwarf_Die type;
	u64 offset;

	part.bytes = 8;
	part.offset = (part.post ? 0 : part.offset) + distance;
	part.post = false;
	if (!find_access(f, state, pc, &part, &target))
		return value_make_unknown();
	if (target.kind == ACCESS_GLOBAL) {
		if (!f->source.find_global(f->source.data, target.offset, &type, &offset))
			return value_make_unknown();
		set_typed(&target, &type, offset, NULL);
	}
	if (target.kind == ACCESS_STACK) {
		slot = slot_find(state, (s64)target.offset);
		return slot && slot->offset < f->exposed ? slot->value : value_make_unknown();
	}
	if (target.kind != ACCESS_TYPED ||
	    !debug_type_find_scalar(&target.type, target.offset, &type))
		return value_make_unknown();
	return make_pointer(f, &type, NULL);
}

/* ---- Instructions ---- */

static struct register_value compute_result(struct function_values *f,
					    const struct register_state *state, u64 pc,
					    const struct register_effect *e)
{
	struct register_value n = register_read(f, state, pc, e->rn);
	struct register_value m = register_read(f, state, pc, e->rm), a;

	switch (e->kind) {
	case EFFECT_MOVE:
		return n;
	case EFFECT_SELECT:
		return value_join(&n, &m);
	case EFFECT_CONSTANT:
		return value_make_constant(e->immediate);
	case EFFECT_INSERT:
		a = state->x[e->rd];
		if (a.kind != VALUE_CONSTANT)
			return value_make_unknown();
		return value_make_constant((s64)(((u64)a.offset & ~(0xffffULL << e->shift)) |
						 (u64)e->immediate << e->shift));
	case EFFECT_ADD_IMMEDIATE:
		m = value_make_constant(e->immediate);
		return value_add(&n, &m, false);
	case EFFECT_ADD:
		m = value_truncate(&m, e->bits);
		m = value_scale(&m, 1ULL << e->shift);
		return value_add(&n, &m, e->subtract);
	case EFFECT_SHIFT:
		n = value_truncate(&n, e->bits);
		return value_scale(&n, 1ULL << e->shift);
	case EFFECT_MULTIPLY:
		n = value_truncate(&n, e->bits);
		m = value_truncate(&m, e->bits);
		n = value_multiply(&n, &m);
		a = register_read(f, state, pc, e->ra);
		return value_add(&a, &n, e->subtract);
	default:
		return value_make_unknown();
	}
}

static void register_write(struct register_state *state, u8 reg, u32 index,
			   struct register_value value)
{
	if (reg == REGISTER_ZERO)
		return;
	if (value.kind == VALUE_NUMBER && !value.symbol)
		value.symbol = SYMBOL_FIRST + index * 2;
	state->x[reg] = value;
}

/* Apply a call: registers that the callee may write are unknown, except for the result. */
static void execute_call(struct function_values *f, struct register_state *state, u64 pc,
			 const struct a64_instruction *a64)
{
	u32 written = f->source.outlines ? UINT32_MAX : CALLER_SAVED;
	Dwarf_Die function, type;
	Dwarf_Attribute attr;
	const char *name;

	for (u32 i = 0; i < REGISTERS; i++)
		if (written >> i & 1)
			state->x[i] = value_make_unknown();
	if (f->source.outlines)
		state->slots = 0;
	if (a64->flags & SPE_INSTRUCTION_INDIRECT ||
	    !f->source.find_function(f->source.data, pc + (u64)a64->offset, &function) ||
	    !debug_type_get_declared(&function, &type))
		return;
	name = dwarf_attr_integrate(&function, DW_AT_name, &attr) ? dwarf_formstring(&attr) : NULL;
	state->x[0] = make_pointer(f, &type, name);
}

/* Remove the slots that a store to the stack frame overwrites. */
static void slots_remove(struct register_state *state, s64 offset, u64 bytes)
{
	u32 kept = 0;

	for (u32 i = 0; i < state->slots; i++)
		if (state->slot[i].offset + 8 <= offset ||
		    state->slot[i].offset >= offset + (s64)bytes)
			state->slot[kept++] = state->slot[i];
	state->slots = kept;
}

/* Apply a store of a register of 8 bytes, @distance bytes after the start of the access. */
static void store_register(struct function_values *f, struct register_state *state, u64 pc, u8 reg,
			   const struct a64_instruction *a64, s64 distance)
{
	struct register_value address, *value = reg < REGISTER_SP ? &state->x[reg] : NULL;
	struct access_target target;
	s64 offset;

	address = compute_address(f, state, pc, a64, &state->x[a64->base]);
	offset = (s64)((u64)address.offset + (u64)distance);
	/* A register that is stored in a pointer is this pointer. */
	if (value && value->kind == VALUE_NUMBER)
		*value = load_value(f, state, pc, a64, distance);
	if (value && value->kind != VALUE_NUMBER && state->slots < SLOTS &&
	    address.kind == VALUE_STACK && !address.step &&
	    find_stack_variable(f, state, pc, offset, &target) && target.kind == ACCESS_STACK)
		state->slot[state->slots++] = (struct stack_slot){ offset, *value };
}

static void apply_store(struct function_values *f, struct register_state *state, u64 pc, u32 word,
			const struct a64_instruction *a64)
{
	struct register_value address;
	bool pair = a64->bytes == 16;

	if (!a64->stores || !a64->bytes || a64->base == A64_NO_REGISTER)
		return;
	address = compute_address(f, state, pc, a64, &state->x[a64->base]);
	if (address.kind == VALUE_STACK && !address.step)
		slots_remove(state, address.offset, a64->bytes);
	if (a64->kind != SPE_INSTRUCTION_MEMORY || a64->loads ||
	    a64->flags & SPE_INSTRUCTION_SIMD_FP || (a64->bytes != 8 && !pair))
		return;
	store_register(f, state, pc, (u8)(word & 31), a64, 0);
	if (pair)
		store_register(f, state, pc, (u8)(word >> 10 & 31), a64, 8);
}

/* Find addresses of the stack frame in the registers of @writes that belong to no variable. */
static void expose_addresses(struct function_values *f, const struct register_state *state, u64 pc,
			     u32 writes)
{
	struct access_target target;
	u32 frame = 1U << REGISTER_SP | 1U << FRAME_POINTER;

	for (u32 i = 0; i < REGISTERS; i++) {
		const struct register_value *value = &state->x[i];

		if (!((writes & ~frame) >> i & 1) || value->kind != VALUE_STACK ||
		    value->offset >= f->exposed ||
		    (find_stack_variable(f, state, pc, value->offset, &target) &&
		     target.kind == ACCESS_TYPED))
			continue;
		f->exposed = value->offset;
		for (u32 block = 0; block < f->blocks; block++)
			f->block[block].changed |= f->block[block].reached;
	}
}

/* Apply an instruction to the values of the registers. */
static void execute(struct function_values *f, struct register_state *state, u32 index,
		    const struct a64_instruction *a64)
{
	struct register_value value, second = value_make_unknown(), base = second;
	u64 pc = get_address(f, index);
	struct register_effect e;

	read_new_variables(f, state, pc);
	register_effect_decode(f->word[index], pc, &e);
	apply_store(f, state, pc, f->word[index], a64);
	if (is_call(a64)) {
		execute_call(f, state, pc, a64);
		return;
	}
	if (e.kind == EFFECT_LOAD) {
		value = load_value(f, state, pc, a64, 0);
		if (e.second != REGISTER_ZERO)
			second = load_value(f, state, pc, a64, 8);
	} else {
		value = compute_result(f, state, pc, &e);
		if (e.narrow)
			value = value_narrow(&value);
	}
	if (e.base != REGISTER_ZERO) {
		struct register_value step = value_make_constant(e.step);

		base = register_read(f, state, pc, e.base);
		base = value_add(&base, &step, false);
	}
	for (u32 i = 0; i < REGISTERS; i++)
		if (e.writes >> i & 1)
			state->x[i] = value_make_unknown();
	register_write(state, e.base, index, base);
	register_write(state, e.rd, index, value);
	register_write(state, e.second, index, second);
	expose_addresses(f, state, pc, e.writes);
}

/* ---- Blocks ---- */

static void flow_to(struct function_values *f, u32 index, const struct register_state *state)
{
	if (index < f->count)
		block_join(&f->block[block_find(f, index)], state);
}

/* Join the values at a branch that may lead to each instruction. */
static void flow_to_all(struct function_values *f, const struct register_state *state)
{
	if (f->has_indirect) {
		if (!state_join(&f->indirect, state))
			return;
	} else {
		state_copy(&f->indirect, state);
		f->has_indirect = true;
	}
	for (u32 i = 0; i < f->blocks; i++) {
		block_join(&f->block[i], &f->indirect);
		f->block[i].changed = true;
	}
}

/* Join the values after a call, which may throw an exception. */
static void flow_to_handlers(struct function_values *f, const struct register_state *state)
{
	if (!f->source.unwinds)
		return;
	if (f->has_caught) {
		if (!state_join(&f->caught, state))
			return;
	} else {
		state_copy(&f->caught, state);
		f->has_caught = true;
	}
	/* These registers have the exception and its kind. */
	f->caught.x[0] = value_make_unknown();
	f->caught.x[1] = value_make_unknown();
	for (u32 i = 0; i < f->blocks; i++)
		if (f->block[i].handler)
			block_join(&f->block[i], &f->caught);
}

/* Join the values at indirect branches into the values before an instruction. */
static void join_indirect(const struct function_values *f, struct register_state *state)
{
	if (!f->has_indirect)
		return;
	state_join(state, &f->indirect);
	state_add_symbols(state);
}

/* Follow a block from its start, and pass the values on to the blocks after it. */
static void block_follow(struct function_values *f, u32 number)
{
	struct register_state state = f->block[number].state;
	struct a64_instruction a64;
	u32 index = f->block[number].first;

	f->block[number].changed = false;
	state_add_symbols(&state);
	for (;; index++) {
		join_indirect(f, &state);
		a64_decode(f->word[index], &a64);
		execute(f, &state, index, &a64);
		f->executed++;
		flow_to(f, get_branch_target(f, index, &a64), &state);
		if (is_indirect_jump(&a64))
			flow_to_all(f, &state);
		if (is_call(&a64))
			flow_to_handlers(f, &state);
		if (ends_flow(&a64) || index + 1 == f->count || is_range_end(f, index + 1))
			return;
		if (f->leader[index + 1]) {
			flow_to(f, index + 1, &state);
			return;
		}
	}
}

/* Follow all blocks until no value changes; false if that exceeds the limit. */
static bool follow_changed_blocks(struct function_values *f)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (u32 i = 0; i < f->blocks; i++) {
			if (!f->block[i].changed)
				continue;
			if (f->executed > EXECUTED_MAX)
				return false;
			block_follow(f, i);
			changed = true;
		}
	}
	return true;
}

static int analyze(struct function_values *f)
{
	struct register_state unknown;

	state_init_unknown(&unknown);
	unknown.x[REGISTER_SP] = (struct register_value){ .kind = VALUE_STACK };
	block_join(&f->block[0], &unknown);
	if (!follow_changed_blocks(f))
		return -E2BIG;
	/* Blocks without a known edge begin with any values. */
	unknown.x[REGISTER_SP] = value_make_unknown();
	for (u32 i = 0; i < f->blocks; i++)
		if (!f->block[i].reached)
			block_join(&f->block[i], &unknown);
	return follow_changed_blocks(f) ? 0 : -E2BIG;
}

int function_values_new(Dwarf_Die *function, const struct values_source *source,
			struct function_values **ret_values)
{
	struct function_values *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return -ENOMEM;
	f->source = *source;
	f->exposed = INT64_MAX;
	r = read_ranges(f, function);
	if (!r)
		r = read_code(f);
	if (!r)
		r = find_blocks(f);
	if (!r && !value_places_read(function, &f->places))
		r = -E2BIG;
	if (!r && f->places.count)
		qsort(f->places.place, f->places.count, sizeof(*f->places.place), place_compare);
	if (!r)
		r = analyze(f);
	if (r < 0) {
		function_values_free(f);
		return r;
	}
	*ret_values = f;
	return 0;
}

struct function_values *function_values_free(struct function_values *f)
{
	if (!f)
		return NULL;
	value_places_clear(&f->places);
	free(f->block);
	free(f->leader);
	free(f->word);
	free(f);
	return NULL;
}

void function_values_find_access(struct function_values *f, u64 address,
				 struct access_target *ret_target)
{
	struct access_target target = { .kind = ACCESS_UNKNOWN };
	u32 end = get_index(f, address), number;
	struct register_state state;
	struct a64_instruction a64;

	if (end == UINT32_MAX) {
		*ret_target = target;
		return;
	}
	number = block_find(f, end);
	state = f->block[number].state;
	state_add_symbols(&state);
	for (u32 i = f->block[number].first;; i++) {
		join_indirect(f, &state);
		a64_decode(f->word[i], &a64);
		if (i == end)
			break;
		execute(f, &state, i, &a64);
	}
	if (!a64.bytes)
		target.kind = ACCESS_NONE;
	else if (!find_access(f, &state, address, &a64, &target))
		target.kind = ACCESS_UNKNOWN;
	*ret_target = target;
}
