/* SPDX-License-Identifier: Apache-2.0 */
/* folder_test.c: what is seen in a CNI folder, and which of its files are changed. */
#include "install/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

#define MARK "\177ELFrailhead-build: 0a1b macvlan\n"
#define BIN  "/mnt/bin"

/* An empty CNI folder. */
static int new_folder(void)
{
	struct err e = { .msg = "" };

	(void)testing_dir();
	ck_assert_int_eq(mkdir(BIN, 0755), 0);
	int dir = folder_open(BIN, &e);
	ck_assert_msg(dir >= 0, "%s", e.msg);
	return dir;
}

static bool there(const char *name)
{
	char path[200];
	struct stat st;

	(void)snprintf(path, sizeof(path), BIN "/%s", name);
	return lstat(path, &st) == 0;
}

static struct plan_item look(int dir, const char *name)
{
	struct plan_item x = { .action = PLAN_SAME };
	struct err e = { .msg = "" };

	(void)snprintf(x.name, sizeof(x.name), "%s", name);
	ck_assert_msg(folder_look(dir, &x, &e) == 0, "%s", e.msg);
	return x;
}

START_TEST(only_programs_with_the_mark_are_ours)
{
	auto_fd int dir = new_folder();

	testing_file(BIN "/macvlan", 0755, MARK);
	testing_file(BIN "/script", 0755, "#!/bin/sh\n# railhead-build: 0a1b macvlan\n");
	testing_file(BIN "/empty", 0755, "");
	ck_assert_int_eq(symlink("macvlan", BIN "/link") | mkdir(BIN "/folder", 0755) |
				 mkfifo(BIN "/fifo", 0755),
			 0);
	ck_assert_int_eq(look(dir, "none").held, HELD_NONE);
	ck_assert_int_eq(look(dir, "macvlan").held, HELD_OURS);
	ck_assert_uint_eq(strlen(look(dir, "macvlan").held_sha256), DIGEST_LEN - 1);
	ck_assert_int_eq(look(dir, "script").held, HELD_FOREIGN);
	ck_assert_int_eq(look(dir, "empty").held, HELD_FOREIGN);
	ck_assert_int_eq(look(dir, "link").held, HELD_FOREIGN);
	ck_assert_int_eq(look(dir, "fifo").held, HELD_FOREIGN);
	ck_assert_int_eq(look(dir, "folder").held, HELD_FOLDER);
}
END_TEST

START_TEST(a_program_with_the_rights_of_others_is_wrong)
{
	static const mode_t modes[] = { 0777, 0775, 04755, 02755, 01755, 0600, 0700 };
	auto_fd int dir = new_folder();

	testing_file(BIN "/macvlan", 0755, MARK);
	ck_assert(!look(dir, "macvlan").held_wrong);
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		ck_assert_int_eq(chmod(BIN "/macvlan", modes[i]), 0);
		ck_assert_msg(look(dir, "macvlan").held_wrong, "%o", modes[i]);
	}
}
END_TEST

/* A container may have no capability. Root without any may not read what its mode forbids. */
static void drop_capabilities(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[2] = { { 0, 0, 0 }, { 0, 0, 0 } };

	ck_assert_int_eq((int)syscall(SYS_capset, &head, none), 0);
}

START_TEST(a_file_that_cannot_be_read_is_foreign)
{
	auto_fd int dir = new_folder();

	testing_file(BIN "/macvlan", 0, MARK);
	drop_capabilities();
	ck_assert_int_eq(look(dir, "macvlan").held, HELD_FOREIGN);
}
END_TEST

