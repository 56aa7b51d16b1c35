/* SPDX-License-Identifier: Apache-2.0 */
/* slices_test.c: the slices of a node, and when they must be written. */
#include "railheadd/claims/slices.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"
#include "railheadd/claims/claim.h"

/* The rails 0 to 3, and 4 to 7. */
static const struct agent_conf_groups groups = { .of = { { "a", 15 }, { "b", 0xf0 } }, .n = 2 };

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
		"\"rails\":{\"int\":2},\"missing\":{\"int\":0},"
		"\"linkLayer\":{\"string\":\"Ethernet\"}}," SLOTS
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
		ck_assert(claim_part(json_text(d, "name"), &groups).rails != 0);
		ck_assert_ptr_null(json_get(d, "allowMultipleAllocations"));
		ck_assert_ptr_null(json_get(d, "capacity"));
		n++;
	}
	ck_assert_uint_eq(n, 9 * SLICES_COPIES);
	const struct slices_pool p = { "n1", NULL, list, NULL, 1 };

	ck_assert_uint_eq(slices_count(&p), 3);
	ck_assert_str_eq(json_text(json_first(list), "name"), "rails-0");
}
END_TEST

START_TEST(a_rail_without_carrier_has_a_taint)
{
	struct slices_facts f = facts(2, true);
	auto_json struct json *plain = slices_devices(&f), *list = NULL, *items = json_new_array();

	f.rail[1].down = true;
	ck_assert(f.tainted == false);
	list = slices_devices(&f);
	ck_assert(json_same(plain, list));
	json_free(list);
	f.tainted = true;
	list = slices_devices(&f);
	json_each (d, list) {
		const struct json *taint = json_first(json_get(d, "taints"));

		if (strcmp(json_text(d, "name"), "rail0") == 0) {
			ck_assert_ptr_null(taint);
			continue;
		}
		ck_assert_str_eq(json_text(taint, "key"), "railhead.io/degraded");
		ck_assert_str_eq(json_text(taint, "effect"), "NoSchedule");
	}
	/* The carrier is back: the taint does not stand. */
	const struct slices_pool bad = { "n1", NULL, list, NULL, 1 },
				 good = { "n1", NULL, plain, NULL, 1 };

	ck_assert_int_eq(json_push(items, object(&bad, 0)), 0);
	ck_assert(slices_stand(items, &bad) && !slices_stand(items, &good));
	ck_assert(slices_has_list(json_first(items), "taints"));
}
END_TEST

START_TEST(a_set_that_lacks_a_rail_has_a_taint)
{
	struct slices_facts f = facts(2, true);
	auto_json struct json *list = NULL;

	f.tainted = true;
	f.missing = 1;
	list = slices_devices(&f);
	json_each (d, list)
		ck_assert_int_eq(json_len(json_get(d, "taints")) != 0,
				 strcmp(json_text(d, "name"), "rails") == 0);
}
END_TEST

START_TEST(a_rate_that_two_looks_have_seen)
{
	ck_assert_uint_eq(slices_rate(400, 0, 0), 400);
	ck_assert_uint_eq(slices_rate(100, 400, 400), 400);
	ck_assert_uint_eq(slices_rate(100, 100, 400), 100);
	ck_assert_uint_eq(slices_rate(0, 0, 400), 400);
	ck_assert_uint_eq(slices_rate(0, 0, 0), 0);
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
	ck_assert_uint_eq(json_len(empty), 0);
}
END_TEST

/* The attribute linkLayer of each device. */
static void have_layer(const struct json *list, const char *want)
{
	json_each (d, list) {
		const struct json *layer = json_get(json_get(d, "attributes"), "linkLayer");

		ck_assert_msg(strcmp(json_text(layer, "string"), want) == 0, "%s",
			      json_text(d, "name"));
	}
}

START_TEST(rails_of_InfiniBand)
{
	struct slices_vf vf = { .rail = 0 };
	struct slices_facts f = facts(1, true);
	auto_json struct json *list = NULL;

	f.rail[0].infiniband = true;
	f.vf = &vf;
	f.n_vfs = 1;
	f.counted = true;
	list = slices_devices(&f);
	ck_assert_uint_eq(json_len(list), 4);
	have_layer(list, "InfiniBand");
}
END_TEST

