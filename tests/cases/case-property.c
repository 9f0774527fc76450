// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test properties of random SPUs, controls and programs. The expectations are written from the
 * architecture's text and share no code with the model. They leave out what other suites check row
 * by row: EL2 and EL3 beside EL1, incomplete operations, choices.
 */
#include "property.h"

#include "model/inject.h"
#include "spu-fixture.h"
#include "suites.h"
#include "model/synthetic.h"

#define OPERATIONS 300
/* number of runs in KUnit and in each run of the suite; test-property does more */
#define RUNS 60

#define LOAD_STORE SPE_OP_LOAD_STORE
#define BRANCH	   SPE_OP_BRANCH

struct property_case_run {
	struct spe_check *check;
	struct spe_spu_config config;
	struct spe_injector inject;
	struct spe_synthetic_program program;
	u64 random;
	u64 advanced; /* bytes that PMBPTR advanced in all windows */
	u64 number; /* index of the operation in the run */
	u64 events;
	u8 line_owner;
};

/* One variable suffices, because cases run one at a time. */
static struct property_case_run run;

static u64 draw_random(void)
{
	return spe_check_random(&run.random);
}

static u64 draw_below(u64 bound)
{
	return draw_random() % bound;
}

static void check_condition(bool cond, int line, const char *what)
{
	spe_check_that(run.check, cond, __FILE__, line, what, run.number, run.config.seed);
}

#define HOLDS(cond) check_condition(cond, __LINE__, #cond)

/* ---- The SPU and its controls ---------------------------------------------------- */

static void draw_config(struct spe_spu_config *config)
{
	static const u64 optional[] = { SPE_PMSIDR_LDS, SPE_PMSIDR_ERND, SPE_PMSIDR_FNE,
					SPE_PMSIDR_FDS, SPE_PMSIDR_PBT,	 SPE_PMSIDR_CRR,
					SPE_PMSIDR_EFT, SPE_PMSIDR_FPF };

	spe_spu_config_default(config);
	config->pmsver = (u8)(1 + draw_below(6));
	config->max_size = (u8)(6 + draw_below(6));
	config->align = (u8)draw_below(config->max_size + 1U);
	config->count_size = draw_random() & 1 ? SPE_PMSIDR_COUNTSIZE_12 : SPE_PMSIDR_COUNTSIZE_16;
	config->events_size = (u8)(1U << draw_below(4));
	config->source_size = (u8)(1 + draw_below(2));
	config->layout = (u8)draw_below(SPE_SPU_LAYOUTS);
	config->write_granule = (u8)draw_below(12);
	config->e2h = draw_random() & 1;
	config->pbt_always = !(draw_random() & 3);
	for (size_t i = 0; i < ARRAY_SIZE(optional); i++)
		config->features ^= draw_random() & 1 ? optional[i] : 0;
	config->sampled_events = SPE_BIT(SPE_EVENT_RETIRED) | SPE_BIT(SPE_EVENT_L1D_REFILL) |
				 SPE_BIT(SPE_EVENT_TLB_WALK) | SPE_BIT(SPE_EVENT_MISPREDICTED);
	config->seed = draw_random();
}

static void write_reg(enum spe_reg reg, u64 value)
{
	spe_spu_write(&fixture.spu, reg, value);
}

static void draw_controls(void)
{
	u64 filters = draw_random() & 3 ? 0 : SPE_PMSFCR_FT;

	write_reg(SPE_REG_PMSIRR, SPE_FIELD_PREP(SPE_PMSIRR_INTERVAL, 1) | (draw_random() & 1));
	if (!(draw_random() & 3))
		filters |= SPE_PMSFCR_FE;
	if (!(draw_random() & 3))
		filters |= SPE_PMSFCR_FL;
	if (!(draw_random() & 3))
		filters |= SPE_PMSFCR_FNE | SPE_PMSFCR_FDS;
	write_reg(SPE_REG_PMSFCR,
		  filters | (draw_random() & (SPE_MASK(20, 16) | SPE_MASK(52, 48))));
	write_reg(SPE_REG_PMSEVFR, draw_random() & draw_random() & draw_random());
	write_reg(SPE_REG_PMSNEVFR, draw_random() & draw_random() & draw_random());
	write_reg(SPE_REG_PMSLATFR, draw_below(80));
	write_reg(SPE_REG_PMSDSFR, draw_random());
	fixture_arm(4096 * (1 + draw_below(FIXTURE_SIZE / 4096)));
	write_reg(SPE_REG_PMSCR, draw_random() & (SPE_PMSCR_E0SPE | SPE_PMSCR_E1SPE | SPE_PMSCR_CX |
						  SPE_PMSCR_PA | SPE_PMSCR_TS));
}

