/* SPDX-License-Identifier: Apache-2.0 */
/* ib_test.c: connections that need GIDs beside LIDs. */
#include "rdma/probe/ib.h"

#include "lib/testing/testing.h"

START_TEST(LIDs_are_enough_in_one_subnet)
{
	static const uint8_t a[16] = { 0xfe, 0x80, [15] = 1 }, b[16] = { 0xfe, 0x80, [15] = 2 },
			     other[16] = { 0xfe, 0x80, [7] = 1, [15] = 2 };
	struct ib_path p = { .own = a, .peer = b };

	ck_assert(!ib_needs_grh(&p));
	p.peer = other;
	ck_assert(ib_needs_grh(&p));
	p = (struct ib_path){ .own = a, .peer = b, .required = true };
	ck_assert(ib_needs_grh(&p));
	p = (struct ib_path){ .own = a, .peer = b, .asked = true };
	ck_assert(ib_needs_grh(&p));
}
END_TEST

TEST_PROGRAM("rdma/probe/ib", LIDs_are_enough_in_one_subnet)
