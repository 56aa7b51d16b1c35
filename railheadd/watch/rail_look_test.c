/* SPDX-License-Identifier: Apache-2.0 */
/* rail_look_test.c: rails of made trees and of a captured one, and rails that vanish. */
#include "railheadd/watch/rail_look.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/guid.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "topo/testing/tree.h"

#define ROOT  "/mnt/sys"
#define PORT  "pci0000:20/0000:20:01.0"
#define CARD  PORT "/0000:21:00.0"
#define OTHER PORT "/0000:21:00.1"

/* A root port, and a card of two functions with an RDMA device each. */
static void make_tree(void)
{
	static const struct tree_fn fns[] = {
		{ PORT, 0x060400, 0x8086, 1, 0, "32.0 GT/s PCIe", 16 },
		{ CARD, 0x020000, 0x15b3, 0x1021, 0, "32.0 GT/s PCIe", 16 },
		{ OTHER, 0x020700, 0x15b3, 0x1021, 0, "32.0 GT/s PCIe", 16 },
	};

	(void)testing_dir();
	for (size_t i = 0; i < ARRAY_SIZE(fns); i++)
		tree_add(ROOT, &fns[i]);
	tree_add_hca(ROOT, CARD, "mlx5_0", 1);
	tree_add_hca(ROOT, OTHER, "mlx5_1", 1);
	tree_put(ROOT, "devices/" OTHER "/infiniband/mlx5_1/ports/1/link_layer", "InfiniBand\n");
}

static struct json *known_of(const char *text)
{
	struct json *known = NULL;
	struct err e;

	ck_assert_int_eq(json_parse(text, strlen(text), "known", &known, &e), 0);
	return known;
}

/* "PCI DEVICE:PORT check=state ...", a line for each rail. */
static char *look(bool shared, const char *known_text)
{
	static char text[4096];
	const struct rail_look_from from = { ROOT, shared, NULL };
	auto_json struct json *known = known_of(known_text), *all = NULL;
	size_t n = 0;
	struct err e = { .msg = "" };

	ck_assert_msg(rail_look(&from, known, &all, &e) == 0, "%s", e.msg);
	text[0] = '\0';
	json_each (r, all) {
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s %s:%.0f", json_text(r, "pci"),
				      json_text(r, "device"), json_num(json_get(r, "port")));
		json_each (f, json_get(r, "findings"))
			n += (size_t)snprintf(text + n, sizeof(text) - n, " %s=%s",
					      json_text(f, "check"), json_text(f, "state"));
		if (json_get(r, "dropped"))
			n += (size_t)snprintf(text + n, sizeof(text) - n, " dropped: %s",
					      json_text(r, "dropped"));
		n += (size_t)snprintf(text + n, sizeof(text) - n, "\n");
	}
	return text;
}

#define WELL_0 "0000:21:00.0 mlx5_0:1 port=ok link=ok device=ok\n"
#define WELL_1 "0000:21:00.1 mlx5_1:1 port=ok link=ok device=ok\n"

START_TEST(ports_and_links_of_all_rails)
{
	make_tree();
	ck_assert_str_eq(look(true, "[]"), WELL_0 WELL_1);
	tree_put(ROOT, "devices/" OTHER "/infiniband/mlx5_1/ports/1/state", "2: INIT\n");
	ck_assert_str_eq(look(true, "[]"),
			 WELL_0 "0000:21:00.1 mlx5_1:1 port=warn link=ok device=ok\n");
	tree_put(ROOT, "devices/" CARD "/current_link_width", "8\n");
	ck_assert_str_eq(look(true, "[]"), "0000:21:00.0 mlx5_0:1 port=ok link=warn device=ok\n"
					   "0000:21:00.1 mlx5_1:1 port=warn link=ok device=ok\n");
	tree_put(ROOT, "devices/" OTHER "/current_link_speed", "8.0 GT/s PCIe\n");
	ck_assert_str_eq(look(true, "[]"), "0000:21:00.0 mlx5_0:1 port=ok link=warn device=ok\n"
					   "0000:21:00.1 mlx5_1:1 port=warn link=warn device=ok\n");
}
END_TEST

/* A card of the fifth generation in a slot of the fourth has no better link to lose. */
START_TEST(a_slow_slot_is_no_finding)
{
	make_tree();
	tree_put(ROOT, "devices/" PORT "/max_link_speed", "16.0 GT/s PCIe\n");
	tree_put(ROOT, "devices/" PORT "/current_link_speed", "16.0 GT/s PCIe\n");
	tree_put(ROOT, "devices/" CARD "/current_link_speed", "16.0 GT/s PCIe\n");
	tree_put(ROOT, "devices/" OTHER "/current_link_speed", "16.0 GT/s PCIe\n");
	ck_assert_str_eq(look(true, "[]"), WELL_0 WELL_1);
}
END_TEST

