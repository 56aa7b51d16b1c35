/* SPDX-License-Identifier: Apache-2.0 */
/* Where the audit log may be, and where not: whoever writes a configuration chooses the path. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cni/protocol/conf.h"
#include "ipam/lease/audit.h"
#include "ipam/conf/conf.h"
#include "lib/sys/fs.h"
#include "lib/testing/testing.h"
#include "lib/testing/dir.h"

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

TEST_PROGRAM("ipam/audit_file", the_name_must_end_in_log, only_a_log_is_appended_to)
