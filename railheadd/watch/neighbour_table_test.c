/* SPDX-License-Identifier: Apache-2.0 */
/* neighbour_table_test.c: looks, frames of this host, and what a restart knows. */
#include "railheadd/watch/neighbour_table.h"

#include <stdio.h>

#include "fabric/testing/frame.h"
#include "lib/base/text.h"
#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define auto_table auto_clean(neighbour_table_clear)
#define EPOCH      ((struct neighbour_clock){ 0, 0 })

static int take_text(struct neighbour_table *t, const char *text, struct err *e)
{
	auto_json struct json *look = NULL;

	return json_parse(text, strlen(text), "look", &look, e) ? -1
								: neighbour_table_take(t, look, e);
}

static void taken(struct neighbour_table *t, const char *text)
{
	struct err e = { .msg = "" };

	ck_assert_msg(take_text(t, text, &e) == 0, "%s", e.msg);
}

#define TWO                                                                                        \
	"{\"ports\":[{\"rail\":1,\"interface\":\"eth2\",\"index\":7,\"downs\":1},{\"rail\":0,"     \
	"\"interface\":\"eth1\",\"index\":6}],\"macs\":[\"02:00:00:00:00:09\","                    \
	"\"02:aa:bb:cc:dd:02\"]}"

/* The frame of swp1, from a MAC that ends in `from`. */
static int heard(const struct neighbour_table *t, size_t port, uint8_t chassis, uint8_t from,
		 int64_t now)
{
	struct frame f = frame_begin(chassis);
	enum neighbour_news news = NEIGHBOUR_SAME;
	struct err e = { .msg = "" };
	int rc;

	f.at[11] = from;
	frame_id(&f, 2, 5, "swp1");
	frame_ttl(&f, 120);
	frame_tlv(&f, 5, "leaf-1", 6);
	rc = neighbour_table_hear(t, &t->port[port], (struct neighbour_data){ f.at, f.n, now },
				  &news, &e);
	ck_assert_msg(rc >= 0, "%s", e.msg);
	return rc ? -1 : (int)news;
}

static char *status(const struct neighbour_table *t, int64_t now)
{
	auto_json struct json *o = json_new_object();

	ck_assert_int_eq(neighbour_table_add_status(t, now, o), 0);
	return json_print(json_get(o, "list"), false);
}

START_TEST(ports_are_in_the_order_of_rails_and_stay)
{
	auto_table struct neighbour_table t = { .n = 0 };
	auto_free char *text = NULL;

	taken(&t, TWO);
	ck_assert_str_eq(t.port[0].ifname, "eth1");
	ck_assert_int_eq(heard(&t, 1, 1, 1, 0), NEIGHBOUR_NEW);
	taken(&t, "{\"ports\":[],\"macs\":[]}");
	ck_assert_uint_eq(t.n, 2);
	text = status(&t, 5000);
	ck_assert_str_eq(text, "[{\"rail\":0,\"interface\":\"eth1\",\"state\":\"missing\"},"
			       "{\"rail\":1,\"interface\":\"eth2\",\"state\":\"missing\","
			       "\"chassis\":\"mac 02:00:00:00:00:01\","
			       "\"port\":\"interface-name swp1\",\"portName\":\"swp1\","
			       "\"system\":\"leaf-1\",\"age\":5}]");
}
END_TEST

START_TEST(a_port_of_infiniband_has_its_guid)
{
	auto_table struct neighbour_table t = { .n = 0 };
	auto_free char *text = NULL, *rails = NULL;

	taken(&t, "{\"ports\":[{\"rail\":0,\"interface\":\"ib0\",\"index\":3,"
		  "\"guid\":\"04:3f:72:03:00:ab:cd:ef\",\"mbps\":400000}],\"macs\":[]}");
	text = status(&t, 0);
	ck_assert_str_eq(text, "[{\"rail\":0,\"interface\":\"ib0\",\"state\":\"infiniband\","
			       "\"guid\":\"04:3f:72:03:00:ab:cd:ef\"}]");
	auto_json struct json *list = neighbour_table_rails(&t, EPOCH);

	rails = json_print(list, 0);
	ck_assert_str_eq(rails, "[{\"rail\":0,\"interface\":\"ib0\","
				"\"guid\":\"04:3f:72:03:00:ab:cd:ef\",\"mbps\":400000}]");
}
END_TEST

