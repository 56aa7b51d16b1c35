/* SPDX-License-Identifier: Apache-2.0 */
/* peer_test.c: the forms of a peer. */
#include "rdma/probe/peer.h"

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

TEST_PROGRAM("rdma/probe/peer", takes_addresses_with_and_without_a_port, refuses_what_is_no_address)
