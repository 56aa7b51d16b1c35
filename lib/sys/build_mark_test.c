/* SPDX-License-Identifier: Apache-2.0 */
/* build_mark_test.c: shows which files are programs of the same build, and which are not. */
#include "lib/sys/build_mark.h"

#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "lib/testing/testing.h"
#include "lib/testing/dir.h"

#define MARK "railhead-build: 0a1b ipam\n"

/* A file of size bytes that begins with magic and has text at offset. */
static const char *file_of(const char *magic, const char *text, size_t offset, size_t size)
{
	static char path[200];
	char bytes[2 * BUILD_MARK_HEAD];

	ck_assert_uint_le(size, sizeof(bytes));
	ck_assert_uint_le(offset + strlen(text), size);
	memset(bytes, 'x', sizeof(bytes));
	memcpy(bytes, magic, strlen(magic));
	memcpy(bytes + offset, text, strlen(text));
	(void)snprintf(path, sizeof(path), "%s/file", testing_dir());

	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes, 1, size, f), size);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(chmod(path, 0755), 0);
	return path;
}

START_TEST(a_program_with_the_mark_in_its_first_page)
{
	const size_t last = BUILD_MARK_HEAD - strlen(MARK);

	ck_assert(build_mark_found(file_of("\177ELF", MARK, 700, 8192), MARK));
	ck_assert(build_mark_found(file_of("\177ELF", MARK, last, 8192), MARK));
	ck_assert(build_mark_found(file_of("\177ELF", MARK, 700, 700 + strlen(MARK)), MARK));
	ck_assert(!build_mark_found(file_of("\177ELF", MARK, last + 1, 8192), MARK));
	ck_assert(!build_mark_found(file_of("\177ELF", MARK, 5000, 8192), MARK));
}
END_TEST

START_TEST(another_build_or_program_or_a_wrapper_is_not_ours)
{
	static const char *const others[] = {
		"railhead-build: 0a1c ipam\n",
		"railhead-build: 0a1b ipam2\n",
		"railhead-build: 0a1b macvlan\n",
		"railhead-build: 0a1b ipam",
	};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		ck_assert_msg(!build_mark_found(file_of("\177ELF", others[i], 700, 8192), MARK),
			      "%s", others[i]);
	ck_assert(!build_mark_found(file_of("#!/bin/sh\n# ", MARK, 12, 100), MARK));
	ck_assert(!build_mark_found(file_of("", "", 0, 0), MARK));
	ck_assert(!build_mark_found(file_of("\177ELF", "", 0, 4), MARK));
}
END_TEST

START_TEST(what_cannot_be_executed_is_left_to_execve)
{
	const char *path = file_of("\177ELF", MARK, 700, 8192),
		   *dir = "/mnt"; /* of testing_dir() */
	char other[200];

	(void)snprintf(other, sizeof(other), "%s/other", dir);
	ck_assert(build_mark_found(path, MARK));
	ck_assert_int_eq(chmod(path, 0644), 0);
	ck_assert(!build_mark_found(path, MARK));
	ck_assert(!build_mark_found(dir, MARK));
	ck_assert(!build_mark_found(other, MARK));
	ck_assert_int_eq(mkfifo(other, 0755), 0); /* and nobody waits for its writer */
	ck_assert(!build_mark_found(other, MARK));
}
END_TEST

START_TEST(programs_of_a_mount_without_programs_are_left_to_execve)
{
	const char *path = file_of("\177ELF", MARK, 700, 8192),
		   *dir = "/mnt"; /* of testing_dir() */

	ck_assert(build_mark_found(path, MARK));
	ck_assert_int_eq(mount(NULL, dir, NULL, MS_REMOUNT | MS_BIND | MS_NOEXEC, NULL), 0);
	ck_assert(!build_mark_found(path, MARK));
}
END_TEST

#define READ(text, out) build_mark_read(text, sizeof(text) - 1, out)

START_TEST(a_mark_is_read_from_the_first_bytes)
{
	struct build_mark m;

	ck_assert_int_eq(READ("\177ELF...railhead-build: 0a1b ib-sriov\n...", &m), 0);
	ck_assert_str_eq(m.id, "0a1b");
	ck_assert_str_eq(m.program, "ib-sriov");
}
END_TEST

START_TEST(bytes_without_a_whole_mark_are_no_program_of_ours)
{
	char longer[4 + sizeof("railhead-build: ") + 200] = "\177ELFrailhead-build: ";
	struct build_mark m;

	ck_assert_int_eq(READ("", &m), -1);
	ck_assert_int_eq(READ("\177ELF", &m), -1);
	ck_assert_int_eq(READ("#!/bin/sh # railhead-build: 0a1b macvlan\n", &m), -1);
	ck_assert_int_eq(READ("\177ELFrailhead-build: 0a1b macvlan", &m), -1);
	ck_assert_int_eq(READ("\177ELFrailhead-build: 0a1b\n", &m), -1);
	ck_assert_int_eq(READ("\177ELFrailhead-build: ", &m), -1);
	ck_assert_int_eq(
		READ("\177ELFrailhead-build: 0a1b a-name-that-is-longer-than-31-bytes\n", &m), -1);
	memset(longer + strlen(longer), 'a', BUILD_ID_LEN);
	testing_append(longer, sizeof(longer), " macvlan\n");
	ck_assert_int_eq(build_mark_read(longer, strlen(longer), &m), -1);
	ck_assert_int_eq(READ("\177ELFrailhead-build: 0a\0b macvlan\n", &m), -1);
}
END_TEST

TEST_PROGRAM("build_mark", a_mark_is_read_from_the_first_bytes,
	     bytes_without_a_whole_mark_are_no_program_of_ours,
	     a_program_with_the_mark_in_its_first_page,
	     another_build_or_program_or_a_wrapper_is_not_ours,
	     what_cannot_be_executed_is_left_to_execve,
	     programs_of_a_mount_without_programs_are_left_to_execve)
