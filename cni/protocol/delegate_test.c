/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delegate_test.c: shows which program runs as a delegate, what it gets, and what becomes of its
 * output. Delegates are shell scripts in a folder of the test.
 */
#include "cni/protocol/delegate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"

#define SCRIPT "#!/bin/sh\n"
#define LONG   60000 /* ms; nothing here takes that long unless it hangs */

static char conf_text[] = "{\"name\":\"n\",\"ipam\":{\"type\":\"ipam\"},\"prevResult\":{}}\n";

/* A call with the IPAM "ipam" made of body, and the environment of an ADD. */
static struct cni_call call_of(const char *body)
{
	static char path[200];
	const char *dir = testing_dir();
	char file[200];

	(void)snprintf(path, sizeof(path), "%s", dir);
	(void)snprintf(file, sizeof(file), "%s/ipam", dir);
	if (body)
		testing_file(file, 0755, body);
	ck_assert_int_eq(setenv("CNI_COMMAND", "ADD", 1), 0);
	ck_assert_int_eq(setenv("CNI_CONTAINERID", "c1", 1), 0);
	ck_assert_int_eq(setenv("CNI_IFNAME", "net1", 1), 0);
	ck_assert_int_eq(setenv("CNI_NETNS", "/run/netns/a", 1), 0);
	ck_assert_int_eq(setenv("CNI_PATH", path, 1), 0);
	ck_assert_int_eq(setenv("CNI_ARGS", "A=1", 1), 0);
	ck_assert_int_eq(setenv("TRACEPARENT", "00-1-2-01", 1), 0);
	return (struct cni_call){
		.env = { .path = path },
		.conf = { .text = conf_text, .len = strlen(conf_text), .ipam_type = "ipam" },
	};
}

static void no_child_is_left(void)
{
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

/* What it printed; freed by the caller. */
static char *output_of(const struct cni_call *call, const struct delegate_call *what)
{
	struct delegate d;
	struct err e = { .msg = "" };
	char *text = NULL;
	size_t len = 0;

	ck_assert_msg(delegate_start(call, what, LONG, &d, &e) == 0, "%s", e.msg);
	ck_assert_msg(delegate_finish(&d, &text, &len, &e) == 0, "%s; %s", e.msg, e.detail);
	ck_assert_uint_eq(strlen(text), len);
	no_child_is_left();
	return text;
}

static struct err failure_of(const struct cni_call *call, int timeout_ms)
{
	const struct delegate_call add = { .cmd = CNI_ADD };
	struct err e;

	ck_assert_int_eq(delegate_run(call, &add, timeout_ms, &e), -1);
	no_child_is_left();
	return e;
}

/* ---- the code that we carry ---- */

#define MARK "railhead-build: 1 ipam\n"

static int carried_ipam(void)
{
	(void)dprintf(STDOUT_FILENO, "carried %s %s", getenv("CNI_COMMAND"), getenv("CNI_ARGS"));
	return 0;
}

static const struct delegate_builtin builtin = { "ipam", MARK, carried_ipam };

/* The test itself, with the mark where a linker would have put it. Executed, it prints how. */
static struct cni_call call_with_mark(const char *mark)
{
	struct cni_call call = call_of(NULL);
	char file[200], bytes[4096] = "\177ELF";

	(void)snprintf(bytes + 64, sizeof(bytes) - 64, "%s", mark);
	(void)snprintf(file, sizeof(file), "%s/ipam", testing_dir());

	FILE *f = fopen(file, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes, 1, sizeof(bytes), f), sizeof(bytes));
	ck_assert(fclose(f) == 0 && chmod(file, 0755) == 0);
	call.builtin = &builtin;
	return call;
}

START_TEST(the_same_build_runs_without_execve)
{
	const struct delegate_call del = { .cmd = CNI_DEL, .args = "B=2" };
	struct cni_call call = call_with_mark(MARK);
	auto_free char *text = output_of(&call, &del);

	ck_assert_str_eq(text, "carried DEL B=2");
}
END_TEST