START_TEST(a_program_is_read_with_its_build_and_digest)
{
	auto_fd int dir = new_folder();
	auto_content struct content c = { .data = NULL };
	struct build_mark mark;
	struct err e = { .msg = "" };

	testing_file(BIN "/macvlan", 0755, MARK);
	testing_file(BIN "/other", 0755, "abc");
	ck_assert_int_eq(folder_read(dir, "macvlan", &c, &mark, &e), 0);
	ck_assert_str_eq(mark.id, "0a1b");
	ck_assert_str_eq(mark.program, "macvlan");
	ck_assert_uint_eq(c.len, strlen(MARK));
	ck_assert_str_eq(c.sha256, look(dir, "macvlan").held_sha256);
	ck_assert_int_eq(folder_read(dir, "other", &(struct content){ .data = NULL }, &mark, &e),
			 -1);
	ck_assert_int_eq((int)e.code, ERR_STATE);
	ck_assert_int_eq(folder_read(dir, "none", &(struct content){ .data = NULL }, &mark, &e),
			 -1);
	ck_assert_int_eq(e.errnum, ENOENT);
}
END_TEST

START_TEST(new_content_gets_the_name_when_it_is_switched)
{
	auto_fd int dir = new_folder();
	char text[] = "new";
	const struct content c = { text, 3, "" };
	struct err e = { .msg = "" };
	struct plan_item x;
	struct stat st;

	testing_file(BIN "/macvlan", 0644, "old");
	testing_file(BIN "/.macvlan.railhead-new", 0600, "of a killed run");
	(void)umask(077);
	ck_assert_int_eq(folder_stage(dir, "macvlan", &c, &e), 0);
	ck_assert_int_eq(stat(BIN "/macvlan", &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0644);
	x = look(dir, "macvlan");
	ck_assert_int_eq(folder_switch(dir, &x, &e), 0);
	ck_assert_int_eq(stat(BIN "/macvlan", &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0755);
	ck_assert_int_eq(st.st_size, 3);
	ck_assert(!there(".macvlan.railhead-new"));
	ck_assert_int_eq(folder_sync(dir, &e), 0);
}
END_TEST

START_TEST(a_file_that_appeared_meanwhile_stays)
{
	auto_fd int dir = new_folder();
	char text[] = "new";
	const struct content c = { text, 3, "" };
	struct err e = { .msg = "" };
	struct plan_item none = look(dir, "macvlan"), ours;

	ck_assert_int_eq(folder_is_other(dir, &none, &e), 0);
	ck_assert_int_eq(folder_stage(dir, "macvlan", &c, &e), 0);
	testing_file(BIN "/macvlan", 0755, "of somebody else");
	ck_assert_int_eq(folder_is_other(dir, &none, &e), 1);
	ck_assert_int_eq(folder_switch(dir, &none, &e), -1);
	ck_assert_int_eq(e.errnum, EEXIST);
	ck_assert_int_eq(look(dir, "macvlan").held, HELD_FOREIGN);
	testing_file(BIN "/macvlan", 0755, MARK);
	ours = look(dir, "macvlan");
	ck_assert_int_eq(folder_is_other(dir, &ours, &e), 0);
	testing_file(BIN "/macvlan", 0755, MARK "of another build");
	ck_assert_int_eq(folder_is_other(dir, &ours, &e), 1);
	ck_assert_int_eq(folder_set_aside(dir, "macvlan", &e), 0);
	ck_assert_int_eq(folder_is_other_aside(dir, &ours, &e), 1);
	testing_file(BIN "/.macvlan.railhead-old", 0755, MARK);
	ck_assert_int_eq(folder_is_other_aside(dir, &ours, &e), 0);
}
END_TEST

START_TEST(a_full_disk_leaves_nothing_beside_the_name)
{
	auto_free char *much = calloc(1, 1 << 20);
	const struct content c = { much, 1 << 20, "" };
	struct err e = { .msg = "" };

	(void)close(new_folder());
	ck_assert_int_eq(mount("small", BIN, "tmpfs", 0, "size=64k,mode=755"), 0);
	auto_fd int small = folder_open(BIN, &e);
	ck_assert_int_ge(small, 0);
	ck_assert_int_eq(folder_stage(small, "macvlan", &c, &e), -1);
	ck_assert_int_eq(e.errnum, ENOSPC);
	ck_assert_ptr_nonnull(strstr(e.detail, "free some space"));
	ck_assert(!there(".macvlan.railhead-new"));
}
END_TEST

START_TEST(a_program_set_aside_comes_back_or_goes)
{
	auto_fd int dir = new_folder();
	struct err e = { .msg = "" };

	testing_file(BIN "/macvlan", 0755, MARK);
	ck_assert_int_eq(folder_set_aside(dir, "macvlan", &e), 0);
	ck_assert(!there("macvlan"));
	ck_assert_int_eq(folder_runs_aside(dir, "macvlan", &e), 0);
	ck_assert_int_eq(folder_put_back(dir, "macvlan", &e), 0);
	ck_assert_int_eq(look(dir, "macvlan").held, HELD_OURS);
	ck_assert_int_eq(folder_set_aside(dir, "macvlan", &e), 0);
	testing_file(BIN "/macvlan", 0755, "of somebody else");
	ck_assert_int_eq(folder_put_back(dir, "macvlan", &e), 0);
	ck_assert_int_eq(look(dir, "macvlan").held, HELD_FOREIGN);
	ck_assert(!there(".macvlan.railhead-old"));
	ck_assert_int_eq(folder_discard(dir, "macvlan", &e), 0);
	ck_assert(there("macvlan"));
	ck_assert_int_eq(folder_set_aside(dir, "none", &e), -1);
}
END_TEST

START_TEST(of_two_foreign_files_none_is_removed)
{
	auto_fd int dir = new_folder();
	struct err e = { .msg = "" };

	testing_file(BIN "/macvlan", 0755, "of somebody");
	testing_file(BIN "/.macvlan.railhead-old", 0755, "of somebody else");
	ck_assert_int_eq(folder_put_back(dir, "macvlan", &e), -1);
	ck_assert_int_eq(e.code, ERR_BUSY);
	ck_assert(there("macvlan") && there(".macvlan.railhead-old"));
}
END_TEST

START_TEST(a_program_that_cannot_be_opened_may_run)
{
	auto_fd int dir = new_folder();
	struct err e = { .msg = "" };

	ck_assert_int_eq(symlink("elsewhere", BIN "/.macvlan.railhead-old"), 0);
	ck_assert_int_eq(folder_runs_aside(dir, "macvlan", &e), -1);
	ck_assert_int_eq(e.errnum, ELOOP);
}
END_TEST

static void copy_program(const char *from, const char *to)
{
	char command[200];

	(void)snprintf(command, sizeof(command), "cp %s %s", from, to);
	ck_assert_int_eq(system(command), 0);
}

/* Linux 6.11 and 6.12 do not. */
static bool kernel_denies_writing(void)
{
	auto_fd int fd = open("/proc/self/exe", O_WRONLY | O_CLOEXEC);

	return fd < 0;
}

START_TEST(a_program_that_runs_is_seen)
{
	auto_fd int dir = new_folder();
	struct err e = { .msg = "" };
	int in[2], out[2], status;
	char byte = 'x';

	if (!kernel_denies_writing()) {
		printf("SKIP: this kernel allows writing to a program that runs\n");
		return;
	}

	copy_program("/bin/cat", BIN "/macvlan");
	ck_assert_int_eq(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
	pid_t child = fork();
	if (child == 0) {
		(void)dup2(in[0], 0);
		(void)dup2(out[1], 1);
		(void)execl(BIN "/macvlan", "macvlan", (char *)NULL);
		_exit(1);
	}
	ck_assert_int_gt(child, 0);
	/* cat echoes a byte: by then the program is executed. */
	ck_assert_int_eq(write(in[1], &byte, 1) + read(out[0], &byte, 1), 2);
	ck_assert_int_eq(folder_set_aside(dir, "macvlan", &e), 0);
	ck_assert_int_eq(folder_runs_aside(dir, "macvlan", &e), 1);
	(void)close(in[1]);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(folder_runs_aside(dir, "macvlan", &e), 0);
}
END_TEST

START_TEST(leftovers_of_a_killed_run_are_healed)
{
	auto_fd int dir = new_folder();
	struct err e = { .msg = "" };

	testing_file(BIN "/.macvlan.railhead-new", 0755, "half");
	testing_file(BIN "/.macvlan.railhead-old", 0755, MARK);
	testing_file(BIN "/ipvlan", 0755, "new");
	testing_file(BIN "/.ipvlan.railhead-old", 0755, MARK);
	ck_assert_int_eq(folder_heal(dir, "macvlan", &e), 0);
	ck_assert_int_eq(folder_heal(dir, "ipvlan", &e), 0);
	ck_assert_int_eq(folder_heal(dir, "rdma", &e), 0);
	ck_assert_int_eq(look(dir, "macvlan").held, HELD_OURS);
	ck_assert_int_eq(look(dir, "ipvlan").held, HELD_FOREIGN);
	ck_assert(!there(".macvlan.railhead-new") && !there(".macvlan.railhead-old"));
	ck_assert(!there(".ipvlan.railhead-old"));
}
END_TEST

static void is_refused(const char *path, const char *words)
{
	struct err e = { .msg = "" };

	ck_assert_int_eq(folder_open(path, &e), -1);
	ck_assert_msg(strstr(e.msg, words) || strstr(e.detail, words), "%s: %s; %s", path, e.msg,
		      e.detail);
}

START_TEST(an_unsafe_folder_is_refused)
{
	(void)close(new_folder());
	ck_assert_int_eq(symlink(BIN, "/mnt/link") | mkdir("/mnt/open", 0777) |
				 chmod("/mnt/open", 0777) | mkdir("/mnt/open/bin", 0755),
			 0);
	is_refused("/mnt/none", "DirectoryOrCreate");
	is_refused("/mnt/link", "symbolic link");
	is_refused("/mnt/open", "others than root");
	is_refused("/mnt/open/bin", "others than root");
	is_refused("mnt/bin", "not absolute");
	ck_assert_int_eq(mount(NULL, "/mnt", NULL, MS_REMOUNT | MS_BIND | MS_NOEXEC, NULL), 0);
	is_refused(BIN, "noexec");
}
END_TEST

START_TEST(a_receipt_is_kept_in_the_folder)
{
	auto_fd int dir = new_folder();
	struct receipt r = { .version = "0.1.0", .build = "0a1b", .n = 0 }, back;
	struct err e = { .msg = "" };

	ck_assert_int_eq(folder_receipt(dir, &back, &e), 1);
	ck_assert_int_eq(folder_write_receipt(dir, &r, &e), 0);
	ck_assert_int_eq(folder_receipt(dir, &back, &e), 0);
	ck_assert_str_eq(back.version, "0.1.0");
	testing_file(BIN "/" RECEIPT_FILE, 0600, "{");
	testing_file(BIN "/." RECEIPT_FILE ".tmp", 0600, "{");
	folder_heal_receipt(dir);
	ck_assert(!there("." RECEIPT_FILE ".tmp") && there(RECEIPT_FILE));
	ck_assert_int_eq(folder_receipt(dir, &back, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, RECEIPT_FILE));
	ck_assert_int_eq(chmod(BIN "/" RECEIPT_FILE, 0666), 0);
	ck_assert_int_eq(folder_receipt(dir, &back, &e), -1);
	ck_assert_int_eq(e.code, ERR_FORBIDDEN);
	ck_assert_int_eq(folder_write_receipt(dir, NULL, &e), 0);
	ck_assert(!there(RECEIPT_FILE));
}
END_TEST

TEST_PROGRAM("folder", only_programs_with_the_mark_are_ours,
	     a_program_with_the_rights_of_others_is_wrong, a_file_that_cannot_be_read_is_foreign,
	     a_program_is_read_with_its_build_and_digest,
	     new_content_gets_the_name_when_it_is_switched, a_file_that_appeared_meanwhile_stays,
	     a_full_disk_leaves_nothing_beside_the_name, a_program_set_aside_comes_back_or_goes,
	     of_two_foreign_files_none_is_removed, a_program_that_cannot_be_opened_may_run,
	     a_program_that_runs_is_seen, leftovers_of_a_killed_run_are_healed,
	     an_unsafe_folder_is_refused, a_receipt_is_kept_in_the_folder)
