/* SPDX-License-Identifier: Apache-2.0 */
/* rail_table_test.c: looks at rails: what changes, what stays as it was, and what is refused. */
#include "railheadd/watch/rail_table.h"

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

/* The port was ACTIVE, so it has a cable. */
#define WAS_ACTIVE(t)                                                                              \
	do {                                                                                       \
		take(t, RAIL("0", PORT_OK));                                                       \
		take(t, RAIL("0", PORT_OK));                                                       \
	} while (0)
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
	const struct rail_result *f = &t.rail[0].result[RAIL_PORT];
	ck_assert(!f->bad && !rail_is_settled(f));
	take(&t, RAIL("0", PORT_OK));
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

	WAS_ACTIVE(&t);
	take(&t, RAIL("0", PORT_DOWN));
	take(&t, RAIL("0", PORT_DOWN));
	take(&t, RAIL("0", PORT_UNKNOWN));
	take(&t, RAIL("0", ""));
	const struct rail_result *f = &t.rail[0].result[RAIL_PORT];
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

	WAS_ACTIVE(&t);
	take(&t, RAIL("0", PORT_DOWN "," PORT_OK));
	ck_assert(t.rail[0].result[RAIL_PORT].bad);
	take(&t, RAIL("0", PORT_OK "," PORT_DOWN "," PORT_UNKNOWN));
	ck_assert(t.rail[0].result[RAIL_PORT].bad);
	ck_assert_str_eq(t.rail[0].result[RAIL_PORT].value, "the port is DOWN");
	ck_assert_int_eq(t.rail[0].result[RAIL_LINK].state, FINDING_UNKNOWN);
}
END_TEST

START_TEST(a_rate_that_falls_is_bad_until_it_is_back)
{
	auto_clean(rail_table_clear) struct rail_table t = { 0 };

	/* Without a link the file has some rate. */
	take(&t, RAIL("3200000", PORT_DOWN));
	take(&t, RAIL("1600000", PORT_OK));
	take(&t, RAIL("1600000", PORT_OK));
	const struct rail_result *f = &t.rail[0].result[RAIL_RATE];
	ck_assert_int_eq(f->state, FINDING_OK);
	take(&t, RAIL("100000", PORT_OK));
	ck_assert_int_eq(f->state, FINDING_WARN);
	ck_assert_str_eq(f->value, "the port runs at 100 Gbit/s; it had 1600");
	take(&t, RAIL("40000", PORT_DOWN));
	ck_assert_int_eq(f->state, FINDING_UNKNOWN);
	ck_assert(f->bad);
	take(&t, RAIL("0", PORT_OK));
	ck_assert_int_eq(f->state, FINDING_UNKNOWN);
	take(&t, RAIL("1600000", PORT_OK));
	ck_assert(!f->bad);
}
END_TEST

/* mlx5 has a rate for a port without a link, which may be read beside the state after it. */
START_TEST(one_look_is_no_measure_of_a_rate)
{
	auto_clean(rail_table_clear) struct rail_table t = { 0 };

	take(&t, RAIL("40000", PORT_OK));
	for (int i = 0; i < 3; i++)
		take(&t, RAIL("25000", PORT_OK));
	const struct rail_result *x = &t.rail[0].result[RAIL_RATE];
	ck_assert_str_eq(x->value, "25 Gbit/s");
	take(&t, RAIL("40000", PORT_OK));
	take(&t, RAIL("40000", PORT_DOWN));
	take(&t, RAIL("40000", PORT_OK));
	take(&t, RAIL("25000", PORT_OK));
	ck_assert(!x->bad);
	ck_assert_uint_eq(t.rail[0].best, 25000);
}
END_TEST

#define BOND(rate)                                                                                 \
	"[{\"pci\":\"0000:21:00.0\",\"device\":\"mlx5_bond_0\",\"port\":1,\"rate\":" rate          \
	",\"bond\":true,\"findings\":[" PORT_OK "]}]"

START_TEST(a_bond_has_no_rate)
{
	auto_clean(rail_table_clear) struct rail_table t = { 0 };

	for (int i = 0; i < 2; i++)
		take(&t, RAIL("100000", PORT_OK));
	for (int i = 0; i < 2; i++)
		take(&t, RAIL("25000", PORT_OK));
	struct rail_result *x = &t.rail[0].result[RAIL_RATE];
	ck_assert(x->bad && rail_is_settled(x));
	x->told = true;
	/* What was told of the function alone is over. */
	take(&t, BOND("25000"));
	ck_assert(!x->bad && rail_is_settled(x));
	x->told = false;
	take(&t, BOND("100000"));
	take(&t, BOND("100000"));
	take(&t, BOND("25000"));
	ck_assert(!x->bad && !rail_is_settled(x));
	ck_assert_int_eq(x->state, FINDING_UNKNOWN);
}
END_TEST

