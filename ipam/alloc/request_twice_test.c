/* SPDX-License-Identifier: Apache-2.0 */
/* request_twice_test.c: keys that CNI_ARGS has twice. */
#include "ipam/alloc/request.h"
#include "lib/testing/testing.h"

static int load(const char *args, struct request *r, struct err *e)
{
	const struct cni_env env = { .container = "c", .ifname = "net1", .args = args };
	struct cni_conf c;
	char *text = strdup("{\"name\":\"n\"}");

	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(cni_conf_parse(text, strlen(text), CNI_ADD, &c, e), 0);
	int rc = request_load(&env, &c, r, e);
	cni_conf_clear(&c);
	return rc;
}

static void refused(const char *args, const char *key)
{
	struct request r;
	struct err e;

	ck_assert_msg(load(args, &r, &e) == -1, "%s", args);
	ck_assert_int_eq((int)e.code, ERR_ENV);
	ck_assert_ptr_nonnull(strstr(e.msg, key));
	ck_assert_ptr_nonnull(strstr(e.msg, "two values"));
}

/* Quotas and namespaces of a pool depend on it. A requested address of
 * "10.0.0.1;K8S_POD_NAMESPACE=b" must not change the namespace. */
START_TEST(two_values_of_one_key_are_refused)
{
	refused("K8S_POD_NAMESPACE=a;IP=10.0.0.1;K8S_POD_NAMESPACE=b", "K8S_POD_NAMESPACE");
	refused("K8S_POD_NAMESPACE=b;K8S_POD_NAMESPACE=b;K8S_POD_NAMESPACE=a", "K8S_POD_NAMESPACE");
	refused("K8S_POD_NAMESPACE=a;K8S_POD_NAMESPACE=", "K8S_POD_NAMESPACE");
	refused("K8S_POD_NAMESPACE=;K8S_POD_NAMESPACE=a", "K8S_POD_NAMESPACE");
	refused("K8S_POD_NAMESPACE=a;K8S_POD_NAMESPACE=ab", "K8S_POD_NAMESPACE");
	refused("K8S_POD_NAME=p;K8S_POD_NAME=q", "K8S_POD_NAME");
}
END_TEST

/* Thin Multus appends the CNI_ARGS of the runtime to its own: each key comes twice. */
START_TEST(one_value_may_come_twice)
{
	struct request r;
	struct err e;

	ck_assert_int_eq(load("IgnoreUnknown=true;K8S_POD_NAMESPACE=a;K8S_POD_NAME=p;"
			      "K8S_POD_UID=u;IgnoreUnknown=1;K8S_POD_NAMESPACE=a;K8S_POD_NAME=p;"
			      "K8S_POD_UID=u",
			      &r, &e),
			 0);
	ck_assert_str_eq(r.ns, "a");
	ck_assert_str_eq(r.pod, "p");
	ck_assert_int_eq(load("K8S_POD_NAMESPACE=;K8S_POD_NAMESPACE=", &r, &e), 0);
	ck_assert_str_eq(r.ns, "");
}
END_TEST

START_TEST(keys_match_whole)
{
	struct request r;
	struct err e;

	ck_assert_int_eq(load("K8S_POD_NAMESPACE=a;K8S_POD_NAME=p;IP=10.0.0.1", &r, &e), 0);
	ck_assert_str_eq(r.ns, "a");
	ck_assert_int_eq(load("K8S_POD_NAMESPACES=b;XK8S_POD_NAMESPACE=c", &r, &e), 0);
	ck_assert_str_eq(r.ns, "");
}
END_TEST

TEST_PROGRAM("ipam/request_twice", two_values_of_one_key_are_refused, one_value_may_come_twice,
	     keys_match_whole)
