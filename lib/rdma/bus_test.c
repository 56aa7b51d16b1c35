/* SPDX-License-Identifier: Apache-2.0 */
/* bus_test.c: shows which texts are bus addresses, and how character devices are compared. */
#include "lib/rdma/bus.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"

START_TEST(bus_addresses_are_checked)
{
	static const char *const good[] = { "0000:3b:02.5", "10000:01:00.0", "mlx5_core.sf.2",
					    "ice.roce.0" };
	static const char *const bad[] = { "",      "17",     "virtio0",   "0000:3b:02.8",
					   "a..1",  "../x.1", ".sf.1",     "mlx5_core.sf.",
					   "a b.1", "x/y.1",  "mlx5_core", "mlx5_core.sf.2x",
					   ".1" };
	char longest[BUS_ADDR_LEN + 1];

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		ck_assert_msg(bus_addr_valid(good[i]), "%s", good[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(!bus_addr_valid(bad[i]), "%s", bad[i]);
	memset(longest, 'a', sizeof(longest));
	memcpy(longest + BUS_ADDR_LEN - 2, ".1", 3);
	ck_assert(!bus_addr_valid(longest));
	ck_assert(bus_addr_valid(longest + 1));
}
END_TEST

START_TEST(chardevs_that_differ_are_named)
{
	struct rdma_chardevs a = { .uverbs = { "uverbs1", 231, 193 } }, b = a;
	char text[128] = "as it was";

	a.umad[0] = b.umad[0] = (struct rdma_chardev){ "umad1", 231, 1 };
	ck_assert(!rdma_chardevs_differ(&a, &b, text, sizeof(text)));
	ck_assert_str_eq(text, "as it was");
	b.umad[0].minor = 2;
	ck_assert(rdma_chardevs_differ(&a, &b, text, sizeof(text)));
	ck_assert_str_eq(text, "umad1 was 231:1, is umad1 231:2");
	b.umad[0] = (struct rdma_chardev){ .name = "" };
	ck_assert(rdma_chardevs_differ(&a, &b, text, sizeof(text)));
	ck_assert_str_eq(text, "umad1 has gone");
	ck_assert(rdma_chardevs_differ(&b, &a, text, sizeof(text)));
	ck_assert_str_eq(text, "umad1 is new");
	ck_assert_str_eq(rdma_chardev_text(&a.uverbs, text, sizeof(text)), "uverbs1 231:193");
	ck_assert_str_eq(rdma_chardev_text(&b.umad[0], text, sizeof(text)), "");
}
END_TEST

TEST_PROGRAM("rdma/bus", bus_addresses_are_checked, chardevs_that_differ_are_named)
