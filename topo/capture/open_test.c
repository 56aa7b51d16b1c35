// SPDX-License-Identifier: Apache-2.0
/* Captures open from tar files and folders, whole or cut, and leave no temporary folder behind. */
#include "topo/capture/open.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "lib/testing/testing.h"
#include "lib/testing/dir.h"
#include "topo/read/read.h"
#include "topo/testing/tree.h"

static void run(const char *command)
{
	ck_assert_msg(system(command) == 0, "%s", command);
}

/* What is below $TMPDIR: nothing may stay there. */
static void nothing_left(void)
{
	run("test -z \"$(ls -A /mnt/tmp)\"");
}

static void use_tmp(void)
{
	run("mkdir /mnt/tmp");
	ck_assert_int_eq(setenv("TMPDIR", "/mnt/tmp", 1), 0);
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
		"tar -cf /mnt/x -C /mnt/t sys proc",
		"tar -cf /mnt/x -C /mnt/t .",
		"tar -czf /mnt/x -C /mnt t",
		"tar -cjf /mnt/x -C /mnt t",
		"tar --format=pax -cf /mnt/x -C /mnt t",
	};
	auto_topo_machine struct topo_machine m = { 0 };
	char command[512];

	(void)snprintf(command, sizeof(command), "mv '%s' /mnt/tree",
		       tree_unpack("qemu-pxb-xio3130-igb-sriov-rxe"));
	run(command);
	run("mkdir /mnt/tree/proc; echo 'vendor_id : GenuineIntel' >/mnt/tree/proc/cpuinfo");
	use_tmp();
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
		nothing_left();
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

/* /mnt/x, as make makes it, is refused, and nothing stays of it. */
static void refused(const char *make, struct err *e)
{
	struct topo_opened o = { 0 };

	run("rm -rf /mnt/x /mnt/d");
	run(make);
	ck_assert_msg(topo_open("/mnt/x", &o, e) == -1, "%s", make);
	ck_assert(!o.temp.path && !o.sysfs);
	nothing_left();
}

START_TEST(what_is_refused_leaves_nothing)
{
	static const struct {
		const char *make, *msg;
		enum err_code code;
	} in[] = {
		{ "true", "/mnt/x: No such file", ERR_NOTFOUND },
		{ "mkdir /mnt/x", "/mnt/x: no tree in it", ERR_NOTFOUND },
		{ "mkdir -p /mnt/x/a/sys/bus /mnt/x/b", "/mnt/x: no tree in it", ERR_NOTFOUND },
		{ "mkfifo /mnt/x", "/mnt/x is neither", ERR_FIELD },
		{ ": >/mnt/x", "/mnt/x: entry 0 of the tar: there is none", ERR_FIELD },
		{ "echo hello >/mnt/x", "/mnt/x: entry 0 of the tar: the tar ends", ERR_FIELD },
		{ "yes | head -c 4096 >/mnt/x", "/mnt/x: entry 1 of the tar: it is not a tar",
		  ERR_FIELD },
		{ "printf '\\037\\213garbage' >/mnt/x", "/mnt/x: entry 0 of the tar: there is none",
		  ERR_FIELD },
		{ "tar -cf /mnt/x -C / etc/hostname", "/mnt/x: no tree in it", ERR_NOTFOUND },
		{ "mkdir -p /mnt/d/sys/bus; mknod /mnt/d/null c 1 3; tar -cf /mnt/x -C /mnt/d .",
		  "/mnt/x: entry", ERR_FIELD },
		{ "mkdir -p /mnt/d/sys/bus; tar -cPf /mnt/x -C /mnt/d sys/../sys",
		  "/mnt/x: entry 1 of the tar: its name leads out", ERR_FIELD },
		{ "mkdir -p /mnt/d/sys/bus; head -c 3000 /dev/zero >/mnt/d/sys/bus/f; "
		  "tar -cf - -C /mnt/d . | head -c 4000 >/mnt/x",
		  "/mnt/x: entry", ERR_FIELD },
		{ "truncate -s 300M /mnt/d; tar -cf - -C /mnt d | head -c 2048 >/mnt/x",
		  "/mnt/x: entry 1 of the tar: the tar is larger than 256 MiB", ERR_FIELD },
	};

	(void)testing_dir();
	use_tmp();
	for (size_t i = 0; i < ARRAY_SIZE(in); i++) {
		struct err e = { 0 };
		refused(in[i].make, &e);
		ck_assert_msg(e.code == in[i].code && !strncmp(e.msg, in[i].msg, strlen(in[i].msg)),
			      "%s: %d %s", in[i].make, (int)e.code, e.msg);
	}
}
END_TEST

