// SPDX-License-Identifier: Apache-2.0
/* Captured machines: for each GPU, the PFs from which near would choose, nearest first. */
#include <stdio.h>

#include "lib/testing/testing.h"
#include "sriov/choose/near.h"
#include "topo/testing/tree.h"

struct machine_case {
	const char *gpu;  /* more than one: separated by a comma */
	const char *want; /* "PF class" of each PF; "*" before those that nearOnly accepts */
};

static struct near_gpus gpus_of(const char *text)
{
	struct slice rest = { text, strlen(text) }, one;
	struct near_gpus g = { .source = "near" };

	while (slice_next(&rest, ',', &one))
		ck_assert_int_eq(slice_copy(one, g.gpu[g.n++], PCI_STR_LEN), 0);
	return g;
}

static void machine_is(const char *name, struct pf_list pfs, const struct machine_case *cases,
		       size_t n)
{
	char sysfs[256], is[512];
	struct ctx ctx;
	const struct claimant who = { .ctx = &ctx,
				      .key = { "net", "c1", "net1" },
				      .netns = "/run/netns/p" };
	struct err e = { .msg = "" };

	ctx_init(&ctx, "test");
	(void)snprintf(sysfs, sizeof(sysfs), "%s/sys", tree_unpack(name));
	ctx.sysfs = sysfs;
	ctx.run_dir = "/mnt/run";
	for (size_t i = 0; i < n; i++) {
		const struct near_gpus gpus = gpus_of(cases[i].gpu);
		*is = '\0';
		for (size_t k = 0; k < pfs.n; k++) {
			struct affinity_result f;
			int rc = affinity_of(&who, (struct affinity_request){ &gpus, pfs, false },
					     pfs.name[k], &f, &e);
			ck_assert_msg(rc == 0, "%s: %s", name, e.msg);
			testing_append(is, sizeof(is), k ? " " : "");
			testing_append(is, sizeof(is), f.farther ? "" : "*");
			testing_append(is, sizeof(is), pfs.name[k] + 5);
			testing_append(is, sizeof(is), " ");
			testing_append(is, sizeof(is), topo_class_name(f.class));
		}
		ck_assert_str_eq(is, cases[i].want);
	}
}

/* Two NUMA nodes; four accelerators and one HCA below each of two switches. */
START_TEST(eight_accelerators_and_two_HCAs)
{
	static const char *const names[] = { "0000:1a:00.0", "0000:3d:00.0" };
	static const struct machine_case cases[] = {
		{ "0000:1c:00.0", "*1a:00.0 PIX 3d:00.0 NODE" },
		{ "0000:1d:00.0", "*1a:00.0 PIX 3d:00.0 NODE" },
		{ "0000:1e:00.0", "*1a:00.0 PIX 3d:00.0 NODE" },
		{ "0000:3f:00.0", "1a:00.0 NODE *3d:00.0 PIX" },
		{ "0000:40:00.0", "1a:00.0 NODE *3d:00.0 PIX" },
		{ "0000:41:00.0", "1a:00.0 NODE *3d:00.0 PIX" },
		/* Each HCA is for the accelerator beside it. */
		{ "0000:1c:00.0,0000:41:00.0", "*1a:00.0 PIX *3d:00.0 PIX" },
		{ "0000:1c:00.0,0000:1d:00.0", "*1a:00.0 PIX 3d:00.0 NODE" },
	};

	machine_is("hwloc-8ve", (struct pf_list){ names, ARRAY_SIZE(names) }, cases,
		   ARRAY_SIZE(cases));
}
END_TEST

/* Real PFs of igb below switches of QEMU, and one at a root port. */
START_TEST(three_PFs_of_a_guest)
{
	static const char *const names[] = { "0000:25:00.0", "0000:84:00.0", "0000:85:00.0" };
	static const struct machine_case cases[] = {
		{ "0000:23:00.0", "*25:00.0 PIX 84:00.0 SYS 85:00.0 SYS" },
		{ "0000:24:00.0", "*25:00.0 PIX 84:00.0 SYS 85:00.0 SYS" },
		{ "0000:83:00.0", "25:00.0 SYS *84:00.0 PIX 85:00.0 PHB" },
		{ "0000:23:00.0,0000:83:00.0", "*25:00.0 PIX *84:00.0 PIX 85:00.0 PHB" },
	};

	machine_is("qemu-pxb-xio3130-igb-sriov-rxe", (struct pf_list){ names, ARRAY_SIZE(names) },
		   cases, ARRAY_SIZE(cases));
}
END_TEST

TEST_PROGRAM("sriov/choose/near_machines", eight_accelerators_and_two_HCAs, three_PFs_of_a_guest)