START_TEST(vfs_and_software_devices_are_no_rails)
{
	make_tree();
	tree_add_vfs(ROOT, CARD, 2, "vf");
	tree_put(ROOT, "devices/virtual/infiniband/rxe0/ports/1/state", "1: DOWN\n");
	tree_ln(ROOT, "class/infiniband/rxe0", "../../devices/virtual/infiniband/rxe0");
	/* Nor is a second device of a function that has one. */
	tree_add_hca(ROOT, CARD, "mlx5_2", 1);
	ck_assert_str_eq(look(true, "[]"), WELL_0 WELL_1);
}
END_TEST

/* The identity is function and port: a device that udev renamed is there. */
START_TEST(a_known_rail_may_be_gone_or_not_visible)
{
	static const char known[] = "[{\"pci\":\"0000:21:00.0\",\"device\":\"roce0\",\"port\":1},"
				    "{\"pci\":\"0000:21:00.1\",\"device\":\"mlx5_1\",\"port\":1},"
				    "{\"pci\":\"0000:77:00.0\",\"device\":\"mlx5_7\",\"port\":1}]";

	make_tree();
	ck_assert_str_eq(look(false, known), WELL_0 WELL_1 "0000:77:00.0 mlx5_7:1 device=warn\n");
	ck_assert_int_eq(unlink(ROOT "/class/infiniband/mlx5_1"), 0);
	ck_assert_str_eq(look(false, known), WELL_0 "0000:21:00.1 mlx5_1:1 device=unknown\n"
						    "0000:77:00.0 mlx5_7:1 device=warn\n");
	ck_assert_str_eq(look(true, known), WELL_0 "0000:21:00.1 mlx5_1:1 device=warn\n"
						   "0000:77:00.0 mlx5_7:1 device=warn\n");
	tree_put(ROOT, "bus/pci/drivers/pciback/unbind", "");
	tree_ln(ROOT, "devices/" OTHER "/driver", "../../../../bus/pci/drivers/pciback");
	ck_assert_str_eq(look(true, known), WELL_0 "0000:21:00.1 mlx5_1:1 device=unknown\n"
						   "0000:77:00.0 mlx5_7:1 device=warn\n");
}
END_TEST

#define MOVED(pci, guid)                                                                           \
	"{\"pci\":\"0000:" pci "\",\"guid\":\"00:00:00:00:00:00:00:0" guid                         \
	"\",\"device\":\"m" guid "\",\"port\":1}"

static void set_guid(const char *card, const char *device, const char *guid)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "devices/%s/infiniband/%s/node_guid", card, device);
	tree_put(ROOT, path, guid);
}

/* A card has another address, because one was added before it, or one was removed. */
START_TEST(a_guid_is_looked_for_at_all_addresses)
{
	make_tree();
	set_guid(CARD, "mlx5_0", "0000:0000:0000:0001\n");
	set_guid(OTHER, "mlx5_1", "0000:0000:0000:0002\n");
	ck_assert_str_eq(look(true, "[" MOVED("01:00.0", "1") "," MOVED("21:00.0", "2") "]"),
			 WELL_0 WELL_1);
	ck_assert_str_eq(look(true, "[" MOVED("01:00.0", "1") "," MOVED("01:00.1", "3") "]"),
			 WELL_0 WELL_1 "0000:01:00.1 m3:1 device=warn\n");
	/* The address of one that is gone is that of another known one. */
	ck_assert_str_eq(look(true, "[" MOVED("01:00.0", "1") "," MOVED("21:00.0", "3") "]"),
			 WELL_0 WELL_1 "0000:21:00.0 m3:1 device=warn\n");
	ck_assert_str_eq(look(false, "[" MOVED("01:00.0", "1") "," MOVED("21:00.0", "3") "]"),
			 WELL_0 WELL_1 "0000:21:00.0 m3:1 device=unknown\n");
	/* Two that are gone had one address, at different times. */
	ck_assert_str_eq(look(true, "[" MOVED("77:00.0", "3") "," MOVED("77:00.0", "4") "]"),
			 WELL_0 WELL_1 "0000:77:00.0 m3:1 device=warn\n"
				       "0000:77:00.0 m4:1 device=warn\n");
	/* Nothing identifies a card without a GUID that lost its address. */
	ck_assert_str_eq(
		look(true, "[" MOVED("01:00.0", "1") ",{\"pci\":\"0000:21:00.0\",\"device\":\"m3\","
						     "\"port\":1}]"),
		WELL_0 WELL_1 "0000:21:00.0 m3:1 dropped: another card has its address\n");
	/* A new card in its slot replaces it. */
	ck_assert_str_eq(look(true, "[" MOVED("21:00.0", "3") "]"), WELL_0 WELL_1);
}
END_TEST