/* ---- The operations -------------------------------------------------------------- */

static void draw_synthetic_operation(struct spe_operation *op)
{
	spe_synthetic_execute_next(&run.program, op);
	op->el = (u8)draw_below(3);
}

static void draw_any_operation(struct spe_operation *op)
{
	static const u8 subclasses[] = { 0, 1, 0, 1, 0, 3, 2, 1 };
	u64 kind = draw_below(4);

	*op = (struct spe_operation){
		.pc = draw_random(),
		.target = draw_random(),
		.prev_target = draw_random(),
		.va = draw_random(),
		.pa = draw_random() & SPE_MASK(51, 0),
		.timestamp = draw_random(),
		.events = (draw_random() & SPE_MASK(10, 1)) | SPE_BIT(SPE_EVENT_RETIRED),
		.contextidr_el1 = (u32)draw_random(),
		.contextidr_el2 = (u32)draw_random(),
		.total = (u32)(draw_random() >> (32 + draw_below(32))),
		.issue = (u32)(draw_random() >> (32 + draw_below(32))),
		.translation = (u32)(draw_random() >> (32 + draw_below(32))),
		.source = (u16)draw_below(256),
		.op_class = kind < 2  ? LOAD_STORE :
			    kind == 2 ? BRANCH :
					SPE_OP_OTHER,
		.op_subclass = subclasses[2 * kind + (draw_random() & 1)],
		.el = (u8)draw_below(3),
		.ns = draw_random() & 1,
		.valid = SPE_OPERATION_CONTEXT1 | SPE_OPERATION_CONTEXT2,
	};
	op->events &= ~SPE_BIT(SPE_EVENT_NOT_TAKEN);
	if (op->op_class == LOAD_STORE)
		op->valid |= SPE_OPERATION_VA | (draw_random() & 1 ? SPE_OPERATION_PA : 0) |
			     (draw_random() & 1 ? SPE_OPERATION_SOURCE : 0);
	if (op->op_class != BRANCH)
		return;
	op->valid |= SPE_OPERATION_PREV_TARGET;
	if (draw_random() & 1)
		op->valid |= SPE_OPERATION_TARGET;
	else
		op->events |= SPE_BIT(SPE_EVENT_NOT_TAKEN);
}

/* ---- Expectations: is the operation recorded? ----------------------------------- */

static bool is_load(const struct spe_operation *op)
{
	return op->op_class == LOAD_STORE && !(op->op_subclass & 1);
}

/*
 * D17.6.9: PMSCR_EL1 enables sampling by Exception level. With E2H the register is that of EL2, and
 * EL1 belongs to a guest.
 */
static bool level_is_sampled(const struct spe_operation *op)
{
	u64 pmscr = fixture_read_reg(SPE_REG_PMSCR);

	if (!op->el)
		return pmscr & SPE_PMSCR_E0SPE;
	return op->el == (run.config.e2h ? 2 : 1) && pmscr & SPE_PMSCR_E1SPE;
}

/*
 * Return the types of @op in the order of PMSFCR_EL1's bits: branch, load, store, floating-point,
 * SIMD.
 */
static unsigned int get_types(const struct spe_operation *op)
{
	enum spe_op_format format = spe_op_format(op->op_class, op->op_subclass);

	if (op->op_class == BRANCH)
		return 1;
	if (op->op_class == LOAD_STORE)
		return (op->op_subclass & 1 ? 4 : 2) | (format == SPE_OP_FORMAT_LS_SVE ? 16 : 0);
	return (op->op_subclass & 2 ? 8 : 0) | (op->op_subclass & 4 ? 16 : 0);
}

