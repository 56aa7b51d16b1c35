/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_test.c: shows whole calls of cni_main(), each in a process with stdin and stdout of its
 * own.
 */
#include "cni/protocol/plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"

#define GOOD "{\"cniVersion\":\"1.1.0\",\"name\":\"n\",\"type\":\"t\"}"

/* ---- a plugin that tells what was called ---- */

static const char our_data[] = "data";

/* The verbs leave their mark on stderr, where it is not a part of the protocol. */
static int mark(const struct cni_call *call)
{
	fprintf(stderr, "[%s %s %s %s]", cni_command_name(call->env.cmd), call->conf.name,
		call->env.container, call->data == our_data ? "data" : "no data");
	return 0;
}

static int add_with_result(const struct cni_call *call, struct err *e)
{
	struct cni_interface i = { .name = call->env.ifname, .sandbox = call->env.netns };
	const struct cni_result r = { .interfaces = &i, .n_interfaces = 1 };

	if (cni_emit_result(call, &r, e)) {
		fprintf(stderr, "[undone]");
		return -1;
	}
	return mark(call);
}

static int just_mark(const struct cni_call *call, struct err *e)
{
	(void)e;
	return mark(call);
}

static int fail_fully(const struct cni_call *call, struct err *e)
{
	(void)call;
	err_set(e, ERR_KERNEL, EBUSY, "create \"net1\"\xff");
	return err_hint(e, "the kernel says: no\ntry again");
}

static const char *words; /* of a delegate, which fail_briefly passes on */

static int fail_briefly(const struct cni_call *call, struct err *e)
{
	(void)call;
	err_set(e, ERR_EXHAUSTED, 0, "m");
	return words ? err_hint(e, "%s", words) : -1;
}

static const struct cni_plugin good = { .name = "tester",
					.add = add_with_result,
					.del = just_mark,
					.check = just_mark,
					.gc = just_mark,
					.status = just_mark,
					.data = our_data };
static const struct cni_plugin bad = { .name = "tester",
				       .add = fail_fully,
				       .del = fail_briefly,
				       .check = fail_fully,
				       .gc = fail_fully,
				       .status = fail_fully };
static const struct cni_plugin bare = { .name = "tester" };

/* ---- running it ---- */

struct outcome {
	int status; /* exit status; -1: killed */
	char out[4096], err[4096];
};

static void set_env(const char *cmd)
{
	ck_assert_int_eq(clearenv(), 0);
	if (cmd)
		ck_assert_int_eq(setenv("CNI_COMMAND", cmd, 1), 0);
	ck_assert_int_eq(setenv("CNI_CONTAINERID", "c1", 1), 0);
	ck_assert_int_eq(setenv("CNI_NETNS", "/run/netns/a", 1), 0);
	ck_assert_int_eq(setenv("CNI_IFNAME", "net1", 1), 0);
	ck_assert_int_eq(setenv("CNI_PATH", "/opt/cni/bin", 1), 0);
}

static int file_with(const char *text)
{
	FILE *f = tmpfile();

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(text, 1, strlen(text), f), strlen(text));
	ck_assert_int_eq(fflush(f), 0);
	int fd = dup(fileno(f));
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void read_back(int fd, char *buf, size_t size)
{
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	ssize_t n = read(fd, buf, size - 1);
	ck_assert_int_ge(n, 0);
	buf[n] = '\0';
	ck_assert_int_eq(close(fd), 0);
}

static void put_fd(int fd, int at)
{
	if (fd < 0)
		(void)close(at);
	else
		(void)dup2(fd, at);
}

