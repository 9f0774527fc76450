// SPDX-License-Identifier: LGPL-2.1-or-later
#include "container.h"

#include "util/escape.h"

#include <stdio.h>

#define ID_MIN	  12 /* what runtimes print */
#define ID_SHORT  12
#define UID_SHORT 8
#define ID_WHOLE  64 /* what engines make */
#define DEPTH_MAX 32

struct text {
	const char *at;
	size_t len;
};

/* How the name is made of what stands between a pattern's prefix and suffix. */
enum naming {
	NAME_ID, /* hexadecimal id, shortened; with the pod's uid before it in Kubernetes */
	NAME_UNIT, /* systemd's escapes undone */
	NAME_PLAIN,
	NAME_WHOLE, /* the component, with systemd's escapes undone */
	NAME_BELOW, /* the component above, and it */
	NAME_BARE, /* a whole id, and nothing that says whose; shortened */
};

/**
 * struct pattern - a component that is a container's own cgroup
 * @parent: the component above must be this, or start with it if it ends in '*', and be the first
 *	one if there is a '/' before it; of two with a '/' between them both are above; NULL for any
 * @child: the component below must not be this; NULL for any
 * @user: engines that users run make it, too; others are not believed where any user may make
 *	cgroups
 * @below: the component below must be this, which is the container's own then; NULL for any
 */
struct pattern {
	const char *parent;
	const char *prefix;
	const char *suffix;
	const char *child;
	const char *runtime;
	enum naming naming;
	bool user;
	const char *below;
};

/*
 * conmon (libpod-conmon-, crio-conmon-), lxc.monitor and the supervisor of nspawn
 * help a container from outside: no container takes them, and they count to their
 * unit. Virtual machines of libvirt are scopes of machine.slice as well.
 */
static const struct pattern containers[] = {
	{ NULL, "docker-", ".scope", NULL, "docker", NAME_ID, .user = true },
	{ "docker", "", "", NULL, "docker", NAME_ID },
	/* What `docker build` runs. */
	{ "docker/buildkit", "", "", NULL, "docker", NAME_BELOW },
	{ NULL, "system.slice:docker:", "", NULL, "docker", NAME_ID },
	{ NULL, "cri-containerd-", ".scope", NULL, "containerd", NAME_ID },
	{ NULL, "nerdctl-", ".scope", NULL, "containerd", NAME_ID, .user = true },
	{ "k8s.io", "", "", NULL, "containerd", NAME_ID },
	/* By ctr: its name space, and the name it was given. */
	{ "/default", "", "", NULL, "containerd", NAME_PLAIN },
	{ NULL, "kubepods", "", NULL, "containerd", NAME_ID },
	{ "pod*", "", "", NULL, "containerd", NAME_ID },
	{ NULL, "crio-", ".scope", NULL, "crio", NAME_ID },
	{ "pod*", "crio-", "", NULL, "crio", NAME_ID },
	{ NULL, "libpod-", ".scope", NULL, "podman", NAME_ID, .user = true },
	{ NULL, "libpod-payload-", "", NULL, "podman", NAME_ID, .user = true },
	{ NULL, "libpod-", "", NULL, "podman", NAME_ID, .user = true },
	{ NULL, "lxc.payload.", "", NULL, "lxc", NAME_PLAIN, .user = true },
	{ "lxc.payload", "", "", NULL, "lxc", NAME_PLAIN, .user = true },
	{ "lxc", "", "", NULL, "lxc", NAME_PLAIN, .user = true },
	{ "lxc.monitor", "", "", NULL, "cgroup", NAME_BELOW, .user = true },
	{ NULL, "machine-qemu\\x2d", ".scope", NULL, "systemd", NAME_WHOLE },
	{ "machine.slice", "machine-", ".scope", "supervisor", "nspawn", NAME_UNIT },
	/* In another slice (--slice=) a scope may be anybody's, but for what nspawn makes in it. */
	{ NULL, "machine-", ".scope", NULL, "nspawn", NAME_UNIT, .below = "payload" },
	{ NULL, "systemd-nspawn@", ".service", "supervisor", "nspawn", NAME_UNIT },
	{ "speprof-demo", "", "", NULL, "cgroup", NAME_PLAIN, .user = true },
	/* Docker's, under a --cgroup-parent= that may be called anything. */
	{ NULL, "", "", NULL, "docker", NAME_BARE },
};

static bool text_is(struct text t, const char *s)
{
	return t.len == strlen(s) && !memcmp(t.at, s, t.len);
}

static bool text_starts(struct text t, const char *s)
{
	return t.len >= strlen(s) && !memcmp(t.at, s, strlen(s));
}

