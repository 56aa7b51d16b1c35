/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_test.c: the index that NCCL takes in tables of real machines. */
#include "rdma/env/nccl.h"

#include "lib/testing/testing.h"
#include "rdma/testing/pod.h"

static uint32_t taken(const struct rdma_inventory *v, enum ip_family family, const char *range)
{
	struct nccl_rule r = { .family = family, .version = GID_ROCE_V2 };

	if (range) {
		ck_assert_int_eq(ip_parse_prefix(range, &r.range), 0);
		r.has_range = true;
	}
	return nccl_gid_index(&v->device[0].port[0], &r);
}

/* What a port has: version 1 or 2, address, interface; a NULL leaves a place free. */
static struct rdma_inventory table(const char *const *entries)
{
	struct rdma_inventory v = pod_new(RDMA_SHARED);
	struct inv_port *p = pod_port(&v, "mlx5_0", "", 0);

	for (uint32_t i = 0; strcmp(entries[i], "end") != 0; i++)
		if (*entries[i])
			pod_gid(p, i, entries[i][0] == '1' ? GID_ROCE_V1 : GID_ROCE_V2,
				entries[i] + 2, "net1");
	return v;
}
#define TABLE(...) table((const char *const[]){ __VA_ARGS__, "end" })

START_TEST(the_usual_table_of_a_VF_gives_its_RoCE_v2_index)
{
	auto_rdma_inventory struct rdma_inventory v =
		TABLE("1 fe80::1", "2 fe80::1", "1 10.0.0.5", "2 10.0.0.5");

	ck_assert_uint_eq(taken(&v, IP_V4, NULL), 3);
	ck_assert_uint_eq(taken(&v, IP_V4, "10.0.0.0/8"), 3);
	/* Link-local ones are no use: it stays where it began. */
	ck_assert_uint_eq(taken(&v, IP_V6, NULL), 0);
}
END_TEST

START_TEST(version_2_is_not_given_up)
{
	auto_rdma_inventory struct rdma_inventory v =
		TABLE("2 10.0.0.5", "1 10.0.0.5", "1 10.0.0.6");

	ck_assert_uint_eq(taken(&v, IP_V4, NULL), 0);
}
END_TEST

START_TEST(the_first_of_equals_wins)
{
	auto_rdma_inventory struct rdma_inventory v =
		TABLE("2 fe80::1", "2 10.0.0.9", "2 10.0.0.5", "2 10.0.1.7");

	ck_assert_uint_eq(taken(&v, IP_V4, NULL), 1);
	ck_assert_uint_eq(taken(&v, IP_V4, "10.0.0.5/32"), 2);
	ck_assert_uint_eq(taken(&v, IP_V4, "10.0.1.0/24"), 3);
	ck_assert_uint_eq(taken(&v, IP_V4, "10.0.0.4/30"), 2);
	/* Nothing in range. */
	ck_assert_uint_eq(taken(&v, IP_V4, "192.168.0.0/16"), 0);
}
END_TEST

START_TEST(index_0_is_held_whatever_the_range)
{
	auto_rdma_inventory struct rdma_inventory v = TABLE("2 10.9.9.9", "2 10.0.0.5");

	ck_assert_uint_eq(taken(&v, IP_V4, NULL), 0);
	ck_assert_uint_eq(taken(&v, IP_V4, "10.0.0.0/24"), 0);
}
END_TEST

START_TEST(free_places_are_of_IPv6)
{
	auto_rdma_inventory struct rdma_inventory v =
		TABLE("", "", "", "2 10.0.0.5", "", "2 fd00::5");
	auto_rdma_inventory struct rdma_inventory w = TABLE("2 10.0.0.5");

	ck_assert_uint_eq(taken(&v, IP_V4, NULL), 3);
	ck_assert_uint_eq(taken(&v, IP_V6, NULL), 5);
	ck_assert_uint_eq(taken(&v, IP_V6, "fd00::/64"), 5);
	/* From an IPv4 entry it goes over to the free place behind it. */
	ck_assert_uint_eq(taken(&w, IP_V6, NULL), 1);
}
END_TEST

START_TEST(a_global_address_beats_a_link_local_one)
{
	auto_rdma_inventory struct rdma_inventory v =
		TABLE("2 fe80::1", "2 fd00::5", "2 fd00:0:1::7");

	ck_assert_uint_eq(taken(&v, IP_V6, NULL), 1);
	ck_assert_uint_eq(taken(&v, IP_V6, "fd00:0:1::/48"), 2);
}
END_TEST

START_TEST(an_empty_table_has_no_index)
{
	auto_rdma_inventory struct rdma_inventory v = TABLE("");

	ck_assert_uint_eq(taken(&v, IP_V4, NULL), 0);
	ck_assert_ptr_null(inv_gid_at(&v.device[0].port[0], 0));
}
END_TEST

START_TEST(entries_are_found_by_index)
{
	auto_rdma_inventory struct rdma_inventory v =
		TABLE("2 fe80::1", "", "", "2 10.0.0.5", "", "2 10.0.0.6");
	const struct inv_port *p = &v.device[0].port[0];

	ck_assert_ptr_eq(inv_gid_at(p, 0), &p->gid[0]);
	ck_assert_ptr_eq(inv_gid_at(p, 3), &p->gid[1]);
	ck_assert_ptr_eq(inv_gid_at(p, 5), &p->gid[2]);
	ck_assert_ptr_null(inv_gid_at(p, 1));
	ck_assert_ptr_null(inv_gid_at(p, 6));
}
END_TEST

START_TEST(types_are_read_only_to_compare)
{
	auto_rdma_inventory struct rdma_inventory v =
		TABLE("2 fe80::1", "2 10.0.0.5", "2 10.0.0.9", "2 fd00::5");
	struct inv_port *p = &v.device[0].port[0];
	struct nccl_rule all = { .family = IP_V4, .version = GID_ROCE_V2 }, one = all;

	one.has_range = true;
	ck_assert_int_eq(ip_parse_prefix("10.0.0.5/32", &one.range), 0);
	ck_assert(!nccl_reads_unknown(p, &all));
	/* The other family is not compared, and neither is what is out of the range. */
	p->gid[3].entry.type = GID_UNKNOWN;
	ck_assert(!nccl_reads_unknown(p, &all));
	p->gid[2].entry.type = GID_UNKNOWN;
	ck_assert(nccl_reads_unknown(p, &all));
	ck_assert(!nccl_reads_unknown(p, &one));
	/* The first of its family is taken without a comparison. */
	p->gid[1] = p->gid[2];
	p->n_gids = 2;
	ck_assert(!nccl_reads_unknown(p, &all));
}
END_TEST

TEST_PROGRAM("nccl", types_are_read_only_to_compare,
	     the_usual_table_of_a_VF_gives_its_RoCE_v2_index, version_2_is_not_given_up,
	     the_first_of_equals_wins, index_0_is_held_whatever_the_range, free_places_are_of_IPv6,
	     a_global_address_beats_a_link_local_one, an_empty_table_has_no_index,
	     entries_are_found_by_index)