START_TEST(a_port_without_a_cable_is_not_bad)
{
	auto_clean(rail_table_clear) struct rail_table t = { 0 };

	for (int i = 0; i < 3; i++)
		take(&t, RAIL("0", PORT_DOWN));
	const struct rail_result *x = &t.rail[0].result[RAIL_PORT];
	ck_assert(!x->bad && x->state == FINDING_UNKNOWN);
	ck_assert_str_eq(t.rail[0].inactive, "the port is DOWN");
	/* One look may have seen the cable that is just plugged in, and out. */
	take(&t, RAIL("0", PORT_OK));
	ck_assert_str_eq(t.rail[0].inactive, "");
	take(&t, RAIL("0", PORT_DOWN));
	ck_assert(!x->bad);
	take(&t, RAIL("0", PORT_OK));
	take(&t, RAIL("0", PORT_DOWN));
	ck_assert(x->bad && x->state == FINDING_WARN);
	ck_assert_str_eq(t.rail[0].inactive, "");
}
END_TEST

#define DROPPED                                                                                    \
	"[{\"pci\":\"0000:21:00.0\",\"device\":\"mlx5_0\",\"port\":1,\"findings\":[],\"dropped\":" \
	"\"it is part of mlx5_bond_0\"}]"

START_TEST(a_dropped_rail_stays_until_people_know)
{
	auto_clean(rail_table_clear) struct rail_table t = { 0 };
	auto_json struct json *obj = json_new_object();

	take(&t, DROPPED);
	ck_assert_uint_eq(t.n, 0);
	WAS_ACTIVE(&t);
	take(&t, RAIL("0", PORT_DOWN));
	take(&t, RAIL("0", PORT_DOWN));
	struct rail_result *x = &t.rail[0].result[RAIL_PORT];
	x->told = true;
	take(&t, DROPPED);
	ck_assert(!x->bad && rail_is_settled(x));
	ck_assert(!rail_is_settled(&t.rail[0].result[RAIL_DEVICE]));
	ck_assert_str_eq(x->value, "it is part of mlx5_bond_0");
	rail_table_prune(&t);
	ck_assert_uint_eq(t.n, 1);
	auto_json struct json *known = rail_table_known(&t);
	ck_assert_uint_eq(json_len(known), 0);
	ck_assert_int_eq(rail_table_add_status(&t, obj), 0);
	ck_assert_uint_eq(json_len(json_get(obj, "list")), 0);
	x->told = false;
	rail_table_prune(&t);
	ck_assert_uint_eq(t.n, 0);
}
END_TEST

/* The first look may come before udev. */
START_TEST(a_device_that_gets_an_excepted_name_is_dropped)
{
	static const char *const names[] = { "rocep0", NULL };
	auto_clean(rail_table_clear) struct rail_table t = { 0 };
	auto_json struct json *look =
		parse("[{\"pci\":\"0000:21:00.0\",\"device\":\"rocep0\",\"port\":1,\"findings\":["
		      "]}]");
	struct err e;

	WAS_ACTIVE(&t);
	take(&t, RAIL("0", PORT_DOWN));
	ck_assert(t.rail[0].result[RAIL_PORT].bad);
	ck_assert_int_eq(rail_table_take(&t, look, names, &e), 0);
	rail_table_prune(&t);
	ck_assert_uint_eq(t.n, 0);
	WAS_ACTIVE(&t);
	rail_table_prune(&t);
	ck_assert_uint_eq(t.n, 1);
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
	take(&t, RAIL("400000", PORT_OK));
	take(&t, RAIL("0", PORT_DOWN));
	t.rail[0].result[RAIL_PORT].told = true;
	ck_assert_int_eq(rail_table_add_status(&t, obj), 0);
	auto_free char *status = json_print(obj, false);
	ck_assert_str_eq(status,
			 "{\"list\":[{\"checks\":{\"device\":\"unknown\",\"port\":\"warn\","
			 "\"link\":\"unknown\",\"rate\":\"unknown\",\"qos\":\"unknown\"},"
			 "\"degraded\":[{\"check\":"
			 "\"port\",\"value\":\"the port is DOWN\",\"reason\":\"r\",\"remedy\":"
			 "\"do\"}],\"device\":\"mlx5_0\",\"port\":1,\"pci\":\"0000:21:00.0\"}]}");
	auto_json struct json *known = rail_table_known(&t);
	auto_free char *text = json_print(known, false);
	ck_assert_str_eq(text, "[{\"told\":[\"port\"],\"device\":\"mlx5_0\",\"port\":1,\"pci\":"
			       "\"0000:21:00.0\",\"best\":400000,\"active\":true}]");
}
END_TEST

