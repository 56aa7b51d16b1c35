/* SPDX-License-Identifier: Apache-2.0 */
/* key_test.c: keys and their order, long names, and scopes. */
#include "ipam/store/key.h"

#include <stdio.h>

#include "lib/testing/testing.h"

static struct ip ip(const char *s)
{
	struct ip a;

	ck_assert_int_eq(ip_parse(s, &a), 0);
	return a;
}

START_TEST(address_keys_round_trip)
{
	struct key k;
	struct key_address a;

	key_of_address(&k, "p/rail0", ip("10.1.2.3"));
	ck_assert_str_eq(k.s, "a/p/rail0/4/0a010203");
	ck_assert_int_eq(key_parse_address(k.s, &a), 0);
	ck_assert_str_eq(a.scope, "p/rail0");
	ck_assert(ip_equal(a.ip, ip("10.1.2.3")));
	key_of_address(&k, "w/", ip("fd00::1"));
	ck_assert_str_eq(k.s, "a/w//6/fd000000000000000000000000000001");
	ck_assert_int_eq(key_parse_address(k.s, &a), 0);
	ck_assert_str_eq(a.scope, "w/");
	ck_assert(ip_equal(a.ip, ip("fd00::1")));
	key_of_addresses(&k, "n/net", IP_V6);
	ck_assert_str_eq(k.s, "a/n/net/6/");
	key_of_addresses(&k, "n/net", IP_V4);
	ck_assert_str_eq(k.s, "a/n/net/4/");
}
END_TEST

START_TEST(key_order_is_address_order)
{
	static const char *const rising[] = { "0.0.0.0",   "9.255.255.255", "10.0.0.2",
					      "10.0.0.10", "200.0.0.1",     "::",
					      "::a",       "fd00::1" };
	struct key a, b;

	for (size_t i = 1; i < ARRAY_SIZE(rising); i++) {
		key_of_address(&a, "n/x", ip(rising[i - 1]));
		key_of_address(&b, "n/x", ip(rising[i]));
		ck_assert_str_lt(a.s, b.s);
	}
}
END_TEST

START_TEST(owner_keys_round_trip)
{
	struct key k, prefix;
	struct key_owner o;

	key_of_owner(&k, "c1", "net1", "my.net");
	ck_assert_str_eq(k.s, "o/c1/net1/my.net");
	key_of_container(&prefix, "c1");
	ck_assert_str_eq(prefix.s, "o/c1/");
	key_of_owner(&k, "c1", "a%b\xc3\xa9", "n");
	ck_assert_str_eq(k.s, "o/c1/a%25b%c3%a9/n");
	ck_assert_int_eq(key_parse_owner(k.s, &o), 0);
	ck_assert_str_eq(o.container, "c1");
	ck_assert_str_eq(o.ifname, "a%b\xc3\xa9");
	ck_assert_str_eq(o.network, "n");
	/* found by fuzzing: the parts before the malformed one had been filled in */
	ck_assert_int_eq(key_parse_owner("o/other/eth0/%", &o), -1);
	ck_assert_str_eq(o.container, "c1");
}
END_TEST

START_TEST(rest_keys_round_trip)
{
	char source[KEY_ID_LEN + 1];
	struct ip a = ip("10.0.0.9");
	struct key_address out;
	struct key k, early;
	int64_t since;

	key_of_rest(&k, "p/x", "0123456789abcdef", 0x1234, &a);
	ck_assert_str_eq(k.s, "r/p/x/0123456789abcdef/0000000000001234/4/0a000009");
	ck_assert_int_eq(key_parse_rest(k.s, &out, source, &since), 0);
	ck_assert_str_eq(out.scope, "p/x");
	ck_assert_str_eq(source, "0123456789abcdef");
	ck_assert_int_eq(since, 0x1234);
	ck_assert(ip_equal(out.ip, a));
	key_of_rest(&early, "p/x", "0123456789abcdef", 0x1234, NULL);
	ck_assert_str_lt(early.s, k.s);
	key_of_rest(&early, "p/x", "0123456789abcdef", -5, NULL);
	ck_assert_str_eq(early.s, "r/p/x/0123456789abcdef/0000000000000000/");
	key_of_rests(&early, "p/x", "id");
	ck_assert_str_eq(early.s, "r/p/x/id/");
	ck_assert_int_eq(
		key_parse_rest("r/x/other/0000000000000001/4/0a000009", &out, source, &since), -1);
	ck_assert_str_eq(source, "0123456789abcdef"); /* left alone: the scope is none */
	/* a lease that verify adopted has no source */
	key_of_rest(&k, "p/x", "", 1, &a);
	ck_assert_int_eq(key_parse_rest(k.s, &out, source, &since), 0);
	ck_assert_str_eq(source, "");
}
END_TEST

