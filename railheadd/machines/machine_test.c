/* SPDX-License-Identifier: Apache-2.0 */
/* machine_test.c: pods of KubeVirt, and others. */
#include "railheadd/machines/machine.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"

static struct json *labels_of(const char *text)
{
	struct json *labels = NULL;
	struct err e;

	ck_assert_msg(json_parse(text, strlen(text), "labels", &labels, &e) == 0, "%s", e.msg);
	return labels;
}

static const char *pod_of(const char *identity)
{
	static char name[CLUSTER_NAME_LEN];

	return machine_pod(identity, name) ? name : "";
}

START_TEST(only_launchers_may_run_a_machine)
{
	ck_assert_str_eq(pod_of("ns/virt-launcher-web-x7k2p/net1"), "virt-launcher-web-x7k2p.ns");
	ck_assert_str_eq(pod_of("ns/virt-launcher-a.b-x/net1"), "virt-launcher-a.b-x.ns");
	ck_assert_str_eq(pod_of("ns/web-0/net1"), "");
	ck_assert_str_eq(pod_of("virt-launcher-web/web-0/net1"), "");
	ck_assert_str_eq(pod_of("ns/virt-launcher/net1"), "");
	ck_assert_str_eq(pod_of("ns/virt-launcher-web"), "");
	ck_assert_str_eq(pod_of(""), "");
}
END_TEST

#define LAUNCHER "\"kubevirt.io\":\"virt-launcher\","

START_TEST(labels_name_the_machine)
{
	static const struct {
		const char *labels, *identity; /* NULL: no machine */
		bool migrates;
	} cases[] = {
		{ "{" LAUNCHER "\"vm.kubevirt.io/name\":\"web\"}", "ns/vm:web/net1", false },
		{ "{" LAUNCHER "\"vm.kubevirt.io/name\":\"web\","
		  "\"kubevirt.io/migrationJobUID\":\"122e\"}",
		  "ns/vm:web/net1", true },
		{ "{" LAUNCHER "\"vm.kubevirt.io/name\":\"web\","
		  "\"kubevirt.io/migrationJobUID\":\"\"}",
		  "ns/vm:web/net1", false },
		{ "{\"kubevirt.io\":\"other\",\"vm.kubevirt.io/name\":\"web\"}", NULL, false },
		{ "{\"vm.kubevirt.io/name\":\"web\"}", NULL, false },
		{ "{" LAUNCHER "\"vm.kubevirt.io/name\":\"\"}", NULL, false },
		{ "{" LAUNCHER "\"vm.kubevirt.io/name\":\"a/b\"}", NULL, false },
		{ "{" LAUNCHER "\"vm.kubevirt.io/name\":3}", NULL, false },
		{ "{}", NULL, false },
	};
	char out[IDENTITY_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_json struct json *labels = labels_of(cases[i].labels);
		bool migrates = false;
		bool is = machine_identity(labels, "ns/virt-launcher-web-x/net1", out, &migrates);

		ck_assert_int_eq(is, cases[i].identity != NULL);
		if (is)
			ck_assert_str_eq(out, cases[i].identity);
		ck_assert_int_eq(migrates, cases[i].migrates);
	}
}
END_TEST

/* A name of 300 bytes does not fit, and another identity must not come of it. */
START_TEST(a_name_that_is_too_long_is_no_machine)
{
	char name[330], text[400], out[IDENTITY_LEN];
	bool migrates;

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	(void)snprintf(text, sizeof(text), "{" LAUNCHER "\"vm.kubevirt.io/name\":\"%s\"}", name);
	auto_json struct json *labels = labels_of(text);
	ck_assert(!machine_identity(labels, "namespace/virt-launcher-web-x/net1", out, &migrates));
}
END_TEST

TEST_PROGRAM("machine", only_launchers_may_run_a_machine, labels_name_the_machine,
	     a_name_that_is_too_long_is_no_machine)
