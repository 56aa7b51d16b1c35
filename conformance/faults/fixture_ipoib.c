/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixture_ipoib.c: the IPoIB interface of an InfiniBand port, which the machine must have, as the
 * master of children. PFS names it first. Its port has the partition key 0x8001.
 */
#include "conformance/faults/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/faults/world.h"

/* $pf: the interface; $a: its PCI address, also while it has no driver. */
#define PF       "set -- $PFS; pf=$1; "
#define FUNCTION PF "a=$(cat " WORK "/function); "
#define UP                                                                                         \
	"ip link set $pf addrgenmode none && ip link set $pf up && "                               \
	"timeout 60 sh -c 'until grep -qx up /sys/class/net/'$pf'/operstate; do sleep 0.1; done'"
/* Children have another interface as parent, here or in another namespace. */
#define CHILDREN                                                                                   \
	"$(ip -o link show type ipoib | awk -F': ' '$2 ~ /@/ { sub(/@.*/, \"\", $2); print $2 }')"

static char keys[512];

static void clear(void)
{
	(void)run_quiet("for l in " CHILDREN "; do ip link del $l; done");
}

static bool probe(const char *plugin)
{
	const char *pf = getenv("PFS");

	(void)plugin;
	(void)snprintf(keys, sizeof(keys),
		       "\"master\":\"%.*s\",\"pkey\":\"0x1\",\"mtu\":1500" FIXTURE_TUNING,
		       pf ? (int)strcspn(pf, " ") : 0, pf ? pf : "");
	return run_quiet(PF "[ $(cat /sys/class/net/$pf/type) = 32 ] && "
			    "basename $(readlink /sys/class/net/$pf/device) >" WORK
			    "/function") == 0;
}

static void make(void)
{
	must(FUNCTION "[ -e /sys/bus/pci/devices/$a/driver ] || echo $a "
		      ">/sys/bus/pci/drivers_probe || exit; "
		      "until [ -e /sys/class/net/$pf ]; do sleep 0.05; done; " UP);
}

/* Its children go with it, in whatever namespace they are. */
static void lose(void)
{
	must(FUNCTION "echo $a >/sys/bus/pci/devices/$a/driver/unbind");
}

static void move(void)
{
	must(PF "ip netns add away && ip link set $pf netns away");
}

static bool restore(void)
{
	if (access("/run/netns/away", F_OK) == 0)
		must(PF "ip -n away link set $pf netns 1 && ip netns del away");
	make();
	return false;
}

static void lose_link(void)
{
	must("ip -n p0 link del net1");
}

static void reboot(void)
{
	lose();
	make();
}

static void nothing(void)
{
}

const struct fixture fixture_ipoib = {
	.is_hosts = true,
	.keys = keys,
	.capacity = 13, /* as of fixture_veth */
	.has_rdma = true,
	.probe = probe,
	.make = make,
	.clear = clear,
	.restore = restore,
	.lose = lose,
	.move = move,
	.lose_link = lose_link,
	.reboot = reboot,
	.lose_state = nothing,
	.look = functions_look,
};
