/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixture_vf.c: a PF with VFs, which the machine must have: PFS names it, and the PF that its cable
 * leads to. Both belong to us, from the first VF to the last.
 */
#include "conformance/faults/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/faults/world.h"

/* $pf and $n: the PF, and its folder; $vf: the first VF's address. */
#define PF "set -- $PFS; pf=$1 n=/sys/class/net/$1/device; "
#define VF PF "vf=$(basename $(readlink $n/virtfn0)); "

/* Without link it takes no rates. */
#define PF_UP                                                                                      \
	"ip link set $1 up && ip link set $2 up && "                                               \
	"timeout 60 sh -c 'until grep -qx up /sys/class/net/'$1'/operstate; do sleep 0.1; done'"

/* Names and MACs that are the same however often they are made. A VF takes its MAC when it comes
 * up. */
#define NAME_VFS                                                                                   \
	"for i in 0 1 2 3; do m=02:00:00:00:01:0$i; "                                              \
	"until d=$(ls $n/virtfn$i/net) && [ -n \"$d\" ]; do sleep 0.05; done; "                    \
	"[ $d = vf$i ] || ip link set $d down name vf$i || exit; "                                 \
	"ip link set vf$i addrgenmode none && ip link set $pf vf $i mac $m || exit; "              \
	"t=0; until [ $(cat /sys/class/net/vf$i/address) = $m ]; do "                              \
	"[ $((t += 1)) -lt 100 ] || exit; "                                                        \
	"ip link set vf$i up && ip link set vf$i down; done; done"

static bool probe(const char *plugin)
{
	(void)plugin;
	return run_quiet(PF "[ \"$(cat $n/sriov_totalvfs)\" -ge " PF_VFS " ] && [ -n \"$2\" ]") ==
	       0;
}

static char keys[256], any[64];

/* The configuration names the first VF. */
static void write_keys(void)
{
	const char *pf = getenv("PFS");
	char vf[32] = "";

	must(VF "echo $vf >" WORK "/vf");
	FILE *f = fopen(WORK "/vf", "re");
	if (!pf || !f || !fgets(vf, sizeof(vf), f))
		die("no first VF");
	(void)fclose(f);
	vf[strcspn(vf, "\n")] = '\0';
	(void)snprintf(keys, sizeof(keys),
		       "\"deviceID\":\"%s\",\"vlan\":5,\"vlanQoS\":2,\"max_tx_rate\":100,"
		       "\"spoofchk\":\"off\",\"trust\":\"on\",\"mac\":\"02:00:00:00:02:00\","
		       "\"mtu\":1400",
		       vf);
	(void)snprintf(any, sizeof(any), "\"resource\":{\"pf\":[\"%.*s\"]}", (int)strcspn(pf, " "),
		       pf);
}

static void make(void)
{
	must(PF "ip link set $1 addrgenmode none; ip link set $2 addrgenmode none; "
		"[ $(cat $n/sriov_numvfs) = " PF_VFS " ] || "
		"{ echo 0 >$n/sriov_numvfs && echo " PF_VFS " >$n/sriov_numvfs; } || exit; " PF_UP);
	must(PF NAME_VFS);
	write_keys();
}

static void lose(void)
{
	must(PF "echo 0 >$n/sriov_numvfs");
}

static void clear(void)
{
	(void)run_quiet("for i in $(ls /sys/class/net/*/device/sriov_numvfs); do echo 0 >$i; done");
}

static void move(void)
{
	must(PF "ip netns add away && ip link set $pf netns away");
}

static bool restore(void)
{
	if (access("/run/netns/away", F_OK) == 0) {
		/* The settings of a VF were unreachable; railctl restores them after the return. */
		must(PF "ip -n away link set $pf netns 1 && ip netns del away && "
			"ip link set $pf addrgenmode none && " PF_UP);
		(void)run_quiet(WORK "/bin/railctl vf repair");
		make();
		return true;
	}
	/* A VF in a pod is left there; the snapshot reports it. */
	if (run_quiet(PF "[ $(cat $n/sriov_numvfs) != 0 ] && [ -e $n/virtfn0/driver ]") == 0)
		return false;
	(void)run_quiet(VF "[ -e $n/virtfn0/driver ] || echo $vf >/sys/bus/pci/drivers/igbvf/bind");
	make();
	return true;
}

static void lose_link(void)
{
	must(VF "echo $vf >/sys/bus/pci/drivers/igbvf/unbind");
}

static void reboot(void)
{
	lose();
	make();
}

/* Its baseline is lost. The VF returns to the host when its pod ends; a boot resets it. */
static void lose_state(void)
{
	pod_drop(0);
	reboot();
	pod_add(0);
}

const struct fixture fixture_vf = {
	.is_hosts = true,
	.keys = keys,
	.any = any,
	.capacity = 4,
	.probe = probe,
	.make = make,
	.clear = clear,
	.restore = restore,
	.lose = lose,
	.move = move,
	.lose_link = lose_link,
	.reboot = reboot,
	.lose_state = lose_state,
};
