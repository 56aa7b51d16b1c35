// SPDX-License-Identifier: Apache-2.0
/* A captured tree is found in a folder however it is named; a file is refused. */
#include "topo/capture/open.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/dir.h"
#include "topo/read/read.h"
#include "topo/testing/tree.h"

static void run(const char *command)
{
	ck_assert_msg(system(command) == 0, "%s", command);
}

static char *dump_of(const struct topo_opened *o)
{
	auto_topo_machine struct topo_machine m = { 0 };
	struct err e = { 0 };

	if (topo_read_sysfs(o->dirs.sysfs, o->dirs.proc, NULL, &m, &e))
		ck_abort_msg("%s: %s", o->dirs.sysfs, e.msg);
	ck_assert_int_eq(m.source, TOPO_CAPTURE);
	return tree_dump(&m);
}

START_TEST(every_way_to_name_it)
{
	static const char *const make[] = {
		"mv /mnt/t /mnt/x",  /* holds sys and proc */
		"mv /mnt/t /mnt/y/", /* in a single folder */
	};
	auto_topo_machine struct topo_machine m = { 0 };
	char command[512];

	(void)snprintf(command, sizeof(command), "mv '%s' /mnt/tree",
		       tree_unpack("qemu-pxb-xio3130-igb-sriov-rxe"));
	run(command);
	run("mkdir /mnt/tree/proc; echo 'vendor_id : GenuineIntel' >/mnt/tree/proc/cpuinfo");
	tree_machine("/mnt/tree", &m);
	auto_free char *want = tree_dump(&m);
	for (size_t i = 0; i < ARRAY_SIZE(make); i++) {
		auto_topo_opened struct topo_opened o = { 0 };
		struct err e = { 0 };
		run("rm -rf /mnt/x /mnt/y /mnt/t; mkdir /mnt/y; cp -a /mnt/tree /mnt/t");
		run(make[i]);
		const char *path = i == 1 ? "/mnt/y/" : "/mnt/x";
		ck_assert_msg(!topo_open(path, &o, &e), "%s: %s", make[i], e.msg);
		auto_free char *got = dump_of(&o);
		ck_assert_msg(!strcmp(want, got), "%s:\n%s\n---\n%s", make[i], want, got);
		ck_assert(o.dirs.proc && !o.dirs.boot);
		topo_opened_clear(&o);
	}
	/* the folder that stands for /sys itself, with and without what is beside it */
	auto_topo_opened struct topo_opened o = { 0 };
	struct err e = { 0 };
	ck_assert_int_eq(topo_open("/mnt/tree/sys/", &o, &e), 0);
	ck_assert_str_eq(o.dirs.proc, "/mnt/tree/proc");
	topo_opened_clear(&o);
	run("mv /mnt/tree/sys /mnt/tree/other");
	ck_assert_int_eq(topo_open("/mnt/tree/other", &o, &e), 0);
	ck_assert_str_eq(o.dirs.sysfs, "/mnt/tree/other");
	ck_assert_ptr_null(o.dirs.proc);
}
END_TEST

START_TEST(the_live_machine)
{
	static const char *const paths[] = { "/sys", "/sys/", "/" };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		auto_topo_opened struct topo_opened o = { 0 };
		struct err e = { 0 };
		ck_assert_msg(!topo_open(paths[i], &o, &e), "%s", e.msg);
		ck_assert_str_eq(o.dirs.sysfs, "/sys");
		ck_assert_str_eq(o.dirs.proc, "/proc");
	}
}
END_TEST

START_TEST(anything_else_is_refused)
{
	static const struct {
		const char *make, *msg, *hint;
		enum err_code code;
	} in[] = {
		{ "true", "/mnt/x: No such file", NULL, ERR_NOTFOUND },
		{ "mkdir /mnt/x", "/mnt/x: no tree in it", NULL, ERR_NOTFOUND },
		{ "mkdir -p /mnt/x/a/sys/bus /mnt/x/b", "/mnt/x: no tree in it", NULL,
		  ERR_NOTFOUND },
		{ "mkfifo /mnt/x", "/mnt/x is not a folder", NULL, ERR_FIELD },
		{ "mkdir -p /mnt/d/sys/bus; tar -cf /mnt/x -C /mnt/d sys", "/mnt/x is not a folder",
		  "mkdir m && tar -xf /mnt/x -C m", ERR_FIELD },
	};

	(void)testing_dir();
	for (size_t i = 0; i < ARRAY_SIZE(in); i++) {
		struct topo_opened o = { 0 };
		struct err e = { 0 };
		run("rm -rf /mnt/x /mnt/d");
		run(in[i].make);
		ck_assert_msg(topo_open("/mnt/x", &o, &e) == -1, "%s", in[i].make);
		ck_assert(!o.sysfs);
		ck_assert_msg(e.code == in[i].code && !strncmp(e.msg, in[i].msg, strlen(in[i].msg)),
			      "%s: %d %s", in[i].make, (int)e.code, e.msg);
		ck_assert_msg(!in[i].hint || strstr(e.detail, in[i].hint), "%s", e.detail);
	}
}
END_TEST

TEST_PROGRAM("open", every_way_to_name_it, the_live_machine, anything_else_is_refused)
