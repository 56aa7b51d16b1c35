/* SPDX-License-Identifier: Apache-2.0 */
/* topo_roles_test.c: an operator's file gives roles by address, name and device id. */
#include "railctl/topo/topo.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "topo/testing/tree.h"

static int load(struct topo *t, const char *json, struct err *e)
{
	const char *dir = tree_made("gb200-eth");
	char etc[160];

	(void)snprintf(etc, sizeof(etc), "%s/etc", dir);
	if (json)
		tree_put(dir, "etc/topo.json", json);
	const struct ctx c = { .etc_dir = etc };
	topo_machine_clear(&t->m);
	tree_machine(dir, &t->m);
	topo_roles(&t->m, NULL);
	return topo_operator_roles(&c, t, e);
}

static const char *rule_of(const struct topo *t, const char *name)
{
	return t->m.hca[topo_find_hca(&t->m, name)].rule;
}

START_TEST(roles_by_address_name_and_id)
{
	auto_topo struct topo t = { 0 };
	struct err e = { .msg = "" };

	ck_assert_int_eq(load(&t, NULL, &e), 0);
	ck_assert_str_eq(rule_of(&t, "mlx5_0"), "rate");
	ck_assert_msg(load(&t,
			   "{\"roles\": {\"mlx5_0\": \"storage\", \"15b3:a2dc\": "
			   "\"management\", \"0002:03:00.0\": \"compute\"}}",
			   &e) == 0,
		      "%s", e.msg);
	ck_assert_int_eq(t.m.hca[topo_find_hca(&t.m, "mlx5_0")].role, TOPO_STORAGE);
	ck_assert_int_eq(t.m.hca[topo_find_hca(&t.m, "mlx5_2")].role, TOPO_MANAGEMENT);
	ck_assert_int_eq(t.m.hca[topo_find_hca(&t.m, "mlx5_5")].role, TOPO_MANAGEMENT);
	ck_assert_str_eq(rule_of(&t, "mlx5_1"), "operator");
	ck_assert_str_eq(rule_of(&t, "mlx5_3"), "rate");
	ck_assert_uint_eq(t.m.n_notes, 0);
	ck_assert_int_eq(load(&t, "{\"roles\": {\"mlx5_9\": \"storage\"}}", &e), 0);
	ck_assert_uint_eq(t.m.n_notes, 1);
}
END_TEST

START_TEST(a_wrong_file_names_the_key)
{
	static const char *const wrong[] = { "{\"roles\": {\"mlx5_0\": \"fast\"}}",
					     "{\"roles\": {\"mlx5_0\": 1}}", "{\"role\": {}}", "[]",
					     "{" };
	auto_topo struct topo t = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct err e = { .msg = "" };
		ck_assert_int_eq(load(&t, wrong[i], &e), -1);
		ck_assert_msg(strstr(e.msg, i < 2 ? "mlx5_0" : "etc"), "%zu: %s", i, e.msg);
	}
}
END_TEST

TEST_PROGRAM("topo_roles", roles_by_address_name_and_id, a_wrong_file_names_the_key)
