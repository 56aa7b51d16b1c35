/* SPDX-License-Identifier: Apache-2.0 */
/* blocks_test.c: groups whose leaves share switches above them; hosts and networks of management
 * are none. */
#include "fabric/blocks.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define GROUPS 4

/* Four groups with the leaves l0a and l0b, ..., and their nodes gpu-0, ... */
static struct fabric_group group[GROUPS];
static struct fabric_node node[GROUPS];
static char leaf[GROUPS][2][24], chassis[GROUPS][2][24], name[GROUPS][16];
static const struct fabric_groups groups = { group, GROUPS };

static void fixture(void)
{
	for (size_t i = 0; i < GROUPS; i++) {
		group[i] = (struct fabric_group){ .n = 3, .n_places = 2 };
		for (size_t k = 0; k < 2; k++) {
			(void)snprintf(leaf[i][k], sizeof(leaf[0][0]), "l%zu%c.example", i,
				       k ? 'b' : 'a');
			(void)snprintf(chassis[i][k], sizeof(chassis[0][0]), "mac %zu%zu", i, k);
			group[i].place[k] = (struct fabric_place){ .rail = (uint32_t)k,
								   .leaf = chassis[i][k],
								   .system = leaf[i][k] };
		}
		(void)snprintf(name[i], sizeof(name[0]), "gpu-%zu", i);
		node[i] = (struct fabric_node){ .name = name[i], .group = i };
	}
}

/* The blocks of the groups by "A=B A=B ...", as "0 0 2 2"; "-": not known. */
static const char *blocks_by(const char *links)
{
	static char text[64];
	static struct intent_cable cable[64];
	struct intent t = { cable, 0 };
	char copy[512], *save = NULL;
	size_t block[GROUPS], n = 0;

	(void)snprintf(copy, sizeof(copy), "%s", links);
	for (char *s = strtok_r(copy, " ", &save); s; s = strtok_r(NULL, " ", &save)) {
		struct intent_cable *c = &cable[t.n++];

		ck_assert_int_eq(sscanf(s, "%100[^=]=%100s", c->node, c->leaf), 2);
	}
	ck_assert_int_eq(fabric_blocks(&groups, node, GROUPS, &t, block), 0);
	for (size_t i = 0; i < GROUPS; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      block[i] == FABRIC_NO_GROUP ? "%s-" : "%s%zu", i ? " " : "",
				      block[i]);
	return text;
}

#define UP "l0a=s1 l1a=s1 l2a=s2 l3b=s2"

START_TEST(groups_that_share_a_switch_above_are_one_block)
{
	fixture();
	ck_assert_str_eq(blocks_by(UP), "0 0 2 2");
	/* In both directions, and by rails of their own. */
	ck_assert_str_eq(blocks_by("s1=l0a l1b=s3 l3a=s3 l2a=s1"), "0 1 0 1");
	ck_assert_str_eq(blocks_by(UP " l1b=s9 l2b=s9"), "0 0 0 0");
	/* InfiniBand has GUIDs. */
	group[3].place[0].leaf = "b8:59";
	ck_assert_str_eq(blocks_by("l0a=s1 l1a=s1 l2a=s2 b8:59=s2"), "0 0 2 2");
	/* Switches further up say nothing. */
	ck_assert_str_eq(blocks_by(UP " s1=core s2=core"), "0 0 2 2");
}
END_TEST

START_TEST(all_groups_have_a_block_or_none)
{
	fixture();
	ck_assert_str_eq(blocks_by(""), "- - - -");
	ck_assert_str_eq(blocks_by("l0a=s1 l1a=s1 l2a=s2"), "- - - -");
}
END_TEST

START_TEST(nodes_and_what_they_are_cabled_to_are_not_above)
{
	fixture();
	ck_assert_str_eq(blocks_by(UP " l0a=gpu-0 l2a=gpu-0"), "0 0 2 2");
	ck_assert_str_eq(blocks_by(UP " l0a=oob l1a=oob l2a=oob l3a=oob gpu-1=oob"), "0 0 2 2");
	ck_assert_str_eq(blocks_by(UP " l1a=l2a"), "0 0 2 2");
}
END_TEST

/* Two leaves have one name: their links say nothing. */
START_TEST(a_name_of_two_leaves_counts_for_neither)
{
	fixture();
	group[2].place[0].system = leaf[0][0];
	ck_assert_str_eq(blocks_by("l0b=s1 l1a=s1 l2b=s2 l3a=s2 l0a=s1 l0a=s2"), "0 0 2 2");
	ck_assert_str_eq(blocks_by("l0b=s1 l1a=s1 l2b=s2 l3a=s2 l0a=l1a l0a=l3a"), "0 0 2 2");
}
END_TEST

static int make_blocks(void *arg, struct err *e)
{
	static struct intent_cable cable = { .node = "l0a", .leaf = "s1" };
	const struct intent t = { &cable, 1 };
	size_t block[GROUPS];

	(void)arg;
	return fabric_blocks(&groups, node, GROUPS, &t, block) ? err_nomem(e) : 0;
}

START_TEST(allocations_may_fail)
{
	fixture();
	ck_assert_str_eq(alloc_fail_each(make_blocks, NULL), "ok");
}
END_TEST

TEST_PROGRAM("blocks", groups_that_share_a_switch_above_are_one_block,
	     all_groups_have_a_block_or_none, nodes_and_what_they_are_cabled_to_are_not_above,
	     a_name_of_two_leaves_counts_for_neither, allocations_may_fail)