static const char *guid_in_look(void)
{
	static char text[GUID_STR_LEN];
	const struct rail_look_from from = { ROOT, true, NULL };
	auto_json struct json *known = known_of("[]"), *all = NULL;
	struct err e = { .msg = "" };

	ck_assert_msg(rail_look(&from, known, &all, &e) == 0, "%s", e.msg);
	(void)snprintf(text, sizeof(text), "%s", json_text(json_first(all), "guid"));
	return text;
}

START_TEST(a_guid_of_two_cards_is_none)
{
	make_tree();
	ck_assert_str_eq(guid_in_look(), "");
	set_guid(CARD, "mlx5_0", "0000:0000:0000:0000\n");
	ck_assert_str_eq(guid_in_look(), "");
	set_guid(CARD, "mlx5_0", "0000:0000:0000:0002\n");
	ck_assert_str_eq(guid_in_look(), "00:00:00:00:00:00:00:02");
	set_guid(OTHER, "mlx5_1", "0000:0000:0000:0002\n");
	ck_assert_str_eq(guid_in_look(), "");
}
END_TEST

#define KNOWN(pci, device, port) "{\"pci\":\"" pci "\",\"device\":\"" device "\",\"port\":" port "}"
#define BOTH                     "[" KNOWN("0000:21:00.0", "mlx5_0", "1") "," KNOWN("0000:21:00.1", "mlx5_1", "1") "]"

/* mlx5: the device of the second function vanishes, and the first one has that of the bond. */
START_TEST(two_functions_become_a_bond)
{
	make_tree();
	ck_assert_int_eq(unlink(ROOT "/class/infiniband/mlx5_0") |
				 unlink(ROOT "/class/infiniband/mlx5_1"),
			 0);
	tree_add_hca(ROOT, CARD, "mlx5_bond_0", 1);
	tree_add_netdev(ROOT, CARD, "eth0", 0);
	tree_add_netdev(ROOT, OTHER, "eth1", 0);
	tree_put(ROOT, "devices/virtual/net/bond0/bonding/slaves", "eth0 eth1\n");
	tree_ln(ROOT, "class/net/bond0", "../../devices/virtual/net/bond0");
	tree_ln(ROOT, "devices/" CARD "/net/eth0/master", "../../../../../virtual/net/bond0");
	tree_ln(ROOT, "devices/" OTHER "/net/eth1/master", "../../../../../virtual/net/bond0");
	ck_assert_str_eq(look(true, BOTH),
			 "0000:21:00.0 mlx5_bond_0:1 port=ok link=ok link=ok device=ok\n"
			 "0000:21:00.1 mlx5_1:1 dropped: it is part of mlx5_bond_0\n");
}
END_TEST

#define PORTS "devices/" CARD "/infiniband/mlx5_0/ports/"

static void add_port(int number, const char *netdev)
{
	char path[256], text[64];

	(void)snprintf(path, sizeof(path), PORTS "%d/state", number);
	tree_put(ROOT, path, "1: DOWN\n");
	if (!netdev)
		return;
	(void)snprintf(path, sizeof(path), PORTS "%d/gid_attrs/ndevs/0", number);
	(void)snprintf(text, sizeof(text), "%s\n", netdev);
	tree_put(ROOT, path, text);
}

/* One device has a port for the uplink, for each representor, and for each VF that could be. */
START_TEST(a_port_of_a_representor_is_no_rail)
{
	make_tree();
	tree_add_netdev(ROOT, CARD, "eth0", 0);
	tree_put(ROOT, "devices/" CARD "/net/eth0/phys_port_name", "p0\n");
	tree_add_netdev(ROOT, CARD, "rep0", 0);
	tree_put(ROOT, "devices/" CARD "/net/rep0/phys_port_name", "pf0vf0\n");
	for (int i = 2; i <= 126; i++)
		add_port(i, i == 2 ? "rep0" : NULL);
	ck_assert_str_eq(look(true, BOTH), WELL_0 WELL_1);
	/* The uplink has the last port, and the first one only by its number. */
	tree_put(ROOT, PORTS "1/state", "1: DOWN\n");
	add_port(127, "eth0");
	tree_put(ROOT, PORTS "127/state", "4: ACTIVE\n");
	ck_assert_str_eq(look(true, BOTH),
			 "0000:21:00.0 mlx5_0:127 port=ok link=ok device=ok\n" WELL_1
			 "0000:21:00.0 mlx5_0:1 device=unknown\n");
	/* A port that was a rail may become that of a representor. */
	ck_assert_str_eq(look(true, "[" KNOWN("0000:21:00.0", "mlx5_0", "2") "]"),
			 "0000:21:00.0 mlx5_0:127 port=ok link=ok device=ok\n" WELL_1
			 "0000:21:00.0 mlx5_0:2 dropped: its interface is that of a VF\n");
}
END_TEST

