/* SPDX-License-Identifier: Apache-2.0 */
/* wire_test.c: messages as the kubelet writes and reads them, byte for byte. */
#include "railheadd/devices/wire.h"

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static struct err e;

static void is_bytes(struct proto_bytes b, const char *want, size_t len)
{
	ck_assert_ptr_nonnull(b.data);
	ck_assert_uint_eq(b.len, len);
	ck_assert_mem_eq(b.data, want, len);
	free(b.data);
}
#define IS(b, text) is_bytes((b), (text), sizeof(text) - 1)

START_TEST(what_the_plugin_says_of_itself)
{
	IS(wire_register("a.sock", "x.y/z"), "\x0a\7v1beta1\x12\6a.sock\x1a\5x.y/z\x22\2\x10\1");
	IS(wire_options(), "\x10\1");
}
END_TEST

START_TEST(a_list_of_devices)
{
	struct resource_device d[] = {
		{ .id = "0", .healthy = true },
		{ .id = "1", .numa = { 0, 3 }, .n_numa = 2 },
	};
	const struct resource_devices all = { .device = d, .n = 2 }, none = { .n = 0 };

	IS(wire_list(&all), "\x0a\x0c\x0a\1"
			    "0\x12\7Healthy"
			    "\x0a\x16\x0a\1"
			    "1\x12\x09Unhealthy\x1a\6\x0a\0\x0a\2\x08\3");
	IS(wire_list(&none), "");
}
END_TEST

START_TEST(a_preferred_allocation)
{
	static const char request[] = "\x0a\x0b\x0a\1a\x0a\1b\x12\1b\x18\1";
	const char *choice[] = { "b" };
	const struct wire_ids answer = { choice, 1 };
	auto_wire_preferred struct wire_preferred p = { .n = 0 };

	ck_assert_int_eq(
		wire_preferred_decode((const uint8_t *)request, sizeof(request) - 1, &p, &e), 0);
	ck_assert_uint_eq(p.n, 1);
	ck_assert_uint_eq(p.of[0].n_available, 2);
	ck_assert_str_eq(p.of[0].available[1], "b");
	ck_assert_uint_eq(p.of[0].n_must, 1);
	ck_assert_str_eq(p.of[0].must[0], "b");
	ck_assert_uint_eq(p.of[0].size, 1);
	IS(wire_preferred_answer(&answer, 1), "\x0a\3\x0a\1b");
}
END_TEST

static struct resource_allocation example(void)
{
	static struct resource_pair env = { (char *)"K", (char *)"v" },
				    note = { (char *)"n", (char *)"" };
	static struct resource_mount mount = { (char *)"/c", (char *)"/h", true };
	static struct resource_node node = { (char *)"/dev/x", "rw" };
	static char *cdi[] = { (char *)"v/c=n" };

	return (struct resource_allocation){ .env = &env,
					     .annotation = &note,
					     .n_env = 1,
					     .n_annotations = 1,
					     .mount = &mount,
					     .n_mounts = 1,
					     .node = &node,
					     .n_nodes = 1,
					     .cdi = cdi,
					     .n_cdi = 1 };
}

START_TEST(an_allocation)
{
	static const char request[] = "\x0a\6\x0a\1a\x0a\1b\x0a\0";
	const struct resource_allocation all[] = { example(), { .n_env = 0 } };
	auto_wire_allocate struct wire_allocate a = { .n = 0 };

	ck_assert_int_eq(
		wire_allocate_decode((const uint8_t *)request, sizeof(request) - 1, &a, &e), 0);
	ck_assert_uint_eq(a.n, 2);
	ck_assert_uint_eq(a.of[0].n, 2);
	ck_assert_str_eq(a.of[0].id[1], "b");
	ck_assert_uint_eq(a.of[1].n, 0);
	IS(wire_allocate_answer(all, 2), "\x0a\x38"
					 "\x0a\6\x0a\1K\x12\1v"
					 "\x12\x0a\x0a\2/c\x12\2/h\x18\1"
					 "\x1a\x14\x0a\6/dev/x\x12\6/dev/x\x1a\2rw"
					 "\x22\3\x0a\1n"
					 "\x2a\7\x0a\5v/c=n"
					 "\x0a\0");
}
END_TEST

