/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters_test.c: the names of each driver, counters that are missing, and counters that
 * restarted.
 */
#include "rdma/device/counters.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"

#define PORT "class/infiniband/mlx5_0/ports/1/"

static void put(const char *dir, const char *path, const char *text)
{
	char full[256];

	(void)snprintf(full, sizeof(full), "%s/%s", dir, path);
	for (char *slash = full + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		ck_assert(mkdir(full, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	testing_file(full, 0644, text);
}

static struct port_counters of(const char *dir, const char *netdev)
{
	const struct counters_of what = { dir, "mlx5_0", 1, netdev };
	struct port_counters c;
	struct err e = { 0 };

	ck_assert_int_eq(counters_read(&what, &c, &e), 0);
	return c;
}

START_TEST(missing_counters_are_unknown)
{
	const char *dir = testing_dir();

	ck_assert_uint_eq(of(dir, "net1").known, 0);
	put(dir, PORT "hw_counters/out_of_sequence", "many\n");
	ck_assert_uint_eq(of(dir, "net1").known, 0);
	put(dir, PORT "hw_counters/out_of_sequence", "0\n");
	ck_assert_uint_eq(of(dir, "net1").known, 1u << COUNT_SEQUENCE);
}
END_TEST

START_TEST(counters_of_one_kind_are_added_up)
{
	const char *dir = testing_dir();

	put(dir, PORT "hw_counters/local_ack_timeout_err", "3\n");
	put(dir, PORT "hw_counters/packet_seq_err", "40\n");
	put(dir, PORT "hw_counters/np_cnp_sent", "5\n");
	put(dir, PORT "hw_counters/rp_cnp_handled", "18446744073709551615\n");

	struct port_counters c = of(dir, "");

	ck_assert_uint_eq(c.value[COUNT_RETRY], 43);
	ck_assert_uint_eq(c.value[COUNT_CNP_SENT], 5);
	ck_assert_uint_eq(c.value[COUNT_CNP_HEARD], UINT64_MAX);
	ck_assert(!counters_have(&c, COUNT_SEQUENCE) && !counters_have(&c, COUNT_LINK_DOWN));
	ck_assert(!counters_have(&c, COUNT_LINK_ERROR) && counters_are_seen(&c));
	put(dir, PORT "counters/symbol_error", "2\n");
	put(dir, PORT "counters/link_error_recovery", "30\n");
	put(dir, PORT "counters/local_link_integrity_errors", "400\n");
	put(dir, PORT "counters/port_rcv_errors", "5000\n");
	put(dir, PORT "hw_counters/rx_icrc_encapsulated", "60000\n");
	ck_assert_uint_eq(of(dir, "").value[COUNT_LINK_ERROR], 65432);
}
END_TEST

/* The port's counter of a RoCE driver may stand at 0 for ever. */
START_TEST(the_interface_knows_when_its_link_went_down)
{
	const char *dir = testing_dir();

	put(dir, PORT "counters/link_downed", "7\n");
	ck_assert_uint_eq(of(dir, "").value[COUNT_LINK_DOWN], 7);
	ck_assert_uint_eq(of(dir, "net1").value[COUNT_LINK_DOWN], 7);
	put(dir, "class/net/net1/carrier_down_count", "2\n");
	ck_assert_uint_eq(of(dir, "net1").value[COUNT_LINK_DOWN], 2);
}
END_TEST

START_TEST(pauses_are_those_of_all_priorities)
{
	struct dcb_info dcb = { .pauses_sent = { 9 } };
	struct port_counters c = { 0 };

	counters_add_pauses(&dcb, &c);
	ck_assert_uint_eq(c.known, 0);
	dcb = (struct dcb_info){ .has_pauses = true,
				 .pauses_sent = { [3] = 1, [7] = 2 },
				 .pauses_heard = { [0] = 10, [4] = 20 } };
	counters_add_pauses(&dcb, &c);
	ck_assert(counters_have(&c, COUNT_PAUSE_SENT) && counters_have(&c, COUNT_PAUSE_HEARD));
	ck_assert_uint_eq(c.value[COUNT_PAUSE_SENT], 3);
	ck_assert_uint_eq(c.value[COUNT_PAUSE_HEARD], 30);
}
END_TEST

START_TEST(a_counter_that_was_reset)
{
	struct port_counters first = { .known = 1, .value = { 10 } },
			     last = { .known = 1, .value = { 14 } };

	ck_assert_uint_eq(counters_moved(&first, &last, COUNT_RETRY), 4);
	last.value[COUNT_RETRY] = 3;
	ck_assert_uint_eq(counters_moved(&first, &last, COUNT_RETRY), 3);
}
END_TEST

static int read_all(void *arg, struct err *e)
{
	const struct counters_of what = { arg, "mlx5_0", 1, "net1" };
	struct port_counters c;

	return counters_read(&what, &c, e);
}

START_TEST(allocations_may_fail)
{
	char *dir = (char *)(uintptr_t)testing_dir();

	put(dir, PORT "hw_counters/out_of_sequence", "1\n");
	ck_assert_str_eq(alloc_fail_each(read_all, dir), "ok");
}
END_TEST

TEST_PROGRAM("counters", missing_counters_are_unknown, counters_of_one_kind_are_added_up,
	     the_interface_knows_when_its_link_went_down, pauses_are_those_of_all_priorities,
	     a_counter_that_was_reset, allocations_may_fail)
