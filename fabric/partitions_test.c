/* SPDX-License-Identifier: Apache-2.0 */
/* partitions_test.c: railhead's section comes, changes and goes; other lines never change. */
#include "fabric/partitions.h"

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define RULE    "Default=0x7fff,ipoib : ALL=full ;\n"
#define BEGIN   "# railhead: begin (lines of pods; sm-opensm writes them, do not edit)\n"
#define END     "# railhead: end\n"
#define A       "railhead=0x0001,ipoib : 0x0200000000000a01=full ; # gpu-1 id-a net1\n"
#define B       "railhead=0x0001,ipoib : 0x0200000000000b02=full ; # gpu-1 id-b net1\n"
#define LIMITED "railhead=0x0002 : 0x0200000000000a01=limited ; # gpu-1 id-a net1\n"

static struct sm_message message(enum sm_action action, uint64_t guid, const char *container)
{
	return (struct sm_message){ .action = action,
				    .pkey = 0x8001,
				    .guid = { guid_of_number(guid) },
				    .n = 1,
				    .node = "gpu-1",
				    .who = { .container = container, .ifname = "net1" } };
}

#define GUID_A 0x0200000000000a01
#define GUID_B 0x0200000000000b02

static size_t edits(const char *before, const struct sm_message *m, bool ipoib, const char *after)
{
	struct partitions_edited out = { .text = NULL };
	struct err e = { .msg = "" };

	ck_assert_msg(partitions_edit(before, m, ipoib, &out, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(out.text, after);
	free(out.text);
	return out.kept;
}

START_TEST(a_section_comes_and_goes)
{
	struct sm_message a = message(SM_ADD, GUID_A, "id-a");
	struct sm_message b = message(SM_ADD, GUID_B, "id-b");

	edits(RULE, &a, true, RULE BEGIN A END);
	edits(RULE BEGIN A END, &b, true, RULE BEGIN A B END);
	edits(RULE BEGIN A B END, &a, true, RULE BEGIN B A END);
	edits("", &a, true, BEGIN A END);
	edits("Part=1:ALL;", &a, true, "Part=1:ALL;\n" BEGIN A END);
	b.action = SM_REMOVE;
	ck_assert_uint_eq(edits(RULE BEGIN A B END, &b, true, RULE BEGIN A END), 0);
	a.action = SM_REMOVE;
	ck_assert_uint_eq(edits(RULE BEGIN A END "# tail\n", &a, true, RULE "# tail\n"), 0);
	ck_assert_uint_eq(edits(RULE, &a, true, RULE), 0);
}
END_TEST

START_TEST(a_membership_may_be_limited_and_without_IPoIB)
{
	struct sm_message a = message(SM_ADD, GUID_A, "id-a");

	a.pkey = 0x0002;
	edits(RULE BEGIN A END, &a, false, RULE BEGIN A LIMITED END);
	a.action = SM_REMOVE;
	edits(RULE BEGIN A LIMITED END, &a, false, RULE BEGIN A END);
}
END_TEST

START_TEST(a_line_of_another_owner_stays)
{
	struct sm_message late = message(SM_REMOVE, GUID_A, "id-old");
	struct sm_message prefix = message(SM_REMOVE, GUID_A, "id-a");

	ck_assert_uint_eq(edits(RULE BEGIN A B END, &late, true, RULE BEGIN A B END), 1);
	prefix.who.ifname = "net";
	ck_assert_uint_eq(edits(RULE BEGIN A END, &prefix, true, RULE BEGIN A END), 1);
	prefix.who.ifname = "net1";
	prefix.node = "gpu-2";
	ck_assert_uint_eq(edits(RULE BEGIN A END, &prefix, true, RULE BEGIN A END), 1);
	/* A message without an owner is about any. */
	late.who.container = NULL;
	ck_assert_uint_eq(edits(RULE BEGIN A B END, &late, true, RULE BEGIN B END), 0);
}
END_TEST

START_TEST(lines_of_a_person_in_the_section_stay)
{
	struct sm_message a = message(SM_REMOVE, GUID_A, "id-a");

	edits(BEGIN "\nPart = 0x1 : ALL ;\nrailhead=0x00011 : 0x0200000000000a01=full;\n" A END, &a,
	      true, BEGIN "Part = 0x1 : ALL ;\nrailhead=0x00011 : 0x0200000000000a01=full;\n" END);
	/* and one with other white space is the membership all the same */
	edits(BEGIN " railhead = 0x0001:0x0200000000000A01 = full;  #   gpu-1 id-a net1\r\n" END,
	      &a, true, "");
}
END_TEST

START_TEST(strange_names_cannot_leave_their_comment)
{
	struct sm_message a = message(SM_ADD, GUID_A, "a;b\nALL=full");

	a.node = "";
	a.who.ifname = NULL;
	edits("", &a, true,
	      BEGIN "railhead=0x0001,ipoib : 0x0200000000000a01=full ; # - a_b_ALL_full -\n" END);
}
END_TEST

START_TEST(a_damaged_section_is_refused)
{
	static const char *const bad[] = { BEGIN A, BEGIN BEGIN END, END, BEGIN END END };
	struct sm_message a = message(SM_ADD, GUID_A, "id-a");

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct partitions_edited out = { .text = NULL };
		struct err e = { .msg = "" };

		ck_assert_int_eq(partitions_edit(bad[i], &a, true, &out, &e), -1);
		ck_assert_int_eq(e.code, ERR_CONFIG);
	}
}
END_TEST

START_TEST(a_rule_for_the_default_partition_is_found)
{
	static const char *const with[] = { RULE, "# x\n default = 0x7FFF : ALL ;", "Default:ALL;",
					    "Any=0x7fff:ALL;", "Any=0xffff,ipoib:ALL;" };
	static const char *const without[] = { "", "# Default=0x7fff : ALL=full ;\n",
					       "Part=0x7ff1:ALL;", "Part:ALL;" };

	for (size_t i = 0; i < ARRAY_SIZE(with); i++)
		ck_assert_msg(partitions_are_ruled(with[i]), "%s", with[i]);
	for (size_t i = 0; i < ARRAY_SIZE(without); i++)
		ck_assert_msg(!partitions_are_ruled(without[i]), "%s", without[i]);
}
END_TEST

static int edit(void *arg, struct err *e)
{
	const struct sm_message a = message(SM_ADD, GUID_A, "id-a");
	struct partitions_edited out = { .text = NULL };
	int rc = partitions_edit(arg, &a, true, &out, e);

	free(out.text);
	return rc;
}

START_TEST(allocations_may_fail)
{
	char text[] = RULE BEGIN B END;

	ck_assert_str_eq(alloc_fail_each(edit, text), "ok");
}
END_TEST

TEST_PROGRAM("partitions", a_section_comes_and_goes, a_membership_may_be_limited_and_without_IPoIB,
	     a_line_of_another_owner_stays, lines_of_a_person_in_the_section_stay,
	     strange_names_cannot_leave_their_comment, a_damaged_section_is_refused,
	     a_rule_for_the_default_partition_is_found, allocations_may_fail)
