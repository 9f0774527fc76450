// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test labels: properties of containers, and which containers Allow= and Deny= admit. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "labels.h"

static void test_labels_of_containers(void **state)
{
	static const struct metrics_container pod = {
		.name = "shop/web-7/nginx", .runtime = "containerd",
		.path = "/kubepods.slice/kubepods-pod1.slice/cri-containerd-abc.scope",
	};
	struct label_config l = { 0 };
	struct label_set set;
	const char *right;

	(void)state;
	assert_return_code(labels_set_label(&l, "ns", "namespace", &right), 0);
	assert_return_code(labels_set_label(&l, "p", "pod", &right), 0);
	assert_return_code(labels_set_label(&l, "c", "pod_container", &right), 0);
	assert_return_code(labels_set_label(&l, "u", "unit", &right), 0);
	assert_return_code(labels_set_label(&l, "s", "slice", &right), 0);
	assert_return_code(labels_set_label(&l, "env", "\"prod\"", &right), 0);
	labels_get_values(&l, &pod, &set);
	assert_string_equal(set.value[0], "shop");
	assert_string_equal(set.value[1], "web-7");
	assert_string_equal(set.value[2], "nginx");
	assert_string_equal(set.value[3], "cri-containerd-abc.scope");
	assert_string_equal(set.value[4], "kubepods-pod1.slice");
	assert_int_equal(labels_set_label(&l, "le", "pod", &right), -EINVAL);
	assert_int_equal(labels_set_label(&l, "__x", "pod", &right), -EINVAL);
	assert_int_equal(labels_set_label(&l, "a-b", "pod", &right), -EINVAL);
	assert_int_equal(labels_set_label(&l, "x", "cmdline", &right), -EINVAL);
	assert_return_code(labels_set_patterns(&l, true, "shop/* web"), 0);
	assert_return_code(labels_set_patterns(&l, false, "*/nginx"), 0);
	assert_false(labels_admit_container(&l, &pod));
	assert_int_equal(labels_set_patterns(&l, false, "a* [!\xff]*"), -EINVAL);
	assert_return_code(labels_set_patterns(&l, false, ""), 0);
	assert_true(labels_admit_container(&l, &pod));
	assert_return_code(labels_set_patterns(&l, true, "x"), 0);
	assert_false(labels_admit_container(&l, &pod));
}

/*
 * Patterns are compared with the displayed name, which is "none" for samples without a container.
 */
static void test_patterns_match_none(void **state)
{
	static const char *const names[] = { "", "none", "web" };
	struct metrics_container c = { 0 };
	struct label_config l;

	(void)state;
	labels_set_defaults(&l);
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		bool none = i < 2;

		test_row("%s", names[i]);
		strcpy(c.name, names[i]);
		assert_return_code(labels_set_patterns(&l, true, ""), 0);
		assert_return_code(labels_set_patterns(&l, false, "none"), 0);
		assert_row(labels_admit_container(&l, &c) == !none);
		assert_return_code(labels_set_patterns(&l, false, ""), 0);
		assert_return_code(labels_set_patterns(&l, true, "n*"), 0);
		assert_row(labels_admit_container(&l, &c) == none);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_labels_of_containers),
		cmocka_unit_test(test_patterns_match_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
