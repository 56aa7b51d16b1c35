/* SPDX-License-Identifier: Apache-2.0 */
/* listen_test.c: shows who may connect, what becomes of an older socket, and what errors name. */
#include "lib/sys/listen.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/testing/testing.h"
#include "lib/testing/dir.h"

static int dial(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	auto_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	memcpy(to.sun_path, path, sizeof(to.sun_path));
	return connect(fd, (struct sockaddr *)&to, sizeof(to)) ? -errno : 0;
}

START_TEST(a_socket_is_for_root_alone_and_replaces_a_dead_one)
{
	char path[LISTEN_PATH_LEN] = "", again[LISTEN_PATH_LEN] = "";
	const mode_t before = umask(022);
	struct err e = { 0 };
	struct stat st;
	int first = listen_unix(testing_dir(), "s", path, &e);

	ck_assert_msg(first >= 0, "%s", e.msg);
	ck_assert_uint_eq(umask(before), 022);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(dial(path), 0);
	(void)close(first);
	ck_assert_int_eq(dial(path), -ECONNREFUSED);

	auto_fd int second = listen_unix(testing_dir(), "s", again, &e);
	ck_assert_msg(second >= 0, "%s", e.msg);
	ck_assert_str_eq(again, path);
	ck_assert_int_eq(dial(path), 0);
	ck_assert_int_eq(accept(second, NULL, NULL) < 0 ? errno : 0, 0);
	ck_assert_int_lt(accept(second, NULL, NULL), 0);
	ck_assert_int_eq(errno, EAGAIN);
}
END_TEST

START_TEST(errors_name_the_socket)
{
	char path[LISTEN_PATH_LEN] = "", name[LISTEN_PATH_LEN + 1];
	struct err e = { 0 };

	memset(name, 'x', LISTEN_PATH_LEN);
	name[LISTEN_PATH_LEN] = '\0';
	ck_assert_int_eq(listen_unix("/run", name, path, &e), -1);
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_ptr_nonnull(strstr(e.msg, "the path is too long"));
	ck_assert_str_eq(path, "");
	ck_assert_int_eq(listen_unix("/nowhere", "s", path, &e), -1);
	ck_assert_int_eq(e.code, ERR_IO);
	ck_assert_ptr_nonnull(strstr(e.msg, "/nowhere/s: listen"));
	ck_assert_int_eq(listen_unix("/", "proc", path, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "/proc"));
}
END_TEST

/* A daemon that ends with open connections must not wait for the kernel's timer. */
START_TEST(a_port_can_be_had_again_at_once)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr *addr = (struct sockaddr *)&at;
	socklen_t len = sizeof(at);
	struct err e = { 0 };
	int fd = listen_at(addr, len, "port", &e), peer, mine;

	ck_assert_msg(fd >= 0, "%s", e.msg);
	ck_assert_int_eq(getsockname(fd, addr, &len), 0);
	ck_assert_int_eq(listen_at(addr, len, "port", &e), -1);
	ck_assert_str_eq(e.msg, "port: listen: Address already in use");
	peer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(connect(peer, addr, len), 0);
	ck_assert_int_eq(poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, -1), 1);
	mine = accept(fd, NULL, NULL);
	ck_assert_int_ge(mine, 0);
	(void)close(mine);
	(void)close(fd);
	(void)close(peer);
	fd = listen_at(addr, len, "port", &e);
	ck_assert_msg(fd >= 0, "%s", e.msg);
	(void)close(fd);
}
END_TEST

TEST_PROGRAM("listen", a_socket_is_for_root_alone_and_replaces_a_dead_one, errors_name_the_socket,
	     a_port_can_be_had_again_at_once)