START_TEST(another_build_is_executed)
{
	struct cni_call call = call_with_mark("railhead-build: 2 ipam\n");
	struct err e = failure_of(&call, LONG);

	ck_assert_int_eq(e.errnum, ENOEXEC); /* it is not a true program */

	call = call_with_mark(MARK);
	call.builtin = NULL;
	e = failure_of(&call, LONG);
	ck_assert_int_eq(e.errnum, ENOEXEC);
}
END_TEST

START_TEST(a_wrapper_and_a_program_of_another_name_are_executed)
{
	const struct delegate_call add = { .cmd = CNI_ADD };
	static const struct delegate_builtin other = { "other", MARK, carried_ipam };
	struct cni_call call = call_of(SCRIPT "# " MARK "echo wrapped");

	call.builtin = &builtin;
	auto_free char *text = output_of(&call, &add);
	ck_assert_str_eq(text, "wrapped\n");

	call = call_with_mark(MARK);
	call.builtin = &other;
	ck_assert_int_eq(failure_of(&call, LONG).errnum, ENOEXEC);
}
END_TEST

/* ---- finding ---- */

static void finds(const char *path, const char *want)
{
	char out[PATH_MAX];
	struct err e = { .msg = "" };

	ck_assert_msg(delegate_find(path, "ipam", out, sizeof(out), &e) == 0, "%s: %s", path,
		      e.msg);
	ck_assert_str_eq(out, want);
}

static void finds_nothing(const char *path, const char *type)
{
	char out[PATH_MAX];
	struct err e;

	ck_assert_int_eq(delegate_find(path, type, out, sizeof(out), &e), -1);
	ck_assert_int_eq((int)e.code, ERR_DELEGATE);
	ck_assert_ptr_nonnull(strstr(e.msg, "ipam.type")); /* CNI-168 */
	ck_assert_ptr_nonnull(strstr(e.msg, type));
	ck_assert_ptr_nonnull(strstr(e.msg, path));
	ck_assert(e.detail[0]); /* what to do */
}

START_TEST(cni_108_the_first_regular_file_in_the_path_runs)
{
	const char *dir = testing_dir();

	ck_assert_int_eq(chdir(dir), 0);
	ck_assert(mkdir("a", 0755) == 0 && mkdir("b", 0755) == 0 && mkdir("c", 0755) == 0 &&
		  mkdir("d", 0755) == 0);
	ck_assert_int_eq(mkdir("a/ipam", 0755), 0); /* a directory is none */
	testing_file("/mnt/b/ipam", 0644, "");      /* whether it can be run is not asked */
	testing_file("/mnt/c/ipam", 0755, "");
	ck_assert_int_eq(symlink("../c/ipam", "d/ipam"), 0);
	finds("/mnt/c", "/mnt/c/ipam");
	finds("/mnt/a:/mnt/b:/mnt/c", "/mnt/b/ipam");
	finds("/mnt/c:/mnt/b", "/mnt/c/ipam");
	finds("/mnt/d:/mnt/c", "/mnt/d/ipam"); /* links are followed */
	finds_nothing("/mnt/a", "ipam");
	finds_nothing("/mnt/b:/mnt/c", "other");
}
END_TEST

START_TEST(cni_157_odd_search_paths_are_understood)
{
	const char *dir = testing_dir();
	char path[2 * PATH_MAX];

	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_int_eq(mkdir("c", 0755), 0);
	testing_file("/mnt/c/ipam", 0755, "");
	testing_file("/mnt/ipam", 0755, "");
	testing_file("/mnt/file", 0755, "");
	finds("/nowhere:/mnt/file:c", "c/ipam"); /* relative to where we are */
	finds("::/mnt/c:", "/mnt/c/ipam");       /* an empty one is not the current directory */
	finds_nothing("", "ipam");
	finds_nothing(":", "ipam");
	finds_nothing("/nowhere", "ipam");
	ck_assert_int_eq(symlink("loop", "c/loop"), 0);
	finds_nothing("/mnt/c", "loop");
	/* what does not fit is skipped, not cut */
	memset(path, 'x', PATH_MAX);
	strcpy(path + PATH_MAX, ":/mnt/c");
	finds(path, "/mnt/c/ipam");
}
END_TEST

/* ---- what the delegate gets ---- */