START_TEST(a_rail_says_its_card_until_it_has_none)
{
	auto_table struct neighbour_table t = { .n = 0 };
	auto_free char *with = NULL, *without = NULL;

	taken(&t, "{\"ports\":[{\"rail\":0,\"interface\":\"eth1\",\"index\":6,\"bond\":\"bond0\","
		  "\"hca\":\"mlx5_0\","
		  "\"pci\":\"0000:21:00.0\",\"rdma\":\"shared\",\"gpus\":\"0 1\"}]}");
	auto_json struct json *list = neighbour_table_rails(&t, EPOCH);

	with = json_print(list, 0);
	ck_assert_str_eq(
		with, "[{\"rail\":0,\"interface\":\"eth1\",\"bond\":\"bond0\",\"hca\":\"mlx5_0\","
		      "\"pci\":\"0000:21:00.0\",\"rdma\":\"shared\",\"gpus\":\"0 1\"}]");
	taken(&t, "{\"ports\":[{\"rail\":0,\"interface\":\"eth1\",\"index\":6}]}");
	auto_json struct json *later = neighbour_table_rails(&t, EPOCH);

	without = json_print(later, 0);
	ck_assert_str_eq(without, "[{\"rail\":0,\"interface\":\"eth1\"}]");
}
END_TEST

/* A rail of each kind of text, which is fill, at its greatest length. */
static char *rails_of_long_texts(struct neighbour_table *t, const char *fill, const char *addresses)
{
	const struct neighbour_clock c = { 1000, 1000 };
	auto_json struct json *list = NULL, *known = NULL;
	auto_text struct text look = { 0 }, memory = { 0 };
	struct err e = { .msg = "" };

	for (int i = 0; i < 16; i++) {
		text_addf(&look,
			  "%s{\"rail\":%d,\"interface\":\"enp193s0f0np%02d\",\"index\":%d,\"mbps\":"
			  "400000,\"mtu\":9000,\"hca\":\"%s\",\"pci\":\"0000:c1:00.0\",\"rdma\":"
			  "\"exclusive\",\"gpus\":\"0 1 2 3 4 5 6 7\",\"by\":\"dynamic\","
			  "\"addresses\":\"%s\"}",
			  i ? "," : "{\"ports\":[", i, i, i + 1, fill, addresses);
		text_addf(&memory,
			  "%s{\"rail\":%d,\"interface\":\"enp193s0f0np%02d\",\"chassis\":\"%s\","
			  "\"port\":\"%s\",\"portName\":\"%s\",\"system\":\"%s\",\"ttl\":120,"
			  "\"heard\":1}",
			  i ? "," : "[", i, i, fill, fill, fill, fill);
	}
	text_add(&look, "]}");
	text_add(&memory, "]");
	ck_assert(json_parse(memory.s, memory.len, "memory", &known, &e) == 0);
	ck_assert_msg(neighbour_table_load(t, known, c, &e) == 0, "%s", e.msg);
	taken(t, look.s);
	list = neighbour_table_rails(t, EPOCH);
	return json_print(list, false);
}

#define LONG_ADDRESSES                                                                             \
	"fd00:1111:2222:3333:4444:5555:6666:7777/128 fd00:1111:2222:3333:4444:5555:6666:7778/128 " \
	"fd00:1111:2222:3333:4444:5555:6666:7779/128"

/* Texts of the least use go first, and what is left says so. */
START_TEST(long_texts_are_left_out_and_it_is_said)
{
	static const char fill[] =
		"a-text-of-sixty-three-characters-0123456789-0123456789-01234567";
	auto_table struct neighbour_table t = { .n = 0 }, usual = { .n = 0 };
	auto_free char *text = rails_of_long_texts(&t, fill, LONG_ADDRESSES);
	auto_free char *other = rails_of_long_texts(&usual, "mac 50:6b:4b:00:00:01", "10.1.2.3/24");

	ck_assert_uint_le(strlen(text), 16 * NEIGHBOUR_RAIL_BYTES);
	ck_assert_uint_le(8 * NEIGHBOUR_RAIL_BYTES, 4096 - 512);
	ck_assert_ptr_nonnull(strstr(text, "\"rail\":15,"));
	ck_assert_ptr_nonnull(strstr(text, "\"hca\":\"a-text"));
	ck_assert_ptr_nonnull(strstr(text, "\"cut\":true"));
	ck_assert_ptr_nonnull(strstr(other, "\"gpus\":\"0 1 2 3 4 5 6 7\""));
	ck_assert_ptr_null(strstr(other, "cut"));
}
END_TEST

