/* SPDX-License-Identifier: Apache-2.0 */
/* hca_list_test.c: lists as people write them, and the ports that NCCL uses with them. */
#include "lib/rdma/hca_list.h"

#include "lib/testing/testing.h"

START_TEST(a_list_selects_ports)
{
	static const struct {
		const char *list, *device;
		uint32_t port;
		bool selected;
	} all[] = {
		{ "", "mlx5_1", 1, true },
		{ "mlx5_1", "mlx5_1", 1, true },
		{ "mlx5_1", "mlx5_10", 1, true },
		{ "=mlx5_1", "mlx5_10", 1, false },
		{ "=mlx5_1", "mlx5_1", 2, true },
		{ "=mlx5_1:1", "mlx5_1", 2, false },
		{ "=mlx5_1:2", "mlx5_1", 2, true },
		{ "=mlx5_0,mlx5_1", "mlx5_1", 1, true },
		{ "=mlx5_0,mlx5_1", "mlx5_2", 1, false },
		{ "^mlx5_1", "mlx5_10", 1, false },
		{ "^mlx5_1", "mlx5_2", 1, true },
		{ "^=mlx5_1", "mlx5_10", 1, true },
		{ "^=mlx5_1", "mlx5_1", 1, false },
		{ "mlx5_1:1:0:1", "mlx5_1", 1, true },
		{ "=mlx5_1:2:0:1", "mlx5_1", 1, false },
		{ "=mlx5_1:2:0:1", "mlx5_1", 2, true },
		{ "=mlx5_1:1:0:1", "mlx5_10", 1, false },
		{ "=mlx5_0:1:0,mlx5_1:1:1", "mlx5_1", 1, true },
		/* no port, but a rail: each port has it */
		{ "=mlx5_1::3:1", "mlx5_1", 2, true },
		{ "=mlx5_1:", "mlx5_1", 2, true },
		{ "^=mlx5_1::3", "mlx5_1", 2, false },
		{ "=mlx5_1::3", "mlx5_2", 1, false },
		{ "=mlx5_1:port", "mlx5_1", 1, false },
		{ "=::3:1,mlx5_1", "mlx5_2", 1, false },
		{ "=", "mlx5_1", 1, true },
		{ "^", "mlx5_1", 1, false },
		{ "^=", "mlx5_1", 1, false },
		{ "^,", "mlx5_1", 1, false },
		{ "=mlx5_1:-1", "mlx5_1", 2, true },
		{ "^=mlx5_1:-1", "mlx5_1", 2, false },
		{ ",,:1", "mlx5_1", 1, true },
		{ "mlx5", "mlx5_bond_0", 1, true },
		{ "rdma", "mlx5_0", 1, false },
		{ "=mlx5_1:2", "mlx5_1", HCA_PORT_UNKNOWN, true },
		{ "^=mlx5_1:2", "mlx5_1", HCA_PORT_UNKNOWN, false },
		{ "=mlx5_1:2", "mlx5_10", HCA_PORT_UNKNOWN, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		ck_assert_msg(hca_list_selects(all[i].list, all[i].device, all[i].port) ==
				      all[i].selected,
			      "%s: %s:%u", all[i].list, all[i].device, all[i].port);
}
END_TEST

START_TEST(entries_after_the_32nd_do_not_count)
{
	char list[33 * 3 + 8] = "=";

	for (unsigned i = 0; i < 31; i++)
		(void)strcat(list, "x,");
	(void)strcat(list, "a,b");
	ck_assert(hca_list_selects(list, "a", 1));
	ck_assert(!hca_list_selects(list, "b", 1));
}
END_TEST

START_TEST(a_rail_is_that_of_the_first_entry)
{
	static const struct {
		const char *list, *device;
		uint32_t port;
		int rail;
	} all[] = {
		{ "=a:1:3,b:1:4:0", "a", 1, 3 },
		{ "=a:1:3,b:1:4:0", "b", 1, 4 },
		{ "=a:1:3", "a", 2, -1 },
		{ "=a:1:3", "a", HCA_PORT_UNKNOWN, 3 },
		{ "a:1:3,a0:1:5", "a0", 1, 3 },
		{ "=a::2", "a", 7, 2 },
		{ "=a:1", "a", 1, -1 },
		{ "=a:1:", "a", 1, -1 },
		{ "=a:1::2", "a", 1, -1 },
		{ "^=a:1:3", "a", 1, -1 },
		{ "", "a", 1, -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		ck_assert_msg(hca_list_rail(all[i].list, all[i].device, all[i].port) == all[i].rail,
			      "%s: %s:%u", all[i].list, all[i].device, all[i].port);
}
END_TEST

TEST_PROGRAM("hca_list", a_list_selects_ports, entries_after_the_32nd_do_not_count,
	     a_rail_is_that_of_the_first_entry)
