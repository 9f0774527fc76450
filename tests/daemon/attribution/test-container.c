// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "attribution/attributor-internal.h"
#include "attribution/container.h"
#include "attribution/pods.h"
#include "util/escape.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ID		"4f0c9d3b2a1e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8"
#define SHORT		"4f0c9d3b2a1e"
#define UID_DASHED	"1a2b3c4d-5e6f-7081-92a3-b4c5d6e7f809"
#define UID_UNDERSCORED "1a2b3c4d_5e6f_7081_92a3_b4c5d6e7f809"
#define UID_PLAIN	"1a2b3c4d5e6f708192a3b4c5d6e7f809"
#define USER		"/user.slice/user-1000.slice/user@1000.service"

/* @inside: the part of @path below the container's own cgroup */
struct container_fixture {
	const char *title;
	const char *path;
	const char *runtime;
	const char *name;
	const char *inside;
};

static const struct container_fixture fixtures[] = {
	{ "docker, cgroupfs", "/docker/" ID, "docker", SHORT, "" },
	{ "docker, systemd", "/system.slice/docker-" ID ".scope", "docker", SHORT, "" },
	{ "docker, systemd inside", "/docker/" ID "/init.scope", "docker", SHORT, "/init.scope" },
	{ "docker in docker", "/docker/" ID "/docker/000000000000", "docker", SHORT,
	  "/docker/000000000000" },
	{ "docker, rootless", USER "/user.slice/docker-" ID ".scope", "docker", "1000/" SHORT, "" },
	{ "docker's own daemon", "/system.slice/docker.service", "systemd", "docker.service", "" },
	{ "containerd, systemd, burstable",
	  "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_UNDERSCORED
	  ".slice/cri-containerd-" ID ".scope",
	  "containerd", "pod1a2b3c4d/" SHORT, "" },
	{ "containerd, systemd, guaranteed",
	  "/kubepods.slice/kubepods-pod" UID_UNDERSCORED ".slice/cri-containerd-" ID ".scope",
	  "containerd", "pod1a2b3c4d/" SHORT, "" },
	{ "containerd, systemd, best effort",
	  "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_UNDERSCORED
	  ".slice/cri-containerd-" ID ".scope/app",
	  "containerd", "pod1a2b3c4d/" SHORT, "/app" },
	{ "containerd, static pod",
	  "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_PLAIN
	  ".slice/cri-containerd-" ID ".scope",
	  "containerd", "pod1a2b3c4d/" SHORT, "" },
	{ "containerd, cgroupfs", "/kubepods/burstable/pod" UID_DASHED "/" ID, "containerd",
	  "pod1a2b3c4d/" SHORT, "" },
	{ "containerd, cgroupfs, guaranteed", "/kubepods/pod" UID_DASHED "/" ID, "containerd",
	  "pod1a2b3c4d/" SHORT, "" },
	{ "containerd, slice as a prefix",
	  "/system.slice/containerd.service/kubepods-burstable-pod" UID_UNDERSCORED
	  ".slice:cri-containerd:" ID,
	  "containerd", "pod1a2b3c4d/" SHORT, "" },
	{ "containerd, by ctr", "/default/web/inner", "containerd", "web", "/inner" },
	{ "not by ctr", "/x/default/web", "cgroup", "web", "" },
	{ "docker under kubernetes",
	  "/kubepods.slice/kubepods-pod" UID_UNDERSCORED ".slice/docker-" ID ".scope", "docker",
	  "pod1a2b3c4d/" SHORT, "" },
	{ "crio, systemd",
	  "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_UNDERSCORED
	  ".slice/crio-" ID ".scope",
	  "crio", "pod1a2b3c4d/" SHORT, "" },
	{ "crio, cgroupfs", "/kubepods/besteffort/pod" UID_DASHED "/crio-" ID, "crio",
	  "pod1a2b3c4d/" SHORT, "" },
	{ "crio's conmon",
	  "/kubepods.slice/kubepods-pod" UID_UNDERSCORED ".slice/crio-conmon-" ID ".scope",
	  "systemd", "crio-conmon-" ID ".scope", "" },
	{ "the pod itself", "/kubepods.slice/kubepods-pod" UID_UNDERSCORED ".slice", "systemd",
	  "kubepods-pod" UID_UNDERSCORED ".slice", "" },
	{ "podman, root", "/machine.slice/libpod-" ID ".scope/container", "podman", SHORT,
	  "/container" },
	{ "podman, rootless", USER "/user.slice/libpod-" ID ".scope", "podman", "1000/" SHORT, "" },
	{ "podman, pod", "/machine.slice/machine-libpod_pod_" ID ".slice/libpod-" ID ".scope",
	  "podman", SHORT, "" },
	{ "podman, split", "/system.slice/web.service/libpod-payload-" ID, "podman", SHORT, "" },
	{ "podman, cgroupfs", "/libpod_parent/libpod-" ID, "podman", SHORT, "" },
	{ "podman's conmon", "/machine.slice/libpod-conmon-" ID ".scope", "systemd",
	  "libpod-conmon-" ID ".scope", "" },
	{ "podman's conmon, split", "/system.slice/web.service/runtime", "systemd", "web.service",
	  "/runtime" },
	{ "lxc", "/lxc/web-1", "lxc", "web-1", "" },
	{ "lxc, nested", "/lxc/web-1/ns/system.slice/nginx.service", "lxc", "web-1",
	  "/ns/system.slice/nginx.service" },
	{ "lxc 4", "/lxc.payload.web-1/init.scope", "lxc", "web-1", "/init.scope" },
	{ "lxc 3", "/lxc.payload/web-1", "lxc", "web-1", "" },
	{ "lxc's monitor", "/lxc.monitor.web-1", "cgroup", "lxc.monitor.web-1", "" },
	{ "nspawn, scope", "/machine.slice/machine-deb\\x2d12.scope/payload", "nspawn", "deb-12",
	  "/payload" },
	{ "nspawn, service",
	  "/machine.slice/systemd-nspawn@deb\\x2d12.service/payload/system.slice/cron.service",
	  "nspawn", "deb-12", "/payload/system.slice/cron.service" },
	{ "nspawn's supervisor", "/machine.slice/systemd-nspawn@deb.service/supervisor", "systemd",
	  "systemd-nspawn@deb.service", "" },
	{ "libvirt", "/machine.slice/machine-qemu\\x2d3\\x2dvm.scope/libvirt/vcpu0", "systemd",
	  "machine-qemu-3-vm.scope", "/libvirt/vcpu0" },
	{ "containerd, cgroupfs, best effort", "/kubepods/besteffort/pod" UID_DASHED "/" ID,
	  "containerd", "pod1a2b3c4d/" SHORT, "" },
	{ "containerd without pods", "/k8s.io/" ID, "containerd", SHORT, "" },
	{ "nerdctl", "/system.slice/nerdctl-" ID ".scope", "containerd", SHORT, "" },
	{ "nerdctl, rootless", USER "/user.slice/nerdctl-" ID ".scope", "containerd", "1000/" SHORT,
	  "" },
	{ "kubernetes in docker",
	  "/docker/" ID "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_UNDERSCORED
	  ".slice/cri-containerd-000000000000.scope",
	  "docker", SHORT,
	  "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_UNDERSCORED
	  ".slice/cri-containerd-000000000000.scope" },
	{ "kubelet's own slice",
	  "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/"
	  "kubelet-kubepods-besteffort-pod" UID_UNDERSCORED ".slice/cri-containerd-" ID ".scope",
	  "containerd", "pod1a2b3c4d/" SHORT, "" },
	{ "docker, slice as a prefix", "/system.slice/docker.service/system.slice:docker:" ID,
	  "docker", SHORT, "" },
	{ "docker under kubernetes, best effort",
	  "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_UNDERSCORED
	  ".slice/docker-" ID ".scope",
	  "docker", "pod1a2b3c4d/" SHORT, "" },
	{ "docker under kubernetes, burstable",
	  "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_UNDERSCORED
	  ".slice/docker-" ID ".scope",
	  "docker", "pod1a2b3c4d/" SHORT, "" },
	{ "crio, systemd, guaranteed",
	  "/kubepods.slice/kubepods-pod" UID_UNDERSCORED ".slice/crio-" ID ".scope", "crio",
	  "pod1a2b3c4d/" SHORT, "" },
	{ "crio, systemd, best effort",
	  "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_UNDERSCORED
	  ".slice/crio-" ID ".scope/container",
	  "crio", "pod1a2b3c4d/" SHORT, "/container" },
	{ "crio, cgroupfs, guaranteed", "/kubepods/pod" UID_DASHED "/crio-" ID, "crio",
	  "pod1a2b3c4d/" SHORT, "" },
	{ "crio, cgroupfs, burstable", "/kubepods/burstable/pod" UID_DASHED "/crio-" ID, "crio",
	  "pod1a2b3c4d/" SHORT, "" },
	{ "crio's conmon, cgroupfs", "/kubepods/burstable/pod" UID_DASHED "/crio-conmon-" ID,
	  "cgroup", "crio-conmon-" ID, "" },
	{ "podman, pod, cgroupfs", "/libpod_parent/" ID "/libpod-" ID, "podman", SHORT, "" },
	{ "podman, pod, rootless",
	  USER "/user.slice/user-libpod_pod_" ID ".slice/libpod-" ID ".scope/container", "podman",
	  "1000/" SHORT, "/container" },
	{ "podman, rootless, cgroupfs of a session",
	  "/user.slice/user-1000.slice/session-3.scope/libpod-" ID, "podman", SHORT, "" },
	{ "podman's conmon, pod, cgroupfs", "/libpod_parent/" ID "/conmon", "cgroup", "conmon",
	  "" },
	{ "podman's conmon, cgroupfs, named so", "/libpod_parent/libpod-conmon-" ID, "cgroup",
	  "libpod-conmon-" ID, "" },
	{ "lxc, a project's", "/lxc.payload.shop_web-1/ns", "lxc", "shop_web-1", "/ns" },
	{ "podman's conmon, cgroupfs", "/libpod_parent/conmon", "cgroup", "conmon", "" },
	{ "podman's conmon, rootless", USER "/user.slice/libpod-conmon-" ID ".scope", "systemd",
	  "1000/libpod-conmon-" ID ".scope", "" },
	{ "podman, rootless, split", USER "/app.slice/web.service/libpod-payload-" ID, "podman",
	  "1000/" SHORT, "" },
	{ "podman, rootless, cgroupfs", USER "/libpod_parent/libpod-" ID, "podman", "1000/" SHORT,
	  "" },
	{ "lxc, unprivileged", USER "/lxc.payload.web-1/init.scope", "lxc", "1000/web-1",
	  "/init.scope" },
	{ "lxc's monitor, lxc 3", "/lxc.monitor/web-1", "cgroup", "lxc.monitor/web-1", "" },
	{ "nspawn, another slice",
	  "/foo.slice/machine-web.scope/payload/system.slice/nginx.service", "nspawn", "web",
	  "/system.slice/nginx.service" },
	{ "nspawn, a slice below machine.slice",
	  "/machine.slice/machine-prod.slice/machine-deb\\x2d12.scope/payload/init.scope", "nspawn",
	  "deb-12", "/init.scope" },
	{ "nspawn's supervisor, another slice", "/foo.slice/machine-web.scope/supervisor",
	  "systemd", "machine-web.scope", "/supervisor" },
	{ "nspawn's supervisor, scope", "/machine.slice/machine-web.scope/supervisor/x", "systemd",
	  "machine-web.scope", "/x" },
	{ "nspawn, service, another slice",
	  "/foo.slice/systemd-nspawn@web.service/payload/system.slice/nginx.service", "nspawn",
	  "web", "/payload/system.slice/nginx.service" },
	{ "no nspawn", "/foo.slice/machine-web.scope/x", "systemd", "machine-web.scope", "/x" },
	{ "lxc's monitor, of a number", "/lxc.monitor/100", "cgroup", "lxc.monitor/100", "" },
	{ "docker, any parent", "/foo/" ID "/system.slice/nginx.service", "docker", SHORT,
	  "/system.slice/nginx.service" },
	{ "docker, a unit as its parent", "/system.slice/web.service/" ID, "docker", SHORT, "" },
	{ "docker, building", "/docker/buildkit/k3vq0l2m9x1c8b7n6s5d4f3g2/x", "docker",
	  "buildkit/k3vq0l2m9x1c8b7n6s5d4f3g2", "/x" },
	{ "buildkit alone", "/buildkit/k3vq0l2m9x1c8b7n6s5d4f3g2", "cgroup",
	  "k3vq0l2m9x1c8b7n6s5d4f3g2", "" },
	{ "an id too short to be one", "/foo/" SHORT, "cgroup", SHORT, "" },
	{ "podman, pod, any parent", "/foo/" ID "/libpod-" ID, "podman", SHORT, "" },
	{ "podman's conmon, any parent", "/foo/" ID "/conmon", "cgroup", "conmon", "" },
	{ "podman's pod, cgroupfs", "/libpod_parent/" ID, "cgroup", ID, "" },
	{ "a user's docker", USER "/docker/" ID, "systemd", "user@1000.service", "/docker/" ID },
	{ "a user's docker, any parent", USER "/app.slice/x.service/foo/" ID, "systemd",
	  "1000/x.service", "/foo/" ID },
	{ "a user's pod", USER "/kubepods/burstable/pod" UID_DASHED "/" ID, "systemd",
	  "user@1000.service", "/kubepods/burstable/pod" UID_DASHED "/" ID },
	{ "a user's pod, systemd",
	  USER "/kubepods.slice/kubepods-pod" UID_UNDERSCORED ".slice/cri-containerd-" ID ".scope",
	  "systemd", "1000/cri-containerd-" ID ".scope", "" },
	{ "a user's pod, docker",
	  USER "/kubepods.slice/kubepods-pod" UID_UNDERSCORED ".slice/docker-" ID ".scope",
	  "docker", "1000/" SHORT, "" },
	{ "a user's nspawn", USER "/machine.slice/machine-web.scope/payload", "systemd",
	  "1000/machine-web.scope", "/payload" },
	{ "a user's lxc, lxc 3", USER "/app.slice/x.scope/lxc/web", "lxc", "1000/web", "" },
	{ "a user's lxc.monitor", USER "/lxc.monitor/web", "cgroup", "1000/lxc.monitor/web", "" },
	{ "a user's nginx.service", USER "/app.slice/nginx.service/x", "systemd",
	  "1000/nginx.service", "/x" },
	{ "a user's cgroup", USER "/app.slice/web", "systemd", "user@1000.service",
	  "/app.slice/web" },
	{ "a user's demo", USER "/app.slice/x.scope/speprof-demo/demo-chase", "cgroup",
	  "1000/demo-chase", "" },
	{ "a session's docker", "/user.slice/user-1000.slice/session-3.scope/docker/" ID, "systemd",
	  "session-3.scope", "/docker/" ID },
	{ "no user's number", "/user.slice/user-x.slice/user@x.service/lxc/web", "lxc", "web", "" },
	{ "no user's slice", "/foo.slice/user-1000.slice/user@1000.service/lxc/web", "lxc", "web",
	  "" },
	{ "service", "/system.slice/nginx.service", "systemd", "nginx.service", "" },
	{ "template", "/system.slice/system-getty.slice/getty@tty1.service", "systemd",
	  "getty@tty1.service", "" },
	{ "escaped", "/system.slice/dev\\x2ddisk\\x2droot.service", "systemd",
	  "dev-disk-root.service", "" },
	{ "below a service", "/system.slice/nginx.service/worker/3", "systemd", "nginx.service",
	  "/worker/3" },
	{ "session", "/user.slice/user-1000.slice/session-3.scope", "systemd", "session-3.scope",
	  "" },
	{ "user's unit", USER "/app.slice/editor.service", "systemd", "1000/editor.service", "" },
	{ "user's manager", USER "/init.scope", "systemd", "user@1000.service", "/init.scope" },
	{ "manager", "/init.scope", "systemd", "init.scope", "" },
	{ "slice", "/user.slice/user-1000.slice", "systemd", "user-1000.slice", "" },
	{ "demo", "/speprof-demo/demo-chase", "cgroup", "demo-chase", "" },
	{ "demo in a session", "/user.slice/session-3.scope/speprof-demo/demo-chase", "cgroup",
	  "demo-chase", "" },
	{ "plain", "/build/job-7", "cgroup", "job-7", "" },
	{ "removed", "/build/job-7 (deleted)", "cgroup", "job-7", " (deleted)" },
	{ "outside of the namespace", "/../../build", "cgroup", "build", "" },
	{ "no id", "/docker/buildkit", "cgroup", "buildkit", "" },
	{ "no id either", "/system.slice/docker-web.scope", "systemd", "docker-web.scope", "" },
	{ "podcast", "/podcasts/player", "cgroup", "player", "" },
	{ "disguised", "/lxc/mallory/docker/" ID, "lxc", "mallory", "/docker/" ID },
	{ "terminal", "/lxc/\033]0;x\007", "lxc", "\\x1b]0;x\\x07", "" },
	{ "terminal, in systemd's escape", "/system.slice/\\x1b[2J.service", "systemd",
	  "\\x1b[2J.service", "" },
	{ "reordered",
	  "/lxc/a\xe2\x80\xae"
	  "b",
	  "lxc", "a\\xe2\\x80\\xaeb", "" },
	{ "UTF-8", "/lxc/caf\xc3\xa9", "lxc", "caf\xc3\xa9", "" },
	{ "invalid UTF-8", "/lxc/a\xff\xc0\xaf", "lxc", "a\\xff\\xc0\\xaf", "" },
};