/* One call with these descriptors; -1: closed. */
static int run_with(const struct cni_plugin *p, int in, int out, int err)
{
	int status;

	(void)fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		(void)signal(SIGPIPE, SIG_DFL);
		put_fd(in, 0);
		put_fd(out, 1);
		put_fd(err, 2);
		exit(cni_main(p));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static struct outcome run(const struct cni_plugin *p, const char *cmd, const char *conf)
{
	struct outcome o;
	int in = file_with(conf), out = file_with(""), err = file_with("");

	set_env(cmd);
	o.status = run_with(p, in, out, err);
	ck_assert_int_eq(close(in), 0);
	read_back(out, o.out, sizeof(o.out));
	read_back(err, o.err, sizeof(o.err));
	return o;
}

/* stdout is exactly one error object (CNI-005, CNI-032): its tree. */
static struct json *error_in(const struct outcome *o, int code)
{
	struct json *tree = NULL;
	struct err e = { .msg = "" };

	ck_assert_int_eq(o->status, 1);
	ck_assert_msg(json_parse(o->out, strlen(o->out), "stdout", &tree, &e) == 0, "%s: %s", e.msg,
		      o->out);
	ck_assert_msg((int)json_num(json_get(tree, "code")) == code, "%s", o->out);
	ck_assert_ptr_nonnull(json_str(json_get(tree, "msg")));
	ck_assert_ptr_nonnull(json_str(json_get(tree, "cniVersion")));
	json_each (member, tree) {
		const char *k = json_key(member);
		ck_assert_msg(!strcmp(k, "cniVersion") || !strcmp(k, "code") || !strcmp(k, "msg") ||
				      !strcmp(k, "details"),
			      "%s", k);
	}
	return tree;
}

static void fails(const char *cmd, const char *conf, int code, const char *msg)
{
	struct outcome o = run(&good, cmd, conf);
	auto_json struct json *tree = error_in(&o, code);
	const char *got = json_str(json_get(tree, "msg"));

	ck_assert_msg(strstr(got, msg), "\"%s\" is not in: %s", msg, got);
	ck_assert_str_eq(o.err, ""); /* nothing was called, and nothing is said elsewhere */
}

/* ---- verbs ---- */

START_TEST(cni_003_a_result_and_nothing_else)
{
	struct outcome o = run(&good, "ADD", GOOD);
	auto_json struct json *tree = NULL;
	struct err e;

	ck_assert_int_eq(o.status, 0);
	ck_assert_int_eq(json_parse(o.out, strlen(o.out), "stdout", &tree, &e), 0);
	ck_assert_str_eq(json_str(json_get(tree, "cniVersion")), "1.1.0"); /* CNI-028 */
	const struct json *i = json_first(json_get(tree, "interfaces"));
	ck_assert_str_eq(json_str(json_get(i, "name")), "net1");
	ck_assert_str_eq(json_str(json_get(i, "sandbox")), "/run/netns/a"); /* CNI-044 */
	ck_assert_str_eq(o.err, "[ADD n c1 data]");
}
END_TEST

START_TEST(cni_028_the_version_asked_for)
{
	char conf[100];

	for (int v = CNI_030; v <= CNI_110; v++) {
		auto_json struct json *tree = NULL;
		struct err e;

		(void)snprintf(conf, sizeof(conf), "{\"cniVersion\":\"%s\",\"name\":\"n\"}",
			       cni_version_name((enum cni_version)v));
		struct outcome o = run(&good, "ADD", conf);
		ck_assert_int_eq(o.status, 0);
		ck_assert_int_eq(json_parse(o.out, strlen(o.out), "stdout", &tree, &e), 0);
		ck_assert_str_eq(json_str(json_get(tree, "cniVersion")),
				 cni_version_name((enum cni_version)v));
	}
}
END_TEST

/* CNI-053, CNI-062, CNI-074: no output on success. */
START_TEST(del_check_gc_and_status_print_nothing)
{
	static const char *const verbs[] = { "DEL", "CHECK", "GC", "STATUS" };
	char want[100];

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		struct outcome o = run(&good, verbs[i], GOOD);

		ck_assert_int_eq(o.status, 0);
		ck_assert_str_eq(o.out, "");
		(void)snprintf(want, sizeof(want), "[%s n c1 data]", verbs[i]);
		ck_assert_str_eq(o.err, want);
	}
}
END_TEST

/* CNI-068 */
START_TEST(commands_that_a_plugin_lacks_succeed)
{
	static const char *const verbs[] = { "DEL", "CHECK", "GC", "STATUS" };

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		struct outcome o = run(&bare, verbs[i], GOOD);

		ck_assert_int_eq(o.status, 0);
		ck_assert_str_eq(o.out, "");
		ck_assert_str_eq(o.err, "");
	}
}
END_TEST