START_TEST(a_device_with_fewer_ports_than_before)
{
	make_tree();
	ck_assert_str_eq(look(true, "[" KNOWN("0000:21:00.0", "mlx5_0", "128") "]"),
			 WELL_0 WELL_1 "0000:21:00.0 mlx5_0:128 dropped: mlx5_0 has no such port "
				       "any more\n");
	/* A second port of a card needs no interface. */
	add_port(2, NULL);
	ck_assert_str_eq(look(true, "[]"),
			 WELL_0 "0000:21:00.0 mlx5_0:2 port=warn link=ok device=ok\n" WELL_1);
	/* Without any port, it is not known what became of this one. */
	ck_assert_int_eq(unlink(ROOT "/class/infiniband/mlx5_0"), 0);
	tree_put(ROOT, "devices/" CARD "/infiniband/mlx5_9/node_desc", "\n");
	tree_ln(ROOT, "class/infiniband/mlx5_9", "../../devices/" CARD "/infiniband/mlx5_9");
	ck_assert_str_eq(look(true, BOTH), WELL_1 "0000:21:00.0 mlx5_0:1 device=unknown\n");
}
END_TEST

/* A captured guest, in which a software device becomes that of a card. */
START_TEST(a_captured_machine)
{
	const char *top = tree_unpack("qemu-pxb-xio3130-igb-sriov-rxe");
	char sysfs[256];
	auto_json struct json *known = known_of("[]"), *all = NULL;
	struct err e = { .msg = "" };

	(void)snprintf(sysfs, sizeof(sysfs), "%s/sys", top);
	tree_ln(sysfs, "devices/virtual/infiniband/rxe2/device",
		"../../../pci0000:20/0000:20:00.0/0000:21:00.0/0000:22:02.0/0000:25:00.0");
	const struct rail_look_from from = { sysfs, false, NULL };
	ck_assert_msg(rail_look(&from, known, &all, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(json_len(all), 1);
	const struct json *r = json_first(all), *f = json_first(json_get(r, "findings"));
	ck_assert_str_eq(json_text(r, "pci"), "0000:25:00.0");
	ck_assert(json_num(json_get(r, "rate")) == 2500);
	ck_assert_str_eq(json_text(f, "value"), "ACTIVE, 2.5 Gbit/s");
}
END_TEST

START_TEST(without_sysfs_there_is_no_look)
{
	const struct rail_look_from from = { "/nowhere", true, NULL };
	auto_json struct json *known = known_of("[]"), *all = NULL;
	struct err e = { .msg = "" };

	ck_assert_int_eq(rail_look(&from, known, &all, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
}
END_TEST

static int look_again(void *arg, struct err *e)
{
	const struct rail_look_from from = { ROOT, true, NULL };
	auto_json struct json *all = NULL;

	return rail_look(&from, arg, &all, e);
}

START_TEST(memory_may_end_anywhere)
{
	auto_json struct json *known =
		known_of("[{\"pci\":\"0000:77:00.0\",\"device\":\"mlx5_7\",\"port\":1}," MOVED(
			"78:00.0", "7") "]");

	make_tree();
	set_guid(CARD, "mlx5_0", "0000:0000:0000:0001\n");
	ck_assert_str_eq(alloc_fail_each(look_again, known), "ok");
}
END_TEST

TEST_PROGRAM("railheadd/watch/rail_look", ports_and_links_of_all_rails, a_slow_slot_is_no_finding,
	     vfs_and_software_devices_are_no_rails, a_known_rail_may_be_gone_or_not_visible,
	     a_guid_is_looked_for_at_all_addresses, a_guid_of_two_cards_is_none,
	     two_functions_become_a_bond, a_port_of_a_representor_is_no_rail,
	     a_device_with_fewer_ports_than_before, a_captured_machine,
	     without_sysfs_there_is_no_look, memory_may_end_anywhere)
