/* SPDX-License-Identifier: Apache-2.0 */
/* ip_test.c: shows which texts are addresses, prefixes and ranges, and how they compare. */
#include "lib/base/ip.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"

#define ROUNDS 200000

static struct ip ip(const char *s)
{
	struct ip a = { IP_NONE, 0 };

	ck_assert_msg(ip_parse(s, &a) == 0, "%s", s);
	return a;
}

static struct ip_prefix prefix(const char *s)
{
	struct ip_prefix p = { { IP_NONE, 0 }, 0 };

	ck_assert_msg(ip_parse_prefix(s, &p) == 0, "%s", s);
	return p;
}

static struct ip_range range(const char *s)
{
	struct ip_range r = { { IP_NONE, 0 }, { IP_NONE, 0 } };

	ck_assert_msg(ip_parse_range(s, &r) == 0, "%s", s);
	return r;
}

static const char *text(struct ip a)
{
	static char buf[8][IP_STR_LEN];
	static unsigned next;

	return ip_format(a, buf[next++ % 8]);
}

static u128 u(uint64_t high, uint64_t low)
{
	return (u128)high << 64 | low;
}

START_TEST(parse_v4)
{
	static const char *const bad[] = {
		"",         "1",          "1.2.3",     "1.2.3.4.5", "256.1.1.1",  "1.2.3.256",
		"01.2.3.4", "1.2.3.04",   "00.0.0.0",  "1.2.3.",    ".1.2.3",     "1..2.3",
		" 1.2.3.4", "1.2.3.4 ",   "1.2.3.4\n", "0x1.2.3.4", "+1.2.3.4",   "-1.2.3.4",
		"1.2.3.4/", "1.2.3.4/24", "1.2.3.4%1", "1,2,3,4",   "1000.1.1.1", "16909060",
		"1.2.3.4x", "localhost",
	};
	struct ip a = { IP_V6, 7 };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(ip_parse(bad[i], &a) == -1, "%s", bad[i]);
	ck_assert(a.family == IP_V6 && a.v == 7);
	a = ip("192.168.1.254");
	ck_assert(a.family == IP_V4 && a.v == 0xc0a801fe);
	ck_assert(ip("0.0.0.0").v == 0);
	ck_assert(ip("255.255.255.255").v == 0xffffffff);
}
END_TEST

START_TEST(parse_v6)
{
	static const char *const bad[] = {
		":",
		":::",
		"1",
		"1:2:3:4:5:6:7",
		"1:2:3:4:5:6:7:8:9",
		"1::2::3",
		"1:2:3:4::5:6:7:8",
		"::1:2:3:4:5:6:7:8",
		"12345::",
		"00001::",
		"g::",
		"::1%eth0",
		"fe80::1%2",
		"::1/64",
		"[::1]",
		" ::1",
		"::1 ",
		"1:2:3:4:5:6:7:",
		":1:2:3:4:5:6:7",
		"::1.2.3",
		"::1.2.3.4.5",
		"::256.1.1.1",
		"::01.2.3.4",
		"1:2:3:4:5:6:7:1.2.3.4",
		"::ffff:1.2.3.4:5",
		"2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff:1111:2222:3333:4444",
	};
	struct ip a = { IP_V4, 7 };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(ip_parse(bad[i], &a) == -1, "%s", bad[i]);
	ck_assert(a.family == IP_V4 && a.v == 7);
	a = ip("2001:DB8::5");
	ck_assert(a.family == IP_V6 && a.v == u(0x20010db800000000, 5));
	ck_assert(ip("::").v == 0 && ip("::").family == IP_V6);
	ck_assert(ip("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255").v == ~(u128)0);
	ck_assert(ip("::ffff:10.0.0.1").v == 0xffff0a000001);
	ck_assert(ip("::ffff:10.0.0.1").family == IP_V6);
}
END_TEST

