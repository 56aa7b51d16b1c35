/* SPDX-License-Identifier: Apache-2.0 */
/* audit_test.c: the lines of the audit log, and that no other file is written to. */
#include "ipam/lease/audit.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "ipam/conf/conf.h"
#include "ipam/testing/ipam.h"
#include "lib/sys/fs.h"

#define LOG "/mnt/audit.log"

static char *content(void)
{
	char *text = NULL;
	struct err e;

	ck_assert_int_ge(fs_read_at(-1, LOG, 1 << 20, &text, &e), 0);
	return text;
}

static void open_fixture(struct fixture *w)
{
	fixture_open(w);
	w->ctx.etc_dir = "/mnt/etc";
	ck_assert_int_eq(mkdir("/mnt/etc", 0700), 0);
	testing_file("/mnt/etc/railhead.json", 0600, "{\"logDirs\":[\"/mnt\"]}");
}

START_TEST(each_change_is_one_line)
{
	struct json *journal = NULL;
	const struct err why = { .msg = "no address is left" };
	const struct owner who = { "net", "c2", "net1", "", "", "" };
	const struct refusal refusal = { "ADD", "", "rail0", &who, &why };
	auto_fixture struct fixture w = { .now = 0 };
	struct stat st;

	open_fixture(&w);
	ck_assert_int_eq(w_pool(&w, "rail0", "{\"subnet\":\"10.0.0.0/24\"}", false), 0);
	ck_assert_str_eq(
		w_add(&w, "{\"pool\":\"rail0\"}", "c1", "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=p"),
		"10.0.0.1");
	const struct owner c1 = w_owner(&w, "c1");
	ck_assert_int_eq(alloc_del(&w.m, &c1, &journal, &w.e), 0);
	w.now += 1500 * INT64_C(1000);
	ck_assert_int_eq(audit_write(&w.ctx, LOG, journal, &w.e), 0);
	json_free(journal);
	journal = audit_refusal_line(&refusal);
	ck_assert_int_eq(audit_write(&w.ctx, LOG, journal, &w.e), 0);
	json_free(journal);
	auto_free char *text = content();
	ck_assert_str_eq(text, "{\"time\":\"2026-11-21T00:00:00.001500Z\",\"verb\":\"release\","
			       "\"by\":\"DEL\",\"address\":\"10.0.0.1\","
			       "\"pool\":\"rail0\",\"owner\":{\"network\":\"net\",\"container\":"
			       "\"c1\",\"ifname\":\"net1\","
			       "\"namespace\":\"ns\",\"pod\":\"p\"},\"result\":\"ok\"}\n"
			       "{\"time\":\"2026-11-21T00:00:00.001500Z\",\"verb\":\"refuse\","
			       "\"by\":\"ADD\",\"address\":\"\","
			       "\"pool\":\"rail0\",\"owner\":{\"network\":\"net\",\"container\":"
			       "\"c2\",\"ifname\":\"net1\"},"
			       "\"result\":\"no address is left\"}\n");
	ck_assert_int_eq(stat(LOG, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
}
END_TEST

START_TEST(no_change_makes_no_file)
{
	struct json *journal = NULL;
	auto_fixture struct fixture w = { .now = 0 };

	open_fixture(&w);
	const struct owner c1 = w_owner(&w, "c1");
	ck_assert_int_eq(alloc_del(&w.m, &c1, &journal, &w.e), 0);
	ck_assert_uint_eq(json_len(journal), 0);
	ck_assert_int_eq(audit_write(&w.ctx, LOG, journal, &w.e), 0);
	ck_assert_int_eq(access(LOG, F_OK), -1);
	json_free(journal);
}
END_TEST

START_TEST(places_that_cannot_be_written)
{
	const struct err why = { .msg = "x" };
	const struct owner who = { "", "", "", "", "", "" };
	const struct refusal refusal = { "ADD", "", "", &who, &why };
	auto_json struct json *journal = audit_refusal_line(&refusal);
	auto_fixture struct fixture w = { .now = 0 };

	open_fixture(&w);
	ck_assert_int_eq(audit_write(&w.ctx, "/mnt/none/x.log", journal, &w.e), -1);
	ck_assert_int_eq(w.e.code, ERR_IO);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "/mnt/none/x.log"));
	ck_assert_int_eq(symlink("/mnt/elsewhere", LOG), 0);
	ck_assert_int_eq(audit_write(&w.ctx, LOG, journal, &w.e), -1);
	ck_assert_int_eq(w.e.errnum, ELOOP);
	ck_assert_int_eq(audit_write(&w.ctx, "/dev/full", journal, &w.e), -1);
	ck_assert_int_eq(w.e.code, ERR_FORBIDDEN);
}
END_TEST