static bool passes_type_filter(const struct spe_operation *op, u64 pmsfcr)
{
	bool has_masks = run.config.features & SPE_PMSIDR_EFT;
	unsigned int selected = (unsigned int)(pmsfcr >> 16 & (has_masks ? 0x1f : 0x7));
	unsigned int masks = has_masks ? (unsigned int)(pmsfcr >> 48 & 0x1f) : 0;
	unsigned int types = get_types(op), alternatives = selected & ~masks;

	if ((types & masks) != (selected & masks))
		return false;
	return !alternatives || types & alternatives;
}

static u64 saturate_latency(u64 cycles)
{
	u64 max = run.config.count_size == SPE_PMSIDR_COUNTSIZE_12 ? 0xfff : 0xffff;

	return cycles < max ? cycles : max;
}

/* An enabled filter without a condition has no effect, as in spe_spu_config_default(). */
static bool passes_all_filters(const struct spe_operation *op)
{
	u64 on = fixture_read_reg(SPE_REG_PMSFCR);
	u64 want = fixture_read_reg(SPE_REG_PMSEVFR), not_want = fixture_read_reg(SPE_REG_PMSNEVFR);

	if (on & SPE_PMSFCR_FT && !passes_type_filter(op, on))
		return false;
	if (on & SPE_PMSFCR_FE && (op->events & want) != want)
		return false;
	if (on & SPE_PMSFCR_FNE && op->events & not_want)
		return false;
	if (on & SPE_PMSFCR_FL && saturate_latency(op->total) < fixture_read_reg(SPE_REG_PMSLATFR))
		return false;
	return !(on & SPE_PMSFCR_FDS && is_load(op) && op->valid & SPE_OPERATION_SOURCE) ||
	       fixture_read_reg(SPE_REG_PMSDSFR) >> (op->source & 63) & 1;
}

/* ---- Expectations: the contents of the record ----------------------------------- */

static void check_addresses(const struct spe_operation *op, const struct spe_sample *sample)
{
	u64 top = SPE_FIELD_PREP(SPE_ADDRESS_EL, op->el) | (op->ns ? SPE_ADDRESS_NS : 0);
	bool target = op->op_class == BRANCH && op->valid & SPE_OPERATION_TARGET;
	bool previous = run.config.features & SPE_PMSIDR_PBT &&
			op->valid & SPE_OPERATION_PREV_TARGET && (target || run.config.pbt_always);
	bool pa = op->op_class == LOAD_STORE && op->valid & SPE_OPERATION_PA &&
		  fixture_read_reg(SPE_REG_PMSCR) & SPE_PMSCR_PA;

	HOLDS(sample->address[0] == ((op->pc & SPE_ADDRESS_BITS) | top));
	HOLDS(!!(sample->present & SPE_HAS_ADDRESS(1)) == target);
	HOLDS(!target || sample->address[1] == ((op->target & SPE_ADDRESS_BITS) | top));
	HOLDS(!!(sample->present & SPE_HAS_ADDRESS(2)) == (op->op_class == LOAD_STORE));
	HOLDS(((sample->address[2] ^ op->va) & SPE_ADDRESS_BITS) == 0 ||
	      op->op_class != LOAD_STORE);
	HOLDS(!!(sample->present & SPE_HAS_ADDRESS(3)) == pa);
	HOLDS(!pa || (sample->address[3] & SPE_MASK(51, 0)) == op->pa);
	HOLDS(!!(sample->present & SPE_HAS_ADDRESS(4)) == previous);
	HOLDS(!previous || sample->address[4] == ((op->prev_target & SPE_ADDRESS_BITS) | top));
}

/* D17.6.9: test CX and TS. With E2H the context is CONTEXTIDR_EL2. */
static void check_context(const struct spe_operation *op, const struct spe_sample *sample)
{
	u64 pmscr = fixture_read_reg(SPE_REG_PMSCR);
	bool cx = pmscr & SPE_PMSCR_CX;
	unsigned int index = run.config.e2h;

	HOLDS(!!(sample->present & SPE_HAS_CONTEXT(index)) == cx);
	HOLDS(!(sample->present & SPE_HAS_CONTEXT(!index)));
	HOLDS(!cx || sample->context[index] == (index ? op->contextidr_el2 : op->contextidr_el1));
	HOLDS(!!(sample->present & SPE_HAS_TIMESTAMP) == !!(pmscr & SPE_PMSCR_TS));
	HOLDS(!(pmscr & SPE_PMSCR_TS) || sample->timestamp == op->timestamp);
}