/* RFC 5952 section by section */
START_TEST(addresses_are_written_in_the_short_form)
{
	static const char *const pairs[][2] = {
		{ "0.0.0.0", "0.0.0.0" },
		{ "255.255.255.255", "255.255.255.255" },
		{ "10.0.0.1", "10.0.0.1" },
		{ "0:0:0:0:0:0:0:0", "::" },
		{ "0:0:0:0:0:0:0:1", "::1" },
		{ "1:0:0:0:0:0:0:0", "1::" },
		{ "2001:0db8:0000::0001", "2001:db8::1" },
		{ "2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1" },
		{ "2001:0:0:1:0:0:0:1", "2001:0:0:1::1" },
		{ "2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1" },
		{ "1:2:3:4:5:6:0:0", "1:2:3:4:5:6::" },
		{ "1:2:3:4:5:6:7:0", "1:2:3:4:5:6:7:0" },
		{ "0:2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8" },
		{ "0:0:3:4:5:6:7:8", "::3:4:5:6:7:8" },
		{ "2001:DB8::ABCD:EF01", "2001:db8::abcd:ef01" },
		{ "::ffff:c0a8:101", "::ffff:192.168.1.1" },
		{ "::ffff:255.255.255.255", "::ffff:255.255.255.255" },
		{ "::1.2.3.4", "::102:304" },
		{ "::1:0", "::1:0" },
		{ "0:0:0:0:ffff:0:0:0", "::ffff:0:0:0" },
		{ "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		  "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff" },
	};
	char buf[IP_STR_LEN], pbuf[PREFIX_STR_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		ck_assert_ptr_eq(ip_format(ip(pairs[i][0]), buf), buf);
		ck_assert_str_eq(buf, pairs[i][1]);
	}
	ck_assert_str_eq(ip_format((struct ip){ IP_NONE, 5 }, buf), "");
	ck_assert_ptr_eq(ip_format_prefix(prefix("10.0.0.7/8"), pbuf), pbuf);
	ck_assert_str_eq(pbuf, "10.0.0.7/8");
	ck_assert_str_eq(
		ip_format_prefix(prefix("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128"), pbuf),
		"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128");
}
END_TEST

START_TEST(parse_prefixes)
{
	static const char *const bad[] = {
		"",
		"/",
		"/24",
		"10.0.0.0",
		"10.0.0.0/",
		"10.0.0.0/33",
		"10.0.0.0/-1",
		"10.0.0.0/08",
		"10.0.0.0/00",
		"10.0.0.0/ 8",
		"10.0.0.0/8/",
		"10.0.0.0/8 ",
		"10.0.0.0/8/8",
		"10.0.0.0/255.0.0.0",
		"::/129",
		"::/1000",
		"::/x",
		"10.0.0/8",
		"x/8",
	};
	struct ip_prefix p = { { IP_V4, 7 }, 3 };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(ip_parse_prefix(bad[i], &p) == -1, "%s", bad[i]);
	ck_assert(p.addr.v == 7 && p.len == 3);
	p = prefix("10.1.2.3/24");
	ck_assert(p.addr.v == 0x0a010203 && p.len == 24);
	ck_assert_uint_eq(prefix("0.0.0.0/0").len, 0);
	ck_assert_uint_eq(prefix("::/128").len, 128);
	p = prefix("::ffff:10.0.0.1/104");
	ck_assert(p.addr.family == IP_V6 && p.len == 104);
}
END_TEST

START_TEST(parse_ranges)
{
	static const char *const bad[] = {
		"",
		"-",
		"10.0.0.1-",
		"-10.0.0.1",
		"10.0.0.2-10.0.0.1",
		"10.0.0.1-::1",
		"::2-::1",
		"10.0.0.1-10.0.0.2-10.0.0.3",
		"10.0.0.0/33",
		"10.0.0.1 - 10.0.0.2",
		"10.0.0.1-10.0.0.2/24",
		"10.0.0.0/24-10.0.0.9",
		"::1-10.0.0.1",
		"10.0.0.1-5",
		"::1-ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.2555",
	};
	struct ip_range r = { { IP_V4, 7 }, { IP_V4, 8 } };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(ip_parse_range(bad[i], &r) == -1, "%s", bad[i]);
	ck_assert(r.first.v == 7 && r.last.v == 8);
	r = range("10.0.0.5");
	ck_assert(r.first.v == 0x0a000005 && r.last.v == 0x0a000005);
	r = range("10.0.0.5-10.0.1.0");
	ck_assert(r.first.v == 0x0a000005 && r.last.v == 0x0a000100);
	r = range("10.0.0.77/24");
	ck_assert(r.first.v == 0x0a000000 && r.last.v == 0x0a0000ff);
	r = range("::/0");
	ck_assert(r.first.v == 0 && r.last.v == ~(u128)0);
	r = range("0.0.0.0/0");
	ck_assert(r.first.v == 0 && r.last.v == 0xffffffff && r.last.family == IP_V4);
	r = range("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.254-"
		  "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255");
	ck_assert(r.first.v == ~(u128)0 - 1 && r.last.v == ~(u128)0);
}
END_TEST

START_TEST(masks_are_of_the_prefix_length)
{
	ck_assert_uint_eq(ip_bits(IP_V4), 32);
	ck_assert_uint_eq(ip_bits(IP_V6), 128);
	ck_assert_uint_eq(ip_bits(IP_NONE), 0);
	ck_assert(ip_mask(IP_V4, 0) == 0);
	ck_assert(ip_mask(IP_V4, 1) == 0x80000000);
	ck_assert(ip_mask(IP_V4, 24) == 0xffffff00);
	ck_assert(ip_mask(IP_V4, 32) == 0xffffffff);
	ck_assert(ip_mask(IP_V4, 33) == 0xffffffff);
	ck_assert(ip_mask(IP_V6, 0) == 0);
	ck_assert(ip_mask(IP_V6, 64) == u(UINT64_MAX, 0));
	ck_assert(ip_mask(IP_V6, 127) == ~(u128)1);
	ck_assert(ip_mask(IP_V6, 128) == ~(u128)0);
	ck_assert(ip_mask(IP_V6, 200) == ~(u128)0);
	ck_assert(ip_mask(IP_NONE, 8) == 0);
}
END_TEST

START_TEST(host_bits_are_cleared)
{
	static const char *const table[][3] = {
		{ "10.1.2.3/0", "0.0.0.0", "255.255.255.255" },
		{ "10.1.2.3/24", "10.1.2.0", "10.1.2.255" },
		{ "10.1.2.3/31", "10.1.2.2", "10.1.2.3" },
		{ "10.1.2.3/32", "10.1.2.3", "10.1.2.3" },
		{ "255.255.255.255/1", "128.0.0.0", "255.255.255.255" },
		{ "::/0", "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff" },
		{ "fd00::5/64", "fd00::", "fd00::ffff:ffff:ffff:ffff" },
		{ "fd00::5/63", "fd00::", "fd00::1:ffff:ffff:ffff:ffff" },
		{ "fd00::5/65", "fd00::", "fd00::7fff:ffff:ffff:ffff" },
		{ "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128",
		  "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		  "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		ck_assert_str_eq(text(ip_network(prefix(table[i][0]))), table[i][1]);
		ck_assert_str_eq(text(ip_last(prefix(table[i][0]))), table[i][2]);
	}
}
END_TEST

START_TEST(addresses_are_ordered_by_value)
{
	static const char *const sorted[] = { "0.0.0.0",
					      "0.0.0.1",
					      "127.255.255.255",
					      "128.0.0.0",
					      "255.255.255.255",
					      "::",
					      "::1",
					      "::ffff:0.0.0.0",
					      "0:0:0:1::",
					      "8000::",
					      "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff" };

	for (size_t i = 0; i < ARRAY_SIZE(sorted); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(sorted); k++) {
			int want = (i > k) - (i < k);

			ck_assert_int_eq(ip_cmp(ip(sorted[i]), ip(sorted[k])), want);
			ck_assert_int_eq(ip_equal(ip(sorted[i]), ip(sorted[k])), i == k);
		}
	}
}
END_TEST

START_TEST(prefix_membership)
{
	ck_assert(ip_same_network(prefix("10.0.0.5/24"), prefix("10.0.0.9/24")));
	ck_assert(!ip_same_network(prefix("10.0.0.5/24"), prefix("10.0.0.5/25")));
	ck_assert(!ip_same_network(prefix("10.0.0.5/24"), prefix("10.0.1.5/24")));
	ck_assert(!ip_same_network(prefix("0.0.0.0/0"), prefix("::/0")));
	ck_assert(ip_is_link_local(ip("fe80::5")) && ip_is_link_local(ip("febf::5")));
	ck_assert(!ip_is_link_local(ip("fec0::5")) && !ip_is_link_local(ip("169.254.0.1")));
	ck_assert(ip_in_prefix(prefix("10.0.0.5/24"), ip("10.0.0.0")));
	ck_assert(ip_in_prefix(prefix("10.0.0.5/24"), ip("10.0.0.255")));
	ck_assert(!ip_in_prefix(prefix("10.0.0.5/24"), ip("10.0.1.0")));
	ck_assert(!ip_in_prefix(prefix("10.0.0.5/24"), ip("9.255.255.255")));
	ck_assert(ip_in_prefix(prefix("0.0.0.0/0"), ip("255.255.255.255")));
	ck_assert(!ip_in_prefix(prefix("0.0.0.0/0"), ip("::")));
	ck_assert(ip_in_prefix(prefix("::/0"), ip("8000::")));
	ck_assert(ip_in_prefix(prefix("fd00::1/128"), ip("fd00::1")));
	ck_assert(!ip_in_prefix(prefix("fd00::1/128"), ip("fd00::2")));
}
END_TEST

START_TEST(bytes_round_trip)
{
	static const uint8_t v6[16] = { 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xab, 1 };
	uint8_t out[16];
	struct ip a = { IP_NONE, 3 };

	ck_assert_uint_eq(ip_to_bytes(ip("10.0.0.255"), out), 4);
	ck_assert_mem_eq(out, "\x0a\0\0\xff", 4);
	ck_assert_uint_eq(ip_to_bytes(ip("2001:db8::ab01"), out), 16);
	ck_assert_mem_eq(out, v6, 16);
	ck_assert_uint_eq(ip_to_bytes(a, out), 0);

	ck_assert_int_eq(ip_from_bytes(v6, 0, &a), -1);
	ck_assert_int_eq(ip_from_bytes(v6, 5, &a), -1);
	ck_assert_int_eq(ip_from_bytes(v6, 15, &a), -1);
	ck_assert_int_eq(ip_from_bytes(v6, 17, &a), -1);
	ck_assert(a.family == IP_NONE && a.v == 3);
	ck_assert_int_eq(ip_from_bytes(v6, 16, &a), 0);
	ck_assert(ip_equal(a, ip("2001:db8::ab01")));
	ck_assert_int_eq(ip_from_bytes((const uint8_t *)"\xff\0\0\1", 4, &a), 0);
	ck_assert(ip_equal(a, ip("255.0.0.1")));
}
END_TEST

/* ---- properties over pseudo-random values; RAILHEAD_SEED repeats a run with another seed ---- */

static uint64_t state;

static void seed_random(void)
{
	const char *s = getenv("RAILHEAD_SEED");

	state = s ? strtoull(s, NULL, 10) : 20261121;
	printf("seed %" PRIu64 "\n", state);
	(void)fflush(stdout);
}

/* splitmix64 */
static uint64_t next_random(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* An address in which groups of zeros and ones, which formats treat specially, are frequent. */
static struct ip random_ip(void)
{
	uint64_t how = next_random();
	u128 v = u(next_random(), next_random());

	if (how & 1)
		return (struct ip){ IP_V4, (uint32_t)v };
	for (int i = 0; i < 8; i++) {
		uint64_t what = how >> (8 + 4 * i) & 15;

		if (what < 7)
			v &= ~((u128)0xffff << 16 * i);
		else if (what < 9)
			v |= (u128)0xffff << 16 * i;
	}
	return (struct ip){ IP_V6, v };
}

/* glibc writes ::a:b as ::w.x.y.z, which RFC 5952 section 5 leaves to known prefixes. */
static bool as_glibc(struct ip a, const char *s)
{
	char buf[INET6_ADDRSTRLEN];
	uint8_t b[16];

	ip_to_bytes(a, b);
	if (a.family == IP_V6 && a.v >> 32 == 0)
		return true;
	return !strcmp(s, inet_ntop(a.family == IP_V4 ? AF_INET : AF_INET6, b, buf, sizeof(buf)));
}

START_TEST(text_round_trip)
{
	seed_random();
	for (int i = 0; i < ROUNDS; i++) {
		struct ip a = random_ip(), back = { IP_NONE, 0 };
		char s[IP_STR_LEN];
		uint8_t b[16];

		ip_format(a, s);
		if (ip_parse(s, &back) || !ip_equal(a, back))
			ck_abort_msg("%s does not come back", s);
		if (!as_glibc(a, s))
			ck_abort_msg("%s is not what inet_ntop() writes", s);
		if (ip_from_bytes(b, ip_to_bytes(a, b), &back) || !ip_equal(a, back))
			ck_abort_msg("the bytes of %s do not come back", s);
	}
}
END_TEST

START_TEST(prefix_properties)
{
	seed_random();
	for (int i = 0; i < ROUNDS; i++) {
		struct ip a = random_ip(), b = random_ip();
		struct ip_prefix p, back;
		struct ip_range r;
		char s[PREFIX_STR_LEN];

		p = (struct ip_prefix){ a, (uint8_t)(next_random() % (ip_bits(a.family) + 1)) };
		r = (struct ip_range){ ip_network(p), ip_last(p) };
		ip_format_prefix(p, s);
		if (ip_parse_prefix(s, &back) || !ip_equal(back.addr, a) || back.len != p.len)
			ck_abort_msg("%s does not come back", s);
		if (ip_cmp(r.first, a) > 0 || ip_cmp(a, r.last) > 0 || !ip_in_prefix(p, r.first) ||
		    !ip_in_prefix(p, r.last))
			ck_abort_msg("%s is not in its own network", s);
		if (ip_in_prefix(p, b) !=
		    (b.family == a.family && ip_cmp(r.first, b) <= 0 && ip_cmp(b, r.last) <= 0))
			ck_abort_msg("prefix and range of %s differ about %s", s, text(b));
		/* as many addresses as the length says; of /0 in IPv6 that is 0 modulo 2^128 */
		unsigned host = ip_bits(a.family) - p.len;
		if (r.last.v - r.first.v + 1 != (host == 128 ? 0 : (u128)1 << host))
			ck_abort_msg("%s has the wrong size", s);
	}
}
END_TEST

TEST_PROGRAM("ip", parse_v4, parse_v6, addresses_are_written_in_the_short_form, parse_prefixes,
	     parse_ranges, masks_are_of_the_prefix_length, host_bits_are_cleared,
	     addresses_are_ordered_by_value, prefix_membership, bytes_round_trip, text_round_trip,
	     prefix_properties)
