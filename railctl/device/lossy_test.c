/* SPDX-License-Identifier: Apache-2.0 */
/* lossy_test.c: which cards files declare lossy, and which RDMA devices are on them. */
#include "railctl/device/lossy.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "rdma/inventory/inventory.h"

#define SYS "/mnt/sys"
#define DIR "/mnt/qos.d"

static void shell(const char *command)
{
	ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c): the text is ours */
}

/* Card 3b with interface ens1 and a VF, and card 4c with ens2. */
static struct ctx cards(void)
{
	struct ctx ctx;

	(void)testing_dir();
	ctx_init(&ctx, "test");
	ctx.sysfs = SYS;
	shell("mkdir -p " SYS "/bus/pci/devices " SYS "/class/net " DIR "; cd " SYS "; "
	      "for n in 3b:ens1 4c:ens2; do d=0000:${n%:*}:00.0; "
	      "mkdir -p bus/pci/devices/$d/net/${n#*:} class/net/${n#*:}; "
	      "echo 4 >class/net/${n#*:}/ifindex; "
	      "ln -s ../../../bus/pci/devices/$d class/net/${n#*:}/device; "
	      "ln -s . bus/pci/devices/$d/subsystem; done; "
	      "mkdir bus/pci/devices/0000:3b:00.2; "
	      "ln -s ../0000:3b:00.0 bus/pci/devices/0000:3b:00.2/physfn");
	return ctx;
}

static struct qos_cards found(const struct ctx *ctx)
{
	struct qos_cards l = { 0 };
	struct err e = { .msg = "" };

	ck_assert_msg(rdma_cards_read(ctx, DIR, &l, &e) == 0, "%s", e.msg);
	return l;
}

static struct inv_device device(const char *bus, bool vf)
{
	struct inv_device d = { .vf = vf };

	(void)snprintf(d.bus, sizeof(d.bus), "%s", bus);
	return d;
}

START_TEST(a_declared_card_and_its_VFs)
{
	struct ctx ctx = cards();
	struct inv_device pf = device("0000:3b:00.0", false), vf = device("0000:3b:00.2", true);
	struct inv_device other = device("0000:4c:00.0", false), soft = device("", false);

	shell("echo '{\"pf\":\"ens1\",\"lossy\":true}' >" DIR "/a.json; "
	      "echo '{\"pf\":\"ens2\",\"pfc\":[3]}' >" DIR "/b.json");
	auto_qos_cards struct qos_cards l = found(&ctx);

	ck_assert(l.n == 2 && l.n_wrong == 0 && l.card[1].want.pfc == 8);
	ck_assert(rdma_is_lossy(&l, "ens1") && !rdma_is_lossy(&l, "ens2") &&
		  !rdma_is_lossy(&l, ""));
	ck_assert_ptr_eq(qos_card_of(&l, "", "0000:3b:00.0"), &l.card[0]);
	ck_assert_ptr_null(qos_card_of(&l, "", ""));
	ck_assert(rdma_is_on_lossy(&l, SYS, &pf) && rdma_is_on_lossy(&l, SYS, &vf));
	ck_assert(!rdma_is_on_lossy(&l, SYS, &other) && !rdma_is_on_lossy(&l, SYS, &soft));
	/* The function of the VF is not known to be one. */
	vf.vf = false;
	ck_assert(!rdma_is_on_lossy(&l, SYS, &vf));
}
END_TEST

START_TEST(files_that_do_not_count)
{
	struct ctx ctx = cards();

	shell("echo '{\"pf\":\"gone\",\"lossy\":true}' >" DIR "/a.json; echo '{' >" DIR "/b.json; "
	      "echo '{\"pf\":\"ens2\",\"lossy\":true}' >" DIR "/c.json; chmod 666 " DIR "/c.json; "
	      "echo '{\"pf\":\"0000:4c:00.0\",\"lossy\":true}' >" DIR "/d.json");
	auto_qos_cards struct qos_cards l = found(&ctx);

	/* One about a card that is not here is right. */
	ck_assert(l.n == 1 && l.n_wrong == 2);
	ck_assert_msg(strstr(l.wrong.msg, "b.json"), "%s", l.wrong.msg);
	ck_assert_str_eq(l.card[0].port.netdev, "ens2");
	qos_cards_clear(&l);
	shell("rm -r " DIR);
	l = found(&ctx);
	ck_assert_uint_eq(l.n, 0);
	shell("echo x >" DIR);
	struct err e = { .msg = "" };

	ck_assert_int_eq(rdma_cards_read(&ctx, DIR, &l, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, DIR));
}
END_TEST

/* Two ports of one function: the interface tells them apart. */
START_TEST(an_interface_precedes_the_address)
{
	struct qos_card card[2] = { { .port = { .netdev = "ens1", .pci = "0000:3b:00.0" } },
				    { .port = { .netdev = "ens2", .pci = "0000:3b:00.0" } } };
	const struct qos_cards l = { .card = card, .n = 2 };

	ck_assert_ptr_eq(qos_card_of(&l, "ens2", "0000:3b:00.0"), &card[1]);
	ck_assert_ptr_eq(qos_card_of(&l, "ens3", "0000:3b:00.0"), &card[0]);
	ck_assert_ptr_eq(qos_card_of(&l, "", "0000:3b:00.0"), &card[0]);
}
END_TEST

static int read_all(void *arg, struct err *e)
{
	auto_qos_cards struct qos_cards l = { 0 };

	return rdma_cards_read(arg, DIR, &l, e);
}

START_TEST(survives_each_failing_allocation)
{
	struct ctx ctx = cards();

	shell("echo '{\"pf\":\"ens1\",\"lossy\":true}' >" DIR "/a.json");
	ck_assert_str_eq(alloc_fail_each(read_all, &ctx), "ok");
}
END_TEST

TEST_PROGRAM("railctl/device/lossy", a_declared_card_and_its_VFs, files_that_do_not_count,
	     an_interface_precedes_the_address, survives_each_failing_allocation)