START_TEST(cni_109_the_delegate_gets_our_environment)
{
	const struct cni_call call = call_of(SCRIPT "env | sort");
	const struct delegate_call del = { .cmd = CNI_DEL };
	auto_free char *text = output_of(&call, &del);

	ck_assert_ptr_nonnull(strstr(text, "CNI_COMMAND=DEL\n"));
	ck_assert_ptr_null(strstr(text, "CNI_COMMAND=ADD"));
	ck_assert_ptr_nonnull(strstr(text, "CNI_CONTAINERID=c1\n"));
	ck_assert_ptr_nonnull(strstr(text, "CNI_IFNAME=net1\n"));
	ck_assert_ptr_nonnull(strstr(text, "CNI_NETNS=/run/netns/a\n"));
	ck_assert_ptr_nonnull(strstr(text, "CNI_ARGS=A=1\n"));
	ck_assert_ptr_nonnull(strstr(text, "CNI_PATH=/mnt\n"));
	ck_assert_ptr_nonnull(strstr(text, "TRACEPARENT=00-1-2-01\n")); /* CNI-165 */
	ck_assert_str_eq(getenv("CNI_COMMAND"), "ADD");                 /* ours stays */
}
END_TEST

/* GC cleans up after others (CNI-071), in the name of each. */
START_TEST(variables_of_another_attachment_are_replaced)
{
	const struct cni_call call = call_of(SCRIPT "env | grep ^CNI_ | sort");
	const struct delegate_call del = { .cmd = CNI_DEL,
					   .container = "c2",
					   .ifname = "net2",
					   .netns = "",
					   .args = "B=2",
					   .path = "/mnt" };
	auto_free char *text = output_of(&call, &del);

	ck_assert_str_eq(text, "CNI_ARGS=B=2\nCNI_COMMAND=DEL\nCNI_CONTAINERID=c2\n"
			       "CNI_IFNAME=net2\nCNI_NETNS=\nCNI_PATH=/mnt\n");
}
END_TEST

/* A variable whose name merely begins alike is another one. */
START_TEST(only_the_given_variables_are_replaced)
{
	const struct cni_call call = call_of(SCRIPT "env | grep ^CNI_C | sort");
	const struct delegate_call gc = { .cmd = CNI_GC, .container = "c2" };

	ck_assert_int_eq(setenv("CNI_COMMANDER", "x", 1), 0);
	ck_assert_int_eq(setenv("CNI_C", "y", 1), 0);
	ck_assert_int_eq(unsetenv("CNI_CONTAINERID"), 0);
	auto_free char *text = output_of(&call, &gc);
	ck_assert_str_eq(text, "CNI_C=y\nCNI_COMMAND=GC\nCNI_COMMANDER=x\nCNI_CONTAINERID=c2\n");
}
END_TEST

START_TEST(cni_110_the_delegate_gets_our_stdin)
{
	const struct cni_call call = call_of(SCRIPT "cat");
	const struct delegate_call add = { .cmd = CNI_ADD };
	auto_free char *text = output_of(&call, &add);

	ck_assert_str_eq(text, conf_text);
}
END_TEST

START_TEST(cni_001_the_delegate_has_its_name_and_no_arguments)
{
	const struct cni_call call = call_of(SCRIPT "echo \"$# $(basename $0)\"");
	const struct delegate_call add = { .cmd = CNI_ADD };
	auto_free char *text = output_of(&call, &add);

	ck_assert_str_eq(text, "0 ipam\n");
}
END_TEST

/* CNI-111, CNI-154: its stderr is ours, and no part of its output. */
START_TEST(noise_on_stderr_is_passed_on)
{
	const struct cni_call call = call_of(SCRIPT "echo noise >&2; echo '{}'; echo more >&2");
	const struct delegate_call add = { .cmd = CNI_ADD };
	char seen[100] = "";
	int fds[2], old = dup(2);

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(dup2(fds[1], 2), 2);
	auto_free char *text = output_of(&call, &add);
	ck_assert_int_eq(dup2(old, 2), 2);
	ck_assert_str_eq(text, "{}\n");
	ck_assert_int_gt(read(fds[0], seen, sizeof(seen) - 1), 0);
	ck_assert_str_eq(seen, "noise\nmore\n");
}
END_TEST

