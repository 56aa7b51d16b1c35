/* SPDX-License-Identifier: Apache-2.0 */
/* rail_table_test.c: looks at rails: what changes, what stays as it was, and what is refused. */
#include "railheadd/rails/rail_table.h"

#include <string.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static const char *const nothing[] = { NULL };

static struct json *parse(const char *text)
{
	struct json *n = NULL;
	struct err e = { .msg = "" };

	ck_assert_msg(json_parse(text, strlen(text), "look", &n, &e) == 0, "%s", e.msg);
	return n;
}

static void take(struct rail_table *t, const char *text)
{
	auto_json struct json *look = parse(text);
	struct err e = { .msg = "" };

	ck_assert_msg(rail_table_take(t, look, nothing, &e) == 0, "%s", e.msg);
}

#define RAIL(rate, findings)                                                                       \
	"[{\"pci\":\"0000:21:00.0\",\"device\":\"mlx5_0\",\"port\":1,\"rate\":" rate               \
	",\"findings\":[" findings "]}]"
#define PORT_OK "{\"check\":\"port\",\"state\":\"ok\",\"value\":\"ACTIVE\"}"
#define PORT_DOWN                                                                                  \
	"{\"check\":\"port\",\"state\":\"warn\",\"value\":\"the port is DOWN\",\"reason\":\"r\","  \
	"\"remedy\":\"do\"}"
#define PORT_UNKNOWN "{\"check\":\"port\",\"state\":\"unknown\",\"reason\":\"no file\"}"

START_TEST(two_looks_must_agree)
{
	auto_clean(rail_table_clear) struct rail_table t = { 0 };

	take(&t, RAIL("0", PORT_OK));
	const struct rail_fact *f = &t.rail[0].fact[RAIL_PORT];
	ck_assert(!f->bad && !rail_is_settled(f));
	take(&t, RAIL("0", PORT_DOWN));
	ck_assert(f->bad && !rail_is_settled(f));
	take(&t, RAIL("0", PORT_OK));
	ck_assert(!f->bad && !rail_is_settled(f));
	take(&t, RAIL("0", PORT_DOWN));
	take(&t, RAIL("0", PORT_DOWN));
	ck_assert(f->bad && rail_is_settled(f));
	ck_assert_str_eq(f->value, "the port is DOWN");
	ck_assert_str_eq(f->remedy, "do");
	ck_assert_uint_eq(t.n, 1);
}
END_TEST

START_TEST(unknown_is_not_well)
{
	auto_clean(rail_table_clear) struct rail_table t = { 0 };

	take(&t, RAIL("0", PORT_DOWN));
	take(&t, RAIL("0", PORT_DOWN));
	take(&t, RAIL("0", PORT_UNKNOWN));
	take(&t, RAIL("0", ""));
	const struct rail_fact *f = &t.rail[0].fact[RAIL_PORT];
	ck_assert(f->bad && rail_is_settled(f));
	ck_assert_int_eq(f->state, FINDING_UNKNOWN);
	ck_assert_str_eq(f->value, "the port is DOWN");
	/* Looks that saw nothing neither add to a change nor interrupt it. */
	take(&t, RAIL("0", PORT_OK));
	take(&t, RAIL("0", PORT_UNKNOWN));
	ck_assert(!f->bad && !rail_is_settled(f));
	take(&t, RAIL("0", PORT_OK));
	ck_assert(rail_is_settled(f));
}
END_TEST

START_TEST(the_worst_of_two_findings_counts)
{
	auto_clean(rail_table_clear) struct rail_table t = { 0 };

	take(&t, RAIL("0", PORT_DOWN "," PORT_OK));
	ck_assert(t.rail[0].fact[RAIL_PORT].bad);
	take(&t, RAIL("0", PORT_OK "," PORT_DOWN "," PORT_UNKNOWN));
	ck_assert(t.rail[0].fact[RAIL_PORT].bad);
	ck_assert_str_eq(t.rail[0].fact[RAIL_PORT].value, "the port is DOWN");
	ck_assert_int_eq(t.rail[0].fact[RAIL_LINK].state, FINDING_UNKNOWN);
}
END_TEST