START_TEST(other_keys_have_their_form)
{
	struct key k;

	key_of_sticky(&k, "p/x", (const char *const[]){ "ns", "pod-0", "net1" });
	ck_assert_str_eq(k.s, "s/p/x/ns/pod-0/net1");
	key_of_usage(&k, "p/x", "id");
	ck_assert_str_eq(k.s, "u/p/x/id");
	key_of_quota(&k, "p/x", "a/b");
	ck_assert_str_eq(k.s, "q/p/x/a%2fb");
	key_of_pool(&k, "rail0");
	ck_assert_str_eq(k.s, "d/rail0");
}
END_TEST

START_TEST(block_keys_round_trip)
{
	static const char *const bad[] = {
		"f/p/x/0000000000000003/8000000000000000/4/0a010010",
		"f/p/x/3/0000000000000000/4/0a010010",
		"f/p/x/0000000000000003/0/4/0a010010",
		"f/p/x/0000000000000003/0000000000000000/4/0a01",
		"f/0000000000000003/0000000000000000/4/0a010010",
		"b/p/x/4/0a010010",
	};
	const struct key_free f = { .epoch = 3, .since = 0x1234, .start = ip("10.1.0.16") };
	char scope[KEY_SCOPE_MAX] = "left alone";
	struct key_free g;
	struct key_address a;
	struct key k, other;

	key_of_block(&k, "p/x", f.start);
	ck_assert_str_eq(k.s, "b/p/x/4/0a010010");
	ck_assert_int_eq(key_parse_block(k.s, &a), 0);
	ck_assert(ip_equal(a.ip, f.start));
	ck_assert_int_eq(key_parse_block("a/p/x/4/0a010010", &a), -1);
	key_of_blocks(&k, "p/x");
	ck_assert_str_eq(k.s, "b/p/x/");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(key_parse_free(bad[i], scope, &g) == -1, "%s", bad[i]);
	ck_assert_str_eq(scope, "left alone");
	key_of_free(&k, "p/x", &f);
	ck_assert_str_eq(k.s, "f/p/x/0000000000000003/0000000000001234/4/0a010010");
	ck_assert_int_eq(key_parse_free(k.s, scope, &g), 0);
	ck_assert_str_eq(scope, "p/x");
	ck_assert(g.epoch == 3 && g.since == 0x1234 && ip_equal(g.start, f.start));
	key_of_frees(&other, "p/x", 3);
	ck_assert_str_eq(other.s, "f/p/x/0000000000000003/");
	key_of_free_from(&other, "p/x", 3, 0x1234);
	ck_assert_str_lt(other.s, k.s);
	key_of_free_from(&other, "p/x", 3, -1);
	ck_assert_str_eq(other.s, "f/p/x/0000000000000003/0000000000000000");
}
END_TEST

START_TEST(long_ones_are_hashed)
{
	char pod[300], other[300];
	struct key a, b;

	memset(pod, 'x', sizeof(pod) - 1);
	pod[sizeof(pod) - 1] = '\0';
	memcpy(other, pod, sizeof(pod));
	other[290] = 'y';
	char scope[KEY_SCOPE_MAX];
	memset(scope, 's', 202);
	memcpy(scope, "n/", 2);
	scope[202] = '\0';
	key_of_sticky(&a, scope, (const char *const[]){ "ns", pod, "net1" });
	key_of_sticky(&b, scope, (const char *const[]){ "ns", other, "net1" });
	ck_assert_uint_le(strlen(a.s), STORE_KEY_MAX);
	ck_assert_int_eq(strncmp(a.s, "s/#", 3), 0);
	ck_assert_str_ne(a.s, b.s);
	/* a container id that nobody could have added */
	char id[600];
	struct key_owner o;
	memset(id, 'c', sizeof(id) - 1);
	id[sizeof(id) - 1] = '\0';
	key_of_owner(&a, id, "net1", "n");
	ck_assert_uint_le(strlen(a.s), STORE_KEY_MAX);
	ck_assert_int_eq(key_parse_owner(a.s, &o), -1);
}
END_TEST