/* The port is ACTIVE again after the restart, or still down. */
START_TEST(what_is_known_is_loaded)
{
	auto_clean(rail_table_clear) struct rail_table t = { 0 };
	auto_json struct json *known =
		parse("[{\"told\":[\"port\",\"color\",7],\"device\":\"mlx5_0\",\"port\":1,\"pci\":"
		      "\"0000:21:00.0\",\"best\":400000,\"active\":true}]");
	struct err e = { .msg = "" };

	ck_assert_msg(rail_table_load(&t, known, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(t.n, 1);
	const struct rail_result *x = t.rail[0].result;
	ck_assert(x[RAIL_PORT].told && !x[RAIL_PORT].bad && !x[RAIL_DEVICE].told);
	ck_assert_uint_eq(t.rail[0].best, 400000);
	take(&t, RAIL("0", PORT_DOWN));
	ck_assert(x[RAIL_PORT].bad);
	take(&t, RAIL("100000", PORT_OK));
	ck_assert_int_eq(x[RAIL_RATE].state, FINDING_WARN);
}
END_TEST

/* ---- cards whose PCI address changed ---- */

#define AT(pci, guid, findings)                                                                    \
	"{\"pci\":\"0000:" pci ":00.0\",\"guid\":\"0000:0000:0000:000" guid                        \
	"\",\"device\":\"mlx5_" guid "\",\"port\":1,\"rate\":0,\"findings\":[" findings "]}"
#define GONE "{\"check\":\"device\",\"state\":\"warn\",\"value\":\"gone\"}"

static const struct rail *rail_at(const struct rail_table *t, const char *device)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->rail[i].device, device) == 0)
			return &t->rail[i];
	ck_abort_msg("no rail %s", device);
}

START_TEST(a_guid_identifies_a_rail_at_any_address)
{
	auto_clean(rail_table_clear) struct rail_table t = { 0 }, later = { 0 };
	struct err e = { .msg = "" };

	take(&t, "[" AT("21", "1", PORT_OK) "," AT("31", "2", PORT_OK) "]");
	take(&t, "[" AT("21", "1", PORT_OK) "," AT("31", "2", PORT_OK) "]");
	auto_json struct json *known = rail_table_known(&t);
	ck_assert_int_eq(rail_table_load(&later, known, &e), 0);
	/* Each has moved by one place. */
	take(&later, "[" AT("31", "1", PORT_OK) "," AT("41", "2", PORT_DOWN) "]");
	ck_assert_uint_eq(later.n, 2);
	ck_assert_str_eq(rail_at(&later, "mlx5_1")->pci, "0000:31:00.0");
	ck_assert_str_eq(rail_at(&later, "mlx5_2")->pci, "0000:41:00.0");
	ck_assert(!rail_at(&later, "mlx5_1")->result[RAIL_PORT].bad);
	ck_assert(rail_at(&later, "mlx5_2")->result[RAIL_PORT].bad);
	/* One is gone, and the other one has its address. */
	take(&later, "[" AT("41", "1", PORT_OK) "," AT("41", "2", GONE) "]");
	ck_assert_uint_eq(later.n, 2);
	ck_assert(rail_at(&later, "mlx5_2")->result[RAIL_DEVICE].bad);
	ck_assert(!rail_at(&later, "mlx5_1")->result[RAIL_DEVICE].bad);
	auto_json struct json *both = rail_table_known(&later);
	rail_table_clear(&t);
	ck_assert_int_eq(rail_table_load(&t, both, &e), 0);
	ck_assert_uint_eq(t.n, 2);
	ck_assert(guid_equal(rail_at(&t, "mlx5_2")->guid, guid_of_number(2)));
}
END_TEST

