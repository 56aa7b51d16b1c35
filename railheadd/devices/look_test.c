/* SPDX-License-Identifier: Apache-2.0 */
/* look_test.c: a look of a host with VFs, of captured machines, and what is kept of it. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/net/addr.h"
#include "lib/net/link.h"
#include "lib/testing/dir.h"
#include "lib/testing/hca.h"
#include "lib/testing/net.h"
#include "lib/testing/pci.h"
#include "lib/base/array.h"
#include "lib/testing/testing.h"
#include "railheadd/devices/assign.h"
#include "sriov/testing/vf.h"
#include "topo/testing/tree.h"

#define CONF "/mnt/conf"

static void put_conf(const char *name, const char *text)
{
	tree_put(CONF, name, text);
}

static struct resource_set *load(const struct testhost *w)
{
	struct resource_set *s = NULL;
	struct err e = { .msg = "" };

	ck_assert_msg(resources_load(&w->ctx, CONF, &s, &e) == 0, "%s", e.msg);
	return s;
}

#define ONE(name) "{\"resources\":[{\"name\":\"" name "\",\"select\":{\"pf\":\"pf0\"}}]}"

static struct resource_look look(const struct testhost *w, const struct resource_set *s)
{
	auto_functions struct functions all = { 0 };
	struct resource_look l = { 0 };
	struct err e = { .msg = "" };

	ck_assert_msg(functions_read(&w->ctx, &all, &e) == 0 &&
			      functions_assign(&all, s, &l, &e) == 0,
		      "%s", e.msg);
	ck_assert_str_eq(e.msg, "");
	return l;
}

START_TEST(VFs_of_rails_are_marked)
{
	static const struct testhost_pf other = { "0000:5e:00.0", "pf1", 1, 10 };
	auto_testhost struct testhost w = testhost(1);
	auto_functions struct functions all = { 0 };
	size_t claimed = 0, vfs = 0;
	struct err e = { .msg = "" };

	testhost_pf(&other);
	w.ctx.etc_dir = "/mnt/etc";
	ck_assert_int_eq(mkdir("/mnt/etc", 0755), 0);
	testing_file("/mnt/etc/rails.json", 0644,
		     "{\"rails\":[{\"rail\":2,\"interface\":\"pf0\"},"
		     "{\"rail\":3,\"interface\":\"gone\"}]}");
	ck_assert_msg(functions_read(&w.ctx, &all, &e) == 0 &&
			      functions_mark_claimed(&w.ctx, &all, &e) == 0,
		      "%s", e.msg);
	for (size_t i = 0; i < all.n; i++) {
		claimed += all.f[i].claimed;
		vfs += *all.f[i].pf != '\0';
		ck_assert_int_eq(all.f[i].claimed, strcmp(all.f[i].pf, TESTHOST_PF) == 0);
	}
	ck_assert_uint_eq(claimed, 1);
	ck_assert_uint_eq(vfs, 2);
}
END_TEST

static bool has(const struct resource_look *l, const char *id)
{
	bool found = false;

	for (size_t i = 0; i < l->of[0].n; i++)
		found |= strcmp(l->of[0].device[i].id, id) == 0;
	return found;
}

static const struct resource_device *device(const struct resource_look *l, const char *id)
{
	size_t i = 0;

	ck_assert_msg(has(l, id), "%s", id);
	while (strcmp(l->of[0].device[i].id, id) != 0)
		i++;
	return &l->of[0].device[i];
}

/* ---- the hardware ---- */

