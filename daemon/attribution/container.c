// SPDX-License-Identifier: LGPL-2.1-or-later
#include "container.h"

#include "util/escape.h"

#include <stdio.h>

#define ID_MIN	  12 /* shortest id that runtimes print */
#define ID_SHORT  12
#define UID_SHORT 8
#define ID_FULL	  64 /* length of the ids that engines create */
#define DEPTH_MAX 32

/** struct text_slice - @len bytes from @start on, without a terminating NUL */
struct text_slice {
	const char *start;
	size_t len;
};

/* Methods to derive the name from the text between prefix and suffix of a pattern */
enum container_naming {
	NAME_ID, /* a hexadecimal id, shortened; in Kubernetes after the uid of the pod */
	NAME_UNESCAPED, /* the text, with systemd's escapes decoded */
	NAME_PLAIN, /* the text */
	NAME_COMPONENT, /* the whole component, with systemd's escapes decoded */
	NAME_NESTED, /* "parent/text" */
	NAME_BARE_ID, /* like NAME_ID, for a complete id without a prefix */
};

/**
 * struct container_pattern - describes a path component that is the cgroup of a container
 * @parent: required components above, separated by '/'. A leading '/' means that they start the
 * path, a trailing '*' matches any suffix. NULL for any
 * @prefix, @suffix: required start and end of the component
 * @child: if the component below has this name, the pattern does not match; NULL for none
 * @runtime: name of the runtime
 * @naming: how to derive the container's name
 * @user: the pattern also matches below the slice of a user, because rootless engines create such
 * cgroups there. Other patterns do not match there, because users choose the names of their cgroups
 * @below: required component below, which is then the container's cgroup; NULL: none
 */
struct container_pattern {
	const char *parent;
	const char *prefix;
	const char *suffix;
	const char *child;
	const char *runtime;
	enum container_naming naming;
	bool user;
	const char *below;
};

/*
 * If several patterns match a component, the first one decides. Monitors that run outside of their
 * container (conmon, lxc.monitor.NAME, the supervisor of nspawn) match no pattern, so they count
 * for their unit. Scopes of libvirt's virtual machines are in machine.slice, too, so their pattern
 * precedes the one of nspawn.
 */
static const struct container_pattern containers[] = {
	{ NULL, "docker-", ".scope", NULL, "docker", NAME_ID, .user = true },
	{ "docker", "", "", NULL, "docker", NAME_ID },
	/* Containers of `docker build`: this entry and the next. */
	{ "docker/buildkit", "", "", NULL, "docker", NAME_NESTED },
	{ NULL, "system.slice:docker:", "", NULL, "docker", NAME_ID },
	{ NULL, "cri-containerd-", ".scope", NULL, "containerd", NAME_ID },
	{ NULL, "nerdctl-", ".scope", NULL, "containerd", NAME_ID, .user = true },
	{ "k8s.io", "", "", NULL, "containerd", NAME_ID },
	/* Containers that ctr created in its default namespace: "/default/NAME". */
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
	{ "lxc.monitor", "", "", NULL, "cgroup", NAME_NESTED, .user = true },
	{ NULL, "machine-qemu\\x2d", ".scope", NULL, "systemd", NAME_COMPONENT },
	{ "machine.slice", "machine-", ".scope", "supervisor", "nspawn", NAME_UNESCAPED },
	/* In another slice (--slice=) any user may own the scope; only nspawn creates "payload". */
	{ NULL, "machine-", ".scope", NULL, "nspawn", NAME_UNESCAPED, .below = "payload" },
	{ NULL, "systemd-nspawn@", ".service", "supervisor", "nspawn", NAME_UNESCAPED },
	{ "speprof-demo", "", "", NULL, "cgroup", NAME_PLAIN, .user = true },
	/* Docker with --cgroup-parent=: the parent may have any name. */
	{ NULL, "", "", NULL, "docker", NAME_BARE_ID },
};

