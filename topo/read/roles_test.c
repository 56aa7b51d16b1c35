/* SPDX-License-Identifier: Apache-2.0 */
/* roles_test.c: an operator's file gives roles by address, name and device id. */
#include "topo/read/roles.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "topo/core/choose.h"
#include "topo/testing/tree.h"

static int load_machine(struct topo_machine *t, const char *name, const char *json, struct err *e)
{
	const char *dir = tree_made(name);
	char etc[160];

	(void)snprintf(etc, sizeof(etc), "%s/etc", dir);
	if (json)
		tree_put(dir, "etc/topo.json", json);
	const struct ctx c = { .etc_dir = etc };
	topo_machine_clear(t);
	tree_machine(dir, t);
	topo_roles(t, NULL);
	return topo_operator_roles(&c, t, e);
}

static int load(struct topo_machine *t, const char *json, struct err *e)
{
	return load_machine(t, "gb200-eth", json, e);
}

static const char *rule_of(const struct topo_machine *t, const char *name)
{
	return t->hca[topo_find_hca(t, name)].rule;
}

START_TEST(roles_by_address_name_and_id)
{
	auto_topo_machine struct topo_machine t = { 0 };
	struct err e = { .msg = "" };

	ck_assert_int_eq(load(&t, NULL, &e), 0);
	ck_assert_str_eq(rule_of(&t, "mlx5_0"), "rate");
	ck_assert_msg(load(&t,
			   "{\"roles\": {\"mlx5_0\": \"storage\", \"15b3:a2dc\": "
			   "\"management\", \"0002:03:00.0\": \"compute\"}}",
			   &e) == 0,
		      "%s", e.msg);
	ck_assert_int_eq(t.hca[topo_find_hca(&t, "mlx5_0")].role, TOPO_STORAGE);
	ck_assert_int_eq(t.hca[topo_find_hca(&t, "mlx5_2")].role, TOPO_MANAGEMENT);
	ck_assert_int_eq(t.hca[topo_find_hca(&t, "mlx5_5")].role, TOPO_MANAGEMENT);
	ck_assert_str_eq(rule_of(&t, "mlx5_1"), "operator");
	ck_assert_str_eq(rule_of(&t, "mlx5_3"), "rate");
	ck_assert_uint_eq(t.n_notes, 0);
	ck_assert_int_eq(load(&t, "{\"roles\": {\"mlx5_9\": \"storage\"}}", &e), 0);
	ck_assert_uint_eq(t.n_notes, 1);
}
END_TEST

/* The pairs of a GB300 by place, and two of them exchanged by the operator. */
START_TEST(data_direct_as_rdma_probe_shows_it)
{
	auto_topo_machine struct topo_machine t = { 0 };
	struct err e = { .msg = "" };
	char text[256], other[PCI_STR_LEN];

	ck_assert_int_eq(load_machine(&t, "gb300", NULL, &e), 0);
	uint32_t a = topo_find_hca(&t, "mlx5_0"), b = topo_find_hca(&t, "mlx5_1");
	uint32_t first = t.hca[a].direct, second = t.hca[b].direct;
	ck_assert(first != TOPO_NONE && second != TOPO_NONE && !t.hca[a].direct_proved);
	(void)snprintf(text, sizeof(text),
		       "{\"dataDirect\": {\"mlx5_0\": \"%s\", \"mlx5_1\": null}}",
		       pci_format(t.pci[second].addr, other));
	ck_assert_msg(load_machine(&t, "gb300", text, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(t.hca[a].direct, second);
	ck_assert_uint_eq(t.hca[b].direct, TOPO_NONE);
	ck_assert(t.hca[a].direct_proved && t.hca[b].direct_proved);
	ck_assert(!t.hca[topo_find_hca(&t, "mlx5_2")].direct_proved);
	ck_assert_uint_eq(t.n_notes, 0);
	ck_assert_int_eq(load_machine(&t, "gb300",
				      "{\"dataDirect\": {\"mlx5_0\": \"ffff:01:00.0\", "
				      "\"mlx5_77\": null}}",
				      &e),
			 0);
	ck_assert_uint_eq(t.n_notes, 2);
	ck_assert_uint_eq(t.hca[a].direct, first);
}
END_TEST

START_TEST(a_wrong_file_names_the_key)
{
	static const char *const wrong[] = { "{\"roles\": {\"mlx5_0\": \"fast\"}}",
					     "{\"roles\": {\"mlx5_0\": 1}}",
					     "{\"dataDirect\": {\"mlx5_0\": \"near\"}}",
					     "{\"dataDirect\": {\"mlx5_0\": false}}",
					     "{\"role\": {}}",
					     "[]",
					     "{" };
	auto_topo_machine struct topo_machine t = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct err e = { .msg = "" };
		ck_assert_int_eq(load(&t, wrong[i], &e), -1);
		ck_assert_msg(strstr(e.msg, i < 4 ? "mlx5_0" : "etc"), "%zu: %s", i, e.msg);
	}
}
END_TEST

TEST_PROGRAM("roles", roles_by_address_name_and_id, data_direct_as_rdma_probe_shows_it,
	     a_wrong_file_names_the_key)
