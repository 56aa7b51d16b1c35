/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixture_rdma.c: for the plugin rdma, which stands behind another one: pods with interfaces, and
 * an RDMA device in software (rxe).
 *
 * In mode shared it is the master's, on which the pods have macvlans. In mode exclusive, which the
 * machine must be in, it stands for that of a VF: a /sys/bus/pci/devices of our own shows it there,
 * and movable.ko (conformance/vm) lets it move into pods.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conformance/faults/world.h"

#define DEVICE   "rxe0"
#define NAME     "roce0" /* in a pod of mode exclusive */
#define FUNCTION "0000:3b:02.0"
#define BUS      WORK "/bus"
#define FOLDER   BUS "/" FUNCTION
#define INFO     "/run/k8s.cni.cncf.io/devinfo"

/* A device that goes with its interface takes its time, and keeps its name until then. */
#define ADD_DEVICE                                                                                 \
	"until rdma link add " DEVICE " type rxe netdev " MASTER "; do "                           \
	"[ $((n += 1)) -lt 300 ] || exit 1; sleep 0.1; done"

static bool has_devices, device_is_lost;

static void clear(void)
{
	(void)run_quiet("rdma link delete " DEVICE "; ip link del " MASTER "; rm -rf " INFO);
}

static bool can_have(const char *mode)
{
	char cmd[200];

	(void)snprintf(cmd, sizeof(cmd), "rdma system | grep -q 'netns %s'", mode);
	if (run_quiet(cmd))
		return false;
	/* A worker that died has left it in the machine's own namespace. */
	clear();
	fixture_veth.make();
	has_devices = run_quiet("n=0; " ADD_DEVICE) == 0;
	(void)run_quiet("rdma link delete " DEVICE "; ip link del " MASTER);
	return has_devices;
}

static void make(void)
{
	fixture_veth.make();
	if (has_devices)
		must("n=0; " ADD_DEVICE);
	device_is_lost = false;
}

static void lose(void)
{
	must("ip link del " MASTER);
}

/* It does not follow its interface into another namespace: it goes. */
static void move(void)
{
	must("ip netns add away && ip link set " MASTER " netns away");
}

static void lose_device(void)
{
	(void)run_quiet("rdma link delete " DEVICE " || ip netns exec p0 rdma link delete " DEVICE
			" || ip netns exec p0 rdma link delete " NAME);
	device_is_lost = true;
}

static bool restore(void)
{
	if (access("/run/netns/away", F_OK) == 0)
		must("ip -n away link del " MASTER "; ip netns del away");
	if (access("/sys/class/net/" MASTER, F_OK))
		make();
	else if (device_is_lost)
		must("n=0; " ADD_DEVICE);
	device_is_lost = false;
	return false;
}

static void reboot(void)
{
	lose();
	make();
}

static void nothing(void)
{
}

/* ---- mode shared: macvlans ---- */

static bool probe_shared(const char *plugin)
{
	(void)plugin;
	return can_have("shared");
}

/* The same whenever it is made. */
static void furnish(unsigned pod)
{
	must("ip -n p%u link show net1 || { ip link add link " MASTER " name new0 netns p%u "
	     "address 02:00:00:00:03:%02x type macvlan mode bridge && "
	     "ip -n p%u link set new0 addrgenmode none name net1 && "
	     "ip -n p%u addr add 10.77.0.%u/28 dev net1 && "
	     "ip -n p%u addr add fd00:77::%x/124 dev net1 nodad && ip -n p%u link set net1 up; }",
	     pod, pod, pod + 2, pod, pod, pod + 2, pod, pod + 2, pod);
}

static void strip(unsigned pod)
{
	must("ip -n p%u link del net1", pod);
}

