/* SPDX-License-Identifier: Apache-2.0 */
/* cnp_test.c: congestion notifications in the files of debugfs, read and set. */
#include <stdio.h>
#include <string.h>

#include "lib/device/sysfs.h"
#include "lib/testing/dcb.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "rdma/qos/qos.h"

#define SYS "/mnt/sys"
#define TC  SYS "/class/infiniband/mlx5_0/tc/1/traffic_class"
#define CC  SYS "/kernel/debug/mlx5/0000:3b:00.0/cc_params"

static const struct qos_port port = { "ens1", "0000:3b:00.0", "mlx5_0", 1 };

struct card {
	struct ctx ctx;
	struct net_fake k;
	uint32_t seq; /* of the next answer */
};

static void shell(const char *command)
{
	ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c): the text is ours */
}

static struct card card(void)
{
	struct card c = { .seq = 1 };

	(void)testing_dir();
	ctx_init(&c.ctx, "test");
	c.ctx.sysfs = SYS;
	c.k = net_fake();
	return c;
}

static struct qos_cnp cnp(const char *command)
{
	struct qos_cnp c = { 99, 99 };
	struct err e = { 0 };

	shell(command);
	ck_assert_int_eq(qos_cnp_read(SYS, port.pci, &c, &e), 0);
	return c;
}

static void holds(const char *name, int number)
{
	char path[QOS_PATH_LEN];
	struct err e = { .msg = "" };
	uint64_t n = 99;

	(void)snprintf(path, sizeof(path), "kernel/debug/mlx5/%s/cc_params/%s", port.pci, name);
	ck_assert_msg(sysfs_read_u64(SYS, path, &n, &e) == 0, "%s", e.msg);
	ck_assert_msg((int)n == number, "%s: %d, not %d", name, (int)n, number);
}

static int set(struct card *c, const struct qos_profile *want, unsigned *changed, struct err *e)
{
	const struct qos_work w = { &c->ctx, c->k.nl, &port };

	dcb_says(&c->k, c->seq++, 0, false);
	return qos_set(&w, want, changed, e);
}

/* The DSCP and priority of notifications as in an option. */
static struct qos_profile want(const char *text)
{
	struct qos_profile p = { .has = 0 };

	ck_assert_int_eq(qos_parse(QOS_CNP, text, &p), 0);
	return p;
}

/* The class of the device is set last, and it cannot be written. */
static struct qos_profile want_too_much(const char *text)
{
	struct qos_profile p = want(text);

	shell("mkdir -p $(dirname " TC ") && ln -sf /dev/full " TC);
	ck_assert_int_eq(qos_parse(QOS_TC, "106", &p), 0);
	return p;
}

static void fails(struct card *c, struct qos_profile p, const char *says)
{
	unsigned changed = 77;
	struct err e = { .msg = "" };

	ck_assert_int_eq(set(c, &p, &changed, &e), -1);
	ck_assert_uint_eq(changed, 77);
	ck_assert_msg(strstr(e.msg, says), "%s", e.msg);
	/* Only the reading of data center bridging. */
	ck_assert_uint_eq(dcb_requests(&c->k), 1);
}

START_TEST(they_are_read_from_debugfs)
{
	struct card d = card();
	struct qos_cnp c = cnp("true");

	ck_assert(c.dscp == -1 && c.priority == -1);
	c = cnp("mkdir -p " CC "; cd " CC "; echo 48 >np_cnp_dscp; echo 6 >np_cnp_prio; "
		"echo 0 >np_cnp_prio_mode");
	ck_assert(c.dscp == 48 && c.priority == 6);
	/* Another mode has another source of the priority. */
	c = cnp("echo 1 >" CC "/np_cnp_prio_mode");
	ck_assert(c.dscp == 48 && c.priority == -1);
	c = cnp("cd " CC "; echo 0 >np_cnp_prio_mode; echo 8 >np_cnp_prio; echo 64 >np_cnp_dscp");
	ck_assert(c.dscp == -1 && c.priority == -1);
	nl_release(d.k.nl);
}
END_TEST

START_TEST(they_are_written_and_put_back)
{
	const struct qos_profile p = want("46/5");
	struct card c = card();
	struct err e = { .msg = "" };
	unsigned changed;

	fails(&c, p, "cnp: no cc_params in debugfs");
	(void)cnp("mkdir -p " CC "; cd " CC "; echo 48 >np_cnp_dscp; echo 6 >np_cnp_prio; "
		  "echo 0 >np_cnp_prio_mode");
	ck_assert_msg(set(&c, &p, &changed, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(changed, QOS_BIT(QOS_CNP));
	ck_assert_uint_eq(dcb_requests(&c.k), 1);
	holds("np_cnp_dscp", 46);
	holds("np_cnp_prio", 5);
	fails(&c, want_too_much("40/4"), "trafficClass");
	holds("np_cnp_dscp", 46);
	holds("np_cnp_prio", 5);
	nl_release(c.k.nl);
}
END_TEST

/* Where the DSCP value cannot be put back, the priority still is. */
START_TEST(all_numbers_are_put_back)
{
	struct card c = card();

	(void)cnp("mkdir -p " CC "; cd " CC "; ln -s /proc/sys/kernel/ngroups_max np_cnp_dscp; "
		  "echo 6 >np_cnp_prio; echo 0 >np_cnp_prio_mode");
	ck_assert_int_eq(qos_cnp_restore(SYS, port.pci, &(struct qos_cnp_raw){ 48, 5, 0 },
					 &(struct err){ .msg = "" }),
			 -1);
	holds("np_cnp_prio", 5);
	nl_release(c.k.nl);
}
END_TEST

/* The driver takes the priority from elsewhere; setting one ends that. */
START_TEST(the_mode_of_the_priority_is_put_back)
{
	const struct qos_profile p = want("46/5");
	struct card c = card();
	struct err e = { .msg = "" };
	unsigned changed;

	(void)cnp("mkdir -p " CC "; cd " CC "; echo 48 >np_cnp_dscp; echo 6 >np_cnp_prio; "
		  "echo 1 >np_cnp_prio_mode");
	fails(&c, want_too_much("46/5"), "trafficClass");
	holds("np_cnp_dscp", 48);
	holds("np_cnp_prio", 6);
	holds("np_cnp_prio_mode", 1);
	ck_assert_msg(set(&c, &p, &changed, &e) == 0, "%s", e.msg);
	holds("np_cnp_prio", 5);
	holds("np_cnp_prio_mode", 0);
	nl_release(c.k.nl);
}
END_TEST

START_TEST(a_number_without_effect_is_an_error)
{
	struct card c = card();

	(void)cnp("mkdir -p " CC "; cd " CC "; ln -s /dev/null np_cnp_dscp; echo 6 >np_cnp_prio; "
		  "echo 0 >np_cnp_prio_mode");
	fails(&c, want("46/5"), "cnp of ens1: the driver said yes, but it is not so afterwards");
	holds("np_cnp_prio", 6);
	nl_release(c.k.nl);
}
END_TEST

TEST_PROGRAM("rdma/qos/cnp", they_are_read_from_debugfs, they_are_written_and_put_back,
	     the_mode_of_the_priority_is_put_back, a_number_without_effect_is_an_error,
	     all_numbers_are_put_back)