/* CNI-023 to CNI-025: our own version, whatever is on stdin or in the environment. */
START_TEST(cni_023_version_lists_all_versions)
{
	static const char *const inputs[] = { "{\"cniVersion\":\"1.1.0\"}", "", "garbage",
					      "{\"cniVersion\":\"9.9.9\"}" };

	for (size_t i = 0; i < ARRAY_SIZE(inputs); i++) {
		struct outcome o = run(&good, "VERSION", inputs[i]);
		auto_json struct json *tree = NULL;
		struct err e;
		int n = 0;

		ck_assert_int_eq(o.status, 0);
		ck_assert_int_eq(json_parse(o.out, strlen(o.out), "stdout", &tree, &e), 0);
		ck_assert_str_eq(json_str(json_get(tree, "cniVersion")), "1.1.0");
		json_each (v, json_get(tree, "supportedVersions"))
			ck_assert_str_eq(json_str(v), cni_version_name((enum cni_version)n++));
		ck_assert_int_eq(n, CNI_VERSIONS);
		ck_assert_str_eq(o.err, "");
	}
}
END_TEST

START_TEST(cni_024_version_does_not_wait_for_stdin)
{
	struct outcome o;
	int fds[2], out = file_with("");

	ck_assert_int_eq(pipe(fds), 0); /* its other end stays open */
	ck_assert_int_eq(clearenv(), 0);
	ck_assert_int_eq(setenv("CNI_COMMAND", "VERSION", 1), 0);
	ck_assert_int_eq(run_with(&good, fds[0], out, 2), 0);
	read_back(out, o.out, sizeof(o.out));
	ck_assert_ptr_nonnull(strstr(o.out, "supportedVersions"));
}
END_TEST

START_TEST(cni_007_without_a_command_it_says_what_it_is)
{
	static const char *const verbs[] = { NULL, "" };

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		struct outcome o = run(&bare, verbs[i], "");

		ck_assert_int_eq(o.status, 0);
		ck_assert_str_eq(o.out, "");
		ck_assert_ptr_eq(strstr(o.err, "CNI tester plugin"), o.err);
		ck_assert_ptr_nonnull(strstr(
			o.err, "CNI protocol versions supported: 0.1.0, 0.2.0, 0.3.0, 0.3.1, "
			       "0.4.0, 1.0.0, 1.1.0\n"));
	}
}
END_TEST

/* ---- errors ---- */

START_TEST(cni_032_the_error_object_is_complete)
{
	struct outcome o = run(&bad, "ADD", "{\"cniVersion\":\"0.4.0\",\"name\":\"n\"}");
	auto_json struct json *tree = error_in(&o, 100);

	ck_assert_str_eq(json_str(json_get(tree, "cniVersion")), "0.4.0");
	ck_assert_str_eq(json_str(json_get(tree, "msg")),
			 "create \"net1\"?: Device or resource busy");
	ck_assert_str_eq(json_str(json_get(tree, "details")),
			 "error 100; the kernel says: no; try again");
	ck_assert_str_eq(o.err, "");

	struct outcome brief = run(&bad, "DEL", GOOD);
	auto_json struct json *second = error_in(&brief, 101);
	ck_assert_str_eq(json_str(json_get(second, "details")), "error 101");
}
END_TEST