static void test_container_of_cgroup_path(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fixtures); i++) {
		const struct container_fixture *f = &fixtures[i];
		struct container_match m, own;

		test_row("%s: %s", f->title, f->path);
		assert_row(container_identify(f->path, strlen(f->path), &m));
		assert_string_equal(m.entry.name, f->name);
		assert_string_equal(m.entry.runtime, f->runtime);
		assert_string_equal(f->path + m.length, f->inside);
		/*
		 * The checkpoint stores the path of the container's own cgroup, which must identify
		 * the same container.
		 */
		assert_row(container_identify(f->path, m.length, &own) && own.length == m.length);
		assert_string_equal(own.entry.name, f->name);
		assert_string_equal(own.entry.runtime, f->runtime);
		assert_row(strlen(m.entry.path) >= m.length || m.length > 200);
	}
}

/*
 * The pod and the container ID of Kubernetes are found in the path formats of each cgroup driver.
 */
static void test_pod_of_cgroup_path(void **state)
{
	static const struct {
		const char *path;
		const char *uid;
	} rows[] = {
		{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_UNDERSCORED
		  ".slice/cri-containerd-" ID ".scope",
		  UID_DASHED },
		{ "/kubepods/burstable/pod" UID_DASHED "/" ID, UID_DASHED },
		{ "/kubepods/besteffort/pod" UID_PLAIN "/crio-" ID, UID_PLAIN },
		{ "/system.slice/containerd.service/kubepods-burstable-pod" UID_UNDERSCORED
		  ".slice:cri-containerd:" ID,
		  UID_DASHED },
		{ "/kubepods/pod../" ID, "" },
		{ "/docker/" ID, "" },
		/* Users created these cgroups, so no pod is looked up. */
		{ USER "/kubepods/pod" UID_DASHED "/libpod-" ID, "" },
		{ USER "/kubepods-pod" UID_UNDERSCORED ".slice/docker-" ID ".scope", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct container_match m;

		assert_true(container_identify(rows[i].path, strlen(rows[i].path), &m));
		assert_string_equal(m.uid, rows[i].uid);
		assert_string_equal(m.id, ID);
	}
}

static void make_log(const char *root, const char *path, bool is_directory)
{
	char whole[512];
	int fd;

	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	if (is_directory) {
		assert_int_equal(mkdir(whole, 0755), 0);
		return;
	}
	fd = open(whole, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	close(fd);
}

static void test_pod_names(void **state)
{
	char root[] = "/tmp/test-container-XXXXXX", name[128] = "untouched", command[64];
	struct pods_names names = { .pod = "untouched" };
	int log;

	(void)state;
	assert_non_null(mkdtemp(root));
	log = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(pods_find_names(log, UID_DASHED, ID, name, sizeof(name), &names),
			 PODS_NOT_FOUND);
	make_log(root, "pods", true);
	make_log(root, "pods/prod_web-7c9_" UID_DASHED, true);
	make_log(root, "pods/" UID_PLAIN, true);
	make_log(root, "containers", true);
	assert_int_equal(pods_find_names(log, UID_PLAIN, ID, name, sizeof(name), &names),
			 PODS_NOT_FOUND);
	assert_string_equal(name, "untouched");
	assert_string_equal(names.pod, "untouched");
	assert_int_equal(pods_find_names(log, UID_DASHED, ID, name, sizeof(name), &names),
			 PODS_DIRECTORY);
	assert_string_equal(name, "prod/web-7c9/" SHORT);
	assert_string_equal(names.container, SHORT);
	make_log(root, "containers/-" ID ".log", false);
	make_log(root, "containers/web-7c9_prod_ngi\033nx-" SHORT ".log", false);
	make_log(root, "containers/web-7c9_prod_ngi\033nx-" ID ".lo", false);
	assert_int_equal(pods_find_names(log, UID_DASHED, ID, name, sizeof(name), &names),
			 PODS_DIRECTORY);
	assert_string_equal(name, "prod/web-7c9/" SHORT);
	snprintf(command, sizeof(command), "rm -f %s/containers/*", root);
	assert_int_equal(system(command), 0);
	make_log(root, "containers/web-7c9_prod_ngi\033nx-" ID ".log", false);
	assert_int_equal(pods_find_names(log, UID_DASHED, ID, name, sizeof(name), &names),
			 PODS_LINK);
	assert_string_equal(name, "prod/web-7c9/ngi\\x1bnx");
	assert_int_equal(pods_find_names(log, UID_DASHED, ID, name, 10, &names), PODS_LINK);
	assert_string_equal(name, "prod/web-");
	/* No part of a name is truncated, even if not all parts fit. */
	assert_string_equal(names.name_space, "prod");
	assert_string_equal(names.pod, "web-7c9");
	assert_string_equal(names.container, "ngi\\x1bnx");
	close(log);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

static void test_pod_whole_names(void **state)
{
	struct pods_names names = { "", "", "" };
	char name[PODS_NAME_SIZE];

	(void)state;
	pods_format_name(&names, "web", name);
	assert_string_equal(name, "web");
	memset(names.name_space, 'n', 63);
	memset(names.pod, 'p', 253);
	memset(names.container, 'c', 63);
	pods_format_name(&names, "nnn", name);
	assert_int_equal(strlen(name), 63 + 253 + 63 + 2);
	assert_string_equal(strrchr(name, '/') + 1, names.container);
}

/* The names of a pod are stored even if the path is truncated, and are not longer than the path. */
static void test_pod_names_stored(void **state)
{
	struct pods_names names = { .name_space = "shop", .pod = "web-7", .container = "nginx" };
	struct attributor a = { .container_bytes = 4096 };
	struct container_table_entry c = { 0 }, others[8] = { 0 };
	u64 one;

	(void)state;
	container_store_names(&a, &c, &names);
	assert_null(c.pod);
	memset(names.pod, 'p', 128 - 4 - 5 - 3);
	container_store_names(&a, &c, &names);
	assert_null(c.pod);
	names.pod[strlen(names.pod)] = 'p';
	container_store_names(&a, &c, &names);
	assert_non_null(c.pod);
	assert_memory_equal(c.pod, &names, sizeof(names));
	one = a.container_text_bytes;
	assert_true(one >= sizeof(names));
	container_store_names(&a, &c, &names);
	assert_true(a.container_text_bytes == one);
	/* Half of the bytes are reserved for paths, even if there are many long names. */
	for (u32 i = 0; i < ARRAY_SIZE(others); i++)
		container_store_names(&a, &others[i], &names);
	assert_non_null(others[0].pod);
	assert_null(others[ARRAY_SIZE(others) - 1].pod);
	assert_true(a.container_text_bytes <= a.container_bytes / 2);
	strcpy(names.pod, "web-7");
	for (u32 i = 0; i < ARRAY_SIZE(others); i++)
		container_store_names(&a, &others[i], &names);
	assert_true(a.container_text_bytes == one);
	container_store_names(&a, &c, &names);
	assert_null(c.pod);
	assert_true(!a.container_text_bytes);
}

/*
 * Kubelet links a log when the runtime reports that the container has started: seconds or minutes
 * later.
 */
static void test_pod_link_late(void **state)
{
	for (unsigned int made = 0; made < 280; made++) {
		struct pods_retry wait = { 0 };
		unsigned int looks = 1, age;

		(void)state;
		pods_retry_schedule(&wait, PODS_DIRECTORY);
		for (age = 1; wait.next; age++) {
			assert_true(age < 400);
			if (!pods_retry_tick(&wait))
				continue;
			looks++;
			pods_retry_schedule(&wait, age >= made ? PODS_LINK : PODS_DIRECTORY);
		}
		/* The search ends when it has found the link. */
		assert_in_range(age - 1, made ? made : 1, made + made / 4 + 1);
		assert_true(looks < 25);
	}
}

/*
 * Check that the number of searches for a pod that never has a link is bounded. A search that was
 * skipped is done later.
 */
static void test_pod_link_never(void **state)
{
	struct pods_retry wait = { 0 };
	unsigned int looks = 1, age;

	(void)state;
	assert_false(pods_retry_tick(&wait));
	pods_retry_schedule(&wait, PODS_NOT_FOUND);
	for (age = 1; wait.next; age++)
		if (pods_retry_tick(&wait) && age > 100) {
			pods_retry_schedule(&wait, PODS_NOT_FOUND);
			looks++;
		}
	assert_in_range(looks, 3, 10);
	assert_in_range(age, 300, 400);
	for (age = 0; age < 100000; age++)
		assert_false(pods_retry_tick(&wait));
}

static void test_root_cgroup(void **state)
{
	static const char *const roots[] = { "", "/", "//", "/..", "/../..", "/ (deleted)" };
	struct container_match m;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		test_row("\"%s\"", roots[i]);
		assert_row(!container_identify(roots[i], strlen(roots[i]), &m));
	}
}

/*
 * Check that no byte after the end of a path of any length is read, and that names fit into their
 * buffers.
 */
static void test_paths_of_any_length(void **state)
{
	static const size_t lengths[] = { 1, 127, 128, 255, 256, 4095, 70000 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		size_t n = lengths[i];
		char *path = malloc(n + 1);
		struct container_match m;

		memset(path, 'a', n + 1);
		path[0] = '/';
		test_row("%zu bytes", n);
		assert_row(container_identify(path, n + 1, &m));
		assert_row(strlen(m.entry.name) == (n < 127 ? n : 127));
		for (size_t k = 0; k <= n; k += 2)
			path[k] = '/';
		assert_row(container_identify(path, n + 1, &m));
		assert_string_equal(m.entry.name, "a");
		free(path);
	}
}

struct cgroup_file_row {
	const char *title;
	const char *text;
	const char *path; /* NULL: the root cgroup */
};

static const struct cgroup_file_row hierarchies[] = {
	{ "v2", "0::/system.slice/a.service\n", "/system.slice/a.service" },
	{ "v2, root", "0::/\n", NULL },
	{ "v2, no newline", "0::/a", "/a" },
	{ "v2 with a colon", "0::/a:b:c\n", "/a:b:c" },
	{ "v1", "12:pids:/user.slice\n1:name=systemd:/user.slice/s.scope\n",
	  "/user.slice/s.scope" },
	{ "hybrid", "4:memory:/m\n1:name=systemd:/s.service\n0::/u.service\n", "/u.service" },
	{ "hybrid, v2 unused", "4:memory:/m\n1:name=systemd:/s.service\n0::/\n", "/s.service" },
	{ "hybrid, controllers only", "9:name=systemd:/\n4:memory:/process/job\n0::/\n", NULL },
	{ "v1 docker without systemd", "4:memory:/docker/" ID "\n3:cpu:/docker/" ID "\n",
	  "/docker/" ID },
	{ "v1 lxc", "5:devices:/lxc/web\n0::/\n", "/lxc/web" },
	{ "garbage", "x\n:\n::\n0:\n\n0::/ok\n", "/ok" },
	{ "nothing", "", NULL },
};

static void test_cgroup_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(hierarchies); i++) {
		const struct cgroup_file_row *h = &hierarchies[i];
		size_t n = strlen(h->text), len;
		char *copy = malloc(n + 1);
		const char *path;

		/* Copy the text without a NUL, so that ASan reports a read after its end. */
		memcpy(copy, h->text, n + 1);
		copy = realloc(copy, n ? n : 1);
		test_row("%s", h->title);
		assert_row(container_choose_cgroup(copy, n, &path, &len) == (h->path != NULL));
		if (h->path)
			assert_row(len == strlen(h->path) && !memcmp(path, h->path, len));
		free(copy);
	}
}