START_TEST(free_vfs_and_those_in_pods_are_healthy)
{
	auto_testhost struct testhost w = testhost(4);
	auto_pod struct pod p = pod();
	struct claimant who = claimant_of(&w, "c1", &p);
	struct vf_place place;
	struct err e = { .msg = "" };

	put_conf("a.json", "{\"resources\":[{\"name\":\"b.c/d\",\"linkDown\":\"healthy\","
			   "\"select\":{\"pf\":\"pf0#0-2\"}}]}");
	auto_resource_set struct resource_set *s = load(&w);
	ck_assert_msg(claim_vf(&who, testhost_vf(1), &place, &e) == 0, "%s", e.msg);
	testhost_shows(1, NULL);
	fakepci_driver(TESTHOST_SYS, testhost_vf(2), NULL);
	fakepci_file(TESTHOST_SYS, testhost_vf(0), "numa_node", "-1\n");
	auto_resource_look struct resource_look l = look(&w, s);
	ck_assert_uint_eq(l.of[0].n, 3);
	ck_assert(device(&l, testhost_vf(0))->healthy);
	ck_assert(device(&l, testhost_vf(1))->healthy);
	ck_assert_str_eq(device(&l, testhost_vf(2))->why, "no driver is bound to it");
	ck_assert(!has(&l, testhost_vf(3)));
	ck_assert_str_eq(device(&l, testhost_vf(0))->pf, TESTHOST_PF);
	/* A VF without a node has that of its PF. */
	ck_assert_uint_eq(device(&l, testhost_vf(0))->n_numa, 1);
	ck_assert_int_eq(device(&l, testhost_vf(0))->numa[0], 1);
}
END_TEST

START_TEST(a_vf_whose_interface_is_elsewhere_is_busy)
{
	auto_testhost struct testhost w = testhost(2);
	char vf[PCI_STR_LEN];
	const char *given[] = { vf, testhost_vf(1) };
	struct err e = { .msg = "" };

	(void)snprintf(vf, sizeof(vf), "%s", testhost_vf(0));
	put_conf("a.json", "{\"resources\":[{\"name\":\"b.c/d\",\"linkDown\":\"healthy\","
			   "\"select\":{\"pf\":\"pf0\"}}]}");
	auto_resource_set struct resource_set *s = load(&w);
	testhost_shows(0, NULL);
	auto_resource_look struct resource_look l = look(&w, s);
	ck_assert(!device(&l, vf)->healthy && device(&l, vf)->busy);
	ck_assert_str_eq(device(&l, vf)->why, "it has its interface in another network namespace");
	ck_assert(device(&l, testhost_vf(1))->healthy);
	/* The kubelet gave it to a pod, which may be the one that has it. */
	ck_assert_int_eq(resource_devices_keep(&l.of[0], given, 1, &e), 0);
	ck_assert(device(&l, vf)->healthy && !device(&l, vf)->busy);
	ck_assert_str_eq(device(&l, vf)->why, "");
}
END_TEST

START_TEST(a_pf_without_a_carrier_makes_its_vfs_unhealthy)
{
	auto_testhost struct testhost w = testhost(1);
	auto_nl struct nl *nl = net_socket();
	struct err e = { .msg = "" };

	put_conf("a.json", ONE("b.c/d"));
	auto_resource_set struct resource_set *s = load(&w);
	ck_assert_int_eq(nl_link_set_down(nl, net_ifindex(nl, "pf0"), &e), 0);
	auto_resource_look struct resource_look l = look(&w, s);
	ck_assert_str_eq(device(&l, testhost_vf(0))->why, "the port pf0 is down");
	ck_assert_int_eq(nl_link_set_up(nl, net_ifindex(nl, "pf0"), &e), 0);
	ck_assert_int_eq(nl_link_set_up(nl, net_ifindex(nl, "w-pf0"), &e), 0);
	auto_resource_look struct resource_look again = look(&w, s);
	ck_assert_str_eq(device(&again, testhost_vf(0))->why, "");
	ck_assert(!resource_devices_same(&l.of[0], &again.of[0]));
	ck_assert(resource_devices_same(&l.of[0], &l.of[0]));
}
END_TEST