static void check_record(const struct spe_operation *op, const struct spe_sample *sample)
{
	/*
	 * The record has these events in every version, and in no version an event that the
	 * operation did not have (D18.2.6).
	 */
	const u64 always = SPE_BIT(SPE_EVENT_RETIRED) | SPE_BIT(SPE_EVENT_L1D_REFILL) |
			   SPE_BIT(SPE_EVENT_TLB_WALK) | SPE_BIT(SPE_EVENT_MISPREDICTED);
	bool source = is_load(op) && op->valid & SPE_OPERATION_SOURCE &&
		      run.config.features & SPE_PMSIDR_LDS;
	u8 branch_bits = op->op_class == BRANCH ? (u8)(SPE_OP_BR_CR | SPE_OP_BR_GCS) : 0;
	u8 simd_bits = op->op_class == SPE_OP_OTHER ? 6 : 0;

	check_addresses(op, sample);
	check_context(op, sample);
	HOLDS(sample->op_class == op->op_class);
	HOLDS(!((sample->op_subclass ^ op->op_subclass) & ~(branch_bits | simd_bits) & 0xff));
	HOLDS(!(sample->events & ~op->events));
	HOLDS((sample->events & always) == (op->events & always));
	HOLDS(sample->counter[0] == saturate_latency(op->total));
	HOLDS(sample->counter[1] == saturate_latency(op->issue));
	HOLDS(!!(sample->present & SPE_HAS_COUNTER(2)) == (op->op_class == LOAD_STORE));
	HOLDS(op->op_class != LOAD_STORE ||
	      sample->counter[2] == saturate_latency(op->translation));
	HOLDS(!!(sample->present & SPE_HAS_SOURCE) == source);
	HOLDS(!source || sample->source == op->source);
	HOLDS(!(sample->present & SPE_HAS_OTHERS));
}

/* ---- A run ---------------------------------------------------------------------- */

/* Check the record between @start and PMBPTR. */
static void check_written_record(const struct spe_operation *op, u64 start)
{
	u64 end = fixture_read_reg(SPE_REG_PMBPTR);
	const u8 *bytes = fixture.mem + (start - FIXTURE_BASE);
	size_t len = (size_t)(end - start);
	struct spe_sample sample;
	int size;

	HOLDS(len && len <= 1U << run.config.max_size);
	HOLDS(!(end & ((1U << run.config.align) - 1)));
	size = spe_record_decode(bytes, len, SPE_MAX_RECORD, &sample);
	HOLDS(size > 0);
	if (size <= 0)
		return;
	for (size_t i = (size_t)size; i < len; i++)
		HOLDS(!bytes[i]);
	check_record(op, &sample);
}

/* Handle an event as a driver does: arm a new window, and sometimes change the controls. */
static void handle_event(void)
{
	run.events++;
	HOLDS(!spe_spu_profiling_enabled(&fixture.spu, 0));
	write_reg(SPE_REG_PMBPTR, FIXTURE_BASE);
	write_reg(SPE_REG_PMBSR, 0);
}

