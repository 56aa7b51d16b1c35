/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixture_vf.c: a PF with VFs, which the machine must have: PFS names it, and the PF that its cable
 * or its subnet leads to. Both belong to us, from the first VF to the last.
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

/* ---- the kinds of cards ---- */

/* $i: the number of a VF, $v: its folder. */
#define EACH_VF "for i in 0 1 2 3; do v=$n/virtfn$i; "
#define NAME_VF                                                                                    \
	"until d=$(ls $v/net) && [ -n \"$d\" ]; do sleep 0.05; done; "                             \
	"[ $d = vf$i ] || ip link set $d down name vf$i || exit; "                                 \
	"ip link set vf$i addrgenmode none || exit; "

/* Names, MACs and GUIDs that are the same however often the VFs are made. */
struct card {
	const char *type; /* of the PF's interface, as in sysfs */
	const char *mode; /* of RDMA devices; NULL: either */
	const char *name_vfs;
	const char *keys; /* of a configuration, behind that of the VF */
	const char *any;  /* the same for any VF */
	bool rails;       /* two VFs in one call, by the plugin rails */
};

/* A VF takes its MAC when it comes up. */
#define ETHERNET_VFS                                                                               \
	EACH_VF NAME_VF "m=02:00:00:00:01:0$i; ip link set $pf vf $i mac $m || exit; "             \
			"t=0; until [ $(cat /sys/class/net/vf$i/address) = $m ]; do "              \
			"[ $((t += 1)) -lt 100 ] || exit; "                                        \
			"ip link set vf$i up && ip link set vf$i down; done; done"

/*
 * No keys of tuning. With more requests in each ADD and DEL, igbvf of Linux 7.2 stops now and then:
 * igbvf_close() warns that a reset is under way, and never returns the RTNL.
 */
static const struct card ethernet = {
	.type = "1",
	.name_vfs = ETHERNET_VFS,
	.keys = ",\"vlan\":5,\"vlanQoS\":2,\"max_tx_rate\":100,"
		"\"spoofchk\":\"off\",\"trust\":\"on\",\"mac\":\"02:00:00:00:02:00\",\"mtu\":1400",
	.any = "",
};

/* Both rails take their VF of the PF. A MAC cannot be chosen for two. */
#define RAIL_KEYS                                                                                  \
	",\"vlan\":5,\"vlanQoS\":2,\"max_tx_rate\":100,\"spoofchk\":\"off\",\"trust\":\"on\","     \
	"\"mtu\":1400,\"routing\":\"rail\""

static const struct card rails = {
	.type = "1",
	.name_vfs = ETHERNET_VFS,
	.keys = RAIL_KEYS,
	.any = RAIL_KEYS,
	.rails = true,
};

/* A VF takes its GUIDs when its driver is bound. Its PF remembers them, also without VFs. */
#define NAME_IB_VFS                                                                                \
	EACH_VF "g=02:00:00:00:00:00:02:0$i; a=$(basename $(readlink $v)); "                       \
		"ip link set $pf vf $i node_guid $g && ip link set $pf vf $i port_guid $g || "     \
		"exit; [ \"$(cat $v/infiniband/*/node_guid)\" = 0200:0000:0000:020$i ] && "        \
		"grep -q 0200:0000:0000:020$i $v/infiniband/*/ports/1/gids/0 || "                  \
		"{ [ ! -e $v/driver ] || echo $a >$v/driver/unbind; "                              \
		"echo $a >/sys/bus/pci/drivers_probe; }; " NAME_VF "done"
#define IB_KEYS                                                                                    \
	",\"link_state\":\"enable\",\"mtu\":1400" FIXTURE_TUNING ","                               \
	"\"runtimeConfig\":{\"infinibandGUID\":\"02:00:00:00:00:00:03:00\"}"
#define ISOLATION ",\"rdmaIsolation\":true"

static const struct card infiniband = {
	.type = "32",
	.name_vfs = NAME_IB_VFS,
	.keys = IB_KEYS,
	.any = "",
};

static const struct card isolated = {
	.type = "32",
	.mode = "exclusive",
	.name_vfs = NAME_IB_VFS,
	.keys = IB_KEYS ISOLATION,
	.any = ISOLATION,
};

static const struct card *card;