START_TEST(a_vf_that_the_host_uses_is_busy_unless_it_only_has_an_address)
{
	auto_testhost struct testhost w = testhost(2);
	struct ip_prefix p;
	struct err e = { .msg = "" };

	put_conf("a.json", "{\"resources\":[{\"name\":\"b.c/d\",\"linkDown\":\"healthy\","
			   "\"select\":{\"pf\":\"pf0\"}}]}");
	auto_resource_set struct resource_set *s = load(&w);
	net_link("bridge", "br0");
	testing_file(TESTHOST_SYS "/class/net/v0/upper_br0", 0600, "");
	ck_assert_int_eq(ip_parse_prefix("10.0.0.5/24", &p), 0);
	ck_assert_msg(nl_addr_add(w.nl, net_ifindex(w.nl, "v1"), p, true, &e) == 0, "%s", e.msg);
	auto_resource_look struct resource_look l = look(&w, s);
	ck_assert_str_eq(device(&l, testhost_vf(0))->why, "it is a port of the bridge br0");
	ck_assert(device(&l, testhost_vf(0))->busy);
	ck_assert(device(&l, testhost_vf(1))->healthy);
}
END_TEST

static void own_proc(struct testhost *w)
{
	w->ctx.proc = "/mnt/proc";
	tree_put("/mnt", "proc/net/route",
		 "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"
		 "v0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\n");
	tree_put("/mnt", "proc/sys/kernel/random/boot_id",
		 "00000000-0000-0000-0000-000000000001\n");
}

static bool gives_vhost(const struct testhost *w, const struct resource_set *s)
{
	auto_resource_look struct resource_look l = look(w, s);

	return device(&l, testhost_vf(0))->vhost;
}

/* An agent in a container sees the node of the host below the root of process 1. */
START_TEST(the_host_has_vhost_net_or_not)
{
	static const char *const at[] = { TESTHOST_SYS "/class/misc/vhost-net",
					  "/mnt/dev/vhost-net", "/mnt/proc/1/root/dev/vhost-net" };
	auto_testhost struct testhost w = testhost(2);

	own_proc(&w);
	tree_put("/mnt", "proc/net/route", "");
	w.ctx.dev = "/mnt/dev";
	put_conf("a.json", "{\"resources\":[{\"name\":\"b.c/v\",\"vhostNet\":true,"
			   "\"select\":{\"pf\":\"pf0\"}}]}");
	auto_resource_set struct resource_set *s = load(&w);
	ck_assert(!gives_vhost(&w, s));
	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		tree_put("/", at[i] + 1, "");
		ck_assert_msg(gives_vhost(&w, s), "%s", at[i]);
		ck_assert_int_eq(unlink(at[i]), 0);
	}
}
END_TEST

START_TEST(software_devices_and_the_default_route_are_known)
{
	auto_testhost struct testhost w = testhost(1);

	own_proc(&w);
	tree_add_hca(TESTHOST_SYS, "virtual", "rxe1", 0);
	tree_add_hca(TESTHOST_SYS, "virtual", "rxe0", 0);
	put_conf("a.json", "{\"resources\":[{\"name\":\"b.c/d\",\"share\":1,"
			   "\"select\":{\"rdmaDevice\":[\"rxe0\",\"rxe1\"]}},"
			   "{\"name\":\"b.c/v\",\"select\":{\"pf\":\"pf0\"}}]}");
	auto_resource_set struct resource_set *s = load(&w);
	auto_resource_look struct resource_look l = look(&w, s);
	ck_assert_uint_eq(l.of[0].n_hcas, 2);
	ck_assert_str_eq(l.of[0].hca[0].name, "rxe0");
	ck_assert_str_eq(l.of[0].hca[1].name, "rxe1");
	ck_assert(l.of[0].device[0].healthy);
	ck_assert_uint_eq(l.of[1].n, 0);
	ck_assert_ptr_nonnull(strstr(l.note[0], "default route"));
}
END_TEST

/* ---- captured machines ---- */

static struct testhost captured(const char *name)
{
	struct testhost w = testhost(0);
	static char sys[256], proc[256];
	const char *dir = tree_unpack(name);

