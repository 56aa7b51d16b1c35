/* SPDX-License-Identifier: Apache-2.0 */
/* pod_test.c: which HCAs and GPUs a pod has, on fake machines. */
#include "railctl/topo/pod.h"

#include <stdio.h>
#include <sys/stat.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "topo/core/machine_build.h"

/* ---- HCAs ---- */

#define DEVICES 3

static struct inv_device devices[DEVICES];
static struct device_data device_data[DEVICES];
static struct inv_gid gids[DEVICES];
static struct rdma_inventory inventory = { .device = devices, .n_devices = DEVICES };
static struct probe_data findings = { .inventory = &inventory, .device = device_data };
static bool own[DEVICES];

/* Ethernet devices of which none is here, and none may be opened. */
static void start(void)
{
	for (size_t i = 0; i < DEVICES; i++) {
		devices[i] = (struct inv_device){ .n_ports = 1 };
		devices[i].port[0].layer = IB_LAYER_ETHERNET;
		devices[i].port[0].gid = &gids[i];
		devices[i].port[0].n_gids = 1;
		gids[i] = (struct inv_gid){ .here = false };
		device_data[i].uverbs.access = ACCESS_MISSING;
	}
}

static const char *owned(bool first_netns)
{
	static char text[DEVICES + 1];

	if (!topo_pod_own(&findings, first_netns, own))
		return "all";
	for (size_t i = 0; i < DEVICES; i++)
		text[i] = own[i] ? 'x' : '-';
	return text;
}

START_TEST(GIDs_show_which_devices_are_the_pods)
{
	start();
	gids[1].here = true;
	for (size_t i = 0; i < DEVICES; i++)
		device_data[i].uverbs.access = ACCESS_OK;
	ck_assert_str_eq(owned(false), "-x-");
	devices[2].port[0].ifindex = 4;
	ck_assert_str_eq(owned(false), "-xx");
	gids[0].here = true;
	ck_assert_str_eq(owned(false), "all");
}
END_TEST

START_TEST(infiniband_devices_are_known_by_their_file)
{
	start();
	gids[1].here = true;
	devices[0].port[0].layer = IB_LAYER_INFINIBAND;
	ck_assert_str_eq(owned(false), "-x-");
	device_data[0].uverbs.access = ACCESS_OK;
	device_data[2].uverbs.access = ACCESS_OK;
	ck_assert_str_eq(owned(false), "xx-");
}
END_TEST

START_TEST(without_addresses_device_files_count)
{
	start();
	ck_assert_str_eq(owned(false), "---");
	device_data[2].uverbs.access = ACCESS_THERE;
	ck_assert_str_eq(owned(false), "--x");
	device_data[1].uverbs.access = ACCESS_DENIED;
	ck_assert_str_eq(owned(false), "--x");
}
END_TEST

START_TEST(a_node_has_all_of_them)
{
	start();
	ck_assert_str_eq(owned(true), "all");
	gids[1].here = true;
	ck_assert_str_eq(owned(true), "all");
	for (size_t i = 0; i < DEVICES; i++)
		device_data[i].uverbs.access = ACCESS_DENIED;
	ck_assert_str_eq(owned(true), "all");
	/* A container on the node's network with one of the files. */
	device_data[0].uverbs.access = ACCESS_OK;
	ck_assert_str_eq(owned(true), "all");
	device_data[1].uverbs.access = ACCESS_MISSING;
	ck_assert_str_eq(owned(true), "x--");
}
END_TEST

/* ---- GPUs ---- */

#define ROOT "/mnt"

static struct topo_machine m;
static struct ctx ctx;
static struct topo_who who = { .ctx = &ctx };

static void put(const char *path, const char *text)
{
	char full[256];

	(void)snprintf(full, sizeof(full), ROOT "/%s", path);
	for (char *at = full + strlen(ROOT) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		(void)mkdir(full, 0755);
		*at = '/';
	}
	testing_file(full, 0644, text);
}

static void add_gpu(uint8_t bus, enum topo_vendor v)
{
	struct err e;
	uint32_t p, g;

	ck_assert_int_eq(topo_add_pci(&m, (struct pci_addr){ .bus = bus }, &p, &e), 0);
	ck_assert_int_eq(topo_add_gpu(&m, p, &g, &e), 0);
	m.gpu[g].vendor = v;
}

/* Two of NVIDIA's, with what the driver says of them, and one of AMD's. */
static void make(void)
{
	(void)testing_dir();
	ctx_init(&ctx, "test");
	ctx.sysfs = ROOT "/sys";
	ctx.proc = ROOT "/proc";
	ctx.dev = ROOT "/dev";
	add_gpu(0x0f, TOPO_NVIDIA);
	add_gpu(0x10, TOPO_NVIDIA);
	add_gpu(0x20, TOPO_AMD);
	put("proc/driver/nvidia/gpus/0000:0f:00.0/information",
	    "Model: \t\t X\nGPU UUID: \t GPU-aaaa-1\nDevice Minor: \t 1\n");
	put("proc/driver/nvidia/gpus/0000:10:00.0/information",
	    "GPU UUID: \t GPU-bbbb-2\nDevice Minor: \t 0\n");
	put("sys/bus/pci/devices/0000:20:00.0/drm/renderD128/dev", "226:128\n");
}

static const char *has(void)
{
	static char text[4];
	auto_free bool *mask = NULL;
	struct err e = { 0 };

	ck_assert_msg(topo_pod_gpus(&who, &m, &mask, &e) == 0, "%s", e.msg);
	if (!mask)
		return "all";
	for (size_t i = 0; i < 3; i++)
		text[i] = mask[i] ? 'x' : '-';
	return text;
}

START_TEST(device_files_show_which_gpus_are_the_pods)
{
	make();
	ck_assert_str_eq(has(), "all"); /* no driver, or none has a file */
	put("dev/nvidia0", "");
	ck_assert_str_eq(has(), "-x-");
	put("dev/dri/renderD128", "");
	ck_assert_str_eq(has(), "-xx");
	put("dev/nvidia1", "");
	ck_assert_str_eq(has(), "all");
}
END_TEST

START_TEST(of_another_process_its_own_dev_counts)
{
	make();
	put("dev/nvidia0", "");
	put("proc/77/root/dev/nvidia1", "");
	who.pid = 77;
	ck_assert_str_eq(has(), "x--");
	who.pid = 0;
}
END_TEST

static int ask(void *arg, struct err *e)
{
	auto_free bool *mask = NULL;

	(void)arg;
	return topo_pod_gpus(&who, &m, &mask, e);
}

START_TEST(memory_may_end_anywhere)
{
	make();
	put("dev/nvidia0", "");
	ck_assert_str_eq(alloc_fail_each(ask, NULL), "ok");
}
END_TEST

TEST_PROGRAM("topo_pod", GIDs_show_which_devices_are_the_pods,
	     infiniband_devices_are_known_by_their_file, without_addresses_device_files_count,
	     a_node_has_all_of_them, device_files_show_which_gpus_are_the_pods,
	     of_another_process_its_own_dev_counts, memory_may_end_anywhere)
