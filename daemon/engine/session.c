// SPDX-License-Identifier: LGPL-2.1-or-later
#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "profile/profile-shard.h"
#include "util/escape.h"
#include "util/time.h"

u64 session_make_epoch(void)
{
	u64 epoch = 0;

	if (getrandom(&epoch, sizeof(epoch), GRND_NONBLOCK) != sizeof(epoch))
		epoch = time_clock_ns(CLOCK_REALTIME);
	return epoch;
}

int shared_source_new(struct source *source, const struct source_config *sampling,
		      struct shared_source **ret_shared_source)
{
	struct shared_source *shared_source = calloc(1, sizeof(*shared_source));

	if (!shared_source)
		return -ENOMEM;
	*shared_source =
		(struct shared_source){ .source = source, .sampling = *sampling, .references = 1 };
	*ret_shared_source = shared_source;
	return 0;
}

struct shared_source *shared_source_get(struct shared_source *shared_source)
{
	shared_source->references++;
	return shared_source;
}

/*
 * Return the sums of @cpu, which are allocated on demand; NULL: @cpu is too high, or memory cannot
 * be allocated.
 */
static struct shared_source_cpu *find_or_add_cpu_sums(struct shared_source *shared_source, u32 cpu)
{
	struct shared_source_cpu *cpus;
	u32 count = cpu + 1;

	if (cpu < shared_source->cpu_count)
		return &shared_source->cpus[cpu];
	cpus = cpu < SHARED_SOURCE_CPUS ? reallocarray(shared_source->cpus, count, sizeof(*cpus)) :
					  NULL;
	if (!cpus)
		return NULL;
	memset(cpus + shared_source->cpu_count, 0,
	       (count - shared_source->cpu_count) * sizeof(*cpus));
	shared_source->cpus = cpus;
	shared_source->cpu_count = count;
	return &cpus[cpu];
}

void shared_source_count_window(struct shared_source *shared_source,
				const struct source_window *window)
{
	struct shared_source_cpu *cpu = find_or_add_cpu_sums(shared_source, window->cpu);

	if (!cpu)
		return;
	/* A window without bytes only reports blind time. */
	cpu->windows += window->len != 0;
	cpu->bytes += window->len;
	cpu->armed_ns += source_window_get_armed_ns(window);
	source_blind_add_window(cpu->blind_by, window);
	cpu->faulted += !!(window->flags & WINDOW_FAULTED);
	cpu->collided += !!(window->flags & WINDOW_COLLIDED);
	if (window->midr)
		cpu->midr = window->midr;
	if (window->pmsver)
		cpu->pmsver = window->pmsver;
}

struct shared_source *shared_source_put(struct shared_source *shared_source)
{
	if (!shared_source || --shared_source->references)
		return NULL;
	shared_source->source->ops->free(shared_source->source);
	free(shared_source->cpus);
	free(shared_source);
	return NULL;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool session_name_valid(const char *name)
{
	size_t n = 0;

	if (!is_letter(*name))
		return false;
	for (; name[n]; n++)
		if (n >= SESSION_NAME_SIZE - 1 ||
		    (!is_letter(name[n]) && name[n] != '_' && (name[n] < '0' || name[n] > '9')))
			return false;
	return true;
}

struct session_rule *session_rule_free(struct session_rule *rule)
{
	if (!rule)
		return NULL;
	for (size_t i = 0; rule->cgroups && rule->cgroups[i]; i++)
		free(rule->cgroups[i]);
	free(rule->cgroups);
	free(rule->expression);
	filter_free(rule->filter);
	free(rule);
	return NULL;
}

static bool text_fits(const char *text)
{
	return strnlen(text, SESSION_TEXT) < SESSION_TEXT;
}

static int check_cgroup(const char *path, size_t index, struct filter_error *error)
{
	char shown[104];

	error->column = 0;
	escape_string(shown, sizeof(shown), path);
	if (index == SESSION_CGROUPS)
		snprintf(error->text, sizeof(error->text), "too many cgroups: at most %u",
			 SESSION_CGROUPS);
	else if (*path != '/')
		snprintf(error->text, sizeof(error->text),
			 "cgroup \"%s\": should be a path that begins with \"/\"", shown);
	else if (!text_fits(path))
		snprintf(error->text, sizeof(error->text),
			 "cgroup \"%s...\" is too long: a path has at most %u bytes", shown,
			 SESSION_TEXT - 1);
	else
		return 0;
	return -EINVAL;
}

static int copy_cgroups(char *const *from, char ***ret_copy, struct filter_error *error)
{
	size_t n = 0;
	char **copy;

	for (; from && from[n]; n++)
		if (check_cgroup(from[n], n, error) < 0)
			return -EINVAL;
	copy = n ? calloc(n + 1, sizeof(*copy)) : NULL;
	*ret_copy = copy;
	for (size_t i = 0; copy && i < n; i++) {
		copy[i] = strdup(from[i]);
		if (!copy[i])
			return -ENOMEM;
	}
	return n && !copy ? -ENOMEM : 0;
}

/*
 * Parse the expression alone first, so that &filter_error.column is a position in the expression.
 */
static int compose_filter(struct session_rule *rule, const struct filter_lists *lists,
			  struct filter_error *error)
{
	struct filter_lists all = { .cgroups = rule->cgroups };
	struct filter *alone = NULL;
	char *text;
	int r;

