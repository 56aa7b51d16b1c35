/* SPDX-License-Identifier: Apache-2.0 */
/* neighbour_test.c: which sender is believed, and when another one is. */
#include "fabric/neighbour.h"

#include <stdio.h>

#include "lib/testing/testing.h"

/* The frame of a port, valid for 100 s. */
static struct lldp_frame frame(const char *chassis, const char *port)
{
	struct lldp_frame f = { .ttl = 100 };

	(void)snprintf(f.chassis, sizeof(f.chassis), "%s", chassis);
	(void)snprintf(f.port, sizeof(f.port), "%s", port);
	return f;
}

#define S 1000 /* ms */

static void heard(struct neighbour *n, const char *chassis, int64_t now, enum neighbour_news news)
{
	struct lldp_frame f = frame(chassis, "p1");

	ck_assert_int_eq(neighbour_hear(n, &f, now), news);
}
static void is(const struct neighbour *n, int64_t now, const char *state, const char *chassis)
{
	ck_assert_str_eq(neighbour_state_name(neighbour_state(n, now)), state);
	ck_assert_str_eq(n->held.frame.chassis, chassis);
}

START_TEST(the_first_neighbour_is_believed)
{
	struct neighbour n = { .known = false };

	is(&n, 0, "unknown", "");
	heard(&n, "a", 0, NEIGHBOUR_NEW);
	is(&n, 100 * S, "heard", "a");
	is(&n, 100 * S + 1, "silent", "a");
	heard(&n, "a", 300 * S, NEIGHBOUR_SAME);
	is(&n, 300 * S, "heard", "a");
}
END_TEST

START_TEST(another_sender_is_a_conflict_and_changes_nothing)
{
	struct neighbour n = { .known = false };

	heard(&n, "a", 0, NEIGHBOUR_NEW);
	heard(&n, "b", 50 * S, NEIGHBOUR_CONFLICT);
	heard(&n, "b", 60 * S, NEIGHBOUR_SAME);
	is(&n, 60 * S, "contested", "a");
	heard(&n, "a", 70 * S, NEIGHBOUR_SAME);
	is(&n, 160 * S, "contested", "a");
	is(&n, 160 * S + 1, "heard", "a");
	heard(&n, "b", 170 * S, NEIGHBOUR_SAME); /* the same conflict */
	heard(&n, "c", 171 * S, NEIGHBOUR_CONFLICT);
}
END_TEST

/* The same switch by another port counts as another sender. */
START_TEST(another_port_is_another_neighbour)
{
	struct neighbour n = { .known = false };
	struct lldp_frame f = frame("a", "p2");

	heard(&n, "a", 0, NEIGHBOUR_NEW);
	ck_assert_int_eq(neighbour_hear(&n, &f, 1), NEIGHBOUR_CONFLICT);
	neighbour_lose(&n);
	ck_assert_int_eq(neighbour_hear(&n, &f, 2), NEIGHBOUR_NEW);
	ck_assert(!n.contested && !n.lost);
}
END_TEST

START_TEST(a_new_neighbour_counts_after_two_ttls_or_a_lost_carrier)
{
	struct neighbour n = { .known = false };

	heard(&n, "a", 0, NEIGHBOUR_NEW);
	heard(&n, "b", 200 * S, NEIGHBOUR_CONFLICT);
	heard(&n, "b", 200 * S + 1, NEIGHBOUR_NEW);
	is(&n, 201 * S, "heard", "b");
	neighbour_lose(&n);
	is(&n, 202 * S, "silent", "b");
	heard(&n, "a", 203 * S, NEIGHBOUR_NEW);
	neighbour_lose(&n);
	heard(&n, "a", 204 * S, NEIGHBOUR_SAME);
	heard(&n, "b", 205 * S, NEIGHBOUR_CONFLICT);
}
END_TEST

START_TEST(a_leave_changes_nothing)
{
	struct neighbour n = { .known = false };
	struct lldp_frame f = frame("a", "p1");

	f.ttl = 0;
	ck_assert_int_eq(neighbour_hear(&n, &f, 0), NEIGHBOUR_SAME);
	is(&n, 0, "unknown", "");
	heard(&n, "a", 0, NEIGHBOUR_NEW);
	ck_assert_int_eq(neighbour_hear(&n, &f, 1), NEIGHBOUR_SAME);
	heard(&n, "b", 2, NEIGHBOUR_CONFLICT);
	is(&n, 100 * S, "contested", "a");
}
END_TEST

TEST_PROGRAM("neighbour", the_first_neighbour_is_believed,
	     another_sender_is_a_conflict_and_changes_nothing, another_port_is_another_neighbour,
	     a_new_neighbour_counts_after_two_ttls_or_a_lost_carrier, a_leave_changes_nothing)