static void not_decoded(const char *bytes, size_t len, const char *want)
{
	struct wire_preferred p;
	struct wire_allocate a;

	ck_assert_int_eq(wire_preferred_decode((const uint8_t *)bytes, len, &p, &e), -1);
	ck_assert_int_eq(e.code, ERR_DECODE);
	ck_assert_msg(strstr(e.msg, want) != NULL, "%s", e.msg);
	if (!strstr(want, "size")) {
		ck_assert_int_eq(wire_allocate_decode((const uint8_t *)bytes, len, &a, &e), -1);
		ck_assert_int_eq(e.code, ERR_DECODE);
	}
}

START_TEST(requests_that_are_refused)
{
	char many[2 * (WIRE_CONTAINERS_MAX + 1)];
	struct wire_allocate a;

	for (size_t i = 0; i < sizeof(many); i += 2) {
		many[i] = 0x0a;
		many[i + 1] = 0;
	}
	not_decoded("\x0a\5x", 3, "malformed");
	not_decoded("\xff\xff\xff", 3, "malformed");
	not_decoded(many, sizeof(many), "65 containers, allowed are 64");
	not_decoded("\x0a\0", 2, "allocation_size: 0 is not positive");
	not_decoded("\x0a\x0b\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 13, "size: -1");
	ck_assert_int_eq(wire_allocate_decode((const uint8_t *)"\x0a\3\x0a\1\xff", 5, &a, &e), 0);
	wire_allocate_clear(&a);
}
END_TEST

START_TEST(requests_with_too_many_devices)
{
	static char ids[4 + 2 * (RESOURCE_IDS_MAX + 1)] = "\x0a\x82\x80\2";
	struct wire_allocate a;
	struct wire_preferred p;

	for (size_t i = 4; i < sizeof(ids); i += 2)
		ids[i] = 0x0a;
	not_decoded(ids, sizeof(ids), "the request has 16385 devices, allowed are 16384");
	ids[1] = (char)0x80;
	ck_assert_int_eq(wire_allocate_decode((uint8_t *)ids, sizeof(ids) - 2, &a, &e), 0);
	wire_allocate_clear(&a);
	ck_assert_int_eq(wire_preferred_decode((uint8_t *)ids, sizeof(ids) - 2, &p, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "allocation_size"));
}
END_TEST

static int decode(void *arg, struct err *err)
{
	auto_wire_allocate struct wire_allocate a = { .n = 0 };
	auto_wire_preferred struct wire_preferred p = { .n = 0 };

	(void)arg;
	return wire_allocate_decode((const uint8_t *)"\x0a\3\x0a\1a", 5, &a, err) ||
			       wire_preferred_decode((const uint8_t *)"\x0a\5\x0a\1a\x18\1", 7, &p,
						     err)
		       ? -1
		       : 0;
}

static int encode(void *arg, struct err *err)
{
	const struct resource_allocation a = example();
	struct proto_bytes b = wire_allocate_answer(&a, 1);
	bool failed = !b.data;

	(void)arg;
	free(b.data);
	return failed ? err_nomem(err) : 0;
}

START_TEST(no_memory_is_an_error)
{
	ck_assert_str_eq(alloc_fail_each(decode, NULL), "ok");
	ck_assert_str_eq(alloc_fail_each(encode, NULL), "ok");
}
END_TEST

TEST_PROGRAM("railheadd/devices/wire", what_the_plugin_says_of_itself, a_list_of_devices,
	     a_preferred_allocation, an_allocation, requests_that_are_refused,
	     requests_with_too_many_devices, no_memory_is_an_error)
