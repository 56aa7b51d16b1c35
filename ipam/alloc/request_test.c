/* SPDX-License-Identifier: Apache-2.0 */
/* request_test.c: owners and requested addresses, and each malformed request. */
#include "ipam/alloc/request.h"

#include <stdio.h>

#include "cni/protocol/delegate.h"
#include "lib/testing/testing.h"

static int load(const char *args, const char *conf_rest, struct cni_conf *conf, struct request *r,
		struct err *e)
{
	const struct cni_env env = {
		.cmd = CNI_ADD, .container = "c1", .ifname = "net1", .args = args
	};
	char *text = NULL;

	ck_assert_int_gt(
		asprintf(&text, "{\"cniVersion\":\"1.0.0\",\"name\":\"net\"%s}", conf_rest), 0);
	ck_assert_msg(cni_conf_parse(text, strlen(text), CNI_ADD, conf, e) == 0, "%s", e->msg);
	return request_load(&env, conf, r, e);
}

static const struct {
	const char *args, *conf, *want;
} good[] = {
	{ "", "", "" },
	{ "IP=10.0.0.5", "", "10.0.0.5" },
	{ "IP=10.0.0.5/24,fd00::1/64,,10.0.0.5", "", "10.0.0.5 fd00::1" },
	{ "IP=", "", "" },
	{ "IP=::ffff:10.0.0.5,10.0.0.5", "", "10.0.0.5" }, /* one address for Go */
	{ "", ",\"runtimeConfig\":{\"ips\":[\"10.0.0.5/24\",\"fd00::1\"]}", "10.0.0.5 fd00::1" },
	{ "", ",\"args\":{\"cni\":{\"ips\":[\"10.0.0.6\"]}}", "10.0.0.6" },
	{ "IP=10.0.0.5", ",\"runtimeConfig\":{\"ips\":[\"10.0.0.6\"]}", "10.0.0.6 10.0.0.5" },
	/* args.cni says it: CNI_ARGS is not asked, however bad */
	{ "IP=garbage", ",\"args\":{\"cni\":{\"ips\":[\"10.0.0.6\"]}}", "10.0.0.6" },
	{ "IP=10.0.0.7", ",\"args\":{\"cni\":{\"ips\":[]}}", "10.0.0.7" },
};

START_TEST(requested_addresses_are_read)
{
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		char have[256] = "", text[IP_STR_LEN];
		struct cni_conf conf;
		struct request r;
		struct err e = { 0 };

		ck_assert_msg(load(good[i].args, good[i].conf, &conf, &r, &e) == 0, "%s", e.msg);
		for (size_t k = 0; k < r.n_want; k++) {
			testing_append(have, sizeof(have), k ? " " : "");
			testing_append(have, sizeof(have), ip_format(r.want[k], text));
		}
		ck_assert_str_eq(have, good[i].want);
		cni_conf_clear(&conf);
	}
}
END_TEST

START_TEST(the_owner_is_read)
{
	struct cni_conf conf;
	struct request r;
	struct err e;

	ck_assert_int_eq(load("IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=pod-0;X", "",
			      &conf, &r, &e),
			 0);
	ck_assert_str_eq(r.owner.network, "net");
	ck_assert_str_eq(r.owner.container, "c1");
	ck_assert_str_eq(r.owner.ifname, "net1");
	ck_assert_str_eq(r.owner.ns, "ns");
	ck_assert_str_eq(r.owner.pod, "pod-0");
	cni_conf_clear(&conf);
	ck_assert_int_eq(load("", "", &conf, &r, &e), 0);
	ck_assert_str_eq(r.owner.ns, "");
	ck_assert_str_eq(r.owner.pod, "");
	cni_conf_clear(&conf);
}
END_TEST

static const struct {
	const char *args, *conf;
	int code;
	const char *says;
} bad[] = {
	{ "IP=x", "", ERR_ENV, "IP=x" },
	{ "IP=10.0.0.1,10.0.0.256", "", ERR_ENV, "IP=10.0.0.1,10.0.0.256" },
	{ "IP=01234567890123456789012345678901234567890123456789012345678901234567890123456789", "",
	  ERR_ENV, "IP=" },
	{ "K8S_POD_NAME=\xff", "", ERR_ENV, "K8S_POD_NAME" },
	{ "K8S_POD_NAMESPACE=\xc3\x28", "", ERR_ENV, "K8S_POD_NAMESPACE" },
	{ "", ",\"runtimeConfig\":{\"ips\":\"10.0.0.1\"}", ERR_DECODE, "runtimeConfig.ips" },
	{ "", ",\"runtimeConfig\":{\"ips\":[1]}", ERR_DECODE, "runtimeConfig.ips" },
	{ "", ",\"runtimeConfig\":{\"ips\":[\"x\"]}", ERR_CONFIG, "runtimeConfig.ips: \"x\"" },
	{ "", ",\"args\":{\"cni\":{\"ips\":{}}}", ERR_DECODE, "args.cni.ips" },
	{ "", ",\"args\":{\"cni\":{\"ips\":[\"1.2.3\"]}}", ERR_CONFIG, "args.cni.ips" },
};

START_TEST(bad_requests_are_refused)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct cni_conf conf;
		struct request r;
		struct err e = { 0 };

		ck_assert_msg(load(bad[i].args, bad[i].conf, &conf, &r, &e) == -1, "%s%s",
			      bad[i].args, bad[i].conf);
		ck_assert_msg((int)e.code == bad[i].code && strstr(e.msg, bad[i].says),
			      "%s%s: %d %s", bad[i].args, bad[i].conf, (int)e.code, e.msg);
		cni_conf_clear(&conf);
	}
}
END_TEST