static bool text_equals(struct text_slice t, const char *s)
{
	return t.len == strlen(s) && !memcmp(t.start, s, t.len);
}

static bool text_has_prefix(struct text_slice t, const char *s)
{
	return t.len >= strlen(s) && !memcmp(t.start, s, strlen(s));
}

static bool text_has_suffix(struct text_slice t, const char *s)
{
	size_t n = strlen(s);

	return t.len >= n && !memcmp(t.start + t.len - n, s, n);
}

static int parse_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

static bool text_is_id(struct text_slice t)
{
	if (t.len < ID_MIN || t.len > 64)
		return false;
	for (size_t i = 0; i < t.len; i++)
		if (parse_hex_digit(t.start[i]) < 0)
			return false;
	return true;
}

/**
 * struct path_components - the components of a path
 * @component: the first @count components, at most DEPTH_MAX; deeper ones are ignored
 * @uid: digits of the uid if the path is below the slice of a user; else empty
 */
struct path_components {
	struct text_slice component[DEPTH_MAX];
	size_t count;
	struct text_slice uid;
};

/* Returns the uid in "user-1000.slice" or "user@1000.service"; else an empty text. */
static struct text_slice text_find_uid(struct text_slice t, const char *prefix, const char *suffix)
{
	size_t before = strlen(prefix), after = strlen(suffix);

	if (!text_has_prefix(t, prefix) || !text_has_suffix(t, suffix) || t.len <= before + after)
		return (struct text_slice){ 0 };
	t = (struct text_slice){ t.start + before, t.len - before - after };
	for (size_t i = 0; i < t.len; i++)
		if (t.start[i] < '0' || t.start[i] > '9')
			return (struct text_slice){ 0 };
	return t;
}

static void path_split(struct text_slice path, struct path_components *c)
{
	size_t n = 0;

	*c = (struct path_components){ 0 };
	for (size_t i = 0; i < path.len && n < DEPTH_MAX;) {
		size_t start = i;

		while (i < path.len && path.start[i] != '/')
			i++;
		c->component[n] = (struct text_slice){ path.start + start, i - start };
		if (c->component[n].len && !text_equals(c->component[n], "..") &&
		    !text_equals(c->component[n], "."))
			n++;
		i++;
	}
	c->count = n;
	if (n > 2 && text_equals(c->component[0], "user.slice"))
		c->uid = text_find_uid(c->component[1], "user-", ".slice");
}

/* Set the name to @t with systemd's "\xNN" decoded. */
static void name_set_unescaped(struct attribute_container *entry, struct text_slice t)
{
	char raw[sizeof(entry->name)];
	size_t n = 0;

	for (size_t i = 0; i < t.len && n < sizeof(raw); i++) {
		if (t.start[i] == '\\' && t.len - i >= 4 && t.start[i + 1] == 'x' &&
		    parse_hex_digit(t.start[i + 2]) >= 0 && parse_hex_digit(t.start[i + 3]) >= 0) {
			raw[n++] = (char)(parse_hex_digit(t.start[i + 2]) << 4 |
					  parse_hex_digit(t.start[i + 3]));
			i += 3;
		} else {
			raw[n++] = t.start[i];
		}
	}
	escape_text(entry->name, sizeof(entry->name), raw, n);
}

/* Copy a UUID from the start of @t; systemd units have '_' in place of '-'. */
static void uid_copy(struct text_slice t, char *uid, size_t size)
{
	size_t n = 0;

	while (n < t.len && n < size - 1 &&
	       (parse_hex_digit(t.start[n]) >= 0 || t.start[n] == '-' || t.start[n] == '_')) {
		uid[n] = t.start[n] == '_' ? '-' : t.start[n];
		n++;
	}
	uid[n < UID_SHORT ? 0 : n] = '\0';
}