START_TEST(output_that_nobody_wants_is_dropped)
{
	const struct cni_call call = call_of(SCRIPT "echo '{}'; exit 0");
	const struct delegate_call del = { .cmd = CNI_DEL };
	struct err e;

	ck_assert_int_eq(delegate_run(&call, &del, LONG, &e), 0);
	no_child_is_left();
}
END_TEST

/* ---- how it fails ---- */

START_TEST(cni_118_its_error_is_passed_on)
{
	const struct cni_call call =
		call_of(SCRIPT "printf %s '{\"cniVersion\":\"1.1.0\",\"code\":11,\"msg\":\"pool "
			       "\\\"p\\\" is busy\","
			       "\"details\":\"try again\\nlater\",\"x\":1}'; exit 3");
	struct err e = failure_of(&call, LONG);

	ck_assert_int_eq((int)e.code, 11);
	ck_assert_str_eq(e.msg, "pool \"p\" is busy");
	ck_assert_str_eq(e.detail, "try again\nlater");
}
END_TEST

START_TEST(error_codes_of_others_are_kept)
{
	static const int codes[] = { 1, 3, 50, 51, 100, 999, 2147483647 };
	char body[200];

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		(void)snprintf(body, sizeof(body),
			       SCRIPT "echo '{\"code\":%d,\"msg\":\"m\"}'; exit 1", codes[i]);
		const struct cni_call call = call_of(body);
		struct err e = failure_of(&call, LONG);
		ck_assert_int_eq((int)e.code, codes[i]);
		ck_assert_str_eq(e.msg, "m");
		ck_assert_str_eq(e.detail, "");
	}
	const struct cni_call call = call_of(SCRIPT "echo '{\"code\":7}'; exit 1");
	struct err e = failure_of(&call, LONG);
	ck_assert_int_eq((int)e.code, 7);
	ck_assert(e.msg[0]); /* some message there must be (CNI-032) */
}
END_TEST

/* CNI-036: what is not an error object is garbage, and is quoted. */
START_TEST(a_failure_without_an_error_object_is_described)
{
	static const char *const outputs[] = {
		"garbage",
		"{\"code\":0,\"msg\":\"m\"}",
		"{\"code\":-1,\"msg\":\"m\"}",
		"{\"code\":\"7\",\"msg\":\"m\"}",
		"{\"code\":1.5}",
		"{\"code\":99999999999}",
		"{\"msg\":\"m\"}",
		"{\"code\":7,\"msg\":5}",
		"[1]",
		"null",
		"{\"code\":7}{\"code\":8}",
	};
	char body[200];

	for (size_t i = 0; i < ARRAY_SIZE(outputs); i++) {
		(void)snprintf(body, sizeof(body), SCRIPT "echo '%s'; exit 3", outputs[i]);
		const struct cni_call call = call_of(body);
		struct err e = failure_of(&call, LONG);
		ck_assert_int_eq((int)e.code, ERR_DELEGATE);
		ck_assert_ptr_nonnull(strstr(e.msg, "\"ipam\""));
		ck_assert_ptr_nonnull(strstr(e.msg, "status 3"));
		ck_assert_msg(strstr(e.detail, outputs[i]), "%s: %s", outputs[i], e.detail);
	}
	const struct cni_call call = call_of(SCRIPT "exit 3");
	struct err e = failure_of(&call, LONG);
	ck_assert_int_eq((int)e.code, ERR_DELEGATE);
	ck_assert_ptr_nonnull(strstr(e.msg, "status 3"));
	ck_assert_str_eq(e.detail, "");
}
END_TEST

START_TEST(a_killed_delegate_is_an_error)
{
	const struct cni_call call = call_of(SCRIPT "kill -9 $$");
	struct err e = failure_of(&call, LONG);

	ck_assert_int_eq((int)e.code, ERR_DELEGATE);
	ck_assert_ptr_nonnull(strstr(e.msg, "\"ipam\""));
	ck_assert_ptr_nonnull(strstr(e.msg, "signal 9"));
}
END_TEST