/* Lines of many writers stay whole. */
START_TEST(concurrent_writers_do_not_mix_lines)
{
	enum { WRITERS = 8, LINES = 50 };
	auto_fixture struct fixture w = { .now = 0 };

	open_fixture(&w);
	for (int i = 0; i < WRITERS; i++) {
		pid_t pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid)
			continue;
		const struct err why = { .msg = "some reason that takes up a little room" };
		const struct owner who = { "net", "c1", "net1", "", "", "" };
		const struct refusal refusal = { "ADD", "", "rail0", &who, &why };
		for (int k = 0; k < LINES; k++) {
			struct json *journal = audit_refusal_line(&refusal);
			if (audit_write(&w.ctx, LOG, journal, &w.e))
				_exit(1);
			json_free(journal);
		}
		_exit(0);
	}
	int status;
	while (wait(&status) > 0)
		ck_assert_int_eq(status, 0);
	auto_free char *text = content();
	struct slice rest = { text, strlen(text) }, line;
	int n = 0;
	while (slice_next(&rest, '\n', &line) && line.len) {
		auto_json struct json *j = NULL;
		ck_assert_int_eq(json_parse(line.p, line.len, "line", &j, &w.e), 0);
		n++;
	}
	ck_assert_int_eq(n, WRITERS * LINES);
}
END_TEST

START_TEST(times_are_rfc_3339)
{
	char text[AUDIT_TIME_LEN];

	ck_assert_str_eq(audit_time(0, text), "1970-01-01T00:00:00.000000Z");
	ck_assert_str_eq(audit_time(INT64_C(1795219199999999999), text),
			 "2026-11-20T23:59:59.999999Z");
}
END_TEST

/* ---- whoever writes a configuration chooses the path ---- */

static int decode(const char *path, struct err *e)
{
	auto_free char *made = NULL;
	struct cni_conf c;
	struct ipam_conf x = { 0 };

	ck_assert_int_gt(asprintf(&made,
				  "{\"name\":\"n\",\"ipam\":{\"pool\":\"p\",\"auditLog\":\"%s\"}}",
				  path),
			 0);
	char *text = strdup(made);
	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(cni_conf_parse(text, strlen(text), CNI_ADD, &c, e), 0);
	int rc = ipam_conf_decode(&c, &x, e);
	ipam_conf_clear(&x);
	ipam_conf_paths(&c, &x);
	ck_assert_int_eq(x.audit_log != NULL, rc == 0); /* a deletion takes the same paths */
	cni_conf_clear(&c);
	return rc;
}

START_TEST(the_name_must_end_in_log)
{
	static const char *const bad[] = { "audit.log", "/etc/profile.d/x.sh", "/.log",
					   "/root/.bashrc", "/var/log/audit.log/" };
	struct err e;

	ck_assert_int_eq(decode("/var/log/railhead-ipam.log", &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_msg(decode(bad[i], &e) == -1, "%s", bad[i]);
		ck_assert_int_eq((int)e.code, ERR_CONFIG);
		ck_assert_ptr_nonnull(strstr(e.msg, "ipam.auditLog"));
	}
}
END_TEST

static int write_to(const char *path, struct err *e)
{
	auto_json struct json *journal = json_new_array();
	struct ctx ctx;

	ctx_init(&ctx, "test");
	ctx.etc_dir = "/mnt/etc";
	ck_assert_int_eq(json_add_str(json_push_object(journal), "verb", "allocate"), 0);
	return audit_write(&ctx, path, journal, e);
}

START_TEST(only_a_log_is_appended_to)
{
	const char *log = "/mnt/a.log", *other = "/mnt/b.log", *fifo = "/mnt/c.log";
	struct err e;
	struct stat st;

	ck_assert_str_eq(testing_dir(), "/mnt");
	ck_assert_int_eq(mkdir("/mnt/etc", 0700), 0);
	testing_file("/mnt/etc/railhead.json", 0600, "{\"logDirs\":[\"/mnt\"]}");
	ck_assert_int_eq(write_to(log, &e), 0);
	ck_assert_int_eq(write_to(log, &e), 0);
	ck_assert_int_eq(stat(log, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);

	testing_file(other, 0600, "Nov 21 a line of somebody else\n");
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	ck_assert_int_eq(write_to(other, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_IO);
	ck_assert_int_eq(stat(other, &st), 0);
	ck_assert_int_eq(st.st_size, 31);
	ck_assert_int_eq(write_to(fifo, &e), -1);
	ck_assert_int_eq(write_to("/dev", &e), -1);
	ck_assert_int_eq((int)e.code, ERR_FORBIDDEN);
	/* no folder for logs, whatever it is called */
	ck_assert_int_eq(mkdir("/mnt/cron.d", 0700) | symlink("/mnt/cron.d", "/mnt/way"), 0);
	ck_assert_int_eq(write_to("/mnt/way/x.log", &e), -1);
	ck_assert_int_eq(e.errnum, ELOOP);
	testing_file("/mnt/etc/railhead.json", 0600, "{}");
	ck_assert_int_eq(write_to("/mnt/cron.d/x.log", &e), -1);
	ck_assert_int_eq((int)e.code, ERR_FORBIDDEN);
	ck_assert_int_eq(access("/mnt/cron.d/x.log", F_OK), -1);
}
END_TEST

TEST_PROGRAM("audit", each_change_is_one_line, no_change_makes_no_file,
	     places_that_cannot_be_written, concurrent_writers_do_not_mix_lines, times_are_rfc_3339,
	     the_name_must_end_in_log, only_a_log_is_appended_to)