	(void)snprintf(sys, sizeof(sys), "%s/sys", dir);
	(void)snprintf(proc, sizeof(proc), "%s/proc", dir);
	tree_put(dir, "proc/sys/kernel/random/boot_id", "00000000-0000-0000-0000-000000000001\n");
	w.ctx.sysfs = sys;
	w.ctx.proc = proc;
	return w;
}

START_TEST(vfs_of_a_captured_guest_are_devices)
{
	auto_testhost struct testhost w = captured("qemu-pxb-xio3130-igb-sriov-rxe");
	size_t known = 0;

	put_conf("a.json", "{\"resources\":[{\"name\":\"b.c/d\",\"linkDown\":\"healthy\","
			   "\"select\":{\"vendor\":\"8086\",\"device\":\"10ca\"}}]}");
	auto_resource_set struct resource_set *s = load(&w);
	auto_resource_look struct resource_look l = look(&w, s);
	ck_assert_uint_eq(l.of[0].n, 6);
	for (size_t i = 0; i < l.of[0].n; i++) {
		const struct resource_device *d = &l.of[0].device[i];

		ck_assert_str_ne(d->pf, d->id);
		ck_assert(*d->bridge);
		known += d->n_numa;
	}
	ck_assert_uint_gt(known, 0);
}
END_TEST

START_TEST(hcas_of_a_captured_server_are_devices)
{
	auto_testhost struct testhost w = captured("hwloc-8ve");

	put_conf("a.json", "{\"resources\":[{\"name\":\"b.c/d\","
			   "\"select\":{\"vendor\":\"15b3\"}}]}");
	auto_resource_set struct resource_set *s = load(&w);
	auto_resource_look struct resource_look l = look(&w, s);
	ck_assert_uint_eq(l.of[0].n, 2);
	ck_assert_str_eq(l.of[0].device[0].pf, l.of[0].device[0].id);
	ck_assert_str_ne(l.of[0].device[0].bridge, l.of[0].device[1].bridge);
	ck_assert_int_eq(l.of[0].device[0].numa[0], 0);
}
END_TEST

#define PLAIN "0000:05:00.0"

START_TEST(functions_without_sriov_and_properties_of_files_are_found)
{
	auto_testhost struct testhost w = testhost(1);

	fakepci_function(TESTHOST_SYS, PLAIN);
	fakepci_driver(TESTHOST_SYS, PLAIN, "e1000e");
	fakepci_file(TESTHOST_SYS, PLAIN, "class", "0x020700\n");
	fakepci_file(TESTHOST_SYS, PLAIN, "acpi_index", "101\n");
	fakepci_file(TESTHOST_SYS, PLAIN, "infiniband/mlx5_9/ports/1/pkeys/0", "0x8001\n");
	fakepci_file(TESTHOST_SYS, PLAIN, "infiniband_verbs/uverbs0/dev", "231:192\n");
	fakepci_function(TESTHOST_SYS, "0000:06:00.0");
	fakepci_file(TESTHOST_SYS, "0000:06:00.0", "class", "0x030000\n");
	put_conf("a.json", "{\"resourceList\":[{\"resourceName\":\"x\",\"selectors\":{"
			   "\"linkTypes\":[\"infiniband\"],\"acpiIndexes\":[\"101\"],"
			   "\"pKeys\":[\"0x8001\"],\"isRdma\":true}},"
			   "{\"resourceName\":\"rest\"}]}");
	auto_resource_set struct resource_set *s = load(&w);
	auto_resource_look struct resource_look l = look(&w, s);
	ck_assert_uint_eq(l.of[0].n, 1);
	ck_assert(device(&l, PLAIN)->rdma);
	/* Neither the PF, which has a VF, nor the display controller. */
	ck_assert_uint_eq(l.of[1].n, 1);
	ck_assert_str_eq(l.of[1].device[0].id, testhost_vf(0));
}
END_TEST