START_TEST(a_hanging_delegate_is_killed)
{
	/* exec: killing the script must not leave a sleep behind */
	const struct cni_call call = call_of(SCRIPT "exec sleep 1000");
	struct err e = failure_of(&call, 100);

	ck_assert_int_eq((int)e.code, ERR_DELEGATE);
	ck_assert_int_eq(e.errnum, ETIMEDOUT);
	ck_assert_ptr_nonnull(strstr(e.msg, "\"ipam\""));
}
END_TEST

START_TEST(endless_output_is_cut_off)
{
	const struct cni_call call = call_of(SCRIPT "exec yes");
	struct err e = failure_of(&call, LONG);

	ck_assert_int_eq((int)e.code, ERR_DELEGATE);
	ck_assert_int_eq(e.errnum, EFBIG);
}
END_TEST

START_TEST(a_file_that_cannot_be_run_is_an_error)
{
	struct cni_call call = call_of(NULL);
	struct err e = failure_of(&call, LONG); /* CNI-119: missing */

	ck_assert_int_eq((int)e.code, ERR_DELEGATE);
	ck_assert_ptr_nonnull(strstr(e.msg, "failed to find plugin \"ipam\" in path [/mnt]"));
	testing_file("/mnt/ipam", 0644, SCRIPT);
	e = failure_of(&call, LONG);
	ck_assert_int_eq((int)e.code, ERR_DELEGATE);
	ck_assert_int_eq(e.errnum, EACCES);
	ck_assert_ptr_nonnull(strstr(e.msg, "\"ipam\""));
	testing_file("/mnt/ipam", 0755, "neither script nor program");
	ck_assert_int_eq(chmod("/mnt/ipam", 0755), 0);
	e = failure_of(&call, LONG);
	ck_assert_int_eq((int)e.code, ERR_DELEGATE);
	ck_assert_int_eq(e.errnum, ENOEXEC);
}
END_TEST

/* Success is exit 0, whatever it printed: the caller reads the result. */
START_TEST(garbage_with_status_0_is_an_error)
{
	const struct cni_call call = call_of(SCRIPT "echo garbage");
	const struct delegate_call add = { .cmd = CNI_ADD };
	auto_free char *text = output_of(&call, &add);

	ck_assert_str_eq(text, "garbage\n");
}
END_TEST

static int run_add(void *arg, struct err *e)
{
	const struct delegate_call add = { .cmd = CNI_ADD, .container = "c2" };
	auto_free char *text = NULL;
	struct delegate d;
	size_t len;

	if (delegate_start(arg, &add, LONG, &d, e))
		return -1;
	return delegate_finish(&d, &text, &len, e);
}

/* Found by fuzzing: an empty message was passed on as it was, and the error said nothing. */
START_TEST(an_error_object_without_words)
{
	char text[] = "{\"code\":7,\"msg\":\"\"}";
	const struct exec_result res = { text, strlen(text), 256 };
	struct err e;

	ck_assert_int_eq(delegate_pass_on("p", &res, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_CONFIG);
	ck_assert_str_eq(e.msg, "failed without a message");
}
END_TEST

START_TEST(out_of_memory)
{
	struct cni_call call = call_of(SCRIPT "echo '{}'");

	ck_assert_str_eq(alloc_fail_each(run_add, &call), "ok");
	no_child_is_left();
}
END_TEST

TEST_PROGRAM("cni/protocol/delegate", the_same_build_runs_without_execve, another_build_is_executed,
	     a_wrapper_and_a_program_of_another_name_are_executed,
	     cni_108_the_first_regular_file_in_the_path_runs,
	     cni_157_odd_search_paths_are_understood, cni_109_the_delegate_gets_our_environment,
	     variables_of_another_attachment_are_replaced, only_the_given_variables_are_replaced,
	     cni_110_the_delegate_gets_our_stdin,
	     cni_001_the_delegate_has_its_name_and_no_arguments, noise_on_stderr_is_passed_on,
	     output_that_nobody_wants_is_dropped, cni_118_its_error_is_passed_on,
	     error_codes_of_others_are_kept, a_failure_without_an_error_object_is_described,
	     a_killed_delegate_is_an_error, a_hanging_delegate_is_killed, endless_output_is_cut_off,
	     a_file_that_cannot_be_run_is_an_error, garbage_with_status_0_is_an_error,
	     an_error_object_without_words, out_of_memory)