START_TEST(a_rate_that_falls_is_bad_until_it_is_back)
{
	auto_clean(rail_table_clear) struct rail_table t = { 0 };

	/* Without a link the file has some rate. */
	take(&t, RAIL("800000", PORT_DOWN));
	take(&t, RAIL("400000", PORT_OK));
	const struct rail_fact *f = &t.rail[0].fact[RAIL_RATE];
	ck_assert_int_eq(f->state, FINDING_OK);
	take(&t, RAIL("100000", PORT_OK));
	ck_assert_int_eq(f->state, FINDING_WARN);
	ck_assert_str_eq(f->value, "the port runs at 100 Gbit/s; it had 400");
	take(&t, RAIL("40000", PORT_DOWN));
	ck_assert_int_eq(f->state, FINDING_UNKNOWN);
	ck_assert(f->bad);
	take(&t, RAIL("0", PORT_OK));
	ck_assert_int_eq(f->state, FINDING_UNKNOWN);
	take(&t, RAIL("400000", PORT_OK));
	ck_assert(!f->bad);
}
END_TEST

START_TEST(exceptions_are_ignored)
{
	static const char *const names[] = { "mlx5_9", "mlx5_0", NULL };
	static const char *const addresses[] = { "0000:21:00.0", NULL };
	static const char *const others[] = { "mlx5_1", "0000:21:00.1", NULL };
	auto_clean(rail_table_clear) struct rail_table t = { 0 };
	auto_json struct json *look = parse(RAIL("0", PORT_DOWN));
	struct err e;

	ck_assert_int_eq(rail_table_take(&t, look, names, &e), 0);
	ck_assert_int_eq(rail_table_take(&t, look, addresses, &e), 0);
	ck_assert_uint_eq(t.n, 0);
	ck_assert_int_eq(rail_table_take(&t, look, others, &e), 0);
	ck_assert_uint_eq(t.n, 1);
}
END_TEST

static void refused(const char *text, const char *part)
{
	auto_clean(rail_table_clear) struct rail_table t = { 0 };
	auto_json struct json *look = parse(text);
	struct err e = { .msg = "" };

	ck_assert_int_eq(rail_table_take(&t, look, nothing, &e), -1);
	ck_assert_msg(strstr(e.msg, part) != NULL, "%s", e.msg);
}

START_TEST(what_is_no_look_is_refused)
{
	refused("{}", "not an array");
	refused("[{}]", "rails.pci");
	refused("[{\"pci\":\"0000:21:00.0\",\"device\":\"\",\"port\":1,\"findings\":[]}]",
		"rails.device");
	refused(RAIL("-1", ""), "rails.rate");
	refused(RAIL("0", "{\"check\":\"color\",\"state\":\"ok\"}"), "findings.check");
	refused(RAIL("0", "{\"check\":\"port\",\"state\":\"good\"}"), "findings.state");
}
END_TEST

START_TEST(the_status_and_the_next_look)
{
	auto_clean(rail_table_clear) struct rail_table t = { 0 };
	auto_json struct json *obj = json_new_object();

	take(&t, RAIL("400000", PORT_OK));
	take(&t, RAIL("0", PORT_DOWN));
	ck_assert_int_eq(rail_table_add_status(&t, obj), 0);
	auto_free char *status = json_print(obj, false);
	ck_assert_str_eq(status,
			 "{\"list\":[{\"checks\":{\"device\":\"unknown\",\"port\":\"warn\","
			 "\"link\":\"unknown\",\"rate\":\"unknown\"},\"degraded\":[{\"check\":"
			 "\"port\",\"value\":\"the port is DOWN\",\"reason\":\"r\",\"remedy\":"
			 "\"do\"}],\"device\":\"mlx5_0\",\"port\":1,\"pci\":\"0000:21:00.0\"}]}");
	auto_json struct json *known = rail_table_known(&t);
	auto_free char *text = json_print(known, false);
	ck_assert_str_eq(text, "[{\"device\":\"mlx5_0\",\"port\":1,\"pci\":\"0000:21:00.0\"}]");
}
END_TEST

static int take_and_show(void *arg, struct err *e)
{
	auto_clean(rail_table_clear) struct rail_table t = { 0 };
	auto_json struct json *obj = json_new_object();

	if (rail_table_take(&t, arg, nothing, e))
		return -1;
	auto_json struct json *known = rail_table_known(&t);
	return obj && known && rail_table_add_status(&t, obj) == 0 ? 0 : err_nomem(e);
}

START_TEST(memory_may_end_anywhere)
{
	auto_json struct json *look = parse(RAIL("0", PORT_DOWN));

	ck_assert_str_eq(alloc_fail_each(take_and_show, look), "ok");
}
END_TEST

TEST_PROGRAM("railheadd/rails/rail_table", two_looks_must_agree, unknown_is_not_well,
	     the_worst_of_two_findings_counts, a_rate_that_falls_is_bad_until_it_is_back,
	     exceptions_are_ignored, what_is_no_look_is_refused, the_status_and_the_next_look,
	     memory_may_end_anywhere)