START_TEST(malformed_keys_are_refused)
{
	static const char *const bad_address[] = {
		"",
		"a",
		"a/",
		"a/p",
		"a/p/x",
		"b/p/x/4/0a000001",
		"a/p/x/4/0a00000",
		"a/p/x/4/0a0000011",
		"a/p/x/4/0A000001",
		"a/p/x/5/0a000001",
		"a/p/x/44/0a000001",
		"a/p/x/4/0a00000g",
		"a//4/0a000001",
		"a/px/4/0a000001",
		"a/p/x/6/0a000001",
	};
	static const char *const bad_owner[] = { "",          "o",        "o/a",     "o/a/b",
						 "o/a/b/c/d", "x/a/b/c",  "o/%/b/c", "o/%1/b/c",
						 "o/%zz/b/c", "o/%00/b/c" };
	static const char *const bad_rest[] = {
		"r/p/x/id/0000000000000001/4/0a00000",
		"r/p/x/id/000000000000001/4/0a000001",
		"r/p/x/id/8000000000000000/4/0a000001",
		"r/0000000000000001/4/0a000001",
		"r/px/id/0000000000000001/4/0a000001",
		"x/p/x/id/0000000000000001/4/0a000001",
		"r/p/x/0123456789abcdef0/0000000000000001/4/0a000001",
		"r/id/0000000000000001/4/0a000001",
	};
	char source[KEY_ID_LEN + 1], too_long[400];
	struct key_address a;
	struct key_owner o;
	int64_t since;

	for (size_t i = 0; i < ARRAY_SIZE(bad_address); i++)
		ck_assert_msg(key_parse_address(bad_address[i], &a) == -1, "%s", bad_address[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad_owner); i++)
		ck_assert_msg(key_parse_owner(bad_owner[i], &o) == -1, "%s", bad_owner[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad_rest); i++)
		ck_assert_msg(key_parse_rest(bad_rest[i], &a, source, &since) == -1, "%s",
			      bad_rest[i]);
	(void)snprintf(too_long, sizeof(too_long), "a/n/%0300d/4/0a000001", 0);
	ck_assert_int_eq(key_parse_address(too_long, &a), -1);
	(void)snprintf(too_long, sizeof(too_long), "r/n/%0300d/id/0000000000000001/4/0a000001", 0);
	ck_assert_int_eq(key_parse_rest(too_long, &a, source, &since), -1);
	(void)snprintf(too_long, sizeof(too_long), "o/%0300d/b/c", 0);
	ck_assert_int_eq(key_parse_owner(too_long, &o), -1);
	(void)snprintf(too_long, sizeof(too_long), "o/a/%0100d/c", 0);
	ck_assert_int_eq(key_parse_owner(too_long, &o), -1);
	(void)snprintf(too_long, sizeof(too_long), "o/a/b/%0300d", 0);
	ck_assert_int_eq(key_parse_owner(too_long, &o), -1);
}
END_TEST

START_TEST(scopes_have_their_form_and_label)
{
	char scope[KEY_SCOPE_MAX], text[64];
	struct ip_range r = { ip("10.0.0.0"), ip("10.0.0.255") };

	ck_assert_str_eq(key_scope(scope, 'p', "rail0"), "p/rail0");
	ck_assert_str_eq(key_pool_of(scope), "rail0");
	ck_assert_str_eq(key_scope_label(scope, text, sizeof(text)), "pool rail0");
	ck_assert_str_eq(key_scope_log(scope, text, sizeof(text)), "rail0");
	key_scope(scope, 'n', "net");
	ck_assert_ptr_null(key_pool_of(scope));
	ck_assert_ptr_null(key_pool_of("p"));
	ck_assert_str_eq(key_scope_label(scope, text, sizeof(text)), "network net");
	ck_assert_str_eq(key_scope_log(scope, text, sizeof(text)), "network net");
	ck_assert_str_eq(key_scope_range(scope, "w", r), "x/w/0a000000-0a0000ff");
	ck_assert_str_eq(key_scope_label("w/", text, sizeof(text)),
			 "whereabouts (no network_name)");
	ck_assert_str_eq(key_scope_label("w/a", text, sizeof(text)), "whereabouts a");
	ck_assert_str_eq(key_scope_label("", text, sizeof(text)), "whereabouts (no network_name)");
	r.first = ip("fd00::");
	r.last = ip("fd00::ffff");
	key_scope_range(scope, "", r);
	ck_assert_str_eq(scope,
			 "x//fd000000000000000000000000000000-fd00000000000000000000000000ffff");
}
END_TEST

TEST_PROGRAM("key", address_keys_round_trip, key_order_is_address_order, owner_keys_round_trip,
	     rest_keys_round_trip, other_keys_have_their_form, block_keys_round_trip,
	     long_ones_are_hashed, malformed_keys_are_refused, scopes_have_their_form_and_label)
