/* SPDX-License-Identifier: Apache-2.0 */
/* rails_conf_test.c: names, pools and tables of rails. */
#include <stdio.h>
#include <string.h>

#include "plugins/ether/rails_priv.h"
#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static const struct rails_made two = {
	.rail = { { .number = 2, .ifname = "net1", .master = "e2" },
		  { .number = 11, .ifname = "net1r11", .master = "e11" } },
	.n = 2,
	.missing = { 3 },
	.n_missing = 1
};

static struct json *parse(const char *text)
{
	struct json *tree;
	struct err e;

	ck_assert_msg(json_parse(text, strlen(text), "test", &tree, &e) == 0, "%s", e.msg);
	return tree;
}

START_TEST(names_of_interfaces)
{
	char name[IFNAME_LEN];
	struct err e;

	ck_assert_int_eq(rails_name(&(struct rails_names){ NULL, "net1" }, 0, 5, name, &e), 0);
	ck_assert_str_eq(name, "net1");
	ck_assert_int_eq(rails_name(&(struct rails_names){ NULL, "net1" }, 1, 5, name, &e), 0);
	ck_assert_str_eq(name, "net1r5");
	ck_assert_int_eq(rails_name(&(struct rails_names){ "r{n}-{n}", "net1" }, 0, 12, name, &e),
			 0);
	ck_assert_str_eq(name, "r12-12");
	ck_assert_int_eq(
		rails_name(&(struct rails_names){ "averylongname{n}", "net1" }, 0, 63, name, &e),
		0);
	ck_assert_str_eq(name, "averylongname63");
	ck_assert_int_eq(
		rails_name(&(struct rails_names){ "averylongnames{n}", "net1" }, 0, 63, name, &e),
		-1);
	ck_assert_msg(strstr(e.msg, "ifname: the interface of rail 63 would be "
				    "\"averylongnames63\"") != NULL,
		      "%s", e.msg);
	ck_assert_int_eq(
		rails_name(&(struct rails_names){ NULL, "averyverylongna" }, 1, 1, name, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "CNI_IFNAME: the interface of rail 1"));
}
END_TEST

START_TEST(a_text_that_does_not_fit)
{
	char out[6];

	ck_assert_int_eq(rails_expand("ab{n}", 123, out, sizeof(out)), 0);
	ck_assert_str_eq(out, "ab123");
	ck_assert_int_eq(rails_expand("ab{n}", 1234, out, sizeof(out)), -1);
	ck_assert_int_eq(rails_expand("abcdef", 0, out, sizeof(out)), -1);
	ck_assert_int_eq(rails_expand("{n{n}", 7, out, sizeof(out)), 0);
	ck_assert_str_eq(out, "{n7");
}
END_TEST

static const char *ipam_of(const char *config, struct err *e)
{
	static char shown[256];
	auto_json struct json *tree = parse(config), *got = NULL;
	char *text = NULL;
	size_t len;

	if (rails_ipam(tree, &two, &text, &len, e))
		return e->msg;
	auto_free char *owned = text;
	ck_assert_uint_eq(len, strlen(owned));
	got = parse(owned);
	auto_free char *pools = json_print(json_get(got, "ipam"), false);
	(void)snprintf(shown, sizeof(shown), "%s", pools);
	return shown;
}

START_TEST(a_list_of_pools_for_each_rail)
{
	struct err e;

	ck_assert_str_eq(ipam_of("{\"ipam\":{\"pool\":\"rail{n}\",\"dataDir\":\"/d\"}}", &e),
			 "{\"dataDir\":\"/d\",\"pools\":[[\"rail2\"],[\"rail11\"]]}");
	ck_assert_str_eq(
		ipam_of("{\"ipam\":{\"pool\":\"all\",\"pools\":[\"six{n}\",\"more\"]}}", &e),
		"{\"pools\":[[\"all\",\"six2\",\"more\"],[\"all\",\"six11\",\"more\"]]}");
	ck_assert_str_eq(ipam_of("{\"ipam\":{\"pools\":[1]}}", &e),
			 "ipam.pools: must have strings, got 1");
	ck_assert_str_eq(ipam_of("{\"ipam\":{\"pools\":\"rail{n}-*\"}}", &e),
			 "{\"pools\":[[\"rail2-*\"],[\"rail11-*\"]]}");
	ck_assert_str_eq(ipam_of("{\"ipam\":{\"pools\":7}}", &e),
			 "ipam.pools: must be names or a pattern, got a number");
}
END_TEST

START_TEST(what_a_rail_reads)
{
	auto_json struct json *tree = parse(
		"{\"kind\":\"macvlan\",\"mtu\":9000,\"routing\":{\"mode\":\"rail\",\"table\":500},"
		"\"prevResult\":{}}");
	auto_json struct json *part = rails_part(tree, &two, 1);

	ck_assert_str_eq(json_text(part, "master"), "e11");
	ck_assert(json_num(json_get(part, "mtu")) == 9000 && !json_get(part, "prevResult"));
	ck_assert(json_num(json_get(json_get(part, "routing"), "table")) == 501);
	ck_assert(json_num(json_get(json_get(tree, "routing"), "table")) == 500);
}
END_TEST