START_TEST(mode_exclusive_makes_shared_copies_unhealthy)
{
	auto_testhost struct testhost w = testhost(1);
	struct fakehca *hca = fakehca(RDMA_SHARED);

	fakepci_file(TESTHOST_SYS, TESTHOST_PF, "infiniband/mlx5_0/node_type", "1: CA\n");
	put_conf("a.json", "{\"configList\":[{\"resourceName\":\"x\",\"rdmaHcaMax\":2,"
			   "\"devices\":[\"pf0\"]}]}");
	auto_resource_set struct resource_set *s = load(&w);
	auto_resource_look struct resource_look l = look(&w, s);
	ck_assert_uint_eq(l.of[0].n, 2);
	ck_assert_uint_eq(l.of[0].n_hcas, 1);
	ck_assert_str_eq(l.of[0].hca[0].name, "mlx5_0");
	ck_assert(device(&l, "1")->healthy);
	hca->mode = RDMA_EXCLUSIVE;
	auto_resource_look struct resource_look again = look(&w, s);
	ck_assert(!device(&again, "1")->healthy);
	fakehca_stop();
}
END_TEST

/* ---- two looks ---- */

START_TEST(a_device_that_vanished_is_kept_unhealthy)
{
	auto_testhost struct testhost w = testhost(2);
	char gone[PCI_STR_LEN], longest[RESOURCE_ID_LEN + 1];
	const char *given[] = { gone, testhost_vf(0), "", longest, gone };
	struct err e = { .msg = "" };

	(void)snprintf(gone, sizeof(gone), "%s", testhost_vf(1));
	memset(longest, '7', RESOURCE_ID_LEN);
	longest[RESOURCE_ID_LEN] = '\0';
	put_conf("a.json", "{\"resources\":[{\"name\":\"b.c/d\",\"linkDown\":\"healthy\","
			   "\"select\":{\"pf\":\"pf0\"}}]}");
	auto_resource_set struct resource_set *s = load(&w);
	testhost_vanish(1);
	auto_resource_look struct resource_look l = look(&w, s);
	ck_assert_uint_eq(l.of[0].n, 1);
	ck_assert_int_eq(resource_devices_keep(&l.of[0], given, 5, &e), 0);
	ck_assert_uint_eq(l.of[0].n, 2);
	ck_assert(!device(&l, gone)->healthy);
	ck_assert(*device(&l, gone)->why);
	ck_assert_uint_eq(device(&l, gone)->n_numa, 0);
	ck_assert(device(&l, testhost_vf(0))->healthy);
}
END_TEST

START_TEST(a_device_is_found_by_its_id)
{
	struct resource_device d[] = {
		{ .id = "0" }, { .id = "01" }, { .id = "1" }, { .id = "0000:3b:00.1" }
	};
	const struct resource_devices all = { .device = d, .n = 4 }, none = { .n = 0 };

	for (size_t i = 0; i < 4; i++)
		ck_assert_ptr_eq(resource_devices_find(&all, d[i].id), &d[i]);
	ck_assert_ptr_null(resource_devices_find(&all, "2"));
	ck_assert_ptr_null(resource_devices_find(&all, "9"));
	ck_assert_ptr_null(resource_devices_find(&none, "0"));
}
END_TEST

