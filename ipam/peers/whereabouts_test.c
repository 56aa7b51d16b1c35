/* SPDX-License-Identifier: Apache-2.0 */
/* whereabouts_test.c: the leases in lists of kubectl, and the lists that are refused. */
#include "ipam/peers/whereabouts.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"

#define POOL(range, allocations)                                                                   \
	"{\"kind\":\"IPPool\",\"metadata\":{\"name\":\"a\\\"}{[,\"},\"spec\":{\"range\":\"" range  \
	"\",\"allocations\":" allocations "}}"
#define LIST(items) " {\"apiVersion\":\"v1\", \"items\": [" items "],\n\"kind\":\"List\"}\n"
#define C1          "{\"id\":\"c1\",\"podref\":\"team/p-1\",\"ifname\":\"net1\"}"

/* "ADDRESS CONTAINER IFNAME NS POD;" of each. */
static int note(const struct whereabouts_lease *l, void *arg, struct err *e)
{
	char line[1024], ip[IP_STR_LEN];

	(void)e;
	(void)snprintf(line, sizeof(line), "%s %s %s %s %s;", ip_format(l->ip, ip), l->container,
		       l->ifname, l->ns, l->pod);
	testing_append(arg, 4096, line);
	return 0;
}

static const char *read_all(const char *text)
{
	static char out[4096];
	struct err e;

	*out = '\0';
	if (whereabouts_each(text, strlen(text), note, out, &e))
		(void)snprintf(out, sizeof(out), "!%d %.400s", (int)e.code, e.msg);
	return out;
}

START_TEST(pool_lists_are_parsed)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ LIST(POOL("10.0.0.0/24", "{\"1\":" C1 "}")), "10.0.0.1 c1 net1 team p-1;" },
		{ POOL("10.0.0.0/24", "{\"255\":" C1 "}"), "10.0.0.255 c1 net1 team p-1;" },
		/* offsets count from the address as it is written */
		{ POOL("10.0.0.8/24", "{\"1\":" C1 "}"), "10.0.0.9 c1 net1 team p-1;" },
		/* beyond 64 bits */
		{ POOL("fd00::/48", "{\"36893488147419103233\":" C1 "}"),
		  "fd00:0:0:2::1 c1 net1 team p-1;" },
		{ POOL("::/0", "{\"340282366920938463463374607431768211455\":" C1 "}"),
		  "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff c1 net1 team p-1;" },
		/* early versions say no interface, the first ones no pod */
		{ POOL("10.0.0.0/24", "{\"1\": {\"id\":\"c1\",\"podref\":\"a/b\"} , \"2\":{\"id\":"
				      "\"c2\"}}"),
		  "10.0.0.1 c1  a b;10.0.0.2 c2   ;" },
		{ LIST(POOL("10.0.0.0/24", "{}") "," POOL("10.1.0.0/24", "{\"3\":" C1 "}")),
		  "10.1.0.3 c1 net1 team p-1;" },
		{ LIST(""), "" },
		{ POOL("10.0.0.0/24", "null"), "" },
		{ "{\"spec\":{\"range\":\"10.0.0.0/24\"}}", "" },
		/* a pod needs a namespace and a name; without them only the pod is unknown */
		{ POOL("10.0.0.0/24", "{\"1\":{\"id\":\"c1\",\"podref\":\"/p\"}}"),
		  "10.0.0.1 c1   ;" },
		{ POOL("10.0.0.0/24", "{\"1\":{\"id\":\"c1\",\"podref\":\"team/\"}}"),
		  "10.0.0.1 c1   ;" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_str_eq(read_all(cases[i].text), cases[i].want);
}
END_TEST

/* As whereabouts itself, which logs them. */
START_TEST(damaged_entries_are_passed_over)
{
	static const char *const offsets[] = {
		"256",
		"-1",
		"",
		" 1",
		"1x",
		"0x1",
		"340282366920938463463374607431768211456",
		"99999999999999999999999999999999999999999999999999999999999999",
	};
	static const char *const whom[] = { "{}", "{\"id\":\"\"}", "{\"id\":\"a/b\"}", "{\"id\":7}",
					    "[]" };
	char text[512];

	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		(void)snprintf(text, sizeof(text), POOL("10.0.0.0/24", "{\"%s\":" C1 "}"),
			       offsets[i]);
		ck_assert_str_eq(read_all(text), "");
	}
	for (size_t i = 0; i < ARRAY_SIZE(whom); i++) {
		(void)snprintf(text, sizeof(text), POOL("10.0.0.0/24", "{\"1\":%s}"), whom[i]);
		ck_assert_str_eq(read_all(text), "");
	}
	ck_assert_str_eq(read_all(POOL("10.0.0.0/24", "{\"1\":{\"id\":\"c\",\"podref\":\"/\","
						      "\"ifname\":\"sixteen_bytes_12\"}}")),
			 "10.0.0.1 c   ;");
}
END_TEST