START_TEST(a_slice_of_a_pool)
{
	auto_json struct json *list = devices(8, false);
	const struct slices_pool p = { "n1", "nu", list, NULL, 5 };
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
	const struct slices_pool p = { "n1", NULL, list, NULL, generation };
	struct json *items = json_new_array();

	for (size_t i = 0; i < slices_count(&p); i++)
		ck_assert_int_eq(json_push(items, object(&p, i)), 0);
	return items;
}

START_TEST(slices_that_stand)
{
	auto_json struct json *have = stored(2, 9), *list = devices(2, true),
			      *more = devices(3, true), *none = json_new_array();
	struct slices_pool p = { "n1", NULL, list, NULL, 1 };
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
	const struct slices_pool p = { "n1", NULL, list, NULL, 1 };
	struct json *spec = json_get_mut(json_at_mut(have, 0), "spec");
	struct json *device = json_at_mut(json_get_mut(spec, "devices"), 1);

	ck_assert(slices_stand(have, &p));
	json_del(device, "allowMultipleAllocations");
	ck_assert(!slices_stand(have, &p));
}
END_TEST

/* Such as the leaf, when the agent does not listen any more. */
START_TEST(an_attribute_that_is_withdrawn)
{
	auto_json struct json *have = stored(2, 9), *list = devices(2, true);
	const struct slices_pool p = { "n1", NULL, list, NULL, 1 };
	struct json *spec = json_get_mut(json_at_mut(have, 0), "spec");
	struct json *device = json_at_mut(json_get_mut(spec, "devices"), 1);

	ck_assert(slices_stand(have, &p));
	ck_assert_ptr_nonnull(json_add_object(json_get_mut(device, "attributes"), "leaf"));
	ck_assert(!slices_stand(have, &p));
}
END_TEST

/* ---- VFs ---- */

/* Rail 0 has n VFs, rail 1 one less. */
static struct slices_facts with_vfs(uint32_t n, struct slices_vf *vf)
{
	struct slices_facts f = facts(2, true);

	f.vf = vf;
	f.counted = true;
	for (uint32_t i = 0; i < 2 * n - 1; i++) {
		struct slices_vf *v = &vf[f.n_vfs++];

		*v = (struct slices_vf){ .rail = i >= n, .index = i % n };
		(void)snprintf(v->pci, sizeof(v->pci), "0000:3b:%02x.0", i + 1);
		(void)snprintf(v->hca, sizeof(v->hca), "mlx5_%u", i);
	}
	return f;
}

static struct json *made(struct json *list)
{
	ck_assert_ptr_nonnull(list);
	return list;
}

/* Names of devices, each with a space behind it. */
static char *names(const struct json *list)
{
	static char text[65536];
	size_t len = 0;

	text[0] = '\0';
	json_each (d, list)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s ",
					json_text(d, "name"));
	return text;
}

START_TEST(vfs_and_sets_consume_the_same_counters)
{
	struct slices_vf vf[8];
	struct slices_facts f = with_vfs(2, vf);
	(void)strcpy(f.rail[1].leaf, "leaf-1");
	(void)strcpy(f.rail[1].port, "swp7");
	auto_json struct json *list = made(slices_devices(&f)),
			      *counters = made(slices_counters(&f));
	auto_free char *set = json_print(json_at_mut(list, 3), false),
		       *one = json_print(json_at_mut(list, 6), false),
		       *sets = json_print(counters, false);

	ck_assert_str_eq(names(list), "rails rail0 rail1 set0 rail0-vf1 rail0-vf0 rail1-vf0 ");
	ck_assert_str_eq(set, "{\"name\":\"set0\",\"attributes\":{\"kind\":{\"string\":\"vf-set\"},"
			      "\"rails\":{\"int\":2},\"missing\":{\"int\":0},\"linkLayer\":{"
			      "\"string\":\"Ethernet\"}},\"consumesCounters\":[{"
			      "\"counterSet\":\"vf0\",\"counters\":{\"rail0\":{\"value\":\"1\"},"
			      "\"rail1\":{\"value\":\"1\"}}}]}");
	ck_assert_str_eq(one,
			 "{\"name\":\"rail1-vf0\",\"attributes\":{\"kind\":{\"string\":\"vf\"},"
			 "\"rail\":{\"int\":1},\"hca\":{\"string\":\"mlx5_2\"},\"linkLayer\":{"
			 "\"string\":\"Ethernet\"},\"leaf\":{\"string\":\"leaf-1\"},"
			 "\"port\":{\"string\":\"swp7\"},\"gbps\":{\"int\":400},"
			 "\"resource.kubernetes.io/pciBusID\":{\"string\":\"0000:3b:03.0\"},"
			 "\"resource.kubernetes.io/numaNode\":{\"int\":1}},\"consumesCounters\":[{"
			 "\"counterSet\":\"vf0\",\"counters\":{\"rail1\":{\"value\":\"1\"}}}]}");
	ck_assert_str_eq(sets, "[{\"name\":\"vf0\",\"counters\":{\"rail0\":{\"value\":\"1\"},"
			       "\"rail1\":{\"value\":\"1\"}}},{\"name\":\"vf1\",\"counters\":{"
			       "\"rail0\":{\"value\":\"1\"}}}]");
	json_each (d, list)
		ck_assert(claim_part(json_text(d, "name"), &groups).rails != 0);
}
END_TEST

