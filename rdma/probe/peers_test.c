/* SPDX-License-Identifier: Apache-2.0 */
/* peers_test.c: the forms of a peer, and errors with their line. */
#include "rdma/probe/peers.h"

#include <stdio.h>

#include "lib/testing/testing.h"

static const char *reparsed(const char *text)
{
	static char out[PEER_TEXT_LEN];
	struct err e = { 0 };
	struct peer p;

	return peer_parse(text, PEERS_PORT, &p, &e) ? "refused" : peer_format(&p, out);
}

START_TEST(takes_addresses_with_and_without_a_port)
{
	ck_assert_str_eq(reparsed("10.0.0.1"), "10.0.0.1");
	ck_assert_str_eq(reparsed("10.0.0.1:7"), "10.0.0.1:7");
	ck_assert_str_eq(reparsed("10.0.0.1:18515"), "10.0.0.1");
	ck_assert_str_eq(reparsed("fd00::1"), "fd00::1");
	ck_assert_str_eq(reparsed("[fd00::1]"), "fd00::1");
	ck_assert_str_eq(reparsed("[fd00::1]:65535"), "[fd00::1]:65535");
}
END_TEST

START_TEST(refuses_what_is_no_address)
{
	static const char *const bad[] = {
		"",           "x",          "10.0.0.1:",  "10.0.0.1:0", "10.0.0.1:65536",
		"10.0.0",     "[fd00::1",   "[fd00::1]x", "[fd00::1]:", "[10.0.0.1]:y",
		"host:18515", "10.0.0.1/24"
	};
	char longer[200];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_str_eq(reparsed(bad[i]), "refused");
	memset(longer, '1', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	ck_assert_str_eq(reparsed(longer), "refused");
}
END_TEST

static int parse(const char *text, struct peers *out, struct err *e)
{
	return peers_parse(text, strlen(text), 99, out, e);
}

START_TEST(reads_a_list)
{
	struct peers p;
	struct err e = { 0 };

	ck_assert_int_eq(
		parse("# pods\n10.0.0.1\n\n \t10.0.0.2:5 # the second\r\n10.0.0.1\nfd00::3", &p,
		      &e),
		0);
	ck_assert_uint_eq(p.n, 3);
	ck_assert_uint_eq(p.list[0].port, 99);
	ck_assert_uint_eq(p.list[1].port, 5);
	ck_assert_int_eq(p.list[2].addr.family, IP_V6);
}
END_TEST

START_TEST(says_which_line_is_wrong)
{
	static struct peers p;
	struct err e = { 0 };
	auto_free char *many = malloc(16 * (PEERS_MAX + 2));
	size_t at = 0;

	ck_assert_int_eq(parse("10.0.0.1\nfoo\n", &p, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "line 2: \"foo\" is not an address"));
	ck_assert_int_eq(parse("10.0.0.1\n", &p, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "lists 1 peers"));
	ck_assert_int_eq(peers_parse("10.0.0.1\n10.\0.0.2\n", 18, 99, &p, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "line 2"));
	ck_assert_ptr_nonnull(many);
	for (unsigned i = 0; i <= PEERS_MAX; i++)
		at += (size_t)sprintf(many + at, "10.1.%u.%u\n", i / 256, i % 256);
	ck_assert_int_eq(parse(many, &p, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "line 513: more than 512 peers"));
}
END_TEST

TEST_PROGRAM("rdma/probe/peers", takes_addresses_with_and_without_a_port,
	     refuses_what_is_no_address, reads_a_list, says_which_line_is_wrong)