START_TEST(malformed_texts_are_refused)
{
	static const struct {
		const char *text;
		int code;
	} cases[] = {
		{ "", ERR_CONFIG },
		{ "[]", ERR_CONFIG },
		{ "{", ERR_CONFIG },
		{ "{}", ERR_CONFIG },
		{ "}", ERR_CONFIG },
		{ "{\"items\":{}}", ERR_CONFIG },
		{ "{\"items\":[7]}", ERR_CONFIG },
		{ "{\"items\":[{}}", ERR_CONFIG },
		{ LIST(POOL("10.0.0.0", "{}")), ERR_CONFIG },
		{ LIST(POOL("10.0.0.0/24", "[]")), ERR_CONFIG },
		{ LIST(POOL("10.0.0.0/24", "{\"1\"}")), ERR_CONFIG },
		{ LIST(POOL("10.0.0.0/24", "{1:2}")), ERR_CONFIG },
		{ LIST(POOL("10.0.0.0/24", "{\"1\":}")), ERR_CONFIG },
		{ LIST(POOL("10.0.0.0/24", "{\"1\":2 3}")), ERR_CONFIG },
		{ LIST("{\"spec\":{}}"), ERR_CONFIG },
		{ LIST("{\"spec\":{\"range\":7}}"), ERR_CONFIG },
		{ LIST("{\"spec\":{\"range\":\"10.0.0.0\\/24\"}}"), ERR_CONFIG },
		{ "{\"items\":[7", ERR_CONFIG },
		{ "{\"items\":[\"\\", ERR_CONFIG },
		{ "{\"items\":[{} {}]}", ERR_CONFIG },
		{ LIST(POOL("10.0.0.0/24", "{\"1\":{\"id\"}}")), ERR_DECODE },
		{ LIST(POOL("10.0.0.0/24", "{}")) "x", ERR_CONFIG },
	};
	char want[16];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		(void)snprintf(want, sizeof(want), "!%d ", cases[i].code);
		ck_assert_msg(strncmp(read_all(cases[i].text), want, strlen(want)) == 0, "%s: %s",
			      cases[i].text, read_all(cases[i].text));
	}
}
END_TEST

static int stop_at_two(const struct whereabouts_lease *l, void *arg, struct err *e)
{
	(void)l;
	(void)e;
	return ++*(int *)arg == 2 ? 7 : 0;
}

START_TEST(a_visitor_can_stop)
{
	const char *text = POOL("10.0.0.0/24", "{\"1\":" C1 ",\"2\":" C1 ",\"3\":" C1 "}");
	struct err e;
	int n = 0;

	ck_assert_int_eq(whereabouts_each(text, strlen(text), stop_at_two, &n, &e), 7);
	ck_assert_int_eq(n, 2);
}
END_TEST

/* A range of a large cluster is longer than one JSON text may be. */
START_TEST(more_than_one_json_text_may_be)
{
	size_t cap = 3U << 20, len;
	auto_free char *text = malloc(cap);
	struct err e;
	int n = 100;

	ck_assert_ptr_nonnull(text);
	len = (size_t)snprintf(text, cap, "{\"spec\":{\"range\":\"10.0.0.0/8\",\"allocations\":{");
	for (int i = 0; i < 20000; i++)
		len += (size_t)snprintf(text + len, cap - len,
					"%s\"%d\": {\"id\": \"%064d\", \"podref\": \"a/b\"}",
					i ? ",\n" : "", i, i);
	len += (size_t)snprintf(text + len, cap - len, "}}}");
	ck_assert_int_gt((int)len, 1 << 20);
	ck_assert_int_eq(whereabouts_each(text, len, stop_at_two, &n, &e), 0);
	ck_assert_int_eq(n, 20100);
}
END_TEST

TEST_PROGRAM("ipam/peers/whereabouts", pool_lists_are_parsed, damaged_entries_are_passed_over,
	     malformed_texts_are_refused, a_visitor_can_stop, more_than_one_json_text_may_be)
