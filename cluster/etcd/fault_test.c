/* SPDX-License-Identifier: Apache-2.0 */
/* fault_test.c: each error of etcd, what it means, and what the message says. */
#include "cluster/etcd/fault.h"
#include "lib/testing/testing.h"

static const struct {
	struct etcd_problem p;
	enum etcd_remedy remedy;
	enum cluster_outcome outcome;
	const char *hint;
} errors[] = {
	{ { 8, "etcdserver: mvcc: database space exceeded" },
	  ETCD_REPORT,
	  CLUSTER_REFUSED,
	  "defrag" },
	{ { 8, "etcdserver: too many requests" }, ETCD_REPORT, CLUSTER_REFUSED, "" },
	{ { 8, "grpc: received message larger than max" }, ETCD_ELSEWHERE, CLUSTER_AWAY, "" },
	{ { 11, "etcdserver: mvcc: required revision has been compacted" },
	  ETCD_REPORT,
	  CLUSTER_EXPIRED,
	  "" },
	{ { 11, "etcdserver: mvcc: required revision is a future revision" },
	  ETCD_REPORT,
	  CLUSTER_EXPIRED,
	  "snapshot" },
	{ { 16, "etcdserver: invalid auth token" }, ETCD_NEW_TOKEN, CLUSTER_REFUSED, "" },
	{ { 3, "etcdserver: revision of auth store is old" }, ETCD_NEW_TOKEN, CLUSTER_REFUSED, "" },
	{ { 9, "etcdserver: authentication is not enabled" }, ETCD_NO_TOKEN, CLUSTER_REFUSED, "" },
	{ { 3, "etcdserver: authentication failed, invalid user ID or password" },
	  ETCD_REPORT,
	  CLUSTER_REFUSED,
	  "check user" },
	{ { 3, "etcdserver: user name is empty" }, ETCD_NEW_TOKEN, CLUSTER_REFUSED, "CN" },
	{ { 3, "etcdserver: request is too large" }, ETCD_REPORT, CLUSTER_REFUSED, "max-request" },
	{ { 3, "etcdserver: key is not provided" }, ETCD_REPORT, CLUSTER_REFUSED, "" },
	{ { 7, "etcdserver: permission denied" }, ETCD_REPORT, CLUSTER_REFUSED, "readwrite" },
	{ { 5, "Not Found" }, ETCD_ELSEWHERE, CLUSTER_AWAY, "gateway" },
	{ { 14, "etcdserver: no leader" }, ETCD_ELSEWHERE, CLUSTER_AWAY, "" },
	{ { 2, "" }, ETCD_ELSEWHERE, CLUSTER_AWAY, "" },
};

START_TEST(each_error)
{
	const struct etcd_asked asked = { "write", "/railhead/pools/p", "agent" };

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		struct err e = { 0 };
		struct etcd_fault f = etcd_fault(&errors[i].p, &asked, &e);

		ck_assert_msg(f.remedy == errors[i].remedy && f.outcome == errors[i].outcome, "%s",
			      errors[i].p.text);
		ck_assert_msg(strstr(e.detail, errors[i].hint), "%s: %s", e.msg, e.detail);
		ck_assert_int_eq(*e.detail != 0, *errors[i].hint != 0);
		ck_assert_ptr_nonnull(strstr(e.msg, "write /railhead/pools/p as user \"agent\""));
	}
}
END_TEST

/* Without a login etcd refuses everything; with one it may refuse what a right is missing for. */
START_TEST(an_unknown_user_is_told_from_a_missing_right)
{
	const struct etcd_asked asked = { "read", "/railhead/pools/p", "agent" };
	const struct {
		struct etcd_problem p;
		enum err_code code;
	} each[] = {
		{ { 16, "etcdserver: invalid auth token" }, ERR_LOGIN },
		{ { 3, "etcdserver: authentication failed, invalid user ID or password" },
		  ERR_LOGIN },
		{ { 3, "etcdserver: user name is empty" }, ERR_LOGIN },
		{ { 7, "etcdserver: permission denied" }, ERR_FORBIDDEN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
		struct err e = { 0 };

		(void)etcd_fault(&each[i].p, &asked, &e);
		ck_assert_int_eq(e.code, each[i].code);
	}
}
END_TEST

TEST_PROGRAM("etcd_fault", each_error, an_unknown_user_is_told_from_a_missing_right)
