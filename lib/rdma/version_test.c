/* SPDX-License-Identifier: Apache-2.0 */
/* version_test.c: versions as text, and the first and last version of a rule. */
#include "lib/rdma/version.h"

#include "lib/testing/testing.h"

static struct lib_version v(const char *text)
{
	struct lib_version out = { 9, 9, 9 };

	ck_assert_msg(lib_version_parse(text, &out) == 0, "%s", text);
	return out;
}

START_TEST(versions_are_read)
{
	static const char *const bad[] = { "",      "2",        "2.",    "v2.27",
					   "2.27.", "2.27.3.1", "2.27x", "2.27.3 ",
					   "-2.27", "2.99999",  " 2.27" };
	struct lib_version out = { 7, 7, 7 };
	char text[LIB_VERSION_LEN];

	ck_assert_str_eq(lib_version_format(v("2.27"), text), "2.27.0");
	ck_assert_str_eq(lib_version_format(v("2.27.3"), text), "2.27.3");
	ck_assert_str_eq(lib_version_format(v("2.27.3-1"), text), "2.27.3");
	ck_assert_str_eq(lib_version_format(v("2.27.3+cuda12.4"), text), "2.27.3");
	ck_assert_str_eq(lib_version_format(v("2.30.07"), text), "2.30.7");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(lib_version_parse(bad[i], &out) == -1 && out.major == 7, "%s",
			      bad[i]);
}
END_TEST

/* Each rule of the table, its first version, and the version before. */
START_TEST(a_rule_holds_from_its_first_version_on)
{
	static const struct {
		enum lib_rule rule;
		const char *last_without, *first, *text;
	} all[] = {
		{ NCCL_CHOOSES_GID, "2.20.5", "2.21.0", "NCCL since 2.21.0" },
		{ NCCL_ABORTS_ON_TYPE, "2.20.5", "2.21.5", "NCCL since 2.21.0 and before 2.26.2" },
		{ NCCL_KNOWS_PEERMEM, "2.22.3", "2.23.4", "NCCL since 2.23.0" },
		{ NCCL_HAS_CONF_FILE, "2.22.3", "2.23.4", "NCCL since 2.23.0" },
		{ NCCL_HAS_GIN_TC, "2.30.6", "2.30.7", "NCCL since 2.30.7" },
		{ NCCL_HAS_SUBNETS, "2.29.7", "2.30.7", "NCCL since 2.30.7" },
		{ NCCL_HCA_HAS_RAILS, "2.30.6", "2.30.7", "NCCL since 2.30.7" },
		{ NCCL_FLATTENS_PEX890, "2.19.4", "2.20.3", "NCCL since 2.20.0" },
		{ NCCL_VF_AT_00, "2.19.4", "2.20.5", "NCCL since 2.20.0" },
		{ NCCL_KEEPS_PATH, "2.23.4", "2.24.3", "NCCL since 2.24.0 and before 2.27.0" },
		{ NCCL_PAIRS_PORTS, "2.19.4", "2.20.5", "NCCL since 2.20.0 and before 2.24.0" },
		{ NCCL_FUSES_NETS, "2.23.4", "2.24.3", "NCCL since 2.24.0" },
		{ NCCL_NIC_IS_FUNCTION, "2.23.4", "2.24.3", "NCCL since 2.24.0" },
		{ NCCL_WIDENS_FUSED, "2.27.7", "2.28.9", "NCCL since 2.28.0" },
		{ NCCL_REFUSES_CPUS, "2.29.7", "2.30.7", "NCCL since 2.30.0" },
		{ NCCL_WIDENS_ALL, "2.27.7", "2.29.7", "NCCL since 2.28.0 and before 2.30.7" },
		{ NCCL_KNOWS_SM100, "2.24.3", "2.25.1", "NCCL since 2.25.0" },
		{ NCCL_KNOWS_XEON_4, "2.25.1", "2.26.2", "NCCL since 2.26.0" },
		{ NCCL_HAS_C2C, "2.25.1", "2.26.2", "NCCL since 2.26.0" },
		{ NCCL_HAS_P2C, "2.26.5", "2.27.3", "NCCL since 2.27.0" },
		{ NCCL_P2C_IS_LOCAL, "2.28.9", "2.29.7", "NCCL since 2.29.0" },
		{ NCCL_PXN_OVER_C2C, "2.27.7", "2.28.3", "NCCL since 2.28.0" },
		{ NCCL_PXN_NEEDS_GDR, "2.29.7", "2.30.4", "NCCL since 2.30.0" },
		{ NCCL_HAS_DATA_DIRECT, "2.26.2", "2.27.3", "NCCL since 2.27.0" },
		{ NCCL_HAS_POLICY, "2.27.7", "2.28.3", "NCCL since 2.28.0" },
		{ NCCL_HAS_DEV_NODES, "2.29.7", "2.30.3", "NCCL since 2.30.0" },
		{ NCCL_TYPE_FIRST, "2.29.7", "2.30.7", "NCCL since 2.30.7" },
		{ NCCL_ASKS_FOR_LINK, "2.29.7", "2.30.7", "NCCL since 2.30.7" },
		{ NCCL_COUNTS_SHARERS, "2.29.7", "2.30.7", "NCCL since 2.30.7" },
		{ RCCL_SPREADS_BY_PLACE, "1.99.0", "2.22.3", "RCCL since 2.0.0 and before 2.24.0" },
		{ RCCL_FUSES_OVER_CPUS, "2.26.6", "2.28.3", "RCCL since 2.28.3" },
		{ RCCL_PASSES_GPUS, "2.29.7", "2.30.4", "RCCL since 2.30.0" },
		{ RCCL_HAS_NVB, "2.30.4", "2.30.7", "RCCL since 2.30.7" },
		{ RCCL_COUNTS_SHARERS, "2.30.4", "2.30.7", "RCCL since 2.30.7 and before 2.31.0" },
		{ RCCL_JOINS_DOMAINS, "2.29.7", "2.30.4", "RCCL since 2.30.0" },
		{ RCCL_KNOWS_GFX1250, "2.28.9", "2.30.4", "RCCL since 2.30.0" },
		{ RCCL_KNOWS_XEON_6, "2.30.7", "2.31.2", "RCCL since 2.31.0" },
		{ RCCL_READS_FAMILY, "2.30.7", "2.31.2", "RCCL since 2.31.0" },
		{ UCX_HAS_SUBNETS, "1.17.0", "1.18.0", "UCX since 1.18.0" },
		{ UCX_HAS_EFA, "1.18.1", "1.19.0", "UCX since 1.19.0" },
		{ UCX_HAS_REACH_MODE, "1.18.1", "1.19.0", "UCX since 1.19.0" },
		{ UCX_SKIPS_LOCAL, "1.20.1", "1.21.0", "UCX since 1.21.0" },
		{ UCX_TAKES_DRIVER_TC, "1.20.0", "1.21.0", "UCX since 1.21.0" },
	};
	char text[LIB_RULE_LEN];

	ck_assert_uint_eq(ARRAY_SIZE(all), LIB_RULES);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		ck_assert_int_eq(all[i].rule, (int)i);
		ck_assert_msg(!lib_rule_holds(all[i].rule, v(all[i].last_without)), "%s, %zu",
			      all[i].last_without, i);
		ck_assert_msg(lib_rule_holds(all[i].rule, v(all[i].first)), "%s, %zu", all[i].first,
			      i);
		ck_assert_str_eq(lib_rule_versions(all[i].rule, text), all[i].text);
	}
}
END_TEST

