/* SPDX-License-Identifier: Apache-2.0 */
/* slices_test.c: the slices of a node, and when they must be written. */
#include "railheadd/claims/slices.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"
#include "railheadd/claims/claim.h"

static struct slices_facts facts(size_t n, bool shared)
{
	struct slices_facts f = { .n = n, .shared = shared };

	for (uint32_t i = 0; i < n; i++) {
		struct slices_rail *r = &f.rail[i];

		*r = (struct slices_rail){ .number = i, .numa = i ? 1 : -1, .gbps = i ? 400 : 0 };
		(void)snprintf(r->ifname, sizeof(r->ifname), "eth%u", i);
		if (i)
			(void)snprintf(r->pci, sizeof(r->pci), "0000:3b:00.%u", i);
	}
	return f;
}

static struct json *devices(size_t n, bool shared)
{
	const struct slices_facts f = facts(n, shared);
	struct json *list = slices_devices(&f);

	ck_assert_ptr_nonnull(list);
	return list;
}

static struct json *object(const struct slices_pool *p, size_t i)
{
	struct json *o = slices_object(p, i, "7");

	ck_assert_ptr_nonnull(o);
	return o;
}

#define SLOTS                                                                                      \
	"\"allowMultipleAllocations\":true,\"capacity\":{\"slots\":{\"value\":\"64\","             \
	"\"requestPolicy\":{\"default\":\"1\"}}}"

START_TEST(devices_that_claims_share)
{
	auto_json struct json *list = devices(2, true);
	auto_free char *text = json_print(list, false);

	static const char want[] =
		"[{\"name\":\"rails\",\"attributes\":{\"kind\":{\"string\":\"set\"},"
		"\"rails\":{\"int\":2},\"missing\":{\"int\":0}}," SLOTS
		"},{\"name\":\"rail0\",\"attributes\":{\"kind\":{\"string\":\"card\"},"
		"\"rail\":{\"int\":0},\"ifName\":{\"string\":\"eth0\"},"
		"\"linkLayer\":{\"string\":\"Ethernet\"}}," SLOTS
		"},{\"name\":\"rail1\",\"attributes\":{\"kind\":{\"string\":\"card\"},"
		"\"rail\":{\"int\":1},\"ifName\":{\"string\":\"eth1\"},"
		"\"linkLayer\":{\"string\":\"Ethernet\"},\"gbps\":{\"int\":"
		"400},\"resource.kubernetes.io/pciBusID\":{\"string\":\"0000:3b:00.1\"},"
		"\"resource.kubernetes.io/numaNode\":{\"int\":1}}," SLOTS "}]";

	/* Too long for a message of check. */
	ck_assert_msg(strcmp(text, want) == 0, "%.1500s", text);
}
END_TEST

START_TEST(devices_of_an_older_api_server)
{
	auto_json struct json *list = devices(8, false);
	size_t n = 0;

	json_each (d, list) {
		ck_assert(claim_device_rails(json_text(d, "name")) != 0);
		ck_assert_ptr_null(json_get(d, "allowMultipleAllocations"));
		ck_assert_ptr_null(json_get(d, "capacity"));
		n++;
	}
	ck_assert_uint_eq(n, 9 * SLICES_COPIES);
	ck_assert_uint_eq(slices_count(list), 3);
	ck_assert_str_eq(json_text(json_first(list), "name"), "rails-0");
}
END_TEST

START_TEST(no_set_of_mixed_rails)
{
	struct slices_facts f = facts(1, true), none = facts(0, true);
	auto_json struct json *mixed = NULL, *empty = slices_devices(&none);

	f.mixed = true;
	mixed = slices_devices(&f);
	ck_assert_uint_eq(json_len(mixed), 1);
	ck_assert_str_eq(json_text(json_first(mixed), "name"), "rail0");
	ck_assert_uint_eq(slices_count(empty), 0);
}
END_TEST

START_TEST(a_slice_of_a_pool)
{
	auto_json struct json *list = devices(8, false);
	const struct slices_pool p = { "n1", "nu", list, 5 };
	auto_json struct json *last = object(&p, 2);
	const struct json *spec = json_get(last, "spec"), *pool = json_get(spec, "pool"),
			  *meta = json_get(last, "metadata");

	ck_assert_str_eq(json_text(meta, "name"), "n1-railhead.io-2");
	ck_assert_str_eq(json_text(meta, "resourceVersion"), "7");
	ck_assert_str_eq(json_text(json_first(json_get(meta, "ownerReferences")), "uid"), "nu");
	ck_assert_str_eq(json_text(spec, "nodeName"), "n1");
	ck_assert_str_eq(json_text(spec, "driver"), "railhead.io");
	ck_assert_str_eq(json_text(pool, "name"), "n1");
	ck_assert_int_eq((int)json_num(json_get(pool, "generation")), 5);
	ck_assert_int_eq((int)json_num(json_get(pool, "resourceSliceCount")), 3);
	ck_assert_uint_eq(json_len(json_get(spec, "devices")), 9 * SLICES_COPIES - 128);
}
END_TEST

/* What the API server has of n rails in the generation. */
static struct json *stored(size_t n, int64_t generation)
{
	auto_json struct json *list = devices(n, true);
	const struct slices_pool p = { "n1", NULL, list, generation };
	struct json *items = json_new_array();

	for (size_t i = 0; i < slices_count(list); i++)
		ck_assert_int_eq(json_push(items, object(&p, i)), 0);
	return items;
}

START_TEST(slices_that_stand)
{
	auto_json struct json *have = stored(2, 9), *list = devices(2, true),
			      *more = devices(3, true), *none = json_new_array();
	struct slices_pool p = { "n1", NULL, list, 1 };
	struct json *first = json_at_mut(have, 0), *spec = json_get_mut(first, "spec");

	ck_assert_int_eq((int)slices_generation(have), 9);
	ck_assert(slices_stand(have, &p));
	ck_assert(!slices_stand(none, &p));
	/* The API server adds members. */
	ck_assert_int_eq(json_add_bool(spec, "allNodes", false), 0);
	ck_assert(slices_stand(have, &p));
	p.devices = more;
	ck_assert(!slices_stand(have, &p));
	p.devices = none;
	ck_assert(!slices_stand(have, &p));
	ck_assert(slices_shared(first));
}
END_TEST

START_TEST(a_slice_that_was_changed_by_hand)
{
	auto_json struct json *have = stored(2, 9), *list = devices(2, true);
	const struct slices_pool p = { "n1", NULL, list, 1 };
	struct json *spec = json_get_mut(json_at_mut(have, 0), "spec");
	struct json *device = json_at_mut(json_get_mut(spec, "devices"), 1);

	ck_assert(slices_stand(have, &p));
	json_del(device, "allowMultipleAllocations");
	ck_assert(!slices_stand(have, &p));
}
END_TEST

static int make(void *arg, struct err *e)
{
	const struct slices_facts f = facts(2, true);
	auto_json struct json *list = slices_devices(&f), *o = NULL;
	const struct slices_pool p = { "n1", "u", list, 1 };

	(void)arg;
	o = list ? slices_object(&p, 0, NULL) : NULL;
	return o ? 0 : err_nomem(e);
}

START_TEST(without_memory)
{
	ck_assert_str_eq(alloc_fail_each(make, NULL), "ok");
}
END_TEST

TEST_PROGRAM("slices", devices_that_claims_share, devices_of_an_older_api_server,
	     no_set_of_mixed_rails, a_slice_of_a_pool, slices_that_stand,
	     a_slice_that_was_changed_by_hand, without_memory)
