/* SPDX-License-Identifier: Apache-2.0 */
/* machine_test.c: pods of KubeVirt, and others. */
#include "railheadd/pools/machine.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"

static struct json *value_of(const char *text)
{
	struct json *value = NULL;
	struct err e;

	ck_assert_msg(json_parse(text, strlen(text), "value", &value, &e) == 0, "%s", e.msg);
	return value;
}

static const char *pod_of(const char *identity)
{
	static char name[CLUSTER_NAME_LEN];

	return machine_pod(identity, name) ? name : "";
}

START_TEST(only_launchers_may_run_a_machine)
{
	char long_name[CLUSTER_NAME_LEN] = "", identity[2 * CLUSTER_NAME_LEN];

	ck_assert_str_eq(pod_of("ns/virt-launcher-web-x7k2p/net1"), "virt-launcher-web-x7k2p.ns");
	ck_assert_str_eq(pod_of("ns/virt-launcher-a.b-x/net1"), "virt-launcher-a.b-x.ns");
	ck_assert_str_eq(pod_of("ns/web-0/net1"), "");
	ck_assert_str_eq(pod_of("virt-launcher-web/web-0/net1"), "");
	ck_assert_str_eq(pod_of("ns/virt-launcher/net1"), "");
	ck_assert_str_eq(pod_of("ns/virt-launcher-web"), "");
	ck_assert_str_eq(pod_of(""), "");
	memset(long_name, 'a', sizeof(long_name) - 1);
	(void)snprintf(identity, sizeof(identity), "ns/virt-launcher-%s/net1", long_name);
	ck_assert_str_eq(pod_of(identity), "");
}
END_TEST

#define LAUNCHER "\"labels\":{\"kubevirt.io\":\"virt-launcher\"},\"annotations\":"
#define TARGET(job)                                                                                \
	"\"labels\":{\"kubevirt.io\":\"virt-launcher\",\"kubevirt.io/migrationJobUID\":\"" job     \
	"\"},"                                                                                     \
	"\"annotations\":"

START_TEST(labels_and_an_annotation_name_the_machine)
{
	static const struct {
		const char *value, *identity; /* NULL: no machine */
		bool migrates;
	} cases[] = {
		{ "{" LAUNCHER "{\"kubevirt.io/domain\":\"web\"}}", "ns/vm:web/net1", false },
		{ "{" LAUNCHER "{\"kubevirt.io/domain\":\"web.a\"}}", "ns/vm:web.a/net1", false },
		{ "{" TARGET("122e") "{\"kubevirt.io/domain\":\"web\"}}", "ns/vm:web/net1", true },
		{ "{" TARGET("") "{\"kubevirt.io/domain\":\"web\"}}", "ns/vm:web/net1", false },
		/* The host name of two machines. */
		{ "{\"labels\":{\"kubevirt.io\":\"virt-launcher\","
		  "\"vm.kubevirt.io/name\":\"web\"}}",
		  NULL, false },
		{ "{\"labels\":{\"kubevirt.io\":\"other\"},"
		  "\"annotations\":{\"kubevirt.io/domain\":\"web\"}}",
		  NULL, false },
		{ "{\"annotations\":{\"kubevirt.io/domain\":\"web\"}}", NULL, false },
		{ "{" LAUNCHER "{\"kubevirt.io/domain\":\"\"}}", NULL, false },
		{ "{" LAUNCHER "{\"kubevirt.io/domain\":\"a/b\"}}", NULL, false },
		{ "{" LAUNCHER "{\"kubevirt.io/domain\":3}}", NULL, false },
		{ "{" LAUNCHER "7}", NULL, false },
		{ "{}", NULL, false },
	};
	char out[IDENTITY_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_json struct json *value = value_of(cases[i].value);
		bool migrates = false;
		bool is = machine_identity(value, "ns/virt-launcher-web-x/net1", out, &migrates);

		ck_assert_int_eq(is, cases[i].identity != NULL);
		if (is)
			ck_assert_str_eq(out, cases[i].identity);
		ck_assert_int_eq(migrates, cases[i].migrates);
		ck_assert(!machine_identity(value, "ns/virt-launcher-web-x", out, &migrates));
	}
}
END_TEST

/* A name of 300 bytes does not fit, and another identity must not come of it. */
START_TEST(a_name_that_is_too_long_is_no_machine)
{
	char name[330], text[600], out[IDENTITY_LEN];
	bool migrates;

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	(void)snprintf(text, sizeof(text), "{" LAUNCHER "{\"kubevirt.io/domain\":\"%s\"}}", name);
	auto_json struct json *value = value_of(text);
	ck_assert(!machine_identity(value, "namespace/virt-launcher-web-x/net1", out, &migrates));
}
END_TEST

TEST_PROGRAM("machine", only_launchers_may_run_a_machine, labels_and_an_annotation_name_the_machine,
	     a_name_that_is_too_long_is_no_machine)