	if (!text_fits(rule->expression)) {
		error->column = SESSION_TEXT;
		snprintf(error->text, sizeof(error->text), "too long: at most %u bytes",
			 SESSION_TEXT - 1);
		return -EINVAL;
	}
	if (*rule->expression) {
		r = filter_new(rule->expression, &alone, error);
		if (r < 0)
			return r;
		filter_free(alone);
	}
	if (lists) {
		all.containers = lists->containers;
		all.excluded = lists->excluded;
		rule->cgroups_part = (lists->containers && *lists->containers) +
				     (lists->excluded && *lists->excluded);
	}
	r = filter_compose(&all, rule->expression, &text);
	if (r < 0)
		return r;
	if (*text)
		r = filter_new(text, &rule->filter, error);
	if (r == -EINVAL) {
		error->column = 0;
		snprintf(error->text, sizeof(error->text),
			 "together with the cgroups and the lists of containers it is too long");
	}
	free(text);
	return r;
}

int session_rule_new(const struct filter_lists *lists, const char *expression, char *const *cgroups,
		     struct session_rule **ret_rule, struct filter_error *ret_error)
{
	struct session_rule *rule = calloc(1, sizeof(*rule));
	int r;

	if (!rule)
		return -ENOMEM;
	rule->expression = strdup(expression ? expression : "");
	r = rule->expression ? copy_cgroups(cgroups, &rule->cgroups, ret_error) : -ENOMEM;
	if (r >= 0)
		r = compose_filter(rule, lists, ret_error);
	if (r < 0) {
		session_rule_free(rule);
		return r;
	}
	*ret_rule = rule;
	return 0;
}

static void nodes_free(struct numa_nodes *nodes)
{
	if (nodes)
		numa_nodes_deinit(nodes);
	free(nodes);
}

/*
 * Return the shard @index of @session, or the next one that exists, and advance @index. After the
 * last one return the spare shard, then NULL.
 */
static struct profile *next_shard(const struct session *session, u32 *index)
{
	if (!session->spare || *index > SOURCE_PARTITIONS_MAX)
		return NULL;
	if (*index < SOURCE_PARTITIONS_MAX && session->shard[*index])
		return session->shard[(*index)++];
	*index = SOURCE_PARTITIONS_MAX + 1;
	return session->spare;
}

/* Allocate the shards of @workers drain threads, at least 2, and the spare one. */
static int allocate_profile_shards(struct session *session, const struct profile_config *whole,
				   u32 workers, struct attributor *attributor)
{
	struct profile_config config = *whole;
	int r;

	config.whole = session->profile;
	config.history = false;
	config.cell_bytes = budget_divide_entries((u32)whole->cell_bytes, workers);
	config.contexts = budget_divide_entries(whole->contexts, workers);
	r = profile_new(&config, attributor, &session->spare);
	for (u32 i = 0; i < workers && r >= 0; i++)
		r = profile_new(&config, attributor, &session->shard[i]);
	return r;
}

static int profiles_init(struct session *session, const struct profile_config *config, u32 workers,
			 struct attributor *attributor)
{
	int r = profile_new(config, attributor, &session->profile);