/* RCCL has most rules of the NCCL on which it is based; the others later, or never. */
START_TEST(rules_of_rccl)
{
	static const struct {
		enum lib_rule rule;
		const char *version;
		bool holds;
	} in[] = {
		{ NCCL_FLATTENS_PEX890, "2.22.3", true },
		{ NCCL_KEEPS_PATH, "2.26.6", true },
		{ NCCL_KEEPS_PATH, "2.27.7", false },
		{ NCCL_FUSES_NETS, "2.26.6", false },
		{ NCCL_FUSES_NETS, "2.28.2", false },
		{ NCCL_FUSES_NETS, "2.28.3", true },
		{ NCCL_PXN_OVER_C2C, "2.28.3", false },
		{ RCCL_SPREADS_BY_PLACE, "2.22.3", true },
		{ RCCL_SPREADS_BY_PLACE, "2.26.6", false },
		{ NCCL_WIDENS_ALL, "2.28.3", true },
		{ RCCL_FUSES_OVER_CPUS, "2.26.6", false },
		{ RCCL_FUSES_OVER_CPUS, "2.28.3", true },
		{ NCCL_P2C_IS_LOCAL, "2.28.3", false },
		{ NCCL_P2C_IS_LOCAL, "2.29.7", true },
		{ NCCL_WIDENS_ALL, "2.30.4", true },
		{ NCCL_WIDENS_ALL, "2.30.7", false },
		{ NCCL_HAS_DEV_NODES, "2.29.7", false },
		{ NCCL_HAS_DEV_NODES, "2.30.4", true },
		{ NCCL_PXN_NEEDS_GDR, "2.30.4", true },
		{ NCCL_TYPE_FIRST, "2.30.4", false },
		{ NCCL_TYPE_FIRST, "2.30.7", true },
		{ NCCL_HCA_HAS_RAILS, "2.30.7", true },
		{ NCCL_ASKS_FOR_LINK, "2.31.2", false },
		{ NCCL_COUNTS_SHARERS, "2.30.7", false },
		{ RCCL_COUNTS_SHARERS, "2.30.7", true },
		{ RCCL_COUNTS_SHARERS, "2.31.2", false },
		/* not read yet: as the newest that was */
		{ RCCL_READS_FAMILY, "2.33.0", true },
		{ RCCL_COUNTS_SHARERS, "2.33.0", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(in); i++)
		ck_assert_msg(lib_rule_in_rccl(in[i].rule, v(in[i].version)) == in[i].holds, "%zu",
			      i);
}
END_TEST

START_TEST(a_rule_ends_with_the_version_that_mends_it)
{
	ck_assert(lib_rule_holds(NCCL_ABORTS_ON_TYPE, v("2.26.1")));
	ck_assert(!lib_rule_holds(NCCL_ABORTS_ON_TYPE, v("2.26.2")));
	ck_assert(!lib_rule_holds(NCCL_ABORTS_ON_TYPE, NCCL_VERSION_NEWEST));
	for (int i = 0; i < LIB_RULES; i++) {
		bool ended = i == NCCL_ABORTS_ON_TYPE || i == NCCL_KEEPS_PATH ||
			     i == NCCL_PAIRS_PORTS || i == NCCL_WIDENS_ALL ||
			     i == RCCL_SPREADS_BY_PLACE || i == RCCL_COUNTS_SHARERS;
		struct lib_version newest = i < RCCL_SPREADS_BY_PLACE ? NCCL_VERSION_NEWEST
					    : i < UCX_HAS_SUBNETS     ? RCCL_VERSION_NEWEST
								      : UCX_VERSION_NEWEST;
		ck_assert(lib_rule_holds((enum lib_rule)i, newest) != ended);
	}
}
END_TEST

TEST_PROGRAM("version", versions_are_read, a_rule_holds_from_its_first_version_on, rules_of_rccl,
	     a_rule_ends_with_the_version_that_mends_it)
