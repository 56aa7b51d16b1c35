// SPDX-License-Identifier: Apache-2.0
/* The prediction for every file of testdata equals the answers of NCCL's own graph code. */
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "topo/testing/nccl.h"
#include "topo/testing/topo.h"

struct total {
	unsigned int lines, agree, files;
};

/* `answers`: of testdata/expected */
static void tally(const char *name, const char *answers, const struct nccl_opts *o, struct total *t)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	struct nccl_tally one = { 0 };
	struct err e;

	topo_xml(name, &m);
	ck_assert_int_eq(nccl_predict(&m, NULL, o, &a, &e), 0);
	nccl_compare(answers, &m, &a, TALLY_ALL, &one);
	t->files++;
	t->lines += one.lines;
	t->agree += one.agree;
	if (one.agree != one.lines && !o->inverted)
		printf("%s: %u of %u: %s\n", answers, one.agree, one.lines, one.first);
}

START_TEST(every_file_as_nccl_answers)
{
	struct nccl_opts o = NCCL_OPTS_DEFAULT;
	struct total t = { 0 };

	o.no_merge = true; /* the graph code took the nets of the file as they are */

	for (const char *const *name = topo_names(); *name; name++)
		tally(*name, *name, &o, &t);
	printf("%u of %u lines\n", t.agree, t.lines);
	ck_assert_uint_eq(t.agree, t.lines);
}
END_TEST

/* Two servers and random machines. */
static struct total as_2_29_7(uint64_t inverted)
{
	static const char *const names[] = { "dgx-a100", "oci-bm-gpu-h100", "synthetic-random-52",
					     "synthetic-random-54", "synthetic-random-353" };
	struct nccl_opts o = NCCL_OPTS_DEFAULT;
	struct total t = { 0 };
	char answers[128];

	o.version = (struct lib_version){ 2, 29, 7 };
	o.no_merge = true;
	o.inverted = inverted;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		(void)snprintf(answers, sizeof(answers), "2.29.7/%s", names[i]);
		tally(names[i], answers, &o, &t);
	}
	return t;
}

START_TEST(every_file_as_nccl_2_29_7_answers)
{
	struct total t = as_2_29_7(0);

	printf("2.29.7: %u of %u lines\n", t.agree, t.lines);
	ck_assert_uint_eq(t.files, 5);
	ck_assert_uint_eq(t.agree, t.lines);
}
END_TEST

/* A rule of the graph that is there, and should not be, or the reverse, shows in some answer. */
START_TEST(the_answers_need_each_rule)
{
	static const enum lib_rule rules[] = {
		NCCL_FLATTENS_PEX890, NCCL_KNOWS_SM100,    NCCL_KNOWS_XEON_4,  NCCL_HAS_C2C,
		NCCL_HAS_P2C,         NCCL_PXN_OVER_C2C,   NCCL_PXN_NEEDS_GDR, NCCL_HAS_DEV_NODES,
		NCCL_TYPE_FIRST,      NCCL_COUNTS_SHARERS,
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		struct total t = as_2_29_7(UINT64_C(1) << rules[i]);
		ck_assert_msg(t.agree < t.lines, "rule %d", (int)rules[i]);
	}
}
END_TEST

TEST_PROGRAM("nccl", every_file_as_nccl_answers, every_file_as_nccl_2_29_7_answers,
	     the_answers_need_each_rule)