START_TEST(frames_of_this_host_do_not_count)
{
	auto_table struct neighbour_table t = { .n = 0 };
	auto_free char *text = NULL;
	enum neighbour_news news;
	struct err e = { .msg = "" };

	taken(&t, TWO);
	ck_assert_int_eq(heard(&t, 0, 1, 2, 0), -1);
	ck_assert(!t.port[0].of.known);
	ck_assert_int_eq(heard(&t, 0, 1, 3, 0), NEIGHBOUR_NEW);
	ck_assert_int_eq(heard(&t, 0, 2, 4, 1000), NEIGHBOUR_CONFLICT);
	text = status(&t, 2000);
	ck_assert_ptr_nonnull(strstr(text, "\"state\":\"contested\""));
	ck_assert_ptr_nonnull(
		strstr(text, "\"other\":{\"chassis\":\"mac 02:00:00:00:00:02\",\"port\":"));
	ck_assert_int_eq(neighbour_table_hear(&t, &t.port[0],
					      (struct neighbour_data){ (const uint8_t *)"x", 1, 0 },
					      &news, &e),
			 -1);
}
END_TEST

/* What may mean another cable: the carrier was lost, or another interface has the name. */
START_TEST(a_lost_carrier_lets_another_neighbour_in)
{
	auto_table struct neighbour_table t = { .n = 0 };

	taken(&t, TWO);
	ck_assert_int_eq(heard(&t, 1, 1, 1, 0), NEIGHBOUR_NEW);
	taken(&t, TWO);
	ck_assert_int_eq(heard(&t, 1, 2, 1, 1), NEIGHBOUR_CONFLICT);
	taken(&t, "{\"ports\":[{\"rail\":1,\"interface\":\"eth2\",\"index\":7,\"downs\":2}]}");
	ck_assert_int_eq(heard(&t, 1, 2, 1, 2), NEIGHBOUR_NEW);
	taken(&t, "{\"ports\":[{\"rail\":1,\"interface\":\"eth2\",\"index\":8,\"downs\":0}]}");
	ck_assert_int_eq(heard(&t, 1, 1, 1, 3), NEIGHBOUR_NEW);
}
END_TEST

START_TEST(a_restart_knows_neighbours_with_their_age)
{
	auto_table struct neighbour_table t = { .n = 0 }, later = { .n = 0 };
	const struct neighbour_clock then = { 10000, 5000 }, now = { 1000, 5060 };
	auto_free char *text = NULL;
	struct err e = { .msg = "" };

	taken(&t, TWO);
	ck_assert_int_eq(heard(&t, 0, 1, 1, 4000), NEIGHBOUR_NEW);
	auto_json struct json *known = neighbour_table_known(&t, then);

	ck_assert_uint_eq(json_len(known), 1);
	ck_assert_msg(neighbour_table_load(&later, known, now, &e) == 0, "%s", e.msg);
	taken(&later, TWO);
	ck_assert_uint_eq(later.n, 2);
	text = status(&later, now.now);
	ck_assert_ptr_nonnull(strstr(text, "\"interface\":\"eth1\",\"state\":\"heard\""));
	ck_assert_ptr_nonnull(strstr(text, "\"age\":66"));
	ck_assert_int_eq(heard(&later, 0, 1, 1, now.now), NEIGHBOUR_SAME);
	ck_assert_int_eq(heard(&later, 0, 2, 1, now.now), NEIGHBOUR_CONFLICT);
}
END_TEST

static char *rail_0(struct neighbour_table *t, int64_t now, int64_t wall)
{
	auto_json struct json *list =
		neighbour_table_rails(t, (struct neighbour_clock){ now, wall });

	return json_print(json_first(list), false);
}

/* One write when it falls silent, and one when it is heard again: no clock changes the time. */
START_TEST(a_silent_neighbour_has_one_time)
{
	auto_table struct neighbour_table t = { .n = 0 }, later = { .n = 0 };
	auto_free char *heard_once = NULL, *silent = NULL, *still = NULL, *again = NULL;
	struct err e = { .msg = "" };

	taken(&t, TWO);
	ck_assert_int_eq(heard(&t, 0, 1, 1, 1000), NEIGHBOUR_NEW);
	heard_once = rail_0(&t, 241000, 1000000240);
	ck_assert_ptr_null(strstr(heard_once, "lastHeard"));
	silent = rail_0(&t, 241999, 1000000240);
	ck_assert_ptr_nonnull(strstr(silent, "\"lastHeard\":\"2001-09-09T01:46:40Z\""));
	still = rail_0(&t, 900000, 1000009999);
	ck_assert_str_eq(still, silent);
	auto_json struct json *known =
		neighbour_table_known(&t, (struct neighbour_clock){ 900000, 1000009999 });

	ck_assert_int_eq(
		neighbour_table_load(&later, known, (struct neighbour_clock){ 5, 1000010007 }, &e),
		0);
	taken(&later, TWO);
	free(still);
	still = rail_0(&later, 3000, 1000010011);
	ck_assert_str_eq(still, silent);
	ck_assert_int_eq(heard(&later, 0, 1, 1, 4000), NEIGHBOUR_SAME);
	again = rail_0(&later, 5000, 1000010012);
	ck_assert_str_eq(again, heard_once);
}
END_TEST

