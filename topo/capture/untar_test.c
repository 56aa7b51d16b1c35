// SPDX-License-Identifier: Apache-2.0
/* Entries land where their names say, in any order, and a refused file leaves nothing made. */
#include "topo/capture/untar.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/sys/fs.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "topo/capture/tar.h"

#define OUT "/mnt/out" /* below testing_dir() */

/* A tar that is written, and where it is unpacked. */
struct stage {
	struct tar tar;
	int fd, dir;
};

static void begin(struct stage *s)
{
	struct err e = { 0 };

	(void)testing_dir();
	s->fd = memfd_create("tar", MFD_CLOEXEC);
	s->tar = (struct tar){ .to = fdopen(dup(s->fd), "w") };
	s->dir = fs_open_dir(OUT, true, &e);
	ck_assert(s->fd >= 0 && s->tar.to && s->dir >= 0);
}

static int unpack(struct stage *s, struct err *e)
{
	ck_assert_int_eq(fclose(s->tar.to), 0);
	ck_assert_int_eq(lseek(s->fd, 0, SEEK_SET), 0);
	return untar(s->fd, s->dir, e);
}

static void end(struct stage *s)
{
	(void)close(s->fd);
	(void)close(s->dir);
}

static void holds(const char *path, const char *want)
{
	auto_free char *text = NULL;
	char whole[256];
	struct err e = { 0 };

	(void)snprintf(whole, sizeof(whole), OUT "/%s", path);
	ck_assert_msg(fs_read_at(AT_FDCWD, whole, 4096, &text, &e) >= 0, "%s: %s", path, e.msg);
	ck_assert_str_eq(text, want);
}

static size_t made(void)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	struct err e = { 0 };

	ck_assert_int_eq(fs_names_at(AT_FDCWD, OUT, 100, &names, &e), 0);
	return names.n;
}

/* The folder that stays open is taken only for a name that leads to it. */
START_TEST(each_name_leads_to_its_place)
{
	static const char *const names[] = { "a/x", "a/./y",   "./a/z",   "a//u",
					     "x",   "a/d/e/x", "a/d/e/y", "a/d/y",
					     "b/x", "a/./w",   "./x2",    "a/v" };
	struct stage s;
	struct err e = { 0 };

	begin(&s);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		tar_file(&s.tar, names[i], names[i], strlen(names[i]));
		tar_dir(&s.tar, "a/f/");
		tar_file(&s.tar, "a/f/last", names[i], strlen(names[i]));
	}
	tar_end(&s.tar);
	ck_assert_msg(!unpack(&s, &e), "%s", e.msg);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		holds(names[i], names[i]);
	holds("a/f/last", "a/v");
	end(&s);
}
END_TEST

START_TEST(the_last_entry_of_a_name_counts)
{
	struct stage s;
	struct err e = { 0 };

	begin(&s);
	tar_file(&s.tar, "a/x", "1", 1);
	tar_link(&s.tar, "a/x", "y");
	tar_file(&s.tar, "a/y", "2", 1);
	tar_link(&s.tar, "a/x", "z");
	tar_link(&s.tar, "a/y", "x");
	tar_file(&s.tar, "a/x", "3", 1);
	tar_end(&s.tar);
	ck_assert_msg(!unpack(&s, &e), "%s", e.msg);
	holds("a/x", "3");
	holds("a/y", "3"); /* through the link */
	end(&s);
}
END_TEST

/* A link never takes the place of a folder, so the open one is never another. */
START_TEST(a_folder_stays_a_folder)
{
	struct stage s;
	struct err e = { 0 };

	begin(&s);
	tar_file(&s.tar, "a/x", "1", 1);
	tar_link(&s.tar, "a", "/");
	tar_end(&s.tar);
	ck_assert_int_eq(unpack(&s, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "make the link a"));
	holds("a/x", "1");
	end(&s);
}
END_TEST

START_TEST(a_refused_file_makes_nothing)
{
	struct tar_header h;
	struct stage s;
	struct err e = { 0 };

	begin(&s);
	tar_file(&s.tar, "x", "1", 1);
	tar_file(&s.tar, "y", "2", 1);
	tar_end(&s.tar);
	ck_assert_int_eq(fflush(s.tar.to), 0);
	ck_assert_int_eq(pread(s.fd, &h, sizeof(h), 2 * TAR_BLOCK), TAR_BLOCK);
	h.name[0] ^= 1;
	ck_assert_int_eq(pwrite(s.fd, &h, sizeof(h), 2 * TAR_BLOCK), TAR_BLOCK);
	ck_assert_int_eq(unpack(&s, &e), -1);
	ck_assert_str_eq(e.msg, "entry 2 of the tar: it is not a tar, or a damaged one");
	ck_assert_uint_eq(made(), 0);
	end(&s);
}
END_TEST

START_TEST(too_many_entries_are_refused_at_once)
{
	struct tar_header h[100];
	struct stage s;
	struct err e = { 0 };

	begin(&s);
	tar_dir(&s.tar, "a");
	ck_assert_int_eq(fflush(s.tar.to), 0);
	ck_assert_int_eq(pread(s.fd, &h[0], sizeof(h[0]), 0), TAR_BLOCK);
	for (size_t i = 1; i < ARRAY_SIZE(h); i++)
		h[i] = h[0];
	for (size_t i = 0; i < UNTAR_ENTRIES / ARRAY_SIZE(h); i++)
		ck_assert_int_eq(write(s.fd, h, sizeof(h)), sizeof(h));
	ck_assert_int_eq(unpack(&s, &e), -1);
	ck_assert_str_eq(e.msg, "entry 200001 of the tar: the tar has more than 200000");
	ck_assert_uint_eq(made(), 0);
	end(&s);
}
END_TEST

TEST_PROGRAM("untar", each_name_leads_to_its_place, the_last_entry_of_a_name_counts,
	     a_folder_stays_a_folder, a_refused_file_makes_nothing,
	     too_many_entries_are_refused_at_once)
