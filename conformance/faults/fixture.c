/* SPDX-License-Identifier: Apache-2.0 */
/* fixture.c: a master for macvlan and its like. */
#include "conformance/faults/fixture.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conformance/faults/world.h"

static bool kernel_has(const char *kind)
{
	char cmd[200];

	(void)snprintf(cmd, sizeof(cmd),
		       "ip link add link " MASTER " name probe0 type %s && ip "
		       "link del probe0",
		       kind);
	return run_quiet(cmd) == 0;
}

/* No link-local addresses, and fixed MACs: the same lines however often it is made. */
static void make(void)
{
	must("ip link add " MASTER " address 02:00:00:00:00:01 type veth peer name wire0 address "
	     "02:00:00:00:00:02 && ip link set " MASTER " addrgenmode none && "
	     "ip link set wire0 addrgenmode none && ip link set " MASTER " up && "
	     "ip link set wire0 up && "
	     "until grep -qx up /sys/class/net/" MASTER "/operstate && "
	     "grep -qx up /sys/class/net/wire0/operstate; do sleep 0.01; done");
}

static bool probe(const char *plugin)
{
	make();
	bool has = kernel_has(plugin);

	must("ip link del " MASTER);
	return has;
}

static void clear(void)
{
	(void)run_quiet("for l in $(ip -o link | awk -F'[:@] *' '{print $2}'); do "
			"[ $l = lo ] || ip link del $l; done");
}

static bool restore(void)
{
	if (access("/run/netns/away", F_OK) == 0) {
		(void)run_quiet("ip -n away link set " MASTER " netns 1");
		must("ip netns del away");
		must("ip link set " MASTER " addrgenmode none && ip link set " MASTER " up");
	}
	if (access("/sys/class/net/" MASTER, F_OK))
		make();
	return false;
}

static void lose(void)
{
	must("ip link del " MASTER);
}

static void move(void)
{
	must("ip netns add away && ip link set " MASTER " netns away");
}

static void lose_link(void)
{
	must("ip -n p0 link del net1");
}

static void nothing(void)
{
}

/* The part that all plugins on such a master share. 13: 10.77.0.0/28 without its first and last
 * address and the gateway. */
#define ON_VETH                                                                                    \
	.capacity = 13, .make = make, .clear = clear, .restore = restore, .lose = lose,            \
	.move = move, .lose_link = lose_link, .reboot = nothing, .lose_state = nothing

const struct fixture fixture_veth = {
	.keys = "\"master\":\"" MASTER "\"",
	.probe = probe,
	ON_VETH,
};

static bool probe_macvlan(const char *plugin)
{
	(void)plugin;
	return probe("macvlan");
}

/* macvlan with the routing of a rail: rules of the pod's namespace stay when the interface goes. */
static const struct fixture fixture_rail = {
	.program = "macvlan",
	.keys = "\"master\":\"" MASTER "\",\"routing\":\"rail\"",
	.probe = probe_macvlan,
	ON_VETH,
};

/* Its MAC is that of its address, which the interface of a case before may still have for a moment.
 */
static const struct fixture fixture_tuned = {
	.program = "macvlan",
	.keys = "\"master\":\"" MASTER "\",\"macPrefix\":\"0a:1b\"" FIXTURE_TUNING,
	.probe = probe_macvlan,
	ON_VETH,
};

static bool probe_demand(const char *plugin)
{
	(void)plugin;
	make();
	bool has =
		run_quiet("ip link add link " MASTER " name probe0 type vlan id 9 && ip link "
			  "del probe0 && ip link add probe0 type bond && ip link del probe0") == 0;

	must("ip link del " MASTER);
	return has;
}

#define BOND "fb0"

/* All that is made on demand goes with the master. */
static void lose_demand(void)
{
	(void)run_quiet("ip link del " BOND);
	lose();
}

static void move_demand(void)
{
	(void)run_quiet("ip link del " BOND);
	move();
}

