/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_socket_test.c: a folder with files of a dead agent and of others. */
#include "railheadd/devices/plugin_socket.h"

#include <stdio.h>

#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

#define NAME "railhead-rail0.sock"
#define AT   "/mnt/" NAME

static struct err e;

static enum err_code refused(const char *folder, const char *name)
{
	struct plugin_socket s = { .fd = 77 };

	ck_assert_int_eq(plugin_socket_open(folder, name, &s, &e), -1);
	ck_assert_int_eq(s.fd, 77);
	return e.code;
}

static struct plugin_socket opened(void)
{
	struct plugin_socket s = { .fd = -1 };

	ck_assert_msg(plugin_socket_open("/mnt", NAME, &s, &e) == 0, "%s", e.msg);
	ck_assert(plugin_socket_is_there(&s));
	return s;
}

START_TEST(names_are_short_and_unique)
{
	char a[PLUGIN_SOCKET_NAME_LEN], b[PLUGIN_SOCKET_NAME_LEN], path[LISTEN_PATH_LEN];

	plugin_socket_name("example.com/rail0", a);
	plugin_socket_name("example.org/rail0", b);
	ck_assert_str_ne(a, b);
	ck_assert_ptr_eq(strstr(a, "railhead-rail0-"), a);
	plugin_socket_name("example.com/rail0", b);
	ck_assert_str_eq(a, b);
	plugin_socket_name("example.com/a-name-that-has-63-bytes-and-is-as-long-as-names-can-be-1",
			   a);
	plugin_socket_name("example.com/a-name-that-has-63-bytes-and-is-as-long-as-names-can-be-2",
			   b);
	ck_assert_str_ne(a, b);
	ck_assert_int_lt(snprintf(path, sizeof(path), "/var/lib/kubelet/device-plugins/%s", a),
			 sizeof(path));
}
END_TEST

START_TEST(a_socket_goes_with_its_agent)
{
	struct plugin_socket s;
	struct stat st;

	(void)testing_dir();
	s = opened();
	ck_assert_int_eq(stat(AT, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	plugin_socket_close(&s);
	ck_assert_int_eq(stat(AT, &st), -1);
	plugin_socket_close(&s);
}
END_TEST

START_TEST(a_socket_of_a_dead_agent_is_replaced)
{
	struct plugin_socket dead, s;

	(void)testing_dir();
	dead = opened();
	(void)close(dead.fd);
	s = opened();
	ck_assert(!plugin_socket_is_there(&dead));
	plugin_socket_close(&s);
}
END_TEST

START_TEST(what_others_have_is_left_alone)
{
	struct plugin_socket s;

	(void)testing_dir();
	s = opened();
	ck_assert_int_eq(refused("/mnt", NAME), ERR_BUSY);
	ck_assert_str_eq(e.msg, AT ": another process listens there; it is left alone");
	ck_assert(plugin_socket_is_there(&s));
	plugin_socket_close(&s);
	testing_file(AT, 0600, "text");
	ck_assert_int_eq(refused("/mnt", NAME), ERR_BUSY);
	ck_assert_str_eq(e.msg, AT ": it is not a socket; it is left alone");
	ck_assert_int_eq(access(AT, F_OK), 0);
}
END_TEST

START_TEST(a_file_that_was_made_anew_is_not_ours)
{
	struct plugin_socket s;

	(void)testing_dir();
	s = opened();
	ck_assert_int_eq(unlink(AT), 0);
	ck_assert(!plugin_socket_is_there(&s));
	testing_file(AT, 0600, "text");
	ck_assert(!plugin_socket_is_there(&s));
	plugin_socket_close(&s);
	ck_assert_int_eq(access(AT, F_OK), 0);
}
END_TEST

START_TEST(folders_that_are_missing_or_too_long)
{
	char folder[200];

	(void)testing_dir();
	ck_assert_int_eq(refused("/mnt/none", NAME), ERR_NOTFOUND);
	memset(folder, 'f', sizeof(folder));
	folder[100] = '\0';
	ck_assert_int_eq(refused(folder, NAME), ERR_CONFIG);
}
END_TEST

TEST_PROGRAM("railheadd/devices/plugin_socket", names_are_short_and_unique,
	     a_socket_goes_with_its_agent, a_socket_of_a_dead_agent_is_replaced,
	     what_others_have_is_left_alone, a_file_that_was_made_anew_is_not_ours,
	     folders_that_are_missing_or_too_long)
