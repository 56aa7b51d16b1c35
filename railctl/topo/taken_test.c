/* SPDX-License-Identifier: Apache-2.0 */
/* taken_test.c: a VF in use counts as taken, and a free VF does not. */
#include "railctl/topo/topo.h"

#include <string.h>

#include "lib/testing/testing.h"
#include "topo/core/machine_build.h"
#include "sriov/testing/vf.h"

/* VF 0, VF 1, and a function that is none. */
static void machine(struct topo *t)
{
	const char *const bdf[] = { testhost_vf(0), testhost_vf(1), "0000:01:00.0" };
	struct err e = { .msg = "" };
	struct pci_addr a;
	uint32_t i;

	t->m.source = TOPO_LIVE;
	for (size_t k = 0; k < ARRAY_SIZE(bdf); k++) {
		ck_assert_int_eq(pci_parse(bdf[k], &a), 0);
		ck_assert_int_eq(topo_add_pci(&t->m, a, &i, &e), 0);
	}
}

START_TEST(what_a_pod_has_is_taken)
{
	auto_testhost struct testhost w = testhost(3);
	auto_pod struct pod p = pod();
	auto_topo struct topo t = { 0 };
	auto_free bool *taken = NULL;
	struct claimant who = claimant_of(&w, "c1", &p);
	struct cmd_run r = { .ctx = w.ctx };
	struct vf_place place;
	struct err e = { .msg = "" };

	machine(&t);
	for (uint32_t n = 1; n < 3; n++) /* VF 2 is not in the snapshot */
		ck_assert_msg(claim_vf(&who, testhost_vf(n), &place, &e) == 0, "%s", e.msg);
	ck_assert_msg(topo_taken(&r, &t, &taken, &e) == 0, "%s", e.msg);
	ck_assert(!taken[0] && taken[1] && !taken[2]);
}
END_TEST

START_TEST(no_VF_of_another_machine_is_taken)
{
	auto_topo struct topo t = { .m.source = TOPO_CAPTURE };
	struct cmd_run r = { .ctx.sysfs = "/nothing" };
	bool *taken = NULL;
	struct err e = { .msg = "" };

	ck_assert_int_eq(topo_taken(&r, &t, &taken, &e), 0);
	ck_assert_ptr_null(taken);
}
END_TEST

TEST_PROGRAM("topo_taken", what_a_pod_has_is_taken, no_VF_of_another_machine_is_taken)