/* The keys of part i, as text. */
static const char *part_of(const char *config, const struct rails_made *made, size_t i)
{
	static char shown[512];
	auto_json struct json *tree = parse(config), *part = rails_part(tree, made, i);
	auto_free char *text = json_print(part, false);

	(void)snprintf(shown, sizeof(shown), "%s", text);
	return shown;
}

START_TEST(what_a_rail_with_a_VF_reads)
{
	struct rails_made given = two;

	ck_assert_str_eq(part_of("{\"kind\":\"sriov\",\"vlan\":5,\"rdma\":\"exclusive\"}", &two, 1),
			 "{\"kind\":\"sriov\",\"vlan\":5,\"rdma\":\"exclusive\",\"resource\":{"
			 "\"pf\":[\"e11\"]}}");
	ck_assert_str_eq(
		part_of("{\"kind\":\"sriov\",\"resource\":{\"pf\":[\"a{n}\",\"b\"]}}", &two, 1),
		"{\"kind\":\"sriov\",\"resource\":{\"pf\":[\"a11\",\"b\"]}}");
	/* The VF's type refuses what is not a list of names. */
	ck_assert_str_eq(part_of("{\"kind\":\"sriov\",\"resource\":{\"pf\":[3]}}", &two, 0),
			 "{\"kind\":\"sriov\",\"resource\":{\"pf\":[3]}}");
	(void)snprintf(given.rail[0].device, PCI_STR_LEN, "0000:3b:02.5");
	ck_assert_str_eq(part_of("{\"kind\":\"sriov\",\"deviceIDs\":[\"x\"],\"resourceName\":\"r\","
				 "\"deviceID\":\"y\",\"pciBusID\":\"z\",\"rdma\":\"shared\"}",
				 &given, 0),
			 "{\"kind\":\"sriov\",\"deviceID\":\"0000:3b:02.5\"}");
	ck_assert_str_eq(part_of("{\"kind\":\"macvlan\",\"rdma\":\"shared\"}", &two, 0),
			 "{\"kind\":\"macvlan\",\"master\":\"e2\"}");
}
END_TEST

START_TEST(the_note_of_what_was_made)
{
	auto_json struct json *note = rails_note(&two), *damaged = NULL;
	auto_free char *text = json_print(note, false);
	struct rails_made again;
	struct err e;

	ck_assert_str_eq(text, "{\"made\":[{\"rail\":2,\"interface\":\"net1\",\"master\":\"e2\"},"
			       "{\"rail\":11,\"interface\":\"net1r11\",\"master\":\"e11\"}],"
			       "\"missing\":[3]}");
	ck_assert_int_eq(rails_read_note(note, &again, &e), 0);
	ck_assert_uint_eq(again.n, 2);
	ck_assert_uint_eq(again.rail[1].number, 11);
	ck_assert_str_eq(again.rail[1].ifname, "net1r11");
	ck_assert_str_eq(again.rail[0].master, "e2");
	ck_assert_str_eq(again.rail[0].device, "");
	struct rails_made given = two;
	(void)snprintf(given.rail[1].device, PCI_STR_LEN, "0000:3b:02.5");
	auto_json struct json *with_device = rails_note(&given);
	ck_assert_int_eq(rails_read_note(with_device, &again, &e), 0);
	ck_assert_str_eq(again.rail[1].device, "0000:3b:02.5");
	ck_assert_int_eq(rails_read_note(NULL, &again, &e), -1);
	ck_assert_int_eq(e.code, ERR_STATE);
	damaged = parse("{\"made\":[{\"rail\":2}]}");
	ck_assert_int_eq(rails_read_note(damaged, &again, &e), -1);
	ck_assert_int_eq(e.code, ERR_STATE);
}
END_TEST

static int make_all(void *arg, struct err *e)
{
	const struct json *config = arg;
	auto_json struct json *part = rails_part(config, &two, 0), *note = rails_note(&two);
	char *text = NULL;
	size_t len;

	if (!part || !note)
		return err_nomem(e);
	int rc = rails_ipam(config, &two, &text, &len, e);
	free(text);
	return rc;
}

START_TEST(out_of_memory)
{
	auto_json struct json *tree = parse("{\"ipam\":{\"pool\":\"r{n}\"},\"routing\":{\"mode\":"
					    "\"rail\",\"table\":500}}");

	auto_json struct json *vf = parse("{\"kind\":\"sriov\",\"ipam\":{\"pool\":\"r\"},"
					  "\"resource\":{\"pf\":[\"a{n}\"]}}");

	ck_assert_str_eq(alloc_fail_each(make_all, tree), "ok");
	ck_assert_str_eq(alloc_fail_each(make_all, vf), "ok");
}
END_TEST

TEST_PROGRAM("plugins/ether/rails_conf", names_of_interfaces, a_text_that_does_not_fit,
	     a_list_of_pools_for_each_rail, what_a_rail_reads, what_a_rail_with_a_VF_reads,
	     the_note_of_what_was_made, out_of_memory)
