/* SPDX-License-Identifier: Apache-2.0 */
/* chain_test.c: which file of a folder gets the entry, and how a file is replaced. */
#include "install/chain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "lib/sys/fs.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

#define LIST(name) "{\"cniVersion\":\"1.0.0\",\"name\":\"" name "\",\"plugins\":[{\"type\":\"x\"}]}"
#define DONE(name)                                                                                 \
	"{\"cniVersion\":\"1.0.0\",\"name\":\"" name                                               \
	"\",\"plugins\":[{\"type\":\"x\"},{\"type\": \"railhead\"}]}"

static int folder(void)
{
	struct err e = { .msg = "" };
	int dir = chain_open(testing_dir(), &e);

	ck_assert_msg(dir >= 0, "%s", e.msg);
	return dir;
}

static void has(int dir, const char *name, const char *text)
{
	auto_free char *is = NULL;
	struct err e = { .msg = "" };

	ck_assert_msg(fs_read_at(dir, name, 65536, &is, &e) >= 0, "%s", e.msg);
	ck_assert_str_eq(is, text);
}

/* Returns whether a file was changed. */
static int put(int dir, const char *file)
{
	char is[CHAIN_FILE_LEN];
	struct err e = { .msg = "" };
	int rc = chain_put(dir, is, &e);

	ck_assert_msg(rc >= 0, "%s", e.msg);
	ck_assert_str_eq(is, file);
	return rc;
}

static void cannot(int dir, const char *why)
{
	char file[CHAIN_FILE_LEN];
	struct err e = { .msg = "" };

	ck_assert_int_eq(chain_put(dir, file, &e), -1);
	ck_assert_msg(strstr(e.msg, why), "%s", e.msg);
}

static int take(int dir)
{
	struct err e = { .msg = "" };
	int rc = chain_take(dir, &e);

	ck_assert_msg(rc >= 0, "%s", e.msg);
	return rc;
}

START_TEST(the_first_file_gets_the_entry_and_keeps_owner_and_mode)
{
	auto_fd int dir = folder();
	struct stat st;
	auto_fs_names struct fs_names names = { 0 };
	struct err e = { .msg = "" };

	testing_file("/mnt/10-calico.conflist", 0640, LIST("calico"));
	testing_file("/mnt/05-notes.txt", 0600, "no configuration");
	testing_file("/mnt/90-other.conflist", 0600, LIST("other"));
	ck_assert(geteuid() != 0 || chown("/mnt/10-calico.conflist", 0, 7) == 0);
	ck_assert_int_eq(put(dir, "10-calico.conflist"), 1);
	has(dir, "10-calico.conflist", DONE("calico"));
	has(dir, "90-other.conflist", LIST("other"));
	ck_assert_int_eq(fstatat(dir, "10-calico.conflist", &st, 0), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0640);
	ck_assert(geteuid() != 0 || st.st_gid == 7);
	ck_assert_int_eq(put(dir, "10-calico.conflist"), 0);

	/* Its owner writes it anew, and another one comes before it. */
	testing_file("/mnt/10-calico.conflist", 0600, LIST("calico2"));
	ck_assert_int_eq(put(dir, "10-calico.conflist"), 1);
	testing_file("/mnt/05-cilium.conflist", 0600, LIST("cilium"));
	ck_assert_int_eq(rename("/mnt/10-calico.conflist", "/mnt/10-calico.conflist.cilium_bak"),
			 0);
	ck_assert_int_eq(put(dir, "05-cilium.conflist"), 1);

	ck_assert_int_eq(take(dir), 1);
	has(dir, "05-cilium.conflist", LIST("cilium"));
	has(dir, "10-calico.conflist.cilium_bak", LIST("calico2"));
	ck_assert_int_eq(take(dir), 0);
	ck_assert_int_eq(fs_names_at(dir, ".", 100, &names, &e), 0);
	ck_assert_uint_eq(names.n, 4);
}
END_TEST

START_TEST(the_pod_network_is_behind_Multus)
{
#define MULTUS "{\"cniVersion\":\"0.3.1\",\"type\":\"multus\",\"delegates\":["
	auto_fd int dir = folder();

	/* thin */
	testing_file("/mnt/00-multus.conf", 0600, MULTUS LIST("cbr0") "]}");
	testing_file("/mnt/10-flannel.conflist", 0600, LIST("cbr0"));
	ck_assert_int_eq(put(dir, "10-flannel.conflist"), 1);
	has(dir, "00-multus.conf", MULTUS DONE("cbr0") "]}");
	has(dir, "10-flannel.conflist", DONE("cbr0"));
	/* It has renamed the file that it has copied: the copy counts. */
	ck_assert_int_eq(rename("/mnt/10-flannel.conflist", "/mnt/10-flannel.conflist.old"), 0);
	ck_assert_int_eq(put(dir, "00-multus.conf"), 0);
	ck_assert_int_eq(take(dir), 1);
	has(dir, "00-multus.conf", MULTUS LIST("cbr0") "]}");
	has(dir, "10-flannel.conflist.old", LIST("cbr0"));
	/* thick */
	testing_file("/mnt/00-multus.conf", 0600, "{\"type\":\"multus-shim\"}");
	cannot(dir, "no file has the pod network of Multus");
	testing_file("/mnt/10-flannel.conflist", 0600, LIST("cbr0"));
	ck_assert_int_eq(put(dir, "10-flannel.conflist"), 1);
	has(dir, "00-multus.conf", "{\"type\":\"multus-shim\"}");
}
END_TEST

