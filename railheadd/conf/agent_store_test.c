/* SPDX-License-Identifier: Apache-2.0 */
/* agent_store_test.c: shows which store is opened, and that files of others are refused. */
#include "railheadd/conf/agent_store.h"

#include <event2/event.h>
#include <sys/stat.h>

#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

static const struct log silent = { .fd = -1 };

static int open_with(const char *text, struct cluster_store **out, struct err *e)
{
	struct ctx ctx = { .etc_dir = "/mnt" };
	struct event_base *base = event_base_new();
	struct agent_files f;
	int rc;

	testing_file("/mnt/agent.json", 0600, text);
	ck_assert_msg(agent_files_load(&ctx, NULL, true, &f, e) == 0, "%s", e->msg);
	rc = agent_store_open(base, &silent, &f, out, e);
	if (rc == 0 && *out) {
		ck_assert_str_eq((*out)->ops->name, agent_store_name(&f.conf));
		(*out)->ops->close(*out);
	}
	agent_files_clear(&f);
	event_base_free(base);
	return rc;
}

START_TEST(one_store_or_none)
{
	struct cluster_store *s;
	struct err e;

	(void)testing_dir();
	ck_assert_int_eq(open_with("{\"node\":\"n\"}", &s, &e), 0);
	ck_assert_ptr_null(s);
	ck_assert_int_eq(
		open_with("{\"node\":\"n\",\"etcd\":{\"endpoints\":[\"http://a:1\"]}}", &s, &e), 0);
	ck_assert_ptr_nonnull(s);
}
END_TEST

static const char kubeconfig[] = "clusters: [{name: c, cluster: {server: 'https://a'}}]\n"
				 "users: [{name: u, user: {tokenFile: /mnt/token}}]\n"
				 "contexts: [{name: x, context: {cluster: c, user: u}}]\n"
				 "current-context: x\n";
static const char with_kubeconfig[] =
	"{\"node\":\"n\",\"kubernetes\":{\"kubeconfig\":\"/mnt/config\",\"namespace\":\"a\"}}";

START_TEST(a_kubeconfig)
{
	static const char *const paths[] = { "/mnt/config", "/mnt/token" };
	struct cluster_store *s;
	struct err e;

	for (size_t i = 0; i <= ARRAY_SIZE(paths); i++) {
		(void)testing_dir();
		testing_file("/mnt/config", 0600, kubeconfig);
		testing_file("/mnt/token", 0600, "t");
		if (i < ARRAY_SIZE(paths))
			ck_assert_int_eq(chmod(paths[i], 0666), 0);
		ck_assert_int_eq(open_with(with_kubeconfig, &s, &e),
				 i < ARRAY_SIZE(paths) ? -1 : 0);
		if (i == ARRAY_SIZE(paths))
			break;
		ck_assert_int_eq(e.code, ERR_FORBIDDEN);
		ck_assert_msg(strstr(e.msg, paths[i]), "%s", e.msg);
	}
}
END_TEST

START_TEST(a_pod_has_an_account)
{
	struct cluster_store *s;
	struct err e;

	(void)testing_dir();
	ck_assert_int_eq(unsetenv("KUBERNETES_SERVICE_HOST"), 0);
	ck_assert_int_eq(open_with("{\"node\":\"n\",\"kubernetes\":{}}", &s, &e), -1);
	ck_assert_msg(strstr(e.msg, "this is not a pod"), "%s", e.msg);
}
END_TEST

TEST_PROGRAM("agent_store", one_store_or_none, a_kubeconfig, a_pod_has_an_account)