/* No interface survives a boot, and the node sets its cards up again. */
static void reboot_demand(void)
{
	(void)run_quiet("ip link del " BOND);
	(void)run_quiet("ip link set " MASTER " up");
}

/* A VLAN on a bond, which the first ADD makes and the last DEL removes. */
static const struct fixture fixture_demand = {
	.program = "macvlan",
	.keys = "\"master\":{\"vlan\":120,\"of\":{\"bond\":[\"" MASTER
		"\"],\"mode\":\"active-backup\",\"name\":\"" BOND "\"}}",
	.probe = probe_demand,
	.capacity = 13,
	.make = make,
	.clear = clear,
	.restore = restore,
	.lose = lose_demand,
	.move = move_demand,
	.lose_link = lose_link,
	.reboot = reboot_demand,
	/* Nothing proves whose they are, so a person removes them. */
	.lose_state = reboot_demand,
};

/* Two rails, which are both ends of the cable. Their file is in an /etc of the sandbox. */
static void make_rails(void)
{
	make();
	must("mountpoint -q /etc || { mkdir -p " WORK "/etc && cp -a /etc/. " WORK "/etc && "
	     "mount --bind " WORK "/etc /etc; }");
	must("mkdir -p /etc/railhead && echo '{\"rails\":[{\"rail\":0,\"interface\":\"" MASTER
	     "\"},{\"rail\":1,\"interface\":\"wire0\"}]}' >/etc/railhead/rails.json");
	must(WORK "/bin/railctl ipam pool add rail0 --subnet 10.77.0.0/28 --gateway 10.77.0.1 "
		  "--this-node-only --route 10.9.0.0/16 && " WORK
		  "/bin/railctl ipam pool add rail1 --subnet "
		  "fd00:77::/124 --gateway fd00:77::1 --this-node-only --route fd00:9::/64");
}

static const struct fixture fixture_rails = {
	.keys = "\"kind\":\"macvlan\",\"routing\":\"rail\"",
	.ipam = "\"pool\":\"rail{n}\"",
	.alone = "\"pools\":[[\"rail0\"],[\"rail1\"]]",
	.v6_ifname = "net1r1",
	.without = " store-gone ",
	.probe = probe_macvlan,
	.capacity = 13,
	.make = make_rails,
	.clear = clear,
	.restore = restore,
	.lose = lose,
	.move = move,
	.lose_link = lose_link,
	.reboot = nothing,
	.lose_state = nothing,
};

/* macvlan with a veth to the node: on the node routes and the pair, in the pod a table and a rule.
 */
static const struct fixture fixture_host = {
	.program = "macvlan",
	.keys = "\"master\":\"" MASTER "\",\"host\":{\"veth\":true,\"routes\":[\"10.96.0.0/12\"]}",
	.probe = probe_macvlan,
	ON_VETH,
};

const struct fixture *fixture_of(const char *plugin)
{
	static const struct {
		const char *plugin;
		const struct fixture *fixture;
	} others[] = { { "macvlan-rail", &fixture_rail },
		       { "rails", &fixture_rails },
		       { "rails-sriov", &fixture_rail_vfs },
		       { "macvlan-demand", &fixture_demand },
		       { "macvlan-tuned", &fixture_tuned },
		       { "macvlan-host", &fixture_host },
		       { "sriov", &fixture_vf },
		       { "rdma", &fixture_rdma },
		       { "rdma-exclusive", &fixture_rdma_exclusive },
		       { "ib-sriov", &fixture_ib },
		       { "ib-sriov-exclusive", &fixture_ib_exclusive },
		       { "ipoib", &fixture_ipoib } };

	for (size_t i = 0; i < COUNT(others); i++) {
		if (strcmp(plugin, others[i].plugin) == 0)
			return others[i].fixture;
	}
	return &fixture_veth;
}

bool fixture_suits(const struct fixture *g, const char *name)
{
	char word[64];

	(void)snprintf(word, sizeof(word), " %s ", name);
	return !g->without || !strstr(g->without, word);
}