START_TEST(details_name_the_code_once)
{
	static const char *const rows[][2] = {
		{ "error 101; ask for less", "error 101; ask for less" },
		{ "error 101", "error 101" },
		{ "error 1017; ask", "error 101; error 1017; ask" },
		{ "error 7; ask for less", "error 101; error 7; ask for less" },
		{ "\na\n\nb\n", "error 101; a; b" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		words = rows[i][0];
		struct outcome o = run(&bad, "DEL", GOOD);
		auto_json struct json *tree = error_in(&o, 101);

		ck_assert_str_eq(json_str(json_get(tree, "details")), rows[i][1]);
	}
}
END_TEST

START_TEST(cni_006_unknown_commands_are_refused)
{
	fails("add", GOOD, 4, "unknown CNI_COMMAND: add");
	fails("UPDATE", GOOD, 4, "unknown CNI_COMMAND: UPDATE");
	fails("\xff", GOOD, 4, "unknown CNI_COMMAND: ?");
}
END_TEST

START_TEST(bad_input_is_refused_before_the_command_runs)
{
	fails("ADD", "", 6, "network configuration");
	fails("ADD", "garbage", 6, "network configuration");
	fails("ADD", "{}", 7, "missing network name");
	fails("ADD", "{\"name\":\"n\",\"cniVersion\":\"9\"}", 1, "incompatible CNI versions");
	fails("CHECK", "{\"name\":\"n\",\"cniVersion\":\"0.3.1\"}", 1, "does not allow CHECK");
	fails("GC", "{\"name\":\"n\",\"cniVersion\":\"1.0.0\"}", 1, "does not allow GC");
	fails("DEL", "{\"name\":\"a b\",\"cniVersion\":\"1.0.0\"}", 7, "network name");
}
END_TEST

START_TEST(cni_008_the_environment_is_checked_first)
{
	int in = file_with("garbage"), out = file_with("");
	struct outcome o;

	ck_assert_int_eq(clearenv(), 0);
	ck_assert_int_eq(setenv("CNI_COMMAND", "ADD", 1), 0);
	o.status = run_with(&good, in, out, 2);
	read_back(out, o.out, sizeof(o.out));
	auto_json struct json *tree = error_in(&o, 4);
	ck_assert_str_eq(json_str(json_get(tree, "msg")),
			 "required env variables [CNI_CONTAINERID,CNI_NETNS,CNI_IFNAME,CNI_PATH] "
			 "missing");
}
END_TEST

/* CNI-158: over a mebibyte, whatever is in it. */
START_TEST(a_huge_configuration_is_refused)
{
	size_t size = JSON_MAX_SIZE + 1;
	char *text = malloc(size + 1);

	ck_assert_ptr_nonnull(text);
	memset(text, ' ', size);
	text[size] = '\0';
	memcpy(text, GOOD, strlen(GOOD));
	fails("ADD", text, 5, "stdin");
	text[size - 1] = '\0'; /* one less is served */
	struct outcome o = run(&good, "ADD", text);
	ck_assert_int_eq(o.status, 0);
	free(text);
}
END_TEST

/* CNI-158: it comes in pieces. */
START_TEST(a_slow_writer_is_waited_for)
{
	int fds[2], out = file_with("");
	struct outcome o;

	ck_assert_int_eq(pipe(fds), 0);
	pid_t writer = fork();
	if (writer == 0) {
		(void)close(fds[0]);
		for (const char *p = GOOD; *p; p++) {
			if (write(fds[1], p, 1) != 1)
				_exit(1);
			(void)sched_yield();
		}
		_exit(0);
	}
	ck_assert_int_eq(close(fds[1]), 0);
	set_env("ADD");
	ck_assert_int_eq(run_with(&good, fds[0], out, 2), 0);
	ck_assert_int_eq(waitpid(writer, NULL, 0), writer);
	read_back(out, o.out, sizeof(o.out));
	ck_assert_ptr_nonnull(strstr(o.out, "net1"));
}
END_TEST

/*
 * What ADD refuses beyond the protocol was never attached: its DEL succeeds, and goes no further
 * than that (CNI-120).
 */
START_TEST(deletion_of_what_add_refuses_succeeds)
{
	char id[CNI_ID_MAX + 2], conf[CNI_ID_MAX + 100];
	struct outcome o;

	memset(id, 'a', sizeof(id) - 1);
	id[sizeof(id) - 1] = '\0';
	(void)snprintf(conf, sizeof(conf), "{\"cniVersion\":\"1.1.0\",\"name\":\"%s\"}", id);
	o = run(&good, "DEL", conf);
	ck_assert_int_eq(o.status, 0);
	ck_assert_str_eq(o.err, "");
	fails("ADD", conf, 7, "201");

	for (int i = 0; i < 2; i++) {
		int in = file_with(GOOD), err = file_with("");
		set_env("DEL");
		ck_assert_int_eq(
			i ? setenv("CNI_IFNAME", "net%d", 1) : setenv("CNI_CONTAINERID", id, 1), 0);
		ck_assert_int_eq(run_with(&good, in, 1, err), 0);
		read_back(err, o.err, sizeof(o.err));
		ck_assert_str_eq(o.err, "");
		ck_assert_int_eq(close(in), 0);
	}
}
END_TEST

/* ---- descriptors ---- */

static void is_undone(int out)
{
	int in = file_with(GOOD), err = file_with("");
	char said[1000];

	set_env("ADD");
	ck_assert_int_eq(run_with(&good, in, out, err), 1);
	read_back(err, said, sizeof(said));
	ck_assert_str_eq(said, "[undone]");
}

START_TEST(cni_174_a_broken_stdout_is_an_error)
{
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(close(fds[0]), 0);
	is_undone(fds[1]);
}
END_TEST

START_TEST(a_full_stdout_is_an_error)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	ck_assert_int_ge(full, 0);
	is_undone(full);
}
END_TEST