	if (r < 0 || workers > 1)
		return r < 0 ? r : allocate_profile_shards(session, config, workers, attributor);
	session->shard[0] = session->profile;
	return 0;
}

static void profiles_free(struct session *session)
{
	struct profile *shard;
	u32 i = 0;

	while ((shard = next_shard(session, &i)))
		profile_free(shard);
	profile_free(session->profile);
}

int session_init(struct session *session, const struct session_config *config,
		 const struct memory_plan *plan, struct attributor *attributor)
{
	struct profile_config profile = budget_get_profile_config(plan);
	struct session made = { 0 };
	int r;

	if (!session_name_valid(config->name))
		return -EINVAL;
	profile.filter = config->rule->filter;
	made.nodes = calloc(1, sizeof(*made.nodes));
	profile.nodes = made.nodes;
	profile.line_size = config->line_size;
	r = made.nodes ? numa_nodes_read("/sys", made.nodes) : -ENOMEM;
	if (r >= 0 && config->flight_bytes)
		r = flight_recorder_new(config->flight_bytes, &made.flight);
	if (r >= 0)
		r = profiles_init(&made, &profile, plan->workers, attributor);
	if (r < 0) {
		profiles_free(&made);
		flight_recorder_free(made.flight);
		nodes_free(made.nodes);
		return r;
	}
	snprintf(made.name, sizeof(made.name), "%s", config->name);
	made.shared_source = config->shared_source;
	made.rule = config->rule;
	made.shared = config->shared;
	made.temporary = config->temporary;
	made.epoch = session_make_epoch();
	made.bytes = strcmp(config->name, SESSION_MACHINE) ? plan->bytes : 0;
	made.cost_ns = time_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	*session = made;
	return 0;
}

void session_deinit(struct session *session)
{
	if (session->running) {
		session_disable(session);
		session_stop(session);
	}
	profiles_free(session);
	flight_recorder_free(session->flight);
	nodes_free(session->nodes);
	session_rule_free(session->rule);
	shared_source_put(session->shared_source);
	*session = (struct session){ 0 };
}

void session_set_rule(struct session *session, struct session_rule *rule)
{
	struct profile *shard;
	u32 i = 0;

	profile_set_filter(session->profile, rule->filter);
	while ((shard = next_shard(session, &i)))
		profile_set_filter(shard, rule->filter);
	session_rule_free(session->rule);
	session->rule = rule;
}

void session_sweep_names(struct session *session, u64 now_ns)
{
	struct profile *shards[SOURCE_PARTITIONS_MAX + 1], *shard;
	u32 count = 0, i = 0;

	while ((shard = next_shard(session, &i)))
		shards[count++] = shard;
	profile_sweep_ids(session->profile, shards, count, now_ns);
}

int session_start(struct session *session)
{
	struct shared_source *shared_source = session->shared_source;
	int r;

	if (session->running)
		return -EALREADY;
	if (!shared_source->running) {
		r = shared_source->source->ops->start(shared_source->source);
		if (r < 0)
			return r;
		shared_source->error = 0;
	}
	shared_source->running++;
	session->running = true;
	session->waits = false;
	session->started_ns = time_now_ns();
	if (session->stopped_ns)
		profile_skip_time(session->profile, session->started_ns - session->stopped_ns);
	return 0;
}

void session_disable(struct session *session)
{
	struct shared_source *shared_source = session->shared_source;

	if (session->running && shared_source->running == 1)
		shared_source->source->ops->stop(shared_source->source);
}

int session_stop(struct session *session)
{
	if (!session->running)
		return -EALREADY;
	session->stopped_ns = time_now_ns();
	session->ran_ns = session_get_duration(session);
	session->running = false;
	session->shared_source->running--;
	return 0;
}

void session_reset(struct session *session)
{
	struct profile *shard;
	u32 i = 0;

	profile_reset(session->profile);
	while ((shard = next_shard(session, &i)))
		profile_reset(shard);
	if (session->flight)
		flight_recorder_clear(session->flight);
	session->ran_ns = 0;
	session->started_ns = time_now_ns();
	session->epoch = session_make_epoch();
	session->cost_ns = time_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void session_count_blind_time(struct session *session, u64 blind_ns, u64 at_ns)
{
	static const u8 nothing[1];
	struct source *source = session->shared_source->source;
	struct source_cpu cpu;

	for (u32 next = 0; source_next_cpu(source, next, &cpu); next = cpu.cpu + 1) {
		const struct source_window window = {
			.data = nothing,
			.cpu = cpu.cpu,
			.tid = -1,
			.start_ns = at_ns,
			.end_ns = at_ns,
			.blind_ns = blind_ns,
			.blind_by[SOURCE_BLIND_RESTART] = blind_ns,
			.backend = source->backend,
		};

		/* An offline CPU has no blind time. */
		if (strcmp(cpu.state, "offline") != 0)
			profile_add_window(session->profile, &window);
	}
}

u64 session_get_duration(const struct session *session)
{
	u64 now = session->running ? time_now_ns() - session->started_ns : 0;

	return session->ran_ns + now;
}

/* Return the RSS of the daemon in bytes, from /proc/self/statm; 0: unknown. */
static u64 read_resident_bytes(void)
{
	unsigned long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f)
		return 0;
	if (fscanf(f, "%*u %llu", &pages) != 1)
		pages = 0;
	fclose(f);
	return pages * (u64)sysconf(_SC_PAGESIZE);
}

static void fill_health(const struct shared_source *shared_source, struct view_header *h)
{
	const struct source_health *health = &shared_source->seen;
	int error = __atomic_load_n(&shared_source->error, __ATOMIC_RELAXED);

	h->faults = health->faults;
	h->throttles = health->throttles;
	h->unread = health->unread;
	h->cpus_stopped = health->cpus_stopped;
	snprintf(h->fault, sizeof(h->fault), "%s", source_health_describe(health));
	if (!*h->fault && error)
		snprintf(h->fault, sizeof(h->fault), "reading failed: %s", strerror(-error));
}

void session_fill_header(const struct session *session, struct view_header *ret_header)
{
	const struct source *source = session->shared_source->source;

	snprintf(ret_header->source, sizeof(ret_header->source), "%s", source->ops->name);
	snprintf(ret_header->source_reason, sizeof(ret_header->source_reason), "%s",
		 source->reason);
	ret_header->backend = source->backend;
	ret_header->running = session->running;
	ret_header->cpus = source->cpus;
	ret_header->interval_ns = source->interval_ns;
	ret_header->duration_ns = session_get_duration(session);
	ret_header->cost_ns = time_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - session->cost_ns;
	ret_header->memory = read_resident_bytes();
	fill_health(session->shared_source, ret_header);
}