static bool text_ends(struct text t, const char *s)
{
	size_t n = strlen(s);

	return t.len >= n && !memcmp(t.at + t.len - n, s, n);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

static bool text_is_id(struct text t)
{
	if (t.len < ID_MIN || t.len > 64)
		return false;
	for (size_t i = 0; i < t.len; i++)
		if (hex_digit(t.at[i]) < 0)
			return false;
	return true;
}

/**
 * struct components - of a path, at most DEPTH_MAX; deeper ones decide nothing
 * @uid: digits, below the slice of that user; else empty
 */
struct components {
	struct text part[DEPTH_MAX];
	size_t count;
	struct text uid;
};

/* The number in "user-1000.slice" or "user@1000.service", or nothing. */
static struct text user_number(struct text t, const char *prefix, const char *suffix)
{
	size_t before = strlen(prefix), after = strlen(suffix);

	if (!text_starts(t, prefix) || !text_ends(t, suffix) || t.len <= before + after)
		return (struct text){ 0 };
	t = (struct text){ t.at + before, t.len - before - after };
	for (size_t i = 0; i < t.len; i++)
		if (t.at[i] < '0' || t.at[i] > '9')
			return (struct text){ 0 };
	return t;
}

static void path_split(struct text path, struct components *c)
{
	size_t n = 0;

	*c = (struct components){ 0 };
	for (size_t i = 0; i < path.len && n < DEPTH_MAX;) {
		size_t start = i;

		while (i < path.len && path.at[i] != '/')
			i++;
		c->part[n] = (struct text){ path.at + start, i - start };
		if (c->part[n].len && !text_is(c->part[n], "..") && !text_is(c->part[n], "."))
			n++;
		i++;
	}
	c->count = n;
	if (n > 2 && text_is(c->part[0], "user.slice"))
		c->uid = user_number(c->part[1], "user-", ".slice");
}

/* systemd's \xNN to bytes; anything else is copied. */
static void name_unit(struct attribute_container *entry, struct text t)
{
	char raw[sizeof(entry->name)];
	size_t n = 0;

	for (size_t i = 0; i < t.len && n < sizeof(raw); i++) {
		if (t.at[i] == '\\' && t.len - i >= 4 && t.at[i + 1] == 'x' &&
		    hex_digit(t.at[i + 2]) >= 0 && hex_digit(t.at[i + 3]) >= 0) {
			raw[n++] = (char)(hex_digit(t.at[i + 2]) << 4 | hex_digit(t.at[i + 3]));
			i += 3;
		} else {
			raw[n++] = t.at[i];
		}
	}
	escape_text(entry->name, sizeof(entry->name), raw, n);
}

/* Hexadecimal groups as in a UUID; units have '_' between them. */
static void uid_take(struct text t, char *uid, size_t size)
{
	size_t n = 0;

	while (n < t.len && n < size - 1 &&
	       (hex_digit(t.at[n]) >= 0 || t.at[n] == '-' || t.at[n] == '_')) {
		uid[n] = t.at[n] == '_' ? '-' : t.at[n];
		n++;
	}
	uid[n < UID_SHORT ? 0 : n] = '\0';
}

/* The pod's uid in "kubepods-burstable-podUID.slice" or "podUID", or nothing. */
static void pod_uid(const struct text *part, size_t n, char *uid, size_t size)
{
	bool kubernetes = false;

	for (size_t i = 0; i < n; i++)
		kubernetes |= memmem(part[i].at, part[i].len, "kubepods", 8) != NULL;
	while (kubernetes && !*uid && n--) {
		struct text t = part[n];
		const char *pod = text_starts(t, "pod") ? t.at : memmem(t.at, t.len, "-pod", 4);

		if (!pod)
			continue;
		pod += *pod == '-' ? 4 : 3;
		uid_take((struct text){ pod, t.len - (size_t)(pod - t.at) }, uid, size);
	}
}

/* What is short enough for a column, and long enough to be told apart. */
static void name_id(struct container_match *m, struct text id, const struct components *c, size_t n)
{
	snprintf(m->id, sizeof(m->id), "%.*s", (int)id.len, id.at);
	/* No pod is a user's: Kubernetes' names are not looked for there. */
	if (!c->uid.len)
		pod_uid(c->part, n, m->uid, sizeof(m->uid));
	if (*m->uid)
		snprintf(m->entry.name, sizeof(m->entry.name), "pod%.*s/%.*s", UID_SHORT, m->uid,
			 ID_SHORT, m->id);
	else
		snprintf(m->entry.name, sizeof(m->entry.name), "%.*s", ID_SHORT, m->id);
}

static void name_below(struct container_match *m, struct text above, struct text t)
{
	char text[2 * sizeof(m->entry.name)];
	int n = snprintf(text, sizeof(text), "%.*s/%.*s", (int)above.len, above.at, (int)t.len,
			 t.at);

	escape_text(m->entry.name, sizeof(m->entry.name), text,
		    (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

static bool part_matches(struct text t, struct text wanted)
{
	if (wanted.len && wanted.at[wanted.len - 1] == '*')
		return t.len >= wanted.len && !memcmp(t.at, wanted.at, wanted.len - 1);
	return t.len == wanted.len && !memcmp(t.at, wanted.at, t.len);
}

/* Whether the components before @i are those of @parent, from its end. */
static bool parent_matches(const char *parent, const struct text *part, size_t i)
{
	size_t len = parent ? strlen(parent) : 0;

	while (len && i) {
		const char *slash = memrchr(parent, '/', len);
		size_t from = slash ? (size_t)(slash - parent) + 1 : 0;

		if (!part_matches(part[--i], (struct text){ parent + from, len - from }))
			return false;
		/* What begins with '/' is at the beginning. */
		if (from == 1)
			return !i;
		len = from ? from - 1 : 0;
	}
	return !len;
}

/* A pod of Podman's has its containers, or their conmon, below. */
static bool is_bare(const struct components *c, size_t i)
{
	if (c->part[i].len != ID_WHOLE || (i && text_is(c->part[i - 1], "libpod_parent")))
		return false;
	return i + 1 == c->count ||
	       (!text_is(c->part[i + 1], "conmon") && !text_starts(c->part[i + 1], "libpod-"));
}

/* Whether component @i is as @p has it, with what is above and below; the rest in @ret_rest. */
static bool pattern_fits(const struct pattern *p, const struct components *c, size_t i,
			 struct text *ret_rest)
{
	size_t prefix = strlen(p->prefix), suffix = strlen(p->suffix);
	struct text t = c->part[i], child = { "", 0 };

	if (c->uid.len && !p->user)
		return false;
	if (!text_starts(t, p->prefix) || !text_ends(t, p->suffix) || t.len <= prefix + suffix)
		return false;
	if (i + 1 < c->count)
		child = c->part[i + 1];
	if ((p->child && text_is(child, p->child)) || (p->below && !text_is(child, p->below)))
		return false;
	*ret_rest = (struct text){ t.at + prefix, t.len - prefix - suffix };
	return parent_matches(p->parent, c->part, i);
}

static bool pattern_matches(const struct pattern *p, const struct components *c, size_t i,
			    struct container_match *m)
{
	const char *colon = NULL;
	struct text t;

	if (!pattern_fits(p, c, i, &t))
		return false;
	/* Without systemd's help, containerd names "SLICE:cri-containerd:ID". */
	if (p->naming == NAME_ID)
		colon = memrchr(t.at, ':', t.len);
	if (colon)
		t = (struct text){ colon + 1, t.len - (size_t)(colon + 1 - t.at) };

	switch (p->naming) {
	case NAME_BARE:
		if (!is_bare(c, i))
			return false;
		/* fall through */
	case NAME_ID:
		if (!text_is_id(t))
			return false;
		name_id(m, t, c, colon ? i + 1 : i);
		break;
	case NAME_UNIT:
		name_unit(&m->entry, t);
		break;
	case NAME_PLAIN:
		escape_text(m->entry.name, sizeof(m->entry.name), t.at, t.len);
		break;
	case NAME_WHOLE:
		name_unit(&m->entry, c->part[i]);
		break;
	case NAME_BELOW:
		name_below(m, c->part[i - 1], t);
		break;
	}
	snprintf(m->entry.runtime, sizeof(m->entry.runtime), "%s", p->runtime);
	return true;
}

static bool unit_matches(const struct text *part, size_t i)
{
	/* init.scope of a user's manager tells less than the manager's own unit. */
	if (i && text_is(part[i], "init.scope") && text_starts(part[i - 1], "user@"))
		return false;
	return text_ends(part[i], ".service") || text_ends(part[i], ".scope");
}

/* The innermost unit, else the innermost slice if nothing but slices is there. */
static size_t unit_find(const struct text *part, size_t count)
{
	for (size_t i = count; i--;)
		if (unit_matches(part, i))
			return i;
	return text_ends(part[count - 1], ".slice") ? count - 1 : count;
}

/* The kernel appends this to the path of a cgroup that was removed. */
static struct text path_living(struct text path)
{
	static const char deleted[] = " (deleted)";

	while (text_ends(path, deleted))
		path.len -= sizeof(deleted) - 1;
	return path;
}

size_t container_path_within(const char *path, size_t len)
{
	const char *slash;

	if (len < CONTAINER_PATH_SIZE)
		return len;
	slash = memrchr(path, '/', CONTAINER_PATH_SIZE);
	/* A component has 255 bytes at most, but in a recording. */
	return slash && slash > path ? (size_t)(slash - path) : CONTAINER_PATH_SIZE - 1;
}

/* The last component of the container's own cgroup in @c, or its count. */
static size_t container_find(const struct components *c, struct container_match *m)
{
	for (size_t i = 0; i < c->count; i++)
		for (size_t k = 0; k < ARRAY_SIZE(containers); k++)
			if (pattern_matches(&containers[k], c, i, m))
				return containers[k].below ? i + 1 : i;
	return c->count;
}

/* Of no container: the unit, or what else the path ends in. Returns the last component of it. */
static size_t unit_identify(const struct components *c, struct container_match *m)
{
	size_t i = unit_find(c->part, c->count);
	struct components own = *c;
	struct container_match other;

	strcpy(m->entry.runtime, i < c->count ? "systemd" : "cgroup");
	if (i == c->count)
		i = c->count - 1;
	name_unit(&m->entry, c->part[i]);
	/* A helper of the container that has this cgroup for its own: told apart by one more. */
	own.count = i + 1;
	return i + 1 < c->count && container_find(&own, &other) <= i ? i + 1 : i;
}

/* Below a user's manager any name is that user's to choose: it says whose, as nobody else's does. */
static void name_user(const struct components *c, size_t i, struct container_match *m)
{
	char text[sizeof(m->entry.name) + 32];

	if (!c->uid.len || i < 3 || !user_number(c->part[2], "user@", ".service").len)
		return;
	snprintf(text, sizeof(text), "%.*s/%s", c->uid.len > 20 ? 20 : (int)c->uid.len, c->uid.at,
		 m->entry.name);
	escape_string(m->entry.name, sizeof(m->entry.name), text);
}

bool container_identify(const char *path, size_t len, struct container_match *ret_match)
{
	struct text whole = { path, container_path_within(path, len) };
	struct container_match m = { 0 };
	struct components c;
	size_t i;

	path_split(path_living(whole), &c);
	if (!c.count)
		return false;
	i = container_find(&c, &m);
	if (i == c.count)
		i = unit_identify(&c, &m);
	name_user(&c, i, &m);
	m.length = (size_t)(c.part[i].at + c.part[i].len - path);
	escape_text(m.entry.path, sizeof(m.entry.path), path, m.length);
	*ret_match = m;
	return true;
}

enum hierarchy {
	HIERARCHY_V2,
	HIERARCHY_SYSTEMD,
	HIERARCHY_OTHER, /* of version 1, where a runtime's path stands */
	HIERARCHIES,
};

static enum hierarchy line_hierarchy(struct text number, struct text controllers, struct text path)
{
	struct container_match m;
	struct components c;

	if (text_is(number, "0") && !controllers.len)
		return HIERARCHY_V2;
	if (text_is(controllers, "name=systemd"))
		return HIERARCHY_SYSTEMD;
	path_split(path, &c);
	return container_find(&c, &m) < c.count ? HIERARCHY_OTHER : HIERARCHIES;
}

bool container_cgroup(const char *text, size_t len, const char **ret_path, size_t *ret_len)
{
	struct text best[HIERARCHIES] = { 0 };

	while (len) {
		const char *end = memchr(text, '\n', len);
		size_t n = end ? (size_t)(end - text) : len;
		const char *first = memchr(text, ':', n);
		const char *second =
			first ? memchr(first + 1, ':', n - (size_t)(first + 1 - text)) : NULL;

		if (second) {
			struct text number = { text, (size_t)(first - text) };
			struct text controllers = { first + 1, (size_t)(second - first - 1) };
			struct text path = { second + 1, n - (size_t)(second + 1 - text) };
			enum hierarchy h = line_hierarchy(number, controllers, path_living(path));

			if (h < HIERARCHIES && !best[h].at && !text_is(path, "/"))
				best[h] = path;
		}
		len -= end ? n + 1 : n;
		text += end ? n + 1 : n;
	}
	for (size_t h = 0; h < HIERARCHIES; h++) {
		if (!best[h].at)
			continue;
		*ret_path = best[h].at;
		*ret_len = best[h].len;
		return true;
	}
	return false;
}
