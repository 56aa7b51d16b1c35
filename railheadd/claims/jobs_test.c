/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs_test.c: the end of a claim, also while the kernel says that its files are not there; CDI
 * files that are written again.
 */
#include "railheadd/claims/jobs.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/testing/dir.h"
#include "lib/testing/syscall.h"
#include "lib/testing/testing.h"

#define CLAIMS "/mnt/railhead/claims"

static struct ctx ctx;

static int ends(struct err *e)
{
	const struct jobs_place place = { .ctx = &ctx, .node = "n", .bin = "/mnt/bin" };
	const struct dra_claim claim = { "ns", "c", "cu" };

	return job_end(&place, &claim, e);
}

static void begin(void)
{
	static const char *const folders[] = { "/mnt/railhead", CLAIMS, (CLAIMS "/pu"), "/mnt/cdi",
					       "/mnt/bin" };

	(void)testing_dir();
	ctx_init(&ctx, "test");
	ctx.log.fd = -1;
	ctx.run_dir = "/mnt/railhead";
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		ck_assert_int_eq(mkdir(folders[i], 0700), 0);
	testing_file("/mnt/cdi/railhead.io-claim_cu.json", 0600, "{}");
	ck_assert_int_eq(mkdir("/mnt/railhead/shown", 0700), 0);
	testing_file("/mnt/railhead/shown/cu", 0600, "0");
	testing_file(
		"/mnt/bin/rails", 0700,
		"#!/bin/sh\necho \"$CNI_COMMAND $CNI_CONTAINERID $CNI_IFNAME\" >>/mnt/calls\n");
	/* It goes by records, of which there is none. */
	testing_file(CLAIMS "/pu/cu.result", 0600, "{");
}

START_TEST(the_end_of_a_claim_leaves_nothing)
{
	struct stat st;
	struct err e;

	begin();
	ck_assert_msg(ends(&e) == 0, "%s", e.msg);
	ck_assert(stat(CLAIMS "/pu", &st) != 0 && errno == ENOENT);
	ck_assert(stat("/mnt/cdi/railhead.io-claim_cu.json", &st) != 0 && errno == ENOENT);
	ck_assert(stat("/mnt/railhead/shown/cu", &st) != 0 && errno == ENOENT);
	ck_assert_int_eq(ends(&e), 0);
}
END_TEST

/* By hand, before it was attached: only the IPAM knows its addresses, by its UID. */
START_TEST(the_end_of_a_claim_whose_file_is_lost)
{
	struct stat st;
	struct err e;

	begin();
	ck_assert_int_eq(unlink(CLAIMS "/pu/cu.result"), 0);
	ck_assert_msg(ends(&e) == 0, "%s", e.msg);
	ck_assert(stat(CLAIMS "/pu", &st) != 0 && errno == ENOENT);
	ck_assert_int_eq(stat("/mnt/calls", &st), 0);
	/* Another claim of the pod was the last one there. */
	ck_assert_int_eq(unlink("/mnt/calls"), 0);
	ck_assert_msg(ends(&e) == 0, "%s", e.msg);
	ck_assert(stat("/mnt/calls", &st) == 0 && st.st_size == 8 * strlen("DEL cu claim0\n"));
}
END_TEST

/* The kubelet never asks again after a success: the addresses would be lost. */
START_TEST(a_claim_that_is_not_seen_is_not_ended)
{
	struct err e;

	begin();
	ck_assert(!testing_fail_syscall(SYS_openat, ENOENT, ends));
	ck_assert(!testing_fail_syscall(SYS_openat, EMFILE, ends));
	ck_assert(!testing_fail_syscall(SYS_getdents64, EIO, ends));
	ck_assert(!testing_fail_syscall(SYS_unlinkat, ENOENT, ends));
	ck_assert_int_eq(ends(&e), 0);
}
END_TEST

START_TEST(a_node_without_claims)
{
	struct err e;

	(void)testing_dir();
	ctx_init(&ctx, "test");
	ctx.run_dir = "/mnt/railhead";
	ck_assert_int_eq(ends(&e), 0);
}
END_TEST

#define CDI_FILE "/mnt/cdi/railhead.io-claim_cu.json"
START_TEST(the_CDI_file_of_an_attached_claim_is_written_again)
{
	static const char text[] =
		"{\"version\":1,\"pod\":{\"uid\":\"pu\",\"namespace\":\"ns\",\"name\":\"p\"},"
		"\"claim\":{\"uid\":\"cu\",\"namespace\":\"ns\",\"name\":\"c\"},\"networks\":[{"
		"\"name\":\"net\",\"type\":\"rails\",\"kind\":\"macvlan\",\"rails\":\"all\"}]}";
	const struct jobs_place place = { .ctx = &ctx, .node = "n", .bin = "/mnt/bin" };
	char note[256] = "";
	struct stat st;

	begin();
	ctx.etc_dir = "/mnt/etc";
	ck_assert_int_eq(mkdir("/mnt/etc", 0700) | mkdir(CLAIMS "/pu/pod", 0755), 0);
	testing_file("/mnt/etc/rails.json", 0600,
		     "{\"rails\":[{\"rail\":0,\"interface\":\"lo\"}]}");
	testing_file(CLAIMS "/pu/cu.json", 0600, text);
	job_restore(&place, note, sizeof(note));
	ck_assert(stat(CDI_FILE, &st) == 0 && st.st_size > 200);
	ck_assert_str_eq(note, "");
	testing_file("/mnt/etc/rails.json", 0600, "{");
	job_restore(&place, note, sizeof(note));
	ck_assert_msg(strstr(note, "the CDI file of claim ns/c: /mnt/etc/rails.json") == note, "%s",
		      note);
	/* Prepare may still be at work. */
	ck_assert_int_eq(unlink(CDI_FILE) | unlink(CLAIMS "/pu/cu.result"), 0);
	job_restore(&place, note, sizeof(note));
	ck_assert(access(CDI_FILE, F_OK) && errno == ENOENT);
}
END_TEST

TEST_PROGRAM("jobs", the_end_of_a_claim_leaves_nothing, the_end_of_a_claim_whose_file_is_lost,
	     a_claim_that_is_not_seen_is_not_ended, a_node_without_claims,
	     the_CDI_file_of_an_attached_claim_is_written_again)