/* In any order, and with ids that sort otherwise than the devices. */
START_TEST(many_ids_are_kept)
{
	enum { N = 2000, GIVEN = 3000 };
	static char text[GIVEN][RESOURCE_ID_LEN];
	static const char *given[GIVEN];
	auto_free struct resource_device *devices = NULL;
	struct resource_devices d = { .n = 0 };
	struct err e = { .msg = "" };

	ck_assert_int_eq(ARRAY_GROW_BY(devices, 0, N, N, "devices", &e), 0);
	for (unsigned i = 0; i < N; i++) {
		devices[i] = (struct resource_device){ .busy = true };
		(void)snprintf(devices[i].id, sizeof(devices[i].id), "%u", i);
	}
	for (unsigned i = 0; i < GIVEN; i++) {
		(void)snprintf(text[i], sizeof(text[i]), "%u", i * 7919 % GIVEN);
		given[i] = text[i];
	}
	d = (struct resource_devices){ .device = devices, .n = N - 100, .n_maybe = 100 };
	ck_assert_int_eq(resource_devices_keep(&d, given, GIVEN, &e), 0);
	devices = d.device;
	ck_assert_uint_eq(d.n, GIVEN);
	ck_assert_uint_eq(d.n_maybe, 0);
	for (unsigned i = 0; i < N; i++) {
		(void)snprintf(text[0], sizeof(text[0]), "%u", i);
		ck_assert_str_eq(d.device[i].id, text[0]);
		ck_assert(d.device[i].healthy);
	}
	ck_assert(!d.device[N].healthy);
}
END_TEST

/* As one that sriov chose itself by its key "resource". */
START_TEST(an_attachment_that_the_kubelet_does_not_know_of)
{
	struct resource_device d[] = {
		{ .id = "0", .healthy = true, .attached = true },
		{ .id = "1", .healthy = true, .attached = true },
		{ .id = "2", .healthy = true },
		{ .id = "3", .why = "the port is down", .attached = true },
	};
	struct resource_devices all = { .device = d, .n = 4 };
	const char *given[] = { "0" };
	struct err e = { .msg = "" };

	ck_assert_int_eq(resource_devices_keep(&all, given, 1, &e), 0);
	resource_devices_outside(&all);
	ck_assert(d[0].healthy && d[2].healthy);
	ck_assert(!d[1].healthy && d[1].busy);
	ck_assert_str_eq(d[1].why, "an attachment has it, and the kubelet gave it to no pod");
	ck_assert_str_eq(d[3].why, "the port is down");
	given[0] = "1";
	ck_assert_int_eq(resource_devices_keep(&all, given, 1, &e), 0);
	ck_assert(d[1].healthy && !d[1].busy);
}
END_TEST

START_TEST(a_difference_is_one_that_the_kubelet_sees)
{
	struct resource_device x = { .id = "1", .healthy = true, .numa = { 3 }, .n_numa = 1 };
	struct resource_device y = x;
	const struct resource_devices a = { .device = &x, .n = 1 }, b = { .device = &y, .n = 1 };

	y.gpu_distance = 7;
	ck_assert(resource_devices_same(&a, &b));
	y.numa[0] = 4;
	ck_assert(!resource_devices_same(&a, &b));
	y = x;
	y.n_numa = 0;
	ck_assert(!resource_devices_same(&a, &b));
	y = x;
	y.healthy = false;
	ck_assert(!resource_devices_same(&a, &b));
	y = x;
	y.id[0] = '2';
	ck_assert(!resource_devices_same(&a, &b));
	ck_assert(!resource_devices_same(&a, &(struct resource_devices){ .device = &y }));
}
END_TEST

TEST_PROGRAM("look", VFs_of_rails_are_marked, free_vfs_and_those_in_pods_are_healthy,
	     a_vf_whose_interface_is_elsewhere_is_busy,
	     a_pf_without_a_carrier_makes_its_vfs_unhealthy,
	     a_vf_that_the_host_uses_is_busy_unless_it_only_has_an_address,
	     the_host_has_vhost_net_or_not, software_devices_and_the_default_route_are_known,
	     vfs_of_a_captured_guest_are_devices, hcas_of_a_captured_server_are_devices,
	     functions_without_sriov_and_properties_of_files_are_found,
	     mode_exclusive_makes_shared_copies_unhealthy, a_device_that_vanished_is_kept_unhealthy,
	     a_device_is_found_by_its_id, many_ids_are_kept,
	     an_attachment_that_the_kubelet_does_not_know_of,
	     a_difference_is_one_that_the_kubelet_sees)