START_TEST(nothing_is_written_through_a_link)
{
	struct topo_opened o = { 0 };
	struct err e = { 0 };

	(void)testing_dir();
	use_tmp();
	run("mkdir -p /mnt/a/sys/bus /mnt/b/sys/bus/out /mnt/safe");
	run("ln -s /mnt/safe /mnt/a/sys/bus/out; echo no >/mnt/b/sys/bus/out/f");
	run("tar -cf /mnt/x -C /mnt/a sys/bus/out && tar -rf /mnt/x -C /mnt/b sys/bus/out/f");
	ck_assert_int_eq(topo_open("/mnt/x", &o, &e), -1);
	ck_assert_int_eq(e.code, ERR_FIELD);
	run("test -z \"$(ls -A /mnt/safe)\"");
	/* a link in place of a file is replaced, not followed */
	run("rm /mnt/x; echo safe >/mnt/safe/f; rm -r /mnt/a/sys/bus/out /mnt/b/sys/bus/out");
	run("ln -s /mnt/safe/f /mnt/a/sys/bus/out; echo no >/mnt/b/sys/bus/out");
	run("tar -cf /mnt/x -C /mnt/a sys/bus/out && tar -rf /mnt/x -C /mnt/b sys/bus/out");
	ck_assert_int_eq(topo_open("/mnt/x", &o, &e), 0);
	run("grep -qx safe /mnt/safe/f");
	topo_opened_clear(&o);
	nothing_left();
}
END_TEST

START_TEST(what_an_entry_asks_for_is_bounded)
{
	/* 4 KiB of a name, and of each of 120 entries 450 folders of its own */
	static const char *const make[] = {
		"d=$(printf '%02000d' 0 | sed 's,0,d/,g'); mkdir -p /mnt/d/sys/bus; "
		"tar --transform \"s,sys,$d,\" -cf /mnt/x -C /mnt/d sys",
		"d=$(printf '%0450d' 0 | sed 's,0,/d,g'); mkdir -p /mnt/d/s; cd /mnt/d; "
		"for i in $(seq 120); do echo $i >s/$i; done; "
		"tar --transform \"s,s/\\(.*\\),\\1$d/\\1,\" -cf /mnt/x -C /mnt/d s",
	};
	static const char *const msg[] = { "its name is too long", "more than 50000 folders" };

	(void)testing_dir();
	use_tmp();
	for (size_t i = 0; i < ARRAY_SIZE(make); i++) {
		struct err e = { 0 };
		refused(make[i], &e);
		ck_assert_msg(strstr(e.msg, msg[i]), "%s", e.msg);
	}
}
END_TEST

START_TEST(a_damaged_archive_is_refused)
{
	struct err e = { 0 };

	(void)testing_dir();
	use_tmp();
	refused("mkdir -p /mnt/d/sys/bus; tar -czf /mnt/x -C /mnt/d sys; printf oops >>/mnt/x; "
		"size=$(stat -c %s /mnt/x); printf zzzz | "
		"dd of=/mnt/x bs=1 seek=$((size - 12)) conv=notrunc 2>/dev/null",
		&e);
	ck_assert_str_eq(e.msg, "/mnt/x: zcat says that it is damaged");
}
END_TEST

/* SIGKILL of the one who opened it: the keeper is ours then, and ends when it is done. */
START_TEST(a_killed_process_leaves_no_files)
{
	struct err e = { 0 };
	int ready[2];
	char c;

	(void)testing_dir();
	use_tmp();
	run("mkdir -p /mnt/d/sys/bus; tar -cf /mnt/x -C /mnt/d sys");
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid_t opener = fork();
	if (opener == 0) {
		struct topo_opened o = { 0 };
		if (topo_open("/mnt/x", &o, &e) || write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	run("test -d /mnt/tmp/*/sys/bus");
	ck_assert_int_eq(kill(opener, SIGKILL), 0);
	while (wait(NULL) > 0)
		;
	nothing_left();
}
END_TEST

TEST_PROGRAM("open", every_way_to_name_it, the_live_machine, what_is_refused_leaves_nothing,
	     nothing_is_written_through_a_link, what_an_entry_asks_for_is_bounded,
	     a_damaged_archive_is_refused, a_killed_process_leaves_no_files)