START_TEST(a_closed_stdout_is_an_error)
{
	is_undone(-1);
}
END_TEST

static int open_something(const struct cni_call *call, struct err *e)
{
	int fd = open("/mnt/record", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	return fd < 0 ? err_set(e, ERR_IO, errno, "open") : add_with_result(call, e);
}

/* A file opened in place of a missing stdout must not get the result, nor what is logged. */
START_TEST(missing_descriptors_are_not_taken)
{
	const struct cni_plugin p = { .name = "tester", .add = open_something };
	char text[1000];
	int in;

	(void)testing_dir();
	in = file_with(GOOD);
	for (int missing = 1; missing <= 2; missing++) {
		int out = file_with("");

		testing_file("/mnt/record", 0600, "");
		set_env("ADD");
		ck_assert_int_eq(lseek(in, 0, SEEK_SET), 0);
		ck_assert_int_eq(run_with(&p, in, missing == 1 ? -1 : out, missing == 2 ? -1 : 2),
				 missing == 1 ? 1 : 0);
		read_back(open("/mnt/record", O_RDONLY | O_CLOEXEC), text, sizeof(text));
		ck_assert_str_eq(text, "");
		ck_assert_int_eq(close(out), 0);
	}
}
END_TEST

START_TEST(cni_158_a_closed_stdin_is_an_error)
{
	int out = file_with("");
	struct outcome o;

	set_env("ADD");
	o.status = run_with(&good, -1, out, 2);
	read_back(out, o.out, sizeof(o.out));
	auto_json struct json *tree = error_in(&o, 5); /* CNI-015 */
	ck_assert_ptr_nonnull(strstr(json_str(json_get(tree, "msg")), "stdin"));
}
END_TEST

/* ---- memory ---- */

/* Whichever allocation fails: exit 1 and one error object of code 107, or else success. */
START_TEST(out_of_memory)
{
	static const char *const verbs[] = { "ADD", "DEL", "VERSION" };

	for (size_t v = 0; v < ARRAY_SIZE(verbs); v++) {
		for (unsigned n = 1;; n++) {
			int in = file_with(GOOD), out = file_with(""), status;
			struct outcome o;

			set_env(verbs[v]);
			(void)fflush(NULL);
			pid_t pid = fork();
			if (pid == 0) {
				put_fd(in, 0);
				put_fd(out, 1);
				alloc_fail_begin(n);
				int rc = cni_main(&bare);
				exit(rc << 1 | alloc_fail_end().failed);
			}
			ck_assert_int_eq(waitpid(pid, &status, 0), pid);
			ck_assert(WIFEXITED(status));
			ck_assert_int_eq(close(in), 0);
			read_back(out, o.out, sizeof(o.out));
			o.status = WEXITSTATUS(status) >> 1;
			if (!(WEXITSTATUS(status) & 1)) {
				ck_assert_int_eq(o.status, 0);
				break;
			}
			auto_json struct json *tree = NULL;
			struct err e;
			ck_assert_int_eq(o.status, 1);
			ck_assert_int_eq(json_parse(o.out, strlen(o.out), "out", &tree, &e), 0);
			ck_assert_int_eq((int)json_num(json_get(tree, "code")), ERR_NOMEM);
			ck_assert_ptr_nonnull(json_str(json_get(tree, "msg")));
		}
	}
}
END_TEST

TEST_PROGRAM("cni/protocol/plugin", cni_003_a_result_and_nothing_else,
	     cni_028_the_version_asked_for, del_check_gc_and_status_print_nothing,
	     commands_that_a_plugin_lacks_succeed, cni_023_version_lists_all_versions,
	     cni_024_version_does_not_wait_for_stdin, cni_007_without_a_command_it_says_what_it_is,
	     cni_032_the_error_object_is_complete, details_name_the_code_once,
	     cni_006_unknown_commands_are_refused, bad_input_is_refused_before_the_command_runs,
	     cni_008_the_environment_is_checked_first, a_huge_configuration_is_refused,
	     a_slow_writer_is_waited_for, deletion_of_what_add_refuses_succeeds,
	     cni_174_a_broken_stdout_is_an_error, a_full_stdout_is_an_error,
	     a_closed_stdout_is_an_error, missing_descriptors_are_not_taken,
	     cni_158_a_closed_stdin_is_an_error, out_of_memory)
