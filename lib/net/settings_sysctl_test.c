/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings_sysctl_test.c: shows that the kernel makes an interface's sysctls anew with each
 * move, so that no list needs them.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/net/link.h"
#include "lib/testing/testing.h"
#include "lib/testing/net.h"

static ssize_t read_text(const char *path, char *out, size_t size)
{
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);

	out[n > 0 ? n : 0] = '\0';
	return n;
}

static bool write_text(const char *path, const char *text)
{
	auto_fd int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && write(fd, text, strlen(text)) > 0;
}

/* false: it takes no other value. */
static bool change_sysctl(const char *path, const char *was)
{
	static const char *const tries[] = { "1", "0", "2", "7", "100", "3000", "100000" };
	char now[256];

	for (size_t i = 0; i < ARRAY_SIZE(tries); i++) {
		if (write_text(path, tries[i]) && read_text(path, now, sizeof(now)) > 0 &&
		    strcmp(now, was) != 0)
			return true;
	}
	return false;
}

static void there_and_back(struct nl *nl_here)
{
	auto_netns struct netns away = net_another(), host = net_self();
	auto_nl struct nl *nl = net_socket_in(&away);
	struct err e = { .msg = "" };

	ck_assert_msg(nl_link_move(nl_here, net_ifindex(nl_here, "v0"), &away, "x0", &e) == 0, "%s",
		      e.msg);
	ck_assert_msg(nl_link_move(nl, net_ifindex(nl, "x0"), &host, "v0", &e) == 0, "%s", e.msg);
}

struct sysctl {
	char path[160], was[256];
};

static unsigned read_all(const char *folder, struct sysctl *out, unsigned cap)
{
	char path[80];
	struct dirent *d;
	unsigned n = 0;

	(void)snprintf(path, sizeof(path), "/proc/sys/net/%.40s/v0", folder);
	DIR *dir = opendir(path);
	while (dir && n < cap && (d = readdir(dir))) {
		struct sysctl *s = &out[n];
		(void)snprintf(s->path, sizeof(s->path), "%s/%.60s", path, d->d_name);
		n += d->d_name[0] != '.' && read_text(s->path, s->was, sizeof(s->was)) > 0;
	}
	if (dir)
		(void)closedir(dir);
	ck_assert_uint_lt(n, cap);
	return n;
}

/* All of v0's in a folder: none survives a move, so that none need be kept. */
static unsigned sysctls_in(const char *folder)
{
	auto_nl struct nl *nl = NULL;
	struct sysctl all[128] = { 0 };
	unsigned n, changed = 0;
	char now[256];

	net_enter_new();
	net_veth("v0", "peer0", NULL);
	nl = net_socket();
	n = read_all(folder, all, ARRAY_SIZE(all));

	/* Read before any is changed: some are others in another unit. */
	for (unsigned i = 0; i < n; i++)
		changed += change_sysctl(all[i].path, all[i].was);
	there_and_back(nl);
	for (unsigned i = 0; i < n; i++) {
		ck_assert_int_gt(read_text(all[i].path, now, sizeof(now)), 0);
		ck_assert_msg(strcmp(now, all[i].was) == 0,
			      "%s survives: it was %s, is %s: a pod leaves it to the next one",
			      all[i].path, all[i].was, now);
	}
	return changed;
}

START_TEST(no_sysctl_survives_a_move)
{
	ck_assert_uint_ge(sysctls_in("ipv4/conf"), 20);
	ck_assert_uint_ge(sysctls_in("ipv4/neigh"), 8);
	ck_assert_uint_ge(sysctls_in("ipv6/conf"), 25);
	ck_assert_uint_ge(sysctls_in("ipv6/neigh"), 8);
}
END_TEST

TEST_PROGRAM("settings_sysctl", no_sysctl_survives_a_move)
