// SPDX-License-Identifier: Apache-2.0
/* The prediction for every file of testdata equals the answers of NCCL's own graph code. */
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "topo/testing/nccl.h"
#include "topo/testing/topo.h"

static void tally(const char *name, const struct nccl_opts *o, struct nccl_tally *t)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	struct err e;

	topo_xml(name, &m);
	ck_assert_int_eq(nccl_predict(&m, NULL, o, &a, &e), 0);
	nccl_compare(name, &m, &a, TALLY_ALL, t);
}

START_TEST(every_file_as_nccl_answers)
{
	struct nccl_opts o = NCCL_OPTS_DEFAULT;
	unsigned int lines = 0, agree = 0;

	o.no_merge = true; /* the graph code took the nets of the file as they are */

	for (const char *const *name = topo_names(); *name; name++) {
		struct nccl_tally t = { 0 };
		tally(*name, &o, &t);
		lines += t.lines;
		agree += t.agree;
		if (t.agree != t.lines)
			printf("%s: %u of %u: %s\n", *name, t.agree, t.lines, t.first);
	}
	printf("%u of %u lines\n", agree, lines);
	ck_assert_uint_eq(agree, lines);
}
END_TEST

TEST_PROGRAM("nccl", every_file_as_nccl_answers)