/* How a pod can have them. In mode exclusive that of a card stays on the host. */
START_TEST(rdma_by_the_mode_of_the_node)
{
	struct slices_vf vf[8];
	struct slices_facts f = with_vfs(2, vf);
	auto_json struct json *shared = NULL, *exclusive = NULL;

	f.rdma = "shared";
	shared = made(slices_devices(&f));
	json_each (d, shared)
		ck_assert_str_eq(json_text(json_get(json_get(d, "attributes"), "rdma"), "string"),
				 "shared");
	f.rdma = "exclusive";
	exclusive = made(slices_devices(&f));
	json_each (d, exclusive) {
		const bool of_vfs = claim_part(json_text(d, "name"), &groups).vf >= 0;

		ck_assert_str_eq(json_text(json_get(json_get(d, "attributes"), "rdma"), "string"),
				 of_vfs ? "exclusive" : "");
	}
}
END_TEST

START_TEST(counters_have_slices_of_their_own)
{
	struct slices_vf vf[128];
	const struct slices_facts f = with_vfs(40, vf);
	auto_json struct json *list = made(slices_devices(&f)),
			      *counters = made(slices_counters(&f)), *items = json_new_array(),
			      *last = NULL;
	const struct slices_pool p = { "n1", NULL, list, counters, 3 };

	ck_assert_uint_eq(json_len(list), 3 + 39 + 79);
	ck_assert_uint_eq(slices_count(&p), 2 + 5);
	for (size_t i = 0; i < slices_count(&p); i++)
		ck_assert_int_eq(json_push(items, object(&p, i)), 0);
	ck_assert(slices_stand(items, &p));
	ck_assert(slices_has_list(json_first(items), "consumesCounters"));
	last = object(&p, 6);
	const struct json *spec = json_get(last, "spec");
	ck_assert_ptr_null(json_get(spec, "devices"));
	ck_assert_uint_eq(json_len(json_get(spec, "sharedCounters")), 8);
	ck_assert_int_eq((int)json_num(json_get(json_get(spec, "pool"), "resourceSliceCount")), 7);
	ck_assert_str_eq(json_text(json_first(json_get(spec, "sharedCounters")), "name"), "vf32");
}
END_TEST

/* Single VFs could be given twice: once alone, once in a set. */
START_TEST(without_counters_there_are_sets_only)
{
	struct slices_vf vf[8];
	struct slices_facts f = with_vfs(2, vf);

	f.counted = false;
	auto_json struct json *list = made(slices_devices(&f)),
			      *counters = made(slices_counters(&f)), *first = NULL;
	const struct slices_pool p = { "n1", NULL, list, counters, 3 };

	ck_assert_str_eq(names(list), "rails rail0 rail1 set0 ");
	ck_assert_ptr_null(json_get(json_at_mut(list, 3), "consumesCounters"));
	ck_assert_uint_eq(json_len(counters), 0);
	first = object(&p, 0);
	ck_assert(!slices_has_list(first, "consumesCounters"));
}
END_TEST