static void previous(unsigned pod, struct text *out)
{
	text_add(out,
		 "{\"cniVersion\":\"1.1.0\",\"interfaces\":[{\"name\":\"net1\","
		 "\"mac\":\"02:00:00:00:03:%02x\",\"sandbox\":\"/run/netns/p%u\"}],"
		 "\"ips\":[{\"interface\":0,\"address\":\"10.77.0.%u/28\"},"
		 "{\"interface\":0,\"address\":\"fd00:77::%x/124\"}]}",
		 pod + 2, pod, pod + 2, pod + 2);
}

/* netns-gone-add does not apply: a recreated namespace may have the inode number of the old one.
 * Then the plugin refuses an ADD without a DEL before it as a second ADD (CNI-042). */
const struct fixture fixture_rdma = {
	.program = "rdma",
	.chained = true,
	.has_rdma = true,
	.without = " full-state-add full-state-del read-only-state-add read-only-state-del "
		   "store-gone no-ipam ipam-not-executable ipam-no-program ipam-hangs ipam-dies "
		   "ipam-says-nothing ipam-babbles one-name-2 one-name-50 one-address-2 "
		   "one-address-50 last-addresses-50 netns-gone-add ",
	.keys = "\"mode\":\"shared\"",
	.capacity = 13,
	.probe = probe_shared,
	.make = make,
	.clear = clear,
	.restore = restore,
	.furnish = furnish,
	.strip = strip,
	.previous = previous,
	.lose = lose,
	.move = move,
	.lose_link = lose_device,
	.reboot = reboot,
	.lose_state = nothing,
};

/* ---- mode exclusive: a device of its own ---- */

static bool probe_exclusive(const char *plugin)
{
	(void)plugin;
	return can_have("exclusive");
}

/* As the driver of a card shows it; it is the only RDMA device of the machine. */
static void show(void)
{
	must("mkdir -p " INFO " " FOLDER " && ln -sfn /sys/class/infiniband " FOLDER "/infiniband "
	     "&& ln -sfn /sys/class/infiniband_verbs " FOLDER
	     "/infiniband_verbs && ln -sfn /sys/bus/pci/drivers/igbvf " FOLDER "/driver && "
	     "{ [ -e /sys/bus/pci/devices/" FUNCTION " ] || "
	     "mount --bind " BUS " /sys/bus/pci/devices; }");
}

static void make_exclusive(void)
{
	make();
	show();
}

static bool restore_exclusive(void)
{
	(void)restore();
	show();
	return false;
}

static void lose_exclusive(void)
{
	lose();
	must("rm -rf " FOLDER);
}

static void move_exclusive(void)
{
	move();
	must("rm -rf " FOLDER);
}

static void reboot_exclusive(void)
{
	lose();
	make();
	must("rm -f " INFO "/*");
}

/* Without a record nothing returns the device; it returns when its pod ends. */
static void lose_state_exclusive(void)
{
	pod_drop(0);
	reboot_exclusive();
	pod_add(0);
}

/* boot-changes does not apply: reboot_exclusive() recreates no device, so no name changes. */
const struct fixture fixture_rdma_exclusive = {
	.is_hosts = true,
	.program = "rdma",
	.chained = true,
	.without = " full-state-add full-state-del read-only-state-add read-only-state-del "
		   "store-gone no-ipam ipam-not-executable ipam-no-program ipam-hangs ipam-dies "
		   "ipam-says-nothing ipam-babbles one-address-2 one-address-50 last-addresses-50 "
		   "gc-adds-10 gc-adds-50 boot-changes ",
	.keys = "\"mode\":\"exclusive\",\"deviceID\":\"" FUNCTION "\",\"deviceName\":\"" NAME "\","
		"\"runtimeConfig\":{\"CNIDeviceInfoFile\":\"" INFO "/net1.json\"}",
	.capacity = 1,
	.probe = probe_exclusive,
	.make = make_exclusive,
	.clear = clear,
	.restore = restore_exclusive,
	.previous = previous,
	.has_rdma = true,
	.lose = lose_exclusive,
	.move = move_exclusive,
	.lose_link = lose_device,
	.reboot = reboot_exclusive,
	.lose_state = lose_state_exclusive,
};
