/* SPDX-License-Identifier: Apache-2.0 */
/* A PF whose driver is the test: answers of data center bridging as mlx5 gives them, and files. */
#include "rdma/qos/qos.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/device/sysfs.h"
#include "lib/testing/testing.h"
#include "lib/testing/dcb.h"
#include "lib/testing/dir.h"

#define SYS "/mnt/sys"
#define ECN SYS "/class/net/ens1/ecn"
#define TC  SYS "/class/infiniband/mlx5_0/tc/1/traffic_class"
#define CM  SYS "/" QOS_CM_DIR "/mlx5_0/ports/1/default_roce_tos"

static const struct qos_port port = { "ens1", "0000:3b:00.0", "mlx5_0", 1 };
#define FOUR (QOS_BIT(QOS_TRUST) | QOS_BIT(QOS_PFC) | QOS_BIT(QOS_ECN) | QOS_BIT(QOS_TC))
static const struct qos_profile all = {
	.has = FOUR, .trust_dscp = true, .pfc = 8, .ecn = 8, .tc = 106
};

struct driver {
	struct ctx ctx;
	struct net_fake k;
	uint32_t seq; /* of the next answer */
};

static void shell(const char *command)
{
	ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c): the text is ours */
}

static struct driver driver(void)
{
	struct driver d = { .seq = 1 };

	(void)testing_dir();
	ctx_init(&d.ctx, "test");
	d.ctx.sysfs = SYS;
	d.k = net_fake();
	shell("mkdir -p " ECN "/roce_np/enable " ECN "/roce_rp/enable /mnt/sys/kernel/config "
	      "$(dirname " TC ") && for s in np rp; do for p in 0 1 2 3 4 5 6 7; do "
	      "echo 0 >" ECN "/roce_$s/enable/$p; done; done; echo 'Global tclass=0' >" TC);
	return d;
}

static void is(struct driver *d, uint8_t pfc, bool dscp)
{
	dcb_says(&d->k, d->seq++, pfc, dscp);
}

static void takes(struct driver *d, int errnum)
{
	dcb_takes(&d->k, d->seq++, errnum);
}

static void skip_requests(const struct driver *d, unsigned n)
{
	char buf[8192];

	for (; n; n--)
		ck_assert_int_gt(recv(d->k.peer, buf, sizeof(buf), MSG_DONTWAIT), 0);
}

static int set(struct driver *d, const struct qos_profile *want, unsigned *changed, struct err *e)
{
	const struct qos_work w = { &d->ctx, d->k.nl, &port };

	return qos_set(&w, want, changed, e);
}

static void holds(const char *path, const char *text)
{
	char buf[64];
	struct err e = { 0 };

	ck_assert_msg(sysfs_read(SYS, path + strlen(SYS), buf, sizeof(buf), &e) == 0, "%s", e.msg);
	ck_assert_msg(strcmp(buf, text) == 0, "%s: %s, not %s", path, buf, text);
}

static void fails(struct driver *d, const struct qos_profile *want, const char *says)
{
	unsigned changed = 77;
	struct err e = { .msg = "" };

	ck_assert_int_eq(set(d, want, &changed, &e), -1);
	ck_assert_uint_eq(changed, 77);
	ck_assert_msg(strstr(e.msg, says) && strncmp(e.msg, "ens1: ", 6) == 0, "%s", e.msg);
}

/* ---- reading ---- */

