/* SPDX-License-Identifier: Apache-2.0 */
/* dir.c: mounts an empty folder that vanishes with the test. */
#include "lib/testing/dir.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "lib/testing/testing.h"

#define FOLDER "/mnt"

/* Only root may mount; whoever is not becomes it in a user namespace. */
static void map_root(unsigned uid, unsigned gid)
{
	char uid_map[32], gid_map[32];
	const char *const maps[][2] = { { "/proc/self/setgroups", "deny" },
					{ "/proc/self/uid_map", uid_map },
					{ "/proc/self/gid_map", gid_map } };

	(void)snprintf(uid_map, sizeof(uid_map), "0 %u 1", uid);
	(void)snprintf(gid_map, sizeof(gid_map), "0 %u 1", gid);
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		size_t len = strlen(maps[i][1]);
		auto_fd int fd = open(maps[i][0], O_WRONLY | O_CLOEXEC);

		ck_assert_int_eq(write(fd, maps[i][1], len), (ssize_t)len);
	}
}

const char *testing_dir(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();

	ck_assert_int_eq(unshare(CLONE_NEWNS | (uid ? CLONE_NEWUSER : 0)), 0);
	if (uid)
		map_root(uid, gid);
	ck_assert_int_eq(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	ck_assert_int_eq(mount("none", FOLDER, "tmpfs", 0, "size=64m,mode=0700"), 0);
	return FOLDER;
}

void testing_file(const char *path, mode_t mode, const char *text)
{
	size_t len = strlen(text);
	auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, len), (ssize_t)len);
	ck_assert_int_eq(fchmod(fd, mode), 0); /* whatever the umask */
}
