/* SPDX-License-Identifier: Apache-2.0 */
/* look_json_test.c: a look goes through JSON; anything else is refused. */
#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"
#include "railheadd/devices/resources.h"

static struct resource_look some_look(void)
{
	static char *notes[] = { "a note" };
	static struct resource_hca hca[] = { { "0000:3b:00.0", "mlx5_0" }, { "", "rxe0" } };
	static struct resource_device d[] = {
		{ .id = "0000:3b:00.1",
		  .healthy = true,
		  .numa = { 0, 3 },
		  .n_numa = 2,
		  .pf = "0000:3b:00.0",
		  .bridge = "0000:3a:00.0",
		  .gpu_distance = 77,
		  .attached = true,
		  .rdma = true,
		  .vhost = true },
		{ .id = "0", .why = "it is in use", .busy = true },
	};
	static struct resource_devices of[] = { { d, 1, 1, hca, 2 }, { .n = 0 } };

	return (struct resource_look){ of, 2, notes, 1 };
}

START_TEST(a_look_goes_through_json)
{
	const struct resource_look l = some_look();
	auto_json struct json *j = resource_look_to_json(&l);
	auto_resource_look struct resource_look r = { 0 };
	struct err e = { .msg = "" };

	ck_assert_ptr_nonnull(j);
	ck_assert_msg(resource_look_from_json(j, 2, &r, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(r.n, 2);
	ck_assert_uint_eq(r.of[1].n, 0);
	ck_assert_uint_eq(r.of[0].n, 1);
	ck_assert_uint_eq(r.of[0].n_maybe, 1);
	ck_assert_mem_eq(r.of[0].device, l.of[0].device, 2 * sizeof(*r.of[0].device));
	ck_assert_uint_eq(r.of[0].n_hcas, 2);
	ck_assert_mem_eq(r.of[0].hca, l.of[0].hca, 2 * sizeof(*r.of[0].hca));
	ck_assert_uint_eq(r.n_notes, 1);
	ck_assert_str_eq(r.note[0], "a note");
	resource_look_clear(&r);
	ck_assert_int_eq(resource_look_from_json(j, 1, &r, &e), -1);
}
END_TEST

START_TEST(the_text_stays_the_same)
{
	const struct resource_look l = some_look();
	auto_json struct json *j = resource_look_to_json(&l);
	auto_free char *text = json_print(j, false);

	ck_assert_str_eq(text,
			 "{\"resources\":[{\"maybe\":[{\"id\":\"0\",\"why\":\"it is in use\","
			 "\"busy\":true,\"distance\":0}],\"devices\":[{\"id\":\"0000:3b:00.1\","
			 "\"healthy\":true,\"attached\":true,\"rdma\":true,\"vhost\":true,"
			 "\"pf\":\"0000:3b:00.0\",\"bridge\":\"0000:3a:00.0\",\"distance\":77,"
			 "\"numa\":[\"0\",\"3\"]}],\"hcas\":[{\"addr\":\"0000:3b:00.0\","
			 "\"name\":\"mlx5_0\"},{\"name\":\"rxe0\"}]},{\"maybe\":[],\"devices\":[],"
			 "\"hcas\":[]}],\"notes\":[\"a note\"]}");
}
END_TEST

START_TEST(what_is_no_look_is_refused)
{
	static const char *const bad[] = {
		"[]",
		"{}",
		"{\"resources\":1}",
		"{\"resources\":[]}",
		"{\"resources\":[{\"devices\":[1]}]}",
		"{\"resources\":[{\"devices\":[{}]}]}",
		"{\"resources\":[{\"devices\":[{\"id\":\"\"}]}]}",
		"{\"resources\":[{\"devices\":[{\"id\":\"x\",\"copies\":2}]}]}",
		"{\"resources\":[{\"devices\":[{\"id\":\"1\",\"copies\":16385}]}]}",
		"{\"resources\":[{\"devices\":[{\"id\":\"1\",\"copies\":16384},{\"id\":\"x\"}]}]}",
		"{\"resources\":[{\"devices\":[{\"id\":\"1\",\"numa\":[1]}]}]}",
		"{\"resources\":[{\"devices\":[{\"id\":\"1\",\"numa\":[\"-1\"]}]}]}",
		"{\"resources\":[{\"devices\":[{\"id\":\"1\",\"numa\":[0,0,0,0,0,0,0,0,0]}]}]}",
		"{\"resources\":[{\"devices\":[{\"id\":\"1\",\"pf\":\"123456789012345678901\"}]}]}",
		"{\"resources\":[{\"hcas\":[1]}]}",
		"{\"resources\":[{\"hcas\":[{\"addr\":\"123456789012345678901\"}]}]}",
		"{\"resources\":[{}],\"notes\":[1]}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		auto_json struct json *j = NULL;
		struct resource_look l = { 0 };
		struct err e = { .msg = "" };

		ck_assert_int_eq(json_parse(bad[i], strlen(bad[i]), "x", &j, &e), 0);
		ck_assert_msg(resource_look_from_json(j, 1, &l, &e) == -1, "%s", bad[i]);
		ck_assert_ptr_null(l.of);
	}
}
END_TEST

/* As many as a file may ask for: the pipe of a child takes 8 MiB. */
START_TEST(copies_are_one_object)
{
	auto_free struct resource_device *d = calloc(RESOURCE_IDS_MAX, sizeof(*d));
	struct resource_devices of = { .device = d, .n = RESOURCE_IDS_MAX };
	const struct resource_look l = { .of = &of, .n = 1 };
	auto_resource_look struct resource_look r = { 0 };
	struct err e = { .msg = "" };

	for (unsigned i = 0; i < RESOURCE_IDS_MAX; i++) {
		d[i].healthy = i != 7;
		(void)snprintf(d[i].id, sizeof(d[i].id), "%u", i < 9 ? i : i + 1);
	}
	auto_json struct json *j = resource_look_to_json(&l);
	auto_free char *text = json_print(j, false);
	ck_assert_uint_lt(strlen(text), 1000);
	ck_assert_int_eq(resource_look_from_json(j, 1, &r, &e), 0);
	ck_assert_uint_eq(r.of[0].n, RESOURCE_IDS_MAX);
	ck_assert_mem_eq(r.of[0].device, d, RESOURCE_IDS_MAX * sizeof(*d));
}
END_TEST

static int through_json(void *arg, struct err *e)
{
	auto_json struct json *j = resource_look_to_json(arg);
	auto_resource_look struct resource_look r = { 0 };
	const char *id[] = { "x" };

	if (!j)
		return err_nomem(e);
	if (resource_look_from_json(j, 2, &r, e))
		return -1;
	return resource_devices_keep(&r.of[0], id, 1, e);
}

START_TEST(a_look_without_memory_leaks_nothing)
{
	struct resource_look l = some_look();

	ck_assert_str_eq(alloc_fail_each(through_json, &l), "ok");
}
END_TEST

TEST_PROGRAM("look_json", the_text_stays_the_same, a_look_goes_through_json, copies_are_one_object,
	     what_is_no_look_is_refused, a_look_without_memory_leaks_nothing)