/* Find the uid of the pod in "kubepods-burstable-podUID.slice" or "podUID". */
static void pod_find_uid(const struct text_slice *component, size_t n, char *uid, size_t size)
{
	bool kubernetes = false;

	for (size_t i = 0; i < n; i++)
		kubernetes |= memmem(component[i].start, component[i].len, "kubepods", 8) != NULL;
	while (kubernetes && !*uid && n--) {
		struct text_slice t = component[n];
		const char *pod =
			text_has_prefix(t, "pod") ? t.start : memmem(t.start, t.len, "-pod", 4);

		if (!pod)
			continue;
		pod += *pod == '-' ? 4 : 3;
		uid_copy((struct text_slice){ pod, t.len - (size_t)(pod - t.start) }, uid, size);
	}
}

/* Set the name to the shortened id, in Kubernetes after the shortened uid of the pod. */
static void name_set_id(struct container_match *m, struct text_slice id,
			const struct path_components *c, size_t n)
{
	snprintf(m->id, sizeof(m->id), "%.*s", (int)id.len, id.start);
	/*
	 * Below the slice of a user, ignore the uid of the pod: the user could choose the uid of a
	 * pod of another user.
	 */
	if (!c->uid.len)
		pod_find_uid(c->component, n, m->uid, sizeof(m->uid));
	if (*m->uid)
		snprintf(m->entry.name, sizeof(m->entry.name), "pod%.*s/%.*s", UID_SHORT, m->uid,
			 ID_SHORT, m->id);
	else
		snprintf(m->entry.name, sizeof(m->entry.name), "%.*s", ID_SHORT, m->id);
}