START_TEST(a_file_without_a_list_is_left_alone)
{
	auto_fd int dir = folder();

	cannot(dir, "no file has the pod network");
	testing_file("/mnt/20-list.conflist", 0600, LIST("later"));
	testing_file("/mnt/10-old.conf", 0600, "{\"cniVersion\":\"0.2.0\",\"type\":\"bridge\"}");
	cannot(dir, "10-old.conf is not a list of plugins");
	testing_file("/mnt/10-old.conf", 0600, "{\"cniVersion\":");
	cannot(dir, "10-old.conf: network configuration: byte 14");
	ck_assert_int_eq(unlink("/mnt/10-old.conf"), 0);
	ck_assert_int_eq(symlink("20-list.conflist", "/mnt/10-old.conf"), 0);
	cannot(dir, "open 10-old.conf: Too many levels of symbolic links");
	ck_assert_int_eq(unlink("/mnt/10-old.conf"), 0);
	ck_assert_int_eq(mkdir("/mnt/10-old.conf", 0700), 0);
	cannot(dir, "10-old.conf is not a plain file");
	has(dir, "20-list.conflist", LIST("later"));
}
END_TEST

/* What cannot be read may have the entry: only text that does not name the plugin is ignored. */
START_TEST(a_removal_sees_each_file)
{
	auto_fd int dir = folder();
	struct err e = { .msg = "" };

	testing_file("/mnt/10-a.conflist", 0600, "broken");
	testing_file("/mnt/20-b.conflist", 0600, DONE("b"));
	ck_assert_int_eq(take(dir), 1);
	has(dir, "20-b.conflist", LIST("b"));
	testing_file("/mnt/10-a.conflist", 0600, "{\"plugins\": [{\"type\": \"railhead\"}");
	ck_assert_int_eq(chain_take(dir, &e), -1);
	ck_assert_msg(strncmp(e.msg, "10-a.conflist: network configuration", 36) == 0, "%s", e.msg);
	ck_assert_int_eq(unlink("/mnt/10-a.conflist"), 0);
	ck_assert_int_eq(symlink("nowhere", "/mnt/10-a.conflist"), 0);
	ck_assert_int_eq(chain_take(dir, &e), -1);
	ck_assert_int_eq(e.errnum, ELOOP);
}
END_TEST

static bool begins(const char *text)
{
	char is[128];
	auto_fd int fd = open("/mnt/10-a.conflist", O_RDONLY);

	return read(fd, is, sizeof(is)) > 0 && strncmp(is, text, strlen(text) - 2) == 0;
}

/* The owner writes into the file, and then finds its text there, with the entry or without. The
 * other process may wait for a processor between two renames. */
#define WRITES    150
#define LOOKS_MAX 100000 /* ten seconds and more */
static void owner(void)
{
	static const struct timespec nap = { .tv_nsec = 100000 };
	char text[128];

	for (int i = 0; i < WRITES; i++) {
		auto_fd int fd = open("/mnt/10-a.conflist", O_WRONLY | O_TRUNC);
		int tries = 0;

		(void)snprintf(text, sizeof(text), LIST("%d"), i);
		if (fd < 0 || write(fd, text, strlen(text)) < 0)
			_exit(1);
		do {
			(void)nanosleep(&nap, NULL);
		} while (!begins(text) && ++tries < LOOKS_MAX);
		if (tries == LOOKS_MAX)
			_exit(2);
	}
	_exit(0);
}

START_TEST(an_owner_that_writes_meanwhile)
{
	auto_fd int dir = folder();
	char file[CHAIN_FILE_LEN];
	struct err e = { .msg = "" };
	int status = -1;

	testing_file("/mnt/10-a.conflist", 0600, LIST("a"));
	pid_t pid = fork();
	if (pid == 0)
		owner();
	while (waitpid(pid, &status, WNOHANG) == 0)
		ck_assert(chain_put(dir, file, &e) >= 0 || e.code == ERR_AGAIN ||
			  e.code == ERR_DECODE);
	ck_assert_int_eq(status, 0);
	(void)put(dir, "10-a.conflist");
	has(dir, "10-a.conflist", DONE("149"));
}
END_TEST

START_TEST(leftovers_of_a_killed_run_do_no_harm)
{
	auto_fd int dir = folder();

	testing_file("/mnt/10-a.conflist", 0600, LIST("a"));
	testing_file("/mnt/.10-a.conflist.railhead-new", 0600, "half");
	ck_assert_int_eq(put(dir, "10-a.conflist"), 1);
	has(dir, "10-a.conflist", DONE("a"));
	ck_assert_int_ne(access("/mnt/.10-a.conflist.railhead-new", F_OK), 0);
}
END_TEST

TEST_PROGRAM("install/chain", the_first_file_gets_the_entry_and_keeps_owner_and_mode,
	     the_pod_network_is_behind_Multus, a_file_without_a_list_is_left_alone,
	     a_removal_sees_each_file, an_owner_that_writes_meanwhile,
	     leftovers_of_a_killed_run_do_no_harm)