START_TEST(all_settings_are_read)
{
	struct driver d = driver();
	struct qos_state s;
	struct err e = { .msg = "" };

	is(&d, 0x28, true);
	shell("echo 1 >" ECN "/roce_np/enable/3; echo 'Global tclass=106' >" TC);
	ck_assert_msg(qos_read(&d.ctx, d.k.nl, &port, &s, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(s.known, FOUR | QOS_BIT(QOS_DSCP));
	ck_assert(s.trust_dscp && s.pfc == 0x28 && s.ecn_np == 8 && s.ecn_rp == 0 && s.tc == 106);
	ck_assert_ptr_nonnull(strstr(s.why[QOS_CM], "rdma_cm is not loaded"));
	nl_release(d.k.nl);
}
END_TEST

START_TEST(what_cannot_be_read_says_why)
{
	struct qos_port bare = { .netdev = "ens1", .rdma_port = 1 };
	struct driver d = driver();
	struct qos_state s;
	struct err e = { .msg = "" };

	shell("rm -r " ECN " " TC "; mkdir -p " SYS "/" QOS_CM_DIR);
	net_ack(&d.k, 1, EOPNOTSUPP);
	ck_assert_int_eq(qos_read(&d.ctx, d.k.nl, &port, &s, &e), 0);
	ck_assert_uint_eq(s.known, 0);
	ck_assert_str_eq(s.why[QOS_PFC], "its driver has no data center bridging");
	ck_assert_ptr_nonnull(strstr(s.why[QOS_ECN], "no folder ecn"));
	ck_assert_ptr_nonnull(strstr(s.why[QOS_TC], "tc/1/traffic_class"));
	ck_assert_ptr_nonnull(strstr(s.why[QOS_CM], "not asked for"));
	net_ack(&d.k, 2, EPERM);
	ck_assert_int_eq(qos_read(&d.ctx, d.k.nl, &bare, &s, &e), 0);
	ck_assert_ptr_nonnull(strstr(s.why[QOS_TRUST], "Operation not permitted"));
	ck_assert_str_eq(s.why[QOS_TC], "it has no RDMA device");
	nl_release(d.k.nl);
}
END_TEST

/* ---- setting ---- */

START_TEST(all_of_a_profile_is_set)
{
	struct driver d = driver();
	struct err e = { .msg = "" };
	unsigned changed;

	shell("mkdir -p $(dirname " CM ") && echo 0 >" CM);
	is(&d, 0, false);
	is(&d, 0, false);
	takes(&d, 0); /* the rules */
	is(&d, 0, true);
	is(&d, 0, true);
	takes(&d, 0); /* flow control */
	is(&d, 8, true);
	ck_assert_msg(set(&d, &all, &changed, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(changed, FOUR | QOS_BIT(QOS_CM));
	ck_assert_uint_eq(dcb_requests(&d.k), 7);
	holds(ECN "/roce_np/enable/3", "1");
	holds(ECN "/roce_rp/enable/3", "1");
	holds(ECN "/roce_rp/enable/2", "0");
	holds(TC, "106");
	holds(CM, "106");
	/* A second time there is nothing to do. */
	is(&d, 8, true);
	ck_assert_msg(set(&d, &all, &changed, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(changed, 0);
	ck_assert_uint_eq(dcb_requests(&d.k), 1);
	nl_release(d.k.nl);
}
END_TEST

START_TEST(settings_outside_the_profile_stay)
{
	const struct qos_profile off = { .has = QOS_BIT(QOS_TRUST) | QOS_BIT(QOS_ECN) };
	struct driver d = driver();
	struct err e = { .msg = "" };
	unsigned changed;

	shell("echo 1 >" ECN "/roce_rp/enable/5; echo 'Global tclass=7' >" TC);
	is(&d, 8, true);
	is(&d, 8, true);
	takes(&d, 0);
	is(&d, 8, false);
	ck_assert_msg(set(&d, &off, &changed, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(changed, off.has);
	holds(ECN "/roce_rp/enable/5", "0");
	holds(TC, "Global tclass=7");
	nl_release(d.k.nl);
}
END_TEST

/* Before anything is touched. */
START_TEST(a_setting_without_driver_support_is_an_error)
{
	struct driver d = driver();

	shell("rm -r " ECN);
	is(&d, 0, false);
	fails(&d, &all, "ecn: its driver has no folder ecn");
	ck_assert_uint_eq(dcb_requests(&d.k), 1);
	holds(TC, "Global tclass=0");
	shell("rm " TC);
	is(&d, 0, false);
	fails(&d, &(struct qos_profile){ .has = QOS_BIT(QOS_TC), .tc = 1 },
	      "trafficClass: its driver has no tc/1/traffic_class");
	net_ack(&d.k, d.seq++, EOPNOTSUPP);
	fails(&d, &(struct qos_profile){ .has = QOS_BIT(QOS_PFC), .pfc = 1 },
	      "pfc: its driver has no data center bridging");
	nl_release(d.k.nl);
}
END_TEST

START_TEST(a_refusal_puts_back_what_was_set)
{
	struct driver d = driver();

	/* The rules are taken; flow control is not. */
	is(&d, 0, false);
	is(&d, 0, false);
	takes(&d, 0);
	is(&d, 0, true);
	is(&d, 0, true);
	takes(&d, EINVAL);
	takes(&d, 0); /* flow control back: it may have done a part */
	is(&d, 0, true);
	takes(&d, 0); /* the rules */
	fails(&d, &all, "pfc: set priority flow control of interface ens1: Invalid argument");
	ck_assert_uint_eq(dcb_requests(&d.k), 9);
	holds(ECN "/roce_np/enable/3", "0");
	nl_release(d.k.nl);
}
END_TEST

/* A change of PFC toggles the link of mlx5, so all that may be refused comes before it. */
START_TEST(a_refusal_in_a_file_touches_no_flow_control)
{
	struct driver d = driver();

	shell("mkdir -p " SYS "/" QOS_CM_DIR);
	is(&d, 0, true);
	takes(&d, 0);
	fails(&d, &all, "default_roce_tos");
	ck_assert_uint_eq(dcb_requests(&d.k), 1);
	holds(ECN "/roce_np/enable/3", "0");
	nl_release(d.k.nl);
}
END_TEST

START_TEST(an_acknowledged_setting_without_effect_is_an_error)
{
	const struct qos_profile pfc = { .has = QOS_BIT(QOS_PFC), .pfc = 8 };
	struct driver d = driver();

	is(&d, 0, false);
	takes(&d, 0);
	is(&d, 0, false);
	takes(&d, 0);
	fails(&d, &pfc, "pfc of ens1: the driver said yes, but it is not so afterwards");
	ck_assert_uint_eq(dcb_requests(&d.k), 4);
	nl_release(d.k.nl);
}
END_TEST

START_TEST(files_are_put_back_too)
{
	struct qos_profile want = all;
	struct driver d = driver();

	want.has = QOS_BIT(QOS_ECN) | QOS_BIT(QOS_TC);
	/* configfs would fill the folder; here there is nothing in it, and that is an error. */
	shell("mkdir -p " SYS "/" QOS_CM_DIR);
	is(&d, 0, false);
	fails(&d, &want, "default_roce_tos");
	holds(ECN "/roce_np/enable/3", "0");
	holds(ECN "/roce_rp/enable/3", "0");
	holds(TC, "Global tclass=0");
	ck_assert_int_ne(access(SYS "/" QOS_CM_DIR "/mlx5_0", F_OK), 0);
	nl_release(d.k.nl);
}
END_TEST

/* The first switch is on, and cannot be written. */
START_TEST(one_switch_that_is_refused_keeps_no_other_from_its_undo)
{
	const struct qos_profile want = { .has = QOS_BIT(QOS_ECN) | QOS_BIT(QOS_TC), .ecn = 0x81 };
	struct driver d = driver();

	shell("cd " ECN "/roce_np/enable && rm 0 && ln -s /proc/sys/kernel/ngroups_max 0; "
	      "mkdir -p " SYS "/" QOS_CM_DIR);
	is(&d, 0, false);
	fails(&d, &want, "default_roce_tos");
	holds(ECN "/roce_np/enable/7", "0");
	holds(ECN "/roce_rp/enable/0", "0");
	holds(ECN "/roce_rp/enable/7", "0");
	nl_release(d.k.nl);
}
END_TEST

/* ---- a map, queues and buffers ---- */

/* As mlx5 has it after a start: all queues are the driver's, and one buffer has everything. */
static struct dcb_info fresh_card(void)
{
	struct dcb_info d = { .has_app = true, .has_ets = true, .has_buffers = true };

	for (uint8_t i = 0; i < DCB_PRIORITIES; i++) {
		d.prio_tc[i] = i;
		d.queue_bw[i] = 100;
		d.queue_tsa[i] = DCB_TSA_VENDOR;
	}
	d.buffer[0] = 200000;
	return d;
}

static struct qos_profile words(const struct qos_profile *from, enum qos_setting s,
				const char *text)
{
	struct qos_profile p = *from;

	ck_assert_msg(qos_parse(s, text, &p) == 0, "%s", text);
	return p;
}

static const struct qos_profile nothing = { .cnp = { QOS_UNSET, QOS_UNSET } };

/* 26 moves from 5 to 3, 48 is new, 10 goes: new rules come first. */
START_TEST(a_map_of_ones_own_replaces_what_was_there)
{
	const struct qos_profile want = words(&nothing, QOS_DSCP, "26=3,48=6");
	struct driver d = driver();
	struct dcb_info card = fresh_card();
	uint8_t rules[DCB_DSCP];
	struct err e = { .msg = "" };
	unsigned changed;

	card.dscp[10] = 1 << 1;
	card.dscp[26] = 1 << 5;
	card.dscp_rules = 2;
	dcb_says_all(&d.k, d.seq++, &card);
	dcb_says_all(&d.k, d.seq++, &card);
	takes(&d, 0);
	/* As mlx5 does it: a new rule replaces that of its value. */
	card.dscp[26] = 1 << 3;
	card.dscp[48] = 1 << 6;
	dcb_says_all(&d.k, d.seq++, &card);
	takes(&d, 0);
	card.dscp[10] = 0;
	dcb_says_all(&d.k, d.seq++, &card);
	ck_assert_msg(set(&d, &want, &changed, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(changed, QOS_BIT(QOS_DSCP));
	skip_requests(&d, 2);
	dcb_asked_rules(&d.k, false, rules);
	ck_assert(rules[26] == 1 << 3 && rules[48] == 1 << 6 && rules[10] == 0);
	skip_requests(&d, 1);
	dcb_asked_rules(&d.k, true, rules);
	ck_assert(rules[26] == 0 && rules[48] == 0 && rules[10] == 1 << 1);
	ck_assert_uint_eq(dcb_requests(&d.k), 1);
	nl_release(d.k.nl);
}
END_TEST

START_TEST(queues_and_buffers_are_set)
{
	struct qos_profile want = words(&nothing, QOS_QUEUE_BANDWIDTH, "50,0,0,50,0,0,strict,0");
	struct driver d = driver();
	struct dcb_info card = fresh_card();
	struct err e = { .msg = "" };
	unsigned changed;

	want = words(&want, QOS_PRIORITY_QUEUES, "0,0,0,3,0,0,6,0");
	want = words(&want, QOS_PRIORITY_BUFFERS, "0,0,0,1,0,0,0,0");
	want = words(&want, QOS_BUFFER_BYTES, "100000,90000,0,0,0,0,0,0");
	dcb_says_all(&d.k, d.seq++, &card);
	takes(&d, 0);
	for (uint8_t i = 0; i < DCB_PRIORITIES; i++) {
		card.prio_tc[i] = i == 3 || i == 6 ? i : 0;
		card.queue_tsa[i] = i == 6 ? DCB_TSA_STRICT : DCB_TSA_ETS;
		card.queue_bw[i] = i == 0 || i == 3 ? 50 : 0;
	}
	dcb_says_all(&d.k, d.seq++, &card);
	dcb_says_all(&d.k, d.seq++, &card);
	takes(&d, 0);
	card.prio_buffer[3] = 1;
	card.buffer[0] = 99968; /* rounded to its cells */
	card.buffer[1] = 89984;
	dcb_says_all(&d.k, d.seq++, &card);
	ck_assert_msg(set(&d, &want, &changed, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(changed, want.has);
	ck_assert_uint_eq(dcb_requests(&d.k), 6);
	dcb_says_all(&d.k, d.seq++, &card);
	dcb_says_all(&d.k, d.seq++, &card);
	ck_assert_msg(set(&d, &want, &changed, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(changed, 0);
	nl_release(d.k.nl);
}
END_TEST

static void asks_buffers(const struct driver *d, const uint32_t bytes[DCB_PRIORITIES])
{
	char buf[8192];
	ssize_t n = recv(d->k.peer, buf, sizeof(buf), MSG_DONTWAIT);

	ck_assert_int_gt(n, 0);
	ck_assert_ptr_nonnull(memmem(buf, (size_t)n, bytes, sizeof(uint32_t) * DCB_PRIORITIES));
}

/* mlx5 fits the buffers to the priorities with PFC, so they are not what they were. */
START_TEST(buffers_are_made_from_what_pfc_left)
{
	struct qos_profile want = words(&nothing, QOS_PFC, "3");
	struct driver d = driver();
	struct dcb_info card = fresh_card();
	struct err e = { .msg = "" };
	unsigned changed;

	want = words(&want, QOS_PRIORITY_BUFFERS, "0,0,0,2,0,0,0,0");
	card.has_pfc = true;
	dcb_says_all(&d.k, d.seq++, &card);
	takes(&d, 0);
	card.pfc = 8;
	card.prio_buffer[3] = 1;
	card.buffer[0] = 100000;
	card.buffer[1] = 90000;
	dcb_says_all(&d.k, d.seq++, &card);
	dcb_says_all(&d.k, d.seq++, &card);
	takes(&d, 0);
	card.prio_buffer[3] = 2;
	dcb_says_all(&d.k, d.seq++, &card);
	ck_assert_msg(set(&d, &want, &changed, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(changed, want.has);
	skip_requests(&d, 4);
	asks_buffers(&d, card.buffer);
	ck_assert_uint_eq(dcb_requests(&d.k), 1);
	nl_release(d.k.nl);
}
END_TEST

/* They were as wanted before PFC. */
START_TEST(buffers_that_pfc_changed_are_set_again)
{
	struct qos_profile want = words(&nothing, QOS_PFC, "3");
	struct driver d = driver();
	struct dcb_info card = fresh_card();
	struct err e = { .msg = "" };
	unsigned changed;

	want = words(&want, QOS_BUFFER_BYTES, "200000,0,0,0,0,0,0,0");
	card.has_pfc = true;
	dcb_says_all(&d.k, d.seq++, &card);
	takes(&d, 0);
	card.pfc = 8;
	card.buffer[0] = 100000;
	dcb_says_all(&d.k, d.seq++, &card);
	dcb_says_all(&d.k, d.seq++, &card);
	takes(&d, 0);
	card.buffer[0] = 200000;
	dcb_says_all(&d.k, d.seq++, &card);
	ck_assert_msg(set(&d, &want, &changed, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(changed, want.has);
	nl_release(d.k.nl);
}
END_TEST

/* Only then the old sizes suit the priorities that the driver makes lossless. */
START_TEST(buffers_are_put_back_after_pfc)
{
	struct qos_profile want = words(&nothing, QOS_PFC, "3");
	struct driver d = driver();
	struct dcb_info card = fresh_card(), before = card;

	want = words(&want, QOS_BUFFER_BYTES, "100000,90000,0,0,0,0,0,0");
	want = words(&want, QOS_TC, "106");
	shell("rm " TC "; ln -s /dev/full " TC);
	card.has_pfc = true;
	dcb_says_all(&d.k, d.seq++, &card);
	takes(&d, 0);
	card.pfc = 8;
	dcb_says_all(&d.k, d.seq++, &card);
	dcb_says_all(&d.k, d.seq++, &card);
	takes(&d, 0);
	card.buffer[0] = 100000;
	card.buffer[1] = 90000;
	dcb_says_all(&d.k, d.seq++, &card);
	takes(&d, 0); /* flow control back */
	takes(&d, 0); /* the buffers back */
	fails(&d, &want, "trafficClass");
	skip_requests(&d, 7);
	asks_buffers(&d, before.buffer);
	ck_assert_uint_eq(dcb_requests(&d.k), 0);
	nl_release(d.k.nl);
}
END_TEST

/* Setting them would end that the driver fits them to PFC. */
START_TEST(buffers_that_were_not_set_are_not_put_back)
{
	struct qos_profile want = words(&nothing, QOS_PFC, "3");
	struct driver d = driver();
	struct dcb_info card = fresh_card();

	want = words(&want, QOS_BUFFER_BYTES, "200000,0,0,0,0,0,0,0");
	card.has_pfc = true;
	dcb_says_all(&d.k, d.seq++, &card);
	takes(&d, EINVAL);
	takes(&d, 0); /* flow control back */
	fails(&d, &want, "pfc");
	ck_assert_uint_eq(dcb_requests(&d.k), 3);
	nl_release(d.k.nl);
}
END_TEST

/* The kernel says yes for a driver that has no function for it (dcbnl_ieee_set()). */
START_TEST(buffers_that_stay_as_they_were_put_the_queues_back)
{
	struct qos_profile want = words(&nothing, QOS_PRIORITY_QUEUES, "0,0,0,3,0,0,0,0");
	struct driver d = driver();
	struct dcb_info card = fresh_card(), other = fresh_card();

	want = words(&want, QOS_BUFFER_BYTES, "100000,90000,0,0,0,0,0,0");
	memset(other.prio_tc, 0, sizeof(other.prio_tc));
	other.prio_tc[3] = 3;
	dcb_says_all(&d.k, d.seq++, &card);
	takes(&d, 0);
	dcb_says_all(&d.k, d.seq++, &other);
	dcb_says_all(&d.k, d.seq++, &other);
	takes(&d, 0);
	dcb_says_all(&d.k, d.seq++, &other);
	takes(&d, 0); /* the buffers back */
	takes(&d, 0); /* the queues back */
	fails(&d, &want, "bufferBytes of ens1: the driver said yes, but it is not so afterwards");
	ck_assert_uint_eq(dcb_requests(&d.k), 8);
	nl_release(d.k.nl);
}
END_TEST

/* ---- which ---- */

START_TEST(other_interfaces_are_refused)
{
	struct driver d = driver();
	struct qos_port p;
	struct err e = { .msg = "" };

	shell("cd " SYS " && mkdir -p bus/pci/devices/0000:3b:00.0/net/ens1 "
	      "bus/pci/devices/0000:3b:00.0/infiniband/mlx5_7 bus/pci/devices/0000:3b:00.2/net/v0 "
	      "class/net/v0 && echo 1 >class/net/ens1/dev_port && echo 4 >class/net/ens1/ifindex "
	      "&& "
	      "echo 5 >class/net/v0/ifindex && ln -s ../0000:3b:00.0 "
	      "bus/pci/devices/0000:3b:00.2/physfn && ln -s ../../../bus/pci/devices/0000:3b:00.0 "
	      "class/net/ens1/device && ln -s ../../../bus/pci/devices/0000:3b:00.2 "
	      "class/net/v0/device && ln -s . bus/pci/devices/0000:3b:00.0/subsystem");
	ck_assert_msg(qos_find(&d.ctx, "0000:3B:00.0", &p, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(p.netdev, "ens1");
	ck_assert_str_eq(p.rdma, "mlx5_7");
	ck_assert_uint_eq(p.rdma_port, 2);
	ck_assert_int_eq(qos_find(&d.ctx, "0000:3b:00.2", &p, &e), -1);
	ck_assert_msg(strstr(e.msg, "is a VF: this is set on its PF 0000:3b:00.0"), "%s", e.msg);
	ck_assert_int_eq(qos_find(&d.ctx, "nothere", &p, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(qos_find(&d.ctx, "../net", &p, &e), -1);
	nl_release(d.k.nl);
}
END_TEST

TEST_PROGRAM("rdma/qos/qos", all_settings_are_read, what_cannot_be_read_says_why,
	     all_of_a_profile_is_set, settings_outside_the_profile_stay,
	     a_setting_without_driver_support_is_an_error, a_refusal_puts_back_what_was_set,
	     a_refusal_in_a_file_touches_no_flow_control,
	     an_acknowledged_setting_without_effect_is_an_error, files_are_put_back_too,
	     one_switch_that_is_refused_keeps_no_other_from_its_undo,
	     a_map_of_ones_own_replaces_what_was_there, queues_and_buffers_are_set,
	     buffers_are_made_from_what_pfc_left, buffers_that_pfc_changed_are_set_again,
	     buffers_are_put_back_after_pfc, buffers_that_were_not_set_are_not_put_back,
	     buffers_that_stay_as_they_were_put_the_queues_back, other_interfaces_are_refused)