/* The memory may be written before the next look. */
START_TEST(a_new_neighbour_after_silence_has_its_own_time)
{
	auto_table struct neighbour_table t = { .n = 0 };
	auto_free char *silent = NULL;

	taken(&t, TWO);
	ck_assert_int_eq(heard(&t, 0, 1, 1, 1000), NEIGHBOUR_NEW);
	silent = rail_0(&t, 900000, 1000000900);
	ck_assert_ptr_nonnull(strstr(silent, "lastHeard"));
	ck_assert_int_eq(heard(&t, 0, 2, 1, 901000), NEIGHBOUR_NEW);
	auto_json struct json *known =
		neighbour_table_known(&t, (struct neighbour_clock){ 901000, 1000000901 });
	ck_assert_int_eq((int64_t)json_num(json_get(json_first(known), "heard")), 1000000901);
}
END_TEST

START_TEST(wrong_looks_and_memories_change_nothing)
{
	static const char *const looks[] = {
		"{}",
		"{\"ports\":[{}]}",
		"{\"ports\":[{\"rail\":0,\"interface\":\"\",\"index\":1}]}",
		"{\"ports\":[],\"macs\":[1]}",
		"{\"ports\":[],\"macs\":[\"02\"]}",
	};
	static const char memory[] =
		"[{\"rail\":0,\"interface\":\"eth1\",\"chassis\":\"a\",\"port\":\"b\",\"portName\":"
		"\"b\",\"ttl\":1,\"heard\":1},{\"rail\":0,\"interface\":\"eth1\"}]";
	auto_table struct neighbour_table t = { .n = 0 }, empty = { .n = 0 };
	auto_json struct json *known = NULL;
	struct err e;

	taken(&t, TWO);
	for (size_t i = 0; i < ARRAY_SIZE(looks); i++) {
		ck_assert_int_eq(take_text(&t, looks[i], &e), -1);
		ck_assert(t.n == 2 && t.n_macs == 2 && t.port[0].present);
	}
	ck_assert_int_eq(json_parse(memory, strlen(memory), "memory", &known, &e), 0);
	ck_assert_int_eq(neighbour_table_load(&empty, known, (struct neighbour_clock){ 0, 0 }, &e),
			 -1);
	ck_assert_uint_eq(empty.n, 0);
}
END_TEST

START_TEST(a_host_with_too_many_ports_is_an_error)
{
	auto_table struct neighbour_table t = { .n = 0 };
	auto_json struct json *look = json_new_object();
	struct json *ports = json_add_array(look, "ports");
	struct err e;

	for (int i = 0; i <= NEIGHBOUR_PORTS_MAX; i++) {
		struct json *o = json_push_object(ports);
		char name[IFNAME_LEN];

		(void)snprintf(name, sizeof(name), "eth%d", i);
		ck_assert_int_eq(json_add_int(o, "rail", i) || json_add_str(o, "interface", name) ||
					 json_add_int(o, "index", i + 1),
				 0);
	}
	ck_assert_int_eq(neighbour_table_take(&t, look, &e), -1);
	ck_assert_str_eq(e.msg, "more than 64 interfaces of rails");
}
END_TEST

static int all_of_it(void *arg, struct err *e)
{
	const struct neighbour_clock c = { 1000, 1000 };
	auto_table struct neighbour_table t = { .n = 0 }, later = { .n = 0 };
	auto_json struct json *known = NULL, *o = NULL;

	(void)arg;
	if (take_text(&t, TWO, e))
		return -1;
	alloc_fail_pause(true);
	(void)heard(&t, 0, 1, 1, 0);
	alloc_fail_pause(false);
	known = neighbour_table_known(&t, c);
	o = json_new_object();
	if (!known || !o || neighbour_table_add_status(&t, 0, o))
		return err_nomem(e);
	return neighbour_table_load(&later, known, c, e);
}

START_TEST(allocations_may_fail)
{
	ck_assert_str_eq(alloc_fail_each(all_of_it, NULL), "ok");
}
END_TEST

TEST_PROGRAM("railheadd/watch/neighbour_table", ports_are_in_the_order_of_rails_and_stay,
	     a_port_of_infiniband_has_its_guid, a_rail_says_its_card_until_it_has_none,
	     long_texts_are_left_out_and_it_is_said, frames_of_this_host_do_not_count,
	     a_lost_carrier_lets_another_neighbour_in, a_restart_knows_neighbours_with_their_age,
	     a_silent_neighbour_has_one_time, a_new_neighbour_after_silence_has_its_own_time,
	     wrong_looks_and_memories_change_nothing, a_host_with_too_many_ports_is_an_error,
	     allocations_may_fail)