START_TEST(vfs_of_mixed_rails_are_no_sets)
{
	struct slices_vf vf[8];
	struct slices_facts f = with_vfs(2, vf);

	f.mixed = true;
	auto_json struct json *list = made(slices_devices(&f));
	ck_assert_str_eq(names(list), "rail0 rail1 rail0-vf1 rail0-vf0 rail1-vf0 ");
}
END_TEST

/* ---- groups ---- */

START_TEST(claims_go_round_the_groups)
{
	struct slices_facts f = facts(8, true);
	auto_json struct json *list = NULL;
	auto_free char *set = NULL, *card = NULL;

	f.tainted = f.rail[5].down = true;
	slices_group(&f, &groups, "n2");
	list = made(slices_devices(&f));
	ck_assert_uint_eq(json_len(list), 9 + 2 * SLICES_COPIES);
	ck_assert_msg(strncmp(names(list),
			      "rails rail4 rail5 rail6 rail7 rail0 rail1 rail2 rail3 rails-b-0 "
			      "rails-a-0 rails-b-1 rails-a-1 ",
			      94) == 0,
		      "%s", names(list));
	json_each (d, list)
		ck_assert(claim_part(json_text(d, "name"), &groups).rails != 0);
	card = json_print(json_get(json_at_mut(list, 5), "attributes"), false);
	ck_assert_msg(strstr(card, "\"rail\":{\"int\":0},\"group\":{\"string\":\"a\"}"), "%s",
		      card);
	set = json_print(json_at_mut(list, 9), false);
	ck_assert_str_eq(set,
			 "{\"name\":\"rails-b-0\",\"attributes\":{\"kind\":{\"string\":\"group\"},"
			 "\"group\":{\"string\":\"b\"},\"rails\":{\"int\":4},\"linkLayer\":{"
			 "\"string\":\"Ethernet\"}},\"taints\":[{\"key\":"
			 "\"railhead.io/degraded\",\"value\":\"no-carrier\",\"effect\":"
			 "\"NoSchedule\"}]}");
	ck_assert_ptr_null(json_get(json_at_mut(list, 10), "taints"));
}
END_TEST

START_TEST(vfs_have_the_group_of_their_rail)
{
	static const struct agent_conf_groups second = { .of = { { "b", 2 } }, .n = 1 };
	struct slices_vf vf[8];
	struct slices_facts f = facts(2, true);
	auto_json struct json *list = NULL;

	/* The order of rails is known before their VFs are read. */
	slices_group(&f, &second, "n1");
	ck_assert_uint_eq(f.rail[0].number, 1);
	f.vf = vf;
	f.counted = true;
	for (size_t i = 0; i < 2; i++)
		vf[f.n_vfs++] = (struct slices_vf){ .rail = i, .index = 0 };
	list = made(slices_devices(&f));
	ck_assert_msg(
		strstr(names(list), "rail1 rail0 set0 rails-b-vf0 rail1-vf0 rail0-vf0 rails-b-0 "),
		"%s", names(list));
	ck_assert_str_eq(json_text(json_get(json_get(json_at_mut(list, 5), "attributes"), "group"),
				   "string"),
			 "b");
	ck_assert_ptr_null(json_get(json_get(json_at_mut(list, 6), "attributes"), "group"));
}
END_TEST

