/* SPDX-License-Identifier: Apache-2.0 */
/* verbs_direct_test.c: the answers of libmlx5 about Data Direct, and what they mean. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "rdma/probe/verbs_priv.h"

/* The answer of the test's libmlx5. */
static struct {
	bool mlx5;
	int rc;
	const char *path;
	struct ibv_device *asked;
} lib;

static bool is_supported(struct ibv_device *device)
{
	lib.asked = device;
	return lib.mlx5;
}

static int path_of(struct ibv_context *ctx, char *buf, size_t len)
{
	(void)ctx;
	(void)snprintf(buf, len, "%s", lib.path);
	return lib.rc;
}

static struct verbs_direct ask(const struct verbs_mlx5 *calls)
{
	struct ibv_device device = { 0 };
	struct ibv_context ctx = { .device = &device };
	struct verbs_direct out;

	verbs_ask_direct(calls, &ctx, &out);
	ck_assert(!calls->is_supported || lib.asked == &device);
	ck_assert_int_eq(out.answer == VERBS_YES, *out.bdf != 0);
	ck_assert_int_eq(out.answer == VERBS_YES, out.why == NULL);
	return out;
}

START_TEST(libmlx5_tells_the_function)
{
	static const struct verbs_mlx5 calls = { is_supported, path_of };
	static const struct {
		bool mlx5;
		int rc;
		const char *path;
		enum verbs_answer answer;
		const char *text;
	} cases[] = {
		{ true, 0, "/devices/pci0008:00/0008:00:00.0/0008:06:00.0", VERBS_YES,
		  "0008:06:00.0" },
		{ true, 0, "/devices/platform/x/10002:01:00.1", VERBS_YES, "10002:01:00.1" },
		{ true, 0, "", VERBS_NOT_KNOWN, "names no PCI function" },
		{ true, 0, "/devices/virtual/net", VERBS_NOT_KNOWN, "names no PCI function" },
		{ true, ENODEV, "", VERBS_NO, "the card has no such function" },
		{ true, EOPNOTSUPP, "", VERBS_NO, "the kernel has no such call" },
		{ true, EPROTONOSUPPORT, "", VERBS_NO, "the kernel has no such call" },
		{ true, ENOSPC, "/x/0008:06:00.0", VERBS_NOT_KNOWN, "No space left on device" },
		{ false, 0, "/x/0008:06:00.0", VERBS_NO, "not a device of mlx5" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		lib.mlx5 = cases[i].mlx5;
		lib.rc = cases[i].rc;
		lib.path = cases[i].path;
		struct verbs_direct d = ask(&calls);
		ck_assert_int_eq(d.answer, cases[i].answer);
		ck_assert_ptr_nonnull(strstr(d.why ? d.why : d.bdf, cases[i].text));
	}
}
END_TEST

/* Without libmlx5 no device is mlx5's: libibverbs would not show it. */
START_TEST(an_older_libmlx5_leaves_it_unknown)
{
	static const struct verbs_mlx5 none = { NULL, NULL }, older = { is_supported, NULL };

	lib.mlx5 = true;
	ck_assert_int_eq(ask(&none).answer, VERBS_NO);
	ck_assert_int_eq(ask(&older).answer, VERBS_NOT_KNOWN);
	lib.mlx5 = false;
	ck_assert_int_eq(ask(&older).answer, VERBS_NO);
}
END_TEST

/* This machine's library, whatever its version: the calls are of one library, or none is there. */
START_TEST(the_library_of_this_machine_loads)
{
	struct verbs_mlx5 calls;

	verbs_mlx5_load(&calls);
	ck_assert(calls.is_supported || !calls.path);
}
END_TEST

TEST_PROGRAM("verbs_direct", libmlx5_tells_the_function, an_older_libmlx5_leaves_it_unknown,
	     the_library_of_this_machine_loads)
