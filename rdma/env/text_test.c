/* SPDX-License-Identifier: Apache-2.0 */
/* text_test.c: an environment as shell, YAML and JSON, also with names that need quoting. */
#include <stdio.h>
#include <sys/wait.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "rdma/env/env.h"
#include "rdma/testing/pod.h"

static const struct env_options defaults = ENV_OPTIONS_INIT;

static struct env made(const struct rdma_inventory *v)
{
	struct env x;
	struct err e = { 0 };

	ck_assert_msg(env_make(v, &defaults, &x, &e) == 0, "%s: %s", e.msg, e.detail);
	return x;
}

static void quoted(const char *s, const char *want)
{
	auto_free char *q = env_quote(s);

	ck_assert_str_eq(q, want);
}

START_TEST(words_are_quoted_for_the_shell)
{
	quoted("", "''");
	quoted("=mlx5_0:1", "'=mlx5_0:1'");
	quoted("a b", "'a b'");
	quoted("it's", "'it'\\''s'");
	quoted("$(reboot) `x` \\ \" ! *", "'$(reboot) `x` \\ \" ! *'");
	quoted("a\nb", "'a\nb'");
}
END_TEST

/* A shell is the judge: it must get back each byte. */
START_TEST(a_shell_reads_what_was_quoted)
{
	static const char nasty[] = "'; exit 7; '$HOME`id`\\\n\t\"*?[a]~ #!&|<>";
	auto_free char *q = env_quote(nasty);
	char script[512], back[256] = "";

	(void)snprintf(script, sizeof(script), "x=%s; printf '%%s' \"$x\"", q);

	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	pid_t child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		(void)dup2(fds[1], 1);
		(void)execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(127);
	}
	(void)close(fds[1]);
	ssize_t n = read(fds[0], back, sizeof(back) - 1);
	(void)close(fds[0]);
	int status;
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq((int)n, (int)strlen(nasty));
	ck_assert_str_eq(back, nasty);
}
END_TEST

START_TEST(text_for_shell_and_kubernetes)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

	pod_rail(&v, 1, "10.1.0.5/16", 3);
	auto_env struct env x = made(&v);
	auto_free char *shell = env_shell(&x, false), *kube = env_kubernetes(&x, false);
	auto_free char *why = env_shell(&x, true);

	ck_assert_str_eq(shell, "export NCCL_IB_HCA='=mlx5_1:1'\n"
				"export NCCL_IB_GID_INDEX='3'\n"
				"export NCCL_SOCKET_IFNAME='=eth0'\n"
				"export GLOO_SOCKET_IFNAME='eth0'\n"
				"export UCX_NET_DEVICES='mlx5_1:1'\n"
				"export UCX_IB_GID_INDEX='3'\n");
	ck_assert_str_eq(kube, "- name: NCCL_IB_HCA\n  value: \"=mlx5_1:1\"\n"
			       "- name: NCCL_IB_GID_INDEX\n  value: \"3\"\n"
			       "- name: NCCL_SOCKET_IFNAME\n  value: \"=eth0\"\n"
			       "- name: GLOO_SOCKET_IFNAME\n  value: \"eth0\"\n"
			       "- name: UCX_NET_DEVICES\n  value: \"mlx5_1:1\"\n"
			       "- name: UCX_IB_GID_INDEX\n  value: \"3\"\n");
	ck_assert_ptr_nonnull(strstr(why, "# index 3 is the RoCE v2 GID of"));
	ck_assert_ptr_nonnull(strstr(why, "the version of NCCL is not known (--nccl-version)"));
}
END_TEST

START_TEST(files_that_libraries_read_themselves)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

	pod_rail(&v, 1, "10.1.0.5/16", 3);
	auto_env struct env x = made(&v);
	auto_free char *nccl = env_file(&x, "NCCL_"), *ucx = env_file(&x, "UCX_");

	ck_assert_str_eq(nccl, "NCCL_IB_HCA==mlx5_1:1\n"
			       "NCCL_IB_GID_INDEX=3\n"
			       "NCCL_SOCKET_IFNAME==eth0\n");
	ck_assert_str_eq(ucx, "UCX_NET_DEVICES=mlx5_1:1\nUCX_IB_GID_INDEX=3\n");
}
END_TEST

START_TEST(comments_stay_in_their_line)
{
	auto_rdma_inventory struct rdma_inventory v = pod_crowded(3, 5);

	(void)strcpy(v.device[0].link.name, "x\nreboot");
	auto_env struct env x = made(&v);
	auto_free char *shell = env_shell(&x, true);
	char *save = NULL;
	bool in_value = false;

	for (char *l = strtok_r(shell, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		/* The value itself has the line break, between its quotes. */
		ck_assert_msg(*l == '#' || strncmp(l, "export ", 7) == 0 || in_value, "%s", l);
		in_value = strncmp(l, "export ", 7) == 0 && l[strlen(l) - 1] != '\'';
	}
}
END_TEST

START_TEST(text_as_json)
{
	auto_rdma_inventory struct rdma_inventory v = pod_crowded(3, 5);
	auto_env struct env x = made(&v);
	auto_json struct json *o = env_json(&x);
	const struct json *first = json_first(json_get(o, "env"));

	ck_assert_str_eq(json_str(json_get(first, "name")), "NCCL_IB_HCA");
	ck_assert_str_eq(json_str(json_get(first, "value")), "=mlx5_0:1,mlx5_1:1");
	ck_assert_ptr_nonnull(json_str(json_get(first, "why")));
	ck_assert_uint_eq(json_len(json_get(o, "warnings")), 4);
	ck_assert_int_eq(json_type(json_get(o, "leftOut")), JSON_ARRAY);
	ck_assert_int_eq(json_type(json_get(o, "missing")), JSON_ARRAY);
}
END_TEST

static int all_of_it(void *arg, struct err *e)
{
	struct env_options o = ENV_OPTIONS_INIT;
	auto_env struct env x = { 0 };

	o.tc = 106;
	o.sl = 3;
	o.cross_nic = 0;
	if (env_make(arg, &o, &x, e))
		return -1;
	auto_free char *shell = env_shell(&x, true), *kube = env_kubernetes(&x, true);
	auto_json struct json *json = env_json(&x);
	return shell && kube && json ? 0 : err_nomem(e);
}

START_TEST(allocations_may_fail)
{
	auto_rdma_inventory struct rdma_inventory v = pod_crowded(3, 5);
	auto_rdma_inventory struct rdma_inventory w = pod_crowded(3, 3);

	ck_assert_str_eq(alloc_fail_each(all_of_it, &v), "ok");
	ck_assert_str_eq(alloc_fail_each(all_of_it, &w), "ok");
}
END_TEST

TEST_PROGRAM("env_text", words_are_quoted_for_the_shell, a_shell_reads_what_was_quoted,
	     text_for_shell_and_kubernetes, files_that_libraries_read_themselves,
	     comments_stay_in_their_line, text_as_json, allocations_may_fail)