/* Rail 0 has two VFs, rail 1 has one. The devices of a group consume the counters of its rails. */
START_TEST(vfs_of_groups)
{
	static const struct agent_conf_groups two = { .of = { { "a", 1 }, { "ab", 3 } }, .n = 2 };
	struct slices_vf vf[8];
	struct slices_facts f = with_vfs(2, vf);

	f.group[f.n_groups++] = (struct slices_group){ "a", 1, false };
	f.group[f.n_groups++] = (struct slices_group){ "ab", 3, false };
	auto_json struct json *list = made(slices_devices(&f)), *plain = NULL;
	auto_free char *both = json_print(json_at_mut(list, 6), false);

	ck_assert_msg(strstr(names(list), "rail1 set0 rails-a-vf1 rails-a-vf0 rails-ab-vf0 "
					  "rail0-vf1 rail0-vf0 rail1-vf0 rails-a-0 "),
		      "%s", names(list));
	ck_assert_str_eq(both, "{\"name\":\"rails-ab-vf0\",\"attributes\":{\"kind\":{\"string\":"
			       "\"vf-group\"},\"group\":{\"string\":\"ab\"},\"rails\":{\"int\":2},"
			       "\"linkLayer\":{\"string\":\"Ethernet\"}},\"consumesCounters\":[{"
			       "\"counterSet\":\"vf0\",\"counters\":{\"rail0\":{\"value\":\"1\"},"
			       "\"rail1\":{\"value\":\"1\"}}}]}");
	json_each (d, list)
		ck_assert(claim_part(json_text(d, "name"), &two).rails != 0);
	f.counted = false;
	plain = made(slices_devices(&f));
	ck_assert_ptr_null(strstr(names(plain), "-vf"));
}
END_TEST

/* Another name of a node, another first group; the same name, the same one. */
START_TEST(nodes_begin_with_different_groups)
{
	size_t first_a = 0;

	for (int i = 0; i < 100; i++) {
		struct slices_facts f = facts(8, true);
		char node[16];

		(void)snprintf(node, sizeof(node), "gpu-%d", i);
		slices_group(&f, &groups, node);
		ck_assert_uint_eq(f.n_groups, 2);
		first_a += *f.group[0].name == 'a';
		ck_assert_str_eq(f.rail[0].group, f.group[0].name);
	}
	ck_assert_msg(first_a >= 35 && first_a <= 65, "%zu", first_a);
}
END_TEST

/* Without all of its rails a group is not offered: the allocation would be final, and Prepare would
 * fail. */
START_TEST(a_group_without_all_of_its_rails)
{
	struct slices_facts f = facts(9, true), four = facts(4, true);
	auto_json struct json *list = NULL, *of_four = NULL;

	f.rail[7] = f.rail[8]; /* rail 7 has no interface; rail 8 has no group */
	f.n = 8;
	slices_group(&f, &groups, "n2");
	list = made(slices_devices(&f));
	ck_assert_msg(strstr(names(list), "rail4 rail5 rail6 rail0 rail1 rail2 rail3 rail8 "
					  "rails-a-0 rails-a-1 "),
		      "%s", names(list));
	ck_assert_ptr_null(f.rail[7].group);
	slices_group(&four, &groups, "n1");
	of_four = made(slices_devices(&four));
	ck_assert_uint_eq(json_len(of_four), 5 + SLICES_COPIES);
}
END_TEST

static int make(void *arg, struct err *e)
{
	struct slices_vf vf[8];
	struct slices_facts f = with_vfs(2, vf);
	slices_group(&f, &groups, "n1");
	f.group[f.n_groups++] = (struct slices_group){ "a", 1, false };
	auto_json struct json *list = slices_devices(&f), *counters = slices_counters(&f),
			      *o = NULL, *of = NULL;
	const struct slices_pool p = { "n1", "u", list, counters, 1 };

	(void)arg;
	if (list && counters) {
		o = slices_object(&p, 0, NULL);
		of = slices_object(&p, 1, NULL);
	}
	return o && of ? 0 : err_nomem(e);
}

START_TEST(without_memory)
{
	ck_assert_str_eq(alloc_fail_each(make, NULL), "ok");
}
END_TEST

TEST_PROGRAM("slices", devices_that_claims_share, devices_of_an_older_api_server,
	     a_rail_without_carrier_has_a_taint, a_set_that_lacks_a_rail_has_a_taint,
	     a_rate_that_two_looks_have_seen, no_set_of_mixed_rails, rails_of_InfiniBand,
	     a_slice_of_a_pool, slices_that_stand, a_slice_that_was_changed_by_hand,
	     an_attribute_that_is_withdrawn, vfs_and_sets_consume_the_same_counters,
	     rdma_by_the_mode_of_the_node, counters_have_slices_of_their_own,
	     without_counters_there_are_sets_only, vfs_of_mixed_rails_are_no_sets,
	     claims_go_round_the_groups, vfs_of_groups, vfs_have_the_group_of_their_rail,
	     nodes_begin_with_different_groups, a_group_without_all_of_its_rails, without_memory)