static bool can_use(const struct card *c)
{
	char cmd[300];

	card = c;
	(void)snprintf(cmd, sizeof(cmd),
		       PF "[ \"$(cat $n/sriov_totalvfs)\" -ge " PF_VFS " ] && [ -n \"$2\" ] && "
			  "[ $(cat /sys/class/net/$1/type) = %s ] && "
			  "{ [ -z \"%s\" ] || rdma system | grep -q 'netns %s'; }",
		       c->type, c->mode ? c->mode : "", c->mode ? c->mode : "");
	return run_quiet(cmd) == 0;
}

static bool probe_ethernet(const char *plugin)
{
	(void)plugin;
	return can_use(&ethernet);
}

static bool probe_rails(const char *plugin)
{
	(void)plugin;
	return can_use(&rails);
}

static bool probe_infiniband(const char *plugin)
{
	(void)plugin;
	return can_use(&infiniband);
}

static bool probe_isolated(const char *plugin)
{
	(void)plugin;
	return can_use(&isolated);
}

/* ---- what all of them do ---- */

static char keys[768], any[768];

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
	(void)snprintf(keys, sizeof(keys), "\"deviceID\":\"%s\"%s", vf, card->keys);
	(void)snprintf(any, sizeof(any), "%s\"resource\":{\"pf\":[\"%.*s\"]}%s",
		       card->rails ? "\"kind\":\"sriov\"," : "", (int)strcspn(pf, " "), pf,
		       card->any);
	if (card->rails)
		memcpy(keys, any, sizeof(any));
}

static void make(void)
{
	/* An earlier suite may have left them up. */
	must(PF
	     "for i in $1 $2; do ip link set $i addrgenmode none; ip -6 addr flush dev $i; done; "
	     "[ $(cat $n/sriov_numvfs) = " PF_VFS " ] || "
	     "{ echo 0 >$n/sriov_numvfs && echo " PF_VFS " >$n/sriov_numvfs; } || exit; " PF_UP);
	must("%s%s", PF, card->name_vfs);
	write_keys();
}

/* The guest has an /etc of its own. */
static void make_rails(void)
{
	make();
	must("mkdir -p /etc/railhead && set -- $PFS && echo "
	     "'{\"rails\":[{\"rail\":0,\"interface\":\"'"
	     "$1'\"},{\"rail\":1,\"interface\":\"'$2'\"}]}' >/etc/railhead/rails.json");
	must(WORK "/bin/railctl ipam pool add rail0 --subnet 10.77.0.0/28 --gateway 10.77.0.1 "
		  "--this-node-only --route 10.9.0.0/16 && " WORK
		  "/bin/railctl ipam pool add rail1 --subnet "
		  "fd00:77::/124 --gateway fd00:77::1 --this-node-only --route fd00:9::/64");
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
	(void)run_quiet(VF "[ -e $n/virtfn0/driver ] || echo $vf >/sys/bus/pci/drivers_probe");
	make();
	return true;
}

static void lose_link(void)
{
	must(VF "echo $vf >$n/virtfn0/driver/unbind");
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

#define OF_A_PF                                                                                    \
	.is_hosts = true, .keys = keys, .any = any, .clear = clear, .restore = restore,            \
	.lose = lose, .move = move, .lose_link = lose_link, .reboot = reboot,                      \
	.lose_state = lose_state

const struct fixture fixture_vf = { OF_A_PF, .capacity = 4, .make = make, .probe = probe_ethernet };

#define OF_RAILS                                                                                   \
	OF_A_PF, .program = "rails", .capacity = 2, .make = make_rails,                            \
		 .ipam = "\"pool\":\"rail{n}\"", .alone = "\"pools\":[[\"rail0\"],[\"rail1\"]]",   \
		 .v6_ifname = "net1r1", .without = " store-gone "

const struct fixture fixture_rail_vfs = { OF_RAILS, .probe = probe_rails };

const struct fixture fixture_ib = {
	OF_A_PF,
	.capacity = 4,
	.make = make,
	.program = "ib-sriov",
	.probe = probe_infiniband,
	.has_rdma = true,
	.look = functions_look,
};

const struct fixture fixture_ib_exclusive = {
	OF_A_PF,
	.capacity = 4,
	.make = make,
	.program = "ib-sriov",
	.probe = probe_isolated,
	.has_rdma = true,
	.look = functions_look,
};