/* As many as an ADD may have addresses, and one more. */
START_TEST(too_many_addresses_are_refused)
{
	char args[4096] = "IP=", conf_rest[4096] = ",\"runtimeConfig\":{\"ips\":[", one[64];
	struct cni_conf conf;
	struct request r;
	struct err e = { 0 };

	for (int i = 0; i <= SOURCE_SETS_MAX; i++) {
		(void)snprintf(one, sizeof(one), "%sfd00:1234:5678:9abc:def0:1234:5678:%d/64",
			       i ? "," : "", 1000 + i);
		if (i == SOURCE_SETS_MAX) {
			ck_assert_msg(load(args, "", &conf, &r, &e) == 0, "%s", e.msg);
			ck_assert_uint_eq(r.n_want, SOURCE_SETS_MAX);
			cni_conf_clear(&conf);
		}
		testing_append(args, sizeof(args), one);
		(void)snprintf(one, sizeof(one), "%s\"10.0.0.%d\"", i ? "," : "", i + 1);
		testing_append(conf_rest, sizeof(conf_rest), one);
	}
	ck_assert_int_eq(load(args, "", &conf, &r, &e), -1);
	ck_assert_msg(e.code == ERR_ENV && strstr(e.msg, "at most 64"), "%s", e.msg);
	cni_conf_clear(&conf);
	testing_append(conf_rest, sizeof(conf_rest), "]}");
	ck_assert_int_eq(load("", conf_rest, &conf, &r, &e), -1);
	ck_assert_msg(e.code == ERR_CONFIG && strstr(e.msg, "more than 64"), "%s", e.msg);
	cni_conf_clear(&conf);
}
END_TEST

START_TEST(names_that_do_not_fit_are_refused)
{
	char args[6000] = "K8S_POD_NAME=";
	struct cni_env env = { .cmd = CNI_ADD, .container = "c1", .ifname = "net\xff", .args = "" };
	struct cni_conf conf;
	struct request r;
	struct err e = { 0 };

	memset(args + 13, 'a', REQUEST_NAME_MAX);
	ck_assert_int_eq(load(args, "", &conf, &r, &e), -1);
	ck_assert_int_eq(e.code, ERR_ENV);
	ck_assert_int_eq(request_load(&env, &conf, &r, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "CNI_IFNAME"));
	cni_conf_clear(&conf);
	memcpy(args, "IP=", 3);
	memset(args + 3, '1', 5000);
	ck_assert_int_eq(load(args, "", &conf, &r, &e), -1);
	ck_assert_int_eq(e.code, ERR_ENV);
	cni_conf_clear(&conf);
}
END_TEST

START_TEST(addresses_that_somebody_else_uses)
{
	struct ip ip[2];
	char text[IP_STR_LEN], args[300] = "K8S_POD_UID=";
	struct cni_conf conf;
	struct request r;
	struct err e;

	ck_assert_int_eq(unsetenv(DELEGATE_CONFLICT), 0);
	ck_assert_uint_eq(request_conflicts(ip, 2), 0);
	ck_assert_int_eq(setenv(DELEGATE_CONFLICT, "rubbish,10.0.0.3,fd00::7,10.0.0.4", 1), 0);
	ck_assert_uint_eq(request_conflicts(ip, 2), 2);
	ck_assert_str_eq(ip_format(ip[0], text), "10.0.0.3");
	ck_assert_str_eq(ip_format(ip[1], text), "fd00::7");
	ck_assert_uint_eq(request_conflicts(ip, 0), 0);
	ck_assert_int_eq(load("K8S_POD_NAME=\xff", "", &conf, &r, &e), -1);
	ck_assert_int_eq(e.code, ERR_ENV);
	cni_conf_clear(&conf);
	memset(args + 12, 'a', REQUEST_NAME_MAX);
	ck_assert_int_eq(load(args, "", &conf, &r, &e), -1);
	ck_assert_int_eq(e.code, ERR_ENV);
	cni_conf_clear(&conf);
}
END_TEST

/* ---- keys that CNI_ARGS has twice ---- */

static int load_args(const char *args, struct request *r, struct err *e)
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

	ck_assert_msg(load_args(args, &r, &e) == -1, "%s", args);
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

	ck_assert_int_eq(
		load_args("IgnoreUnknown=true;K8S_POD_NAMESPACE=a;K8S_POD_NAME=p;"
			  "K8S_POD_UID=u;IgnoreUnknown=1;K8S_POD_NAMESPACE=a;K8S_POD_NAME=p;"
			  "K8S_POD_UID=u",
			  &r, &e),
		0);
	ck_assert_str_eq(r.ns, "a");
	ck_assert_str_eq(r.pod, "p");
	ck_assert_int_eq(load_args("K8S_POD_NAMESPACE=;K8S_POD_NAMESPACE=", &r, &e), 0);
	ck_assert_str_eq(r.ns, "");
}
END_TEST

START_TEST(keys_match_whole)
{
	struct request r;
	struct err e;

	ck_assert_int_eq(load_args("K8S_POD_NAMESPACE=a;K8S_POD_NAME=p;IP=10.0.0.1", &r, &e), 0);
	ck_assert_str_eq(r.ns, "a");
	ck_assert_int_eq(load_args("K8S_POD_NAMESPACES=b;XK8S_POD_NAMESPACE=c", &r, &e), 0);
	ck_assert_str_eq(r.ns, "");
}
END_TEST

TEST_PROGRAM("ipam/alloc/request", requested_addresses_are_read, the_owner_is_read,
	     bad_requests_are_refused, too_many_addresses_are_refused,
	     names_that_do_not_fit_are_refused, addresses_that_somebody_else_uses,
	     two_values_of_one_key_are_refused, one_value_may_come_twice, keys_match_whole)
