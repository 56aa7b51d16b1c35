/* SPDX-License-Identifier: Apache-2.0 */
/* gid_test.c: GIDs as text and addresses, and the search in tables with holes. */
#include "rdma/device/gid.h"

#include "lib/testing/testing.h"
#include "rdma/device/gid_priv.h"

static struct gid gid(const char *ip)
{
	struct ip a;

	ck_assert_int_eq(ip_parse(ip, &a), 0);
	return gid_of_ip(a);
}

START_TEST(gids_are_formatted_and_parsed)
{
	static const char *const bad[] = {
		"",
		"fe80",
		"fe80:0000:0000:0000:0e42:a1ff:fe16:054",
		"fe80:0000:0000:0000:0e42:a1ff:fe16:054c0",
		"fe80:0000:0000:0000:0e42:a1ff:fe16:054c:",
		"fe80:0000:0000:0000:0e42:a1ff:fe16-054c",
		"fe80:0000:0000:0000:0e42:a1ff:fe16:05 c",
		"fe8000:00:0000:0000:0e42:a1ff:fe16:054c",
		"fe80::0e42:a1ff:fe16:054c",
	};
	const char *good = "fe80:0000:0000:0000:0e42:a1ff:fe16:054c";
	char out[GID_STR_LEN];
	struct gid g;

	ck_assert_int_eq(gid_parse(good, &g), 0);
	ck_assert_uint_eq(g.raw[0], 0xfe);
	ck_assert_uint_eq(g.raw[15], 0x4c);
	ck_assert_str_eq(gid_format(&g, out), good);
	ck_assert_int_eq(gid_parse("FE80:0000:0000:0000:0E42:A1FF:FE16:054C", &g), 0);
	ck_assert_str_eq(gid_format(&g, out), good);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_int_eq(gid_parse(bad[i], &g), -1);
		ck_assert_str_eq(gid_format(&g, out), good);
	}
}
END_TEST

START_TEST(gids_of_addresses)
{
	char out[GID_STR_LEN], ip[IP_STR_LEN];
	struct gid v4 = gid("10.0.1.2"), v6 = gid("fd00::1:2"), none = { { 0 } };

	ck_assert_str_eq(gid_format(&v4, out), "0000:0000:0000:0000:0000:ffff:0a00:0102");
	ck_assert_str_eq(gid_format(&v6, out), "fd00:0000:0000:0000:0000:0000:0001:0002");
	ck_assert_str_eq(ip_format(gid_to_ip(&v4), ip), "10.0.1.2");
	ck_assert_int_eq(gid_to_ip(&v4).family, IP_V4);
	ck_assert_str_eq(ip_format(gid_to_ip(&v6), ip), "fd00::1:2");
	ck_assert_int_eq(gid_to_ip(&none).family, IP_NONE);
	ck_assert(gid_is_zero(&none) && !gid_is_zero(&v4));
	ck_assert(gid_equal(&v4, &v4) && !gid_equal(&v4, &v6));
	v4 = gid_of_ip((struct ip){ .family = IP_NONE });
	ck_assert(gid_is_zero(&v4));
}
END_TEST

START_TEST(gid_types_have_names)
{
	ck_assert_int_eq(gid_type_parse("RoCE v2", true), GID_ROCE_V2);
	ck_assert_int_eq(gid_type_parse("IB/RoCE v1", true), GID_ROCE_V1);
	ck_assert_int_eq(gid_type_parse("IB/RoCE v1", false), GID_IB);
	ck_assert_int_eq(gid_type_parse("RoCE v3", true), GID_UNKNOWN);
	ck_assert_str_eq(gid_type_name(GID_ROCE_V2), "RoCE v2");
	ck_assert_str_eq(gid_type_name(GID_IB), "IB");
}
END_TEST

/* ---- the search ---- */

struct fake {
	uint32_t len;            /* of the table */
	bool taken[1024];        /* by the address 10.0.0.0 plus its index */
	struct gid_entry at;     /* but at this index there is this one */
	struct gid_entry second; /* and this one, if its type is known */
	unsigned reads;
	int fail; /* at this read; 0: never */
};

static int fake_read(void *arg, uint32_t i, struct gid *out, enum gid_place *place, struct err *e)
{
	struct fake *f = arg;

	if (++f->reads == (unsigned)f->fail)
		return err_set(e, ERR_IO, 0, "the test");
	if (i >= f->len) {
		*place = GID_END;
		return 0;
	}
	*place = f->taken[i] ? GID_TAKEN : GID_FREE;
	*out = gid_of_ip((struct ip){ IP_V4, 0x0a000000 + i });
	if (f->at.type && i == f->at.index)
		*out = f->at.gid;
	if (f->second.type && i == f->second.index)
		*out = f->second.gid;
	return 0;
}

static int fake_describe(void *arg, struct gid_entry *out, struct err *e)
{
	struct fake *f = arg;
	uint32_t i = out->index;

	(void)e;
	*out = f->second.type && i == f->second.index ? f->second : f->at;
	ck_assert_uint_eq(out->index, i);
	return 0;
}