static void execute_operation(const struct spe_operation *op)
{
	const struct spe_spu_stats before = fixture.spu.stats;
	u64 start = fixture_read_reg(SPE_REG_PMBPTR), limit, written, lost;
	bool sampled = level_is_sampled(op), passes = passes_all_filters(op);

	HOLDS(spe_spu_profiling_enabled(&fixture.spu, op->el) == sampled);
	if (!sampled)
		return;
	/* Execute operations until one is selected. */
	if (!spe_spu_count_operations(&fixture.spu, spe_spu_operations_until_sample(&fixture.spu)))
		return;
	spe_inject_and_sample(&run.inject, &fixture.spu, op);

	written = fixture.spu.stats.written - before.written;
	lost = fixture.spu.stats.discarded - before.discarded;
	limit = fixture_read_reg(SPE_REG_PMBLIMITR) & SPE_PMBLIMITR_LIMIT;
	HOLDS(written + lost == passes);
	HOLDS(fixture.spu.stats.filtered - before.filtered == !passes);
	HOLDS(fixture_read_reg(SPE_REG_PMBPTR) >= start &&
	      fixture_read_reg(SPE_REG_PMBPTR) <= limit);
	run.advanced += fixture_read_reg(SPE_REG_PMBPTR) - start;
	if (written)
		check_written_record(op, start);
	else if (!lost)
		HOLDS(fixture_read_reg(SPE_REG_PMBPTR) == start);
	if (fixture_read_reg(SPE_REG_PMBSR) & SPE_PMBSR_S)
		handle_event();
}

static void check_ledgers(void)
{
	const struct spe_spu_stats *stats = &fixture.spu.stats;

	HOLDS(stats->selected == stats->written + stats->filtered + stats->discarded);
	HOLDS(run.advanced == stats->bytes + stats->cut);
	HOLDS(!fixture.strays);
}

static void begin_injection(void)
{
	static const char *const rules[] = { "translation 1%", "fill 2%", "collide 2%",
					     "not-allowed 1%", "abort-sync 1%" };
	struct spe_inject_rule rule;

	/*
	 * Use the last rule only for SPUs that report this abort (RJFYNW, ITCPLL). Other SPUs write
	 * an unpredictable number of bytes.
	 */
	size_t count = ARRAY_SIZE(rules) - (run.config.pmsver >= 4);

	spe_inject_init(&run.inject, draw_random());
	for (size_t i = 0; i < count; i++) {
		size_t len = 0;

		while (rules[i][len])
			len++;
		if (draw_random() & 1 && !spe_inject_parse_rule(rules[i], len, &rule, NULL))
			spe_inject_apply_rule(&run.inject, &fixture.spu, &rule);
	}
}

static bool begin_run(struct spe_check *check, u64 seed)
{
	struct spe_synthetic_config program = { .pc = 0x400000, .working_set = 1 << 16 };
	const struct spe_spu_io none = { 0 };
	const char *reason = NULL;

	run = (struct property_case_run){ .check = check, .random = seed };
	/*
	 * Set a write function first: without one, each configuration would be refused for that
	 * reason.
	 */
	do {
		draw_config(&run.config);
		spe_spu_init(&fixture.spu, &run.config, &none, &reason);
	} while (!reason || strcmp(reason, "io: no write"));
	if (!fixture_init(check, &run.config))
		return false;
	program.program = (u8)draw_below(SPE_PROGRAMS);
	program.seed = draw_random();
	program.line_owner = &run.line_owner;
	begin_injection();
	draw_controls();
	return SPE_CHECK(check, !spe_synthetic_init(&run.program, &program, NULL));
}

void property_run(struct spe_check *check, u64 seed, struct property_sum *sum)
{
	struct spe_operation op;

	if (!begin_run(check, seed))
		return;
	for (run.number = 0; run.number < OPERATIONS; run.number++) {
		if (draw_random() & 1)
			draw_synthetic_operation(&op);
		else
			draw_any_operation(&op);
		execute_operation(&op);
	}
	check_ledgers();
	sum->operations += OPERATIONS;
	sum->records += fixture.spu.stats.written;
	sum->filtered += fixture.spu.stats.filtered;
	sum->collisions += fixture.spu.stats.collisions;
	sum->events += run.events;
}

static void test_random_spus(struct spe_check *check)
{
	struct property_sum sum = { 0 };

	for (u64 seed = 1; seed <= RUNS; seed++)
		property_run(check, seed, &sum);
	SPE_CHECK(check, sum.records > 1000 && sum.filtered > 500);
	SPE_CHECK(check, sum.events > 50 && sum.collisions > 20);
}

static const struct spe_case cases[] = {
	{ "random SPUs, controls and programs", test_random_spus },
};

const struct spe_suite spe_suite_property = { "property", cases, ARRAY_SIZE(cases) };