static void name_set_nested(struct container_match *m, struct text_slice above, struct text_slice t)
{
	char text[2 * sizeof(m->entry.name)];
	int n = snprintf(text, sizeof(text), "%.*s/%.*s", (int)above.len, above.start, (int)t.len,
			 t.start);

	escape_text(m->entry.name, sizeof(m->entry.name), text,
		    (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

static bool component_matches(struct text_slice t, struct text_slice pattern)
{
	if (pattern.len && pattern.start[pattern.len - 1] == '*')
		return t.len >= pattern.len && !memcmp(t.start, pattern.start, pattern.len - 1);
	return t.len == pattern.len && !memcmp(t.start, pattern.start, t.len);
}

/* Returns whether the components above component @i match @parent. */
static bool parent_matches(const char *parent, const struct text_slice *component, size_t i)
{
	size_t len = parent ? strlen(parent) : 0;

	while (len && i) {
		const char *slash = memrchr(parent, '/', len);
		size_t from = slash ? (size_t)(slash - parent) + 1 : 0;

		if (!component_matches(component[--i],
				       (struct text_slice){ parent + from, len - from }))
			return false;
		/* @parent starts with '/', so no component may be above it. */
		if (from == 1)
			return !i;
		len = from ? from - 1 : 0;
	}
	return !len;
}

/*
 * Returns whether component @i is a complete id and can be a container. The cgroup of a Podman pod
 * is no container: it is below libpod_parent, or has conmon or containers below it.
 */
static bool component_is_bare_id(const struct path_components *c, size_t i)
{
	if (c->component[i].len != ID_FULL ||
	    (i && text_equals(c->component[i - 1], "libpod_parent")))
		return false;
	return i + 1 == c->count || (!text_equals(c->component[i + 1], "conmon") &&
				     !text_has_prefix(c->component[i + 1], "libpod-"));
}

/* Returns whether component @i matches @p; @ret_rest is the text between prefix and suffix. */
static bool pattern_matches_component(const struct container_pattern *p,
				      const struct path_components *c, size_t i,
				      struct text_slice *ret_rest)
{
	size_t prefix = strlen(p->prefix), suffix = strlen(p->suffix);
	struct text_slice t = c->component[i], child = { "", 0 };

	if (c->uid.len && !p->user)
		return false;
	if (!text_has_prefix(t, p->prefix) || !text_has_suffix(t, p->suffix) ||
	    t.len <= prefix + suffix)
		return false;
	if (i + 1 < c->count)
		child = c->component[i + 1];
	if ((p->child && text_equals(child, p->child)) ||
	    (p->below && !text_equals(child, p->below)))
		return false;
	*ret_rest = (struct text_slice){ t.start + prefix, t.len - prefix - suffix };
	return parent_matches(p->parent, c->component, i);
}

static bool pattern_identify_container(const struct container_pattern *p,
				       const struct path_components *c, size_t i,
				       struct container_match *m)
{
	const char *colon = NULL;
	struct text_slice t;

	if (!pattern_matches_component(p, c, i, &t))
		return false;
	/* Without systemd's cgroup driver, containerd uses "SLICE:cri-containerd:ID". */
	if (p->naming == NAME_ID)
		colon = memrchr(t.start, ':', t.len);
	if (colon)
		t = (struct text_slice){ colon + 1, t.len - (size_t)(colon + 1 - t.start) };

	switch (p->naming) {
	case NAME_BARE_ID:
		if (!component_is_bare_id(c, i))
			return false;
		/* fall through */
	case NAME_ID:
		if (!text_is_id(t))
			return false;
		name_set_id(m, t, c, colon ? i + 1 : i);
		break;
	case NAME_UNESCAPED:
		name_set_unescaped(&m->entry, t);
		break;
	case NAME_PLAIN:
		escape_text(m->entry.name, sizeof(m->entry.name), t.start, t.len);
		break;
	case NAME_COMPONENT:
		name_set_unescaped(&m->entry, c->component[i]);
		break;
	case NAME_NESTED:
		name_set_nested(m, c->component[i - 1], t);
		break;
	}
	snprintf(m->entry.runtime, sizeof(m->entry.runtime), "%s", p->runtime);
	return true;
}

static bool is_unit(const struct text_slice *component, size_t i)
{
	/* The init.scope of a user's manager is not unique: use user@UID.service instead. */
	if (i && text_equals(component[i], "init.scope") &&
	    text_has_prefix(component[i - 1], "user@"))
		return false;
	return text_has_suffix(component[i], ".service") || text_has_suffix(component[i], ".scope");
}

/*
 * Returns the index of the innermost unit. If there is none, returns the index of the last
 * component if it is a slice, else @count.
 */
static size_t unit_find(const struct text_slice *component, size_t count)
{
	for (size_t i = count; i--;)
		if (is_unit(component, i))
			return i;
	return text_has_suffix(component[count - 1], ".slice") ? count - 1 : count;
}

static struct text_slice path_strip_deleted(struct text_slice path)
{
	/* The kernel appends this to the path of a cgroup that was removed. */
	static const char deleted[] = " (deleted)";

	while (text_has_suffix(path, deleted))
		path.len -= sizeof(deleted) - 1;
	return path;
}

size_t container_path_get_clipped_length(const char *path, size_t len)
{
	const char *slash;

	if (len < CONTAINER_PATH_SIZE)
		return len;
	slash = memrchr(path, '/', CONTAINER_PATH_SIZE);
	/* Components have at most 255 bytes, but a recording may contain longer ones. */
	return slash && slash > path ? (size_t)(slash - path) : CONTAINER_PATH_SIZE - 1;
}

/* Returns the index of the component of @c that is the container's cgroup; the count for none. */
static size_t find_container_component(const struct path_components *c, struct container_match *m)
{
	for (size_t i = 0; i < c->count; i++)
		for (size_t k = 0; k < ARRAY_SIZE(containers); k++)
			if (pattern_identify_container(&containers[k], c, i, m))
				return containers[k].below ? i + 1 : i;
	return c->count;
}

/*
 * Set the name of a cgroup that is in no container. Returns the index of the last component that
 * belongs to the unit.
 */
static size_t set_name_of_unit(const struct path_components *c, struct container_match *m)
{
	size_t i = unit_find(c->component, c->count);
	struct path_components own = *c;
	struct container_match other;

	strcpy(m->entry.runtime, i < c->count ? "systemd" : "cgroup");
	if (i == c->count)
		i = c->count - 1;
	name_set_unescaped(&m->entry, c->component[i]);
	/*
	 * If the unit's cgroup is also that of a container, the path is that of a monitor below it.
	 * Include one more component, so that the monitor has another path than the container.
	 */
	own.count = i + 1;
	return i + 1 < c->count && find_container_component(&own, &other) <= i ? i + 1 : i;
}

/*
 * Prepend "UID/" to units of the manager of a user, so that a user cannot choose the name of a
 * system unit.
 */
static void name_add_uid(const struct path_components *c, size_t i, struct container_match *m)
{
	char text[sizeof(m->entry.name) + 32];

	if (!c->uid.len || i < 3 || !text_find_uid(c->component[2], "user@", ".service").len)
		return;
	snprintf(text, sizeof(text), "%.*s/%s", c->uid.len > 20 ? 20 : (int)c->uid.len,
		 c->uid.start, m->entry.name);
	escape_string(m->entry.name, sizeof(m->entry.name), text);
}

bool container_identify(const char *path, size_t len, struct container_match *ret_match)
{
	struct text_slice text = { path, container_path_get_clipped_length(path, len) };
	struct container_match m = { 0 };
	struct path_components c;
	size_t i;

	path_split(path_strip_deleted(text), &c);
	if (!c.count)
		return false;
	i = find_container_component(&c, &m);
	if (i == c.count)
		i = set_name_of_unit(&c, &m);
	name_add_uid(&c, i, &m);
	m.length = (size_t)(c.component[i].start + c.component[i].len - path);
	escape_text(m.entry.path, sizeof(m.entry.path), path, m.length);
	*ret_match = m;
	return true;
}

enum cgroup_hierarchy {
	HIERARCHY_V2,
	HIERARCHY_SYSTEMD,
	HIERARCHY_OTHER, /* another hierarchy of cgroup v1, with a path that matches a container */
	HIERARCHIES, /* the number of hierarchies, and the value for none of them */
};

static enum cgroup_hierarchy
classify_hierarchy(struct text_slice number, struct text_slice controllers, struct text_slice path)
{
	struct container_match m;
	struct path_components c;

	if (text_equals(number, "0") && !controllers.len)
		return HIERARCHY_V2;
	if (text_equals(controllers, "name=systemd"))
		return HIERARCHY_SYSTEMD;
	path_split(path, &c);
	return find_container_component(&c, &m) < c.count ? HIERARCHY_OTHER : HIERARCHIES;
}

bool container_choose_cgroup(const char *text, size_t len, const char **ret_path, size_t *ret_len)
{
	struct text_slice best[HIERARCHIES] = { 0 };

	while (len) {
		const char *end = memchr(text, '\n', len);
		size_t n = end ? (size_t)(end - text) : len;
		const char *first = memchr(text, ':', n);
		const char *second =
			first ? memchr(first + 1, ':', n - (size_t)(first + 1 - text)) : NULL;

		if (second) {
			struct text_slice number = { text, (size_t)(first - text) };
			struct text_slice controllers = { first + 1, (size_t)(second - first - 1) };
			struct text_slice path = { second + 1, n - (size_t)(second + 1 - text) };
			enum cgroup_hierarchy h =
				classify_hierarchy(number, controllers, path_strip_deleted(path));

			if (h < HIERARCHIES && !best[h].start && !text_equals(path, "/"))
				best[h] = path;
		}
		len -= end ? n + 1 : n;
		text += end ? n + 1 : n;
	}
	for (size_t h = 0; h < HIERARCHIES; h++) {
		if (!best[h].start)
			continue;
		*ret_path = best[h].start;
		*ret_len = best[h].len;
		return true;
	}
	return false;
}