START_TEST(a_new_card_in_a_slot_replaces_the_old_one)
{
	auto_clean(rail_table_clear) struct rail_table t = { 0 };
	struct err e = { .msg = "" };

	/* A file without GUIDs learns them. */
	take(&t, "[{\"pci\":\"0000:21:00.0\",\"device\":\"mlx5_1\",\"port\":1,\"findings\":[]}]");
	take(&t, "[" AT("21", "1", GONE) "]");
	ck_assert(guid_equal(t.rail[0].guid, guid_of_number(1)));
	take(&t, "[" AT("21", "2", PORT_OK) "]");
	ck_assert_uint_eq(t.n, 1);
	ck_assert(guid_equal(t.rail[0].guid, guid_of_number(2)));
	/* It is not readable for once. */
	take(&t, "[{\"pci\":\"0000:21:00.0\",\"device\":\"mlx5_1\",\"port\":1,\"findings\":[]}]");
	ck_assert_uint_eq(t.n, 1);
	ck_assert(guid_equal(t.rail[0].guid, guid_of_number(2)));
	/* Another known card has come to the address of one whose GUID is not known. */
	rail_table_clear(&t);
	take(&t, "[" AT("31", "2", PORT_OK) "]");
	take(&t, "[{\"pci\":\"0000:21:00.0\",\"device\":\"mlx5_1\",\"port\":1,\"findings\":[]}]");
	take(&t, "[" AT("21", "2", PORT_OK) "]");
	auto_json struct json *known = rail_table_known(&t);
	rail_table_clear(&t);
	ck_assert_int_eq(rail_table_load(&t, known, &e), 0);
	ck_assert_uint_eq(t.n, 2);
	rail_table_clear(&t);
	take(&t, "[" AT("21", "2", PORT_OK) "]");
	/* The other port of the card is another rail. */
	take(&t,
	     "[{\"pci\":\"0000:21:00.0\",\"guid\":\"0000:0000:0000:0002\",\"device\":\"mlx5_1\","
	     "\"port\":2,\"findings\":[]}]");
	ck_assert_uint_eq(t.n, 2);
}
END_TEST

static void not_loaded(const char *text, const char *part)
{
	auto_clean(rail_table_clear) struct rail_table t = { 0 };
	auto_json struct json *known = parse(text);
	struct err e = { .msg = "" };

	ck_assert_int_eq(rail_table_load(&t, known, &e), -1);
	ck_assert_msg(strstr(e.msg, part) != NULL, "%s", e.msg);
}

START_TEST(what_is_not_known_is_refused)
{
	not_loaded("{}", "not an array");
	not_loaded("[7]", "rails");
	not_loaded("[{\"device\":\"mlx5_0\",\"port\":1}]", "rails.pci");
	not_loaded("[{\"device\":\"mlx5_0\",\"port\":1,\"pci\":\"0000:21:00.0\",\"best\":-1}]",
		   "rails.best");
	not_loaded("[{\"device\":\"mlx5_0\",\"port\":1,\"pci\":\"0000:21:00.0\",\"told\":1}]",
		   "rails.told");
	not_loaded("[{\"device\":\"mlx5_0\",\"port\":1,\"pci\":\"0000:21:00.0\",\"guid\":\"0:1\"}]",
		   "\"0:1\" is not a GUID");
}
END_TEST

static int take_and_show(void *arg, struct err *e)
{
	auto_clean(rail_table_clear) struct rail_table t = { 0 };
	auto_json struct json *obj = json_new_object();

	if (rail_table_take(&t, arg, nothing, e))
		return -1;
	auto_json struct json *known = rail_table_known(&t);
	auto_clean(rail_table_clear) struct rail_table again = { 0 };
	return obj && known && rail_table_load(&again, known, e) == 0 &&
			       rail_table_add_status(&t, obj) == 0
		       ? 0
		       : err_nomem(e);
}

START_TEST(memory_may_end_anywhere)
{
	auto_json struct json *look = parse("[" AT("21", "1", PORT_DOWN) "]");

	ck_assert_str_eq(alloc_fail_each(take_and_show, look), "ok");
}
END_TEST

TEST_PROGRAM("railheadd/watch/rail_table", two_looks_must_agree, unknown_is_not_well,
	     the_worst_of_two_findings_counts, a_rate_that_falls_is_bad_until_it_is_back,
	     one_look_is_no_measure_of_a_rate, a_bond_has_no_rate,
	     a_port_without_a_cable_is_not_bad, a_dropped_rail_stays_until_people_know,
	     exceptions_are_ignored, a_device_that_gets_an_excepted_name_is_dropped,
	     what_is_no_look_is_refused, the_status_and_the_next_look, what_is_known_is_loaded,
	     a_guid_identifies_a_rail_at_any_address, a_new_card_in_a_slot_replaces_the_old_one,
	     what_is_not_known_is_refused, memory_may_end_anywhere)
