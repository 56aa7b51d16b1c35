/* SPDX-License-Identifier: Apache-2.0 */
/* agent_files_test.c: shows which files are read, and that only those of root count. */
#include "railheadd/conf/agent_files.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

static struct ctx here(void)
{
	return (struct ctx){ .etc_dir = testing_dir() };
}

static int load(const struct ctx *ctx, struct agent_files *out, struct err *e)
{
	return agent_files_load(ctx, NULL, true, out, e);
}

START_TEST(a_missing_file_means_no_cluster)
{
	struct ctx ctx = here();
	struct agent_files f;
	struct err e;
	int rc = load(&ctx, &f, &e);

	/* The host of the test may have a name that no node can have. */
	ck_assert_msg(rc == 0 || strstr(e.msg, "node: "), "%s", e.msg);
	if (rc == 0) {
		ck_assert(!f.conf.has_etcd);
		ck_assert_uint_gt(strlen(f.node), 0);
		agent_files_clear(&f);
	}
}
END_TEST

START_TEST(secrets_are_read)
{
	struct ctx ctx = here();
	struct agent_files f;
	struct err e;

	testing_file("/mnt/agent.json", 0600,
		     "{\"node\":\"n1\",\"etcd\":{\"endpoints\":[\"http://a:1\"],\"ca\":\"/mnt/ca\","
		     "\"user\":\"u\",\"passwordFile\":\"/mnt/pw\"}}");
	testing_file("/mnt/ca", 0644, "CA");
	testing_file("/mnt/pw", 0600, "secret\n");
	ck_assert_msg(load(&ctx, &f, &e) == 0, "%s", e.msg);

	struct etcd_conf c = agent_files_etcd(&f);

	ck_assert_str_eq(f.node, "n1");
	ck_assert_str_eq(c.tls.ca, "CA");
	ck_assert_ptr_null(c.tls.cert);
	ck_assert_str_eq(c.password, "secret");
	agent_files_clear(&f);
}
END_TEST

START_TEST(files_that_others_may_write)
{
	static const char *const paths[] = { "/mnt/agent.json", "/mnt/pw" };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct ctx ctx = here();
		struct agent_files f;
		struct err e;

		testing_file("/mnt/agent.json", 0600,
			     "{\"node\":\"n1\",\"etcd\":{\"endpoints\":[\"http://a:1\"],"
			     "\"user\":\"u\",\"passwordFile\":\"/mnt/pw\"}}");
		testing_file("/mnt/pw", 0600, "secret\n");
		ck_assert_int_eq(chmod(paths[i], 0666), 0);
		ck_assert_int_eq(load(&ctx, &f, &e), -1);
		ck_assert_int_eq(e.code, ERR_FORBIDDEN);
		ck_assert_msg(strncmp(e.msg, paths[i], strlen(paths[i])) == 0, "%s", e.msg);
	}
}
END_TEST

START_TEST(a_file_that_is_named_must_exist)
{
	struct ctx ctx = here();
	struct agent_files f;
	struct err e;

	ck_assert_int_eq(agent_files_load(&ctx, "/mnt/other.json", true, &f, &e), -1);
	testing_file(
		"/mnt/agent.json", 0600,
		"{\"node\":\"n1\",\"etcd\":{\"endpoints\":[\"http://a:1\"],\"ca\":\"/mnt/ca\"}}");
	ck_assert_int_eq(load(&ctx, &f, &e), -1);
	ck_assert_msg(strncmp(e.msg, "/mnt/ca", 7) == 0, "%s", e.msg);
}
END_TEST

static void assert_node(const struct ctx *ctx, const char *want)
{
	struct agent_files f;
	struct err e;

	ck_assert_msg(load(ctx, &f, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(f.node, want);
	agent_files_clear(&f);
}

/* One file serves all pods of a DaemonSet: the environment has the name of the node. */
START_TEST(the_environment_names_the_node_unless_the_file_does)
{
	struct ctx ctx = here();
	struct agent_files f;
	struct err e;

	ck_assert_int_eq(setenv("RAILHEAD_NODE", "GPU-17", 1), 0);
	assert_node(&ctx, "gpu-17");
	testing_file("/mnt/agent.json", 0600, "{\"node\":\"n1\"}");
	assert_node(&ctx, "n1");
	testing_file("/mnt/agent.json", 0600, "{}");
	ck_assert_int_eq(setenv("RAILHEAD_NODE", "no node", 1), 0);
	ck_assert_int_eq(load(&ctx, &f, &e), -1);
	ck_assert_msg(strstr(e.msg, "no node"), "%s", e.msg);
	ck_assert_int_eq(unsetenv("RAILHEAD_NODE"), 0);
}
END_TEST

START_TEST(secrets_that_change_are_read_again)
{
	struct ctx ctx = here();
	struct agent_files f;
	struct err e;

	testing_file("/mnt/agent.json", 0600,
		     "{\"node\":\"n1\",\"etcd\":{\"endpoints\":[\"http://a:1\"],\"ca\":\"/mnt/ca\","
		     "\"user\":\"u\",\"passwordFile\":\"/mnt/pw\"}}");
	testing_file("/mnt/ca", 0644, "CA");
	testing_file("/mnt/pw", 0600, "secret\n");
	ck_assert_msg(load(&ctx, &f, &e) == 0, "%s", e.msg);
	ck_assert_int_eq(agent_files_renew(&f, &e), 0);
	testing_file("/mnt/ca", 0644, "CA 2");
	ck_assert_int_eq(agent_files_renew(&f, &e), 1);
	ck_assert_str_eq(f.ca, "CA 2");
	ck_assert_str_eq(f.password, "secret");
	ck_assert_uint_eq(f.renewals, 1);
	/* All or none, and one attempt for each change. */
	testing_file("/mnt/ca", 0644, "CA number 3");
	testing_file("/mnt/pw", 0666, "other secret\n");
	ck_assert_int_eq(chmod("/mnt/pw", 0666), 0);
	ck_assert_int_eq(agent_files_renew(&f, &e), -1);
	ck_assert_int_eq(e.code, ERR_FORBIDDEN);
	ck_assert_int_eq(agent_files_renew(&f, &e), 0);
	ck_assert_str_eq(f.ca, "CA 2");
	ck_assert_int_eq(chmod("/mnt/pw", 0600), 0);
	ck_assert_int_eq(agent_files_renew(&f, &e), 1);
	ck_assert_str_eq(f.ca, "CA number 3");
	ck_assert_str_eq(f.password, "other secret");
	agent_files_clear(&f);
}
END_TEST

TEST_PROGRAM("agent_files", a_missing_file_means_no_cluster, secrets_are_read,
	     secrets_that_change_are_read_again, files_that_others_may_write,
	     a_file_that_is_named_must_exist, the_environment_names_the_node_unless_the_file_does)
