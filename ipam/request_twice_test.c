/* SPDX-License-Identifier: Apache-2.0 */
#include "ipam/request.h"
#include "lib/testing.h"

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

/* Quotas and namespaces of a pool go by it: an address of "10.0.0.1;K8S_POD_NAMESPACE=b" must not.
 */
START_TEST(a_pod_has_one_namespace)
{
	struct request r;
	struct err e;

	ck_assert_int_eq(load("K8S_POD_NAMESPACE=a;K8S_POD_NAME=p;IP=10.0.0.1", &r, &e), 0);
	ck_assert_str_eq(r.ns, "a");
	ck_assert_int_eq(load("K8S_POD_NAMESPACE=a;IP=10.0.0.1;K8S_POD_NAMESPACE=b", &r, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_ENV);
	ck_assert_ptr_nonnull(strstr(e.msg, "K8S_POD_NAMESPACE is given 2 times"));
	ck_assert_int_eq(load("K8S_POD_NAME=p;K8S_POD_NAME=p", &r, &e), -1);
	ck_assert_int_eq(load("K8S_POD_NAMESPACES=b;XK8S_POD_NAMESPACE=c", &r, &e), 0);
	ck_assert_str_eq(r.ns, "");
}
END_TEST

TEST_PROGRAM("ipam/request_twice", a_pod_has_one_namespace)