static struct gid_look find(struct fake *f, const char *netdev)
{
	const struct gid_source s = { fake_read, fake_describe, f };
	const struct gid_want want = { gid("192.0.2.1"), GID_ROCE_V2, netdev };
	struct gid_look look;
	struct err e = { 0 };

	f->reads = 0;
	ck_assert_msg(gid_search(&s, &want, &look, &e) == 0, "%s", e.msg);
	return look;
}

static void place(struct fake *f, struct gid_entry *slot, uint32_t index, enum gid_type type,
		  const char *netdev)
{
	*slot = (struct gid_entry){ .index = index, .gid = gid("192.0.2.1"), .type = type };
	strncpy(slot->netdev, netdev, sizeof(slot->netdev) - 1);
	f->taken[index] = true;
}

/* Every length up to 36, every place, with and without a hole before and after it. */
START_TEST(a_gid_is_found_at_any_index)
{
	for (uint32_t n = 1; n <= 36; n++) {
		for (uint32_t at = 0; at < n; at++) {
			for (uint32_t hole = 0; hole <= n; hole++) {
				struct fake f = { .len = 44 };

				memset(f.taken, true, n);
				f.taken[hole] = false;
				place(&f, &f.at, at, GID_ROCE_V2, "net1");
				struct gid_look look = find(&f, "net1");
				ck_assert_int_eq(look.found, GID_THERE);
				ck_assert_uint_eq(look.entry.index, at);
			}
		}
	}
}
END_TEST

START_TEST(a_missing_gid_is_not_found)
{
	static const uint32_t lengths[] = { 1, 2, 3, 16, 255, 256, 1024 };

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct fake f = { .len = lengths[i] };

		ck_assert_int_eq(find(&f, NULL).found, GID_MISSING);
		memset(f.taken, true, lengths[i]);
		ck_assert_int_eq(find(&f, NULL).found, GID_MISSING);
		ck_assert_uint_le(f.reads, lengths[i] + 70);
	}
}
END_TEST

/*
 * The newest is the last one: the usual search reads little, however full the table is, and
 * although places at the beginning are kept free, and pods of the middle have ended.
 */
START_TEST(the_newest_gid_is_found_with_few_reads)
{
	for (uint32_t n = 4; n <= 1020; n += n < 64 ? 1 : 7) {
		struct fake f = { .len = 1024 };

		memset(f.taken, true, n);
		f.taken[0] = f.taken[1] = false;
		for (uint32_t i = 8; i < n; i += 8)
			f.taken[i] = f.taken[i + 1] = false;
		place(&f, &f.at, n - 1, GID_ROCE_V2, "net1");
		ck_assert_int_eq(find(&f, "net1").found, GID_THERE);
		ck_assert_uint_le(f.reads, 70);
	}
}
END_TEST

START_TEST(other_types_and_interfaces_do_not_match)
{
	struct fake f = { .len = 16 };

	memset(f.taken, true, 8);
	place(&f, &f.at, 3, GID_ROCE_V1, "net1");
	ck_assert_int_eq(find(&f, "net1").found, GID_OTHER);
	ck_assert_int_eq(find(&f, "net1").entry.type, GID_ROCE_V1);
	place(&f, &f.second, 5, GID_ROCE_V2, "net7");
	ck_assert_int_eq(find(&f, "net1").found, GID_OTHER);
	ck_assert_str_eq(find(&f, "net1").entry.netdev, "net7");
	ck_assert_int_eq(find(&f, NULL).found, GID_THERE);
	/* Both kinds of others, and then itself. */
	place(&f, &f.at, 3, GID_ROCE_V2, "net1");
	ck_assert_int_eq(find(&f, "net1").found, GID_THERE);
	ck_assert_uint_eq(find(&f, "net1").entry.index, 3);
	/* Where the kernel does not name the interface, the address has to do. */
	place(&f, &f.at, 3, GID_ROCE_V2, "");
	ck_assert_uint_eq(find(&f, "net1").entry.index, 3);
}
END_TEST

START_TEST(each_failing_read)
{
	struct fake f = { .len = 40 };
	const struct gid_source s = { fake_read, fake_describe, &f };
	const struct gid_want want = { gid("192.0.2.1"), GID_ROCE_V2, NULL };
	struct gid_look look = { .entry = { .index = 77 } };
	struct err e;
	int n;

	memset(f.taken, true, 20);
	(void)find(&f, NULL);
	n = (int)f.reads;
	ck_assert_int_gt(n, 40);
	for (f.fail = 1; f.fail <= n; f.fail++) {
		f.reads = 0;
		ck_assert_int_eq(gid_search(&s, &want, &look, &e), -1);
		ck_assert_str_eq(e.msg, "the test");
		ck_assert_uint_eq(look.entry.index, 77);
	}
}
END_TEST

TEST_PROGRAM("gid", gids_are_formatted_and_parsed, gids_of_addresses, gid_types_have_names,
	     a_gid_is_found_at_any_index, a_missing_gid_is_not_found,
	     the_newest_gid_is_found_with_few_reads, other_types_and_interfaces_do_not_match,
	     each_failing_read)
