/* SPDX-License-Identifier: Apache-2.0 */
/* compare_test.c: which settings of a card are not as a profile wants them. */
#include <stdio.h>

#include "lib/device/ethtool.h"
#include "lib/testing/testing.h"
#include "rdma/qos/qos.h"

/* A profile with one setting. */
static struct qos_profile only(enum qos_setting s, const char *text)
{
	struct qos_profile p = { .has = 0 };

	ck_assert_msg(qos_parse(s, text, &p) == 0, "%s", text);
	return p;
}

START_TEST(differences_from_a_profile)
{
	struct qos_state s = { .known = QOS_PROFILE & ~QOS_BIT(QOS_STORM),
			       .can = QOS_BIT(QOS_TC),
			       .pfc = 8,
			       .tc = 106,
			       .storm = 100,
			       .cnp = { 48, QOS_UNSET } };
	struct qos_profile want = { .has = QOS_BIT(QOS_PFC) | QOS_BIT(QOS_TC),
				    .pfc = 8,
				    .tc = 106 };

	ck_assert_uint_eq(qos_differing(&s, &want), 0);
	want.pfc = 4;
	ck_assert_uint_eq(qos_differing(&s, &want), QOS_BIT(QOS_PFC));
	s.known &= ~QOS_BIT(QOS_TC);
	ck_assert_uint_eq(qos_differing(&s, &want), QOS_BIT(QOS_PFC) | QOS_BIT(QOS_TC));
	/* Two places for the class, and only one has it. */
	s.known |= QOS_BIT(QOS_TC) | QOS_BIT(QOS_CM);
	s.can |= QOS_BIT(QOS_CM);
	ck_assert_uint_eq(qos_differing(&s, &want), QOS_BIT(QOS_PFC) | QOS_BIT(QOS_CM));
	s.cm = 106;
	want.pfc = 8;
	ck_assert_uint_eq(qos_differing(&s, &want), 0);

	want = only(QOS_STORM, "auto");
	ck_assert_uint_eq(qos_differing(&s, &want), QOS_BIT(QOS_STORM)); /* not known */
	s.known |= QOS_BIT(QOS_STORM);
	ck_assert_uint_eq(qos_differing(&s, &want), 0);
	want = only(QOS_STORM, "200");
	ck_assert_uint_eq(qos_differing(&s, &want), QOS_BIT(QOS_STORM));
	s.storm = 0;
	ck_assert_uint_eq(qos_differing(&s, &(struct qos_profile){ .has = QOS_BIT(QOS_STORM) }), 0);
	want.storm = ETHTOOL_STORM_AUTO;
	ck_assert_uint_eq(qos_differing(&s, &want), QOS_BIT(QOS_STORM));

	want = (struct qos_profile){ .has = QOS_BIT(QOS_CNP), .cnp = { 48, QOS_UNSET } };
	ck_assert_uint_eq(qos_differing(&s, &want), 0);
	want.cnp.priority = 6;
	ck_assert_uint_eq(qos_differing(&s, &want), QOS_BIT(QOS_CNP));
}
END_TEST

/* A value with a second priority is not as wanted; sizes are as far as cells go. */
START_TEST(differences_of_rules_and_buffers)
{
	struct qos_state s = { .known = QOS_PROFILE };
	struct qos_profile want = only(QOS_DSCP, "26=3");

	s.dcb.dscp[26] = 1 << 3;
	ck_assert_uint_eq(qos_differing(&s, &want), 0);
	s.dcb.dscp[26] |= 1 << 1;
	ck_assert_uint_eq(qos_differing(&s, &want), QOS_BIT(QOS_DSCP));
	s.dcb.dscp[26] = 1 << 3;
	s.dcb.dscp[0] = 1;
	ck_assert_uint_eq(qos_differing(&s, &want), QOS_BIT(QOS_DSCP));

	want = only(QOS_BUFFER_BYTES, "0,0,0,0,0,0,0,5000");
	s.dcb.buffer[7] = 5000 + 4095;
	ck_assert_uint_eq(qos_differing(&s, &want), 0);
	s.dcb.buffer[7]++;
	ck_assert_uint_eq(qos_differing(&s, &want), QOS_BIT(QOS_BUFFER_BYTES));
	want = only(QOS_PRIORITY_BUFFERS, "0,0,0,0,0,0,0,1");
	ck_assert_uint_eq(qos_differing(&s, &want), QOS_BIT(QOS_PRIORITY_BUFFERS));
}
END_TEST

/* Each of the two places of the class has its own text. */
START_TEST(texts_of_a_card)
{
	struct qos_state s = { .known = QOS_BIT(QOS_TC) | QOS_BIT(QOS_CM), .tc = 106, .cm = 8 };
	char text[QOS_TEXT_LEN];

	ck_assert_str_eq(qos_state_text(QOS_TC, &s, text), "106");
	ck_assert_str_eq(qos_state_text(QOS_CM, &s, text), "8");
	s.known = 0;
	(void)snprintf(s.why[QOS_CM], QOS_WHY_LEN, "no module");
	ck_assert_str_eq(qos_state_text(QOS_CM, &s, text), "unknown (no module)");
}
END_TEST

TEST_PROGRAM("rdma/qos/compare", differences_from_a_profile, differences_of_rules_and_buffers,
	     texts_of_a_card)