static void test_escaped_text_is_truncated(void **state)
{
	static const char from[] = "ab\xc3\xa9\033z";
	static const char *const want[] = { "",
					    "a",
					    "ab",
					    "ab",
					    "ab\xc3\xa9",
					    "ab\xc3\xa9",
					    "ab\xc3\xa9",
					    "ab\xc3\xa9",
					    "ab\xc3\xa9\\x1b",
					    "ab\xc3\xa9\\x1bz" };
	char to[16];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		memset(to, '#', sizeof(to));
		assert_int_equal(escape_string(to, i + 1, from), strlen(want[i]));
		assert_string_equal(to, want[i]);
		assert_int_equal(to[i + 1], '#');
	}
}

/* Check that the result for random bytes is valid, printable and bounded. */
static void test_escape_takes_any_bytes(void **state)
{
	unsigned int seed = 1;
	char from[64], to[100], escaped_twice[400];

	(void)state;
	for (unsigned int n = 0; n < 200000; n++) {
		size_t len = (size_t)rand_r(&seed) % sizeof(from), done;

		for (size_t i = 0; i < len; i++)
			from[i] = (char)(rand_r(&seed) >> 5);
		if (n & 1)
			for (size_t i = 0; i + 3 < len; i += 4)
				memcpy(from + i, "\xe2\x80\xa8", 3);
		done = escape_text(to, sizeof(to), from, len);
		assert_true(done < sizeof(to) && !to[done] && strlen(to) == done);
		for (size_t i = 0; i < done; i++)
			assert_true((unsigned char)to[i] >= 0x20 && to[i] != 0x7f);
		/* Escaping printable text does not change it. */
		assert_int_equal(escape_string(escaped_twice, sizeof(escaped_twice), to), done);
		assert_string_equal(escaped_twice, to);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_container_of_cgroup_path),
		cmocka_unit_test(test_pod_of_cgroup_path),
		cmocka_unit_test(test_pod_names),
		cmocka_unit_test(test_root_cgroup),
		cmocka_unit_test(test_pod_whole_names),
		cmocka_unit_test(test_pod_names_stored),
		cmocka_unit_test(test_pod_link_late),
		cmocka_unit_test(test_pod_link_never),
		cmocka_unit_test(test_paths_of_any_length),
		cmocka_unit_test(test_cgroup_files),
		cmocka_unit_test(test_escaped_text_is_truncated),
		cmocka_unit_test(test_escape_takes_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
