/* SPDX-License-Identifier: Apache-2.0 */
/* The RDMA device of a result: its keys, and whether it moved. */
#include "cni/protocol/result_rdma.h"

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static const struct rdma_chardevs two_files = {
	.uverbs = { "uverbs2", 231, 194 },
	.umad = { { "umad2", 231, 2 } },
};
static const struct rdma_chardevs no_files;

static void is(const struct result_rdma *r, const char *want)
{
	auto_json struct json *o = result_rdma_json(r);
	auto_free char *text = json_print(o, false);

	ck_assert_str_eq(text, want);
}

START_TEST(a_device_that_moved)
{
	is(&(struct result_rdma){ RDMA_EXCLUSIVE, "mlx5_2", 1, "0000:3b:02.1", NULL, &two_files },
	   "{\"mode\":\"exclusive\",\"device\":\"mlx5_2\",\"port\":1,\"pciID\":\"0000:3b:02.1\","
	   "\"charDevices\":[\"/dev/infiniband/uverbs2\",\"/dev/infiniband/umad2\","
	   "\"/dev/infiniband/rdma_cm\"]}");
}
END_TEST

START_TEST(a_shared_device_without_hardware)
{
	auto_json struct json *gids = json_new_array();

	ck_assert_int_eq(json_push_str(gids, "g"), 0);
	is(&(struct result_rdma){ RDMA_SHARED, "rxe0", 2, "", gids, &no_files },
	   "{\"mode\":\"shared\",\"device\":\"rxe0\",\"port\":2,\"gids\":[\"g\"],"
	   "\"charDevices\":[]}");
}
END_TEST

static int build(void *arg, struct err *e)
{
	const struct result_rdma r = {
		RDMA_EXCLUSIVE, "mlx5_2", 1, "0000:3b:02.1", NULL, &two_files
	};
	auto_json struct json *o = result_rdma_json(&r);

	(void)arg;
	return o ? 0 : err_nomem(e);
}

START_TEST(out_of_memory)
{
	ck_assert_str_eq(alloc_fail_each(build, NULL), "ok");
}
END_TEST

TEST_PROGRAM("cni/protocol/result_rdma", a_device_that_moved, a_shared_device_without_hardware,
	     out_of_memory)
