/* SPDX-License-Identifier: Apache-2.0 */
/* assign_test.c: which functions become devices, their health, and their place in real machines. */
#include "railheadd/devices/assign.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"
#include "topo/testing/fixture.h"

#define PF0 "0000:3b:00.0"
#define PF1 "0000:5e:00.0"

static struct resource_set *set_of(const char *text)
{
	auto_json struct json *tree = NULL;
	struct resource_set *s = calloc(1, sizeof(*s));
	struct err e = { .msg = "" };

	ck_assert_ptr_nonnull(s);
	ck_assert_msg(json_parse(text, strlen(text), "test", &tree, &e) == 0 &&
			      conf_add(s, tree, "a.json", &e) == 0,
		      "%s", e.msg);
	return s;
}

/* A healthy function of NUMA node 1 with a driver. */
static struct function fn(const char *addr)
{
	struct function f = { .vendor = "15b3", .device = "101d", .link = "ether", .numa = 1 };

	(void)snprintf(f.addr, sizeof(f.addr), "%s", addr);
	(void)snprintf(f.driver, sizeof(f.driver), "mlx5_core");
	(void)snprintf(f.netdev, sizeof(f.netdev), "e%.12s", addr + 5);
	memcpy(f.pf_netdev, f.netdev, sizeof(f.pf_netdev));
	(void)snprintf(f.rdma, sizeof(f.rdma), "mlx5_%s", addr + 5);
	(void)snprintf(f.port, sizeof(f.port), "mlx5_0");
	return f;
}

static struct function vf(const char *pf, const char *addr, uint32_t n)
{
	struct function f = fn(addr);

	(void)snprintf(f.pf, sizeof(f.pf), "%s", pf);
	(void)snprintf(f.pf_netdev, sizeof(f.pf_netdev), "p%s", pf + 5);
	(void)snprintf(f.device, sizeof(f.device), "101e");
	f.vf = n;
	return f;
}

static struct resource_look assigned(struct function *f, size_t n, const char *conf)
{
	auto_resource_set struct resource_set *s = set_of(conf);
	const struct functions all = { .f = f, .n = n };
	struct resource_look l = { 0 };
	struct err e = { .msg = "" };

	ck_assert_msg(functions_assign(&all, s, &l, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(l.n, s->n);
	return l;
}

#define RES(name, select, rest) "{\"name\":\"a.b/" name "\",\"select\":{" select "}" rest "}"
#define OWN(...)                "{\"resources\":[" __VA_ARGS__ "]}"

START_TEST(a_function_belongs_to_the_first_resource)
{
	struct function f[] = { fn(PF0), vf(PF0, "0000:3b:00.1", 0), vf(PF0, "0000:3b:00.2", 1),
				fn(PF1) };
	auto_resource_look struct resource_look l = { 0 };

	f[0].has_vfs = true;
	f[3].gpu_distance = 7;
	(void)snprintf(f[3].bridge, sizeof(f[3].bridge), "0000:5d:00.0");
	l = assigned(f, 4,
		     OWN(RES("one", "\"pf\":\"" PF0 "#1\"", ",\"rdma\":true") "," RES(
			     "all", "\"vendor\":\"15b3\"", ",\"vhostNet\":true,\"numa\":false")));
	ck_assert_uint_eq(l.of[0].n, 1);
	ck_assert_str_eq(l.of[0].device[0].id, "0000:3b:00.2");
	ck_assert_str_eq(l.of[0].device[0].pf, PF0);
	ck_assert(l.of[0].device[0].rdma && !l.of[0].device[0].vhost);
	ck_assert(l.of[0].device[0].healthy);
	ck_assert_uint_eq(l.of[0].device[0].n_numa, 1);
	ck_assert_int_eq(l.of[0].device[0].numa[0], 1);
	/* The PF has VFs, so the host needs it. */
	ck_assert_uint_eq(l.of[1].n, 2);
	ck_assert_str_eq(l.of[1].device[0].id, "0000:3b:00.1");
	ck_assert_str_eq(l.of[1].device[1].id, PF1);
	ck_assert_str_eq(l.of[1].device[1].pf, PF1);
	ck_assert_str_eq(l.of[1].device[1].bridge, "0000:5d:00.0");
	ck_assert_uint_eq(l.of[1].device[1].gpu_distance, 7);
	ck_assert_uint_eq(l.of[1].device[1].n_numa, 0);
	ck_assert(l.of[1].device[1].vhost && !l.of[1].device[1].rdma);
	ck_assert_uint_eq(l.n_notes, 0);
}
END_TEST

START_TEST(a_VF_that_the_driver_of_claims_offers)
{
	struct function f[] = { vf(PF0, "0000:3b:00.1", 0), vf(PF1, "0000:5e:00.1", 0) };
	auto_resource_set struct resource_set *s =
		set_of(OWN(RES("one", "\"pf\":\"" PF0 "\"", "")));
	const struct functions all = { .f = f, .n = 2 };
	auto_resource_look struct resource_look l = { 0 };
	struct err e = { .msg = "" };

	f[1].claimed = true;
	ck_assert_msg(functions_assign(&all, s, &l, &e) == 0, "%s", e.msg);
	f[0].claimed = true;
	resource_look_clear(&l);
	ck_assert_int_eq(functions_assign(&all, s, &l, &e), -1);
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_msg(strstr(e.msg, "resource a.b/one: it selects VF 0000:3b:00.1 of p3b:00.0, and "
				    "with the key claims of agent.json the driver"),
		      "%s", e.msg);
}
END_TEST

/* host-device moves the interface and keeps no record that this agent reads. */
START_TEST(a_whole_function_whose_interface_a_pod_has)
{
	struct function f[] = { fn(PF0), fn(PF1) };
	const char *given[] = { PF0 };
	const char *conf = OWN(RES("one", "\"pf\":[\"rail0\",\"rail1\"]", ""));
	auto_resource_look struct resource_look l = { 0 };
	struct err e = { .msg = "" };

	f[0].netdev[0] = f[0].pf_netdev[0] = '\0';
	(void)snprintf(f[1].pf_netdev, sizeof(f[1].pf_netdev), "rail1");
	l = assigned(f, 2, conf);
	ck_assert_uint_eq(l.of[0].n, 1);
	ck_assert_uint_eq(l.of[0].n_maybe, 1);
	ck_assert_int_eq(resource_devices_keep(&l.of[0], given, 1, &e), 0);
	ck_assert_uint_eq(l.of[0].n, 2);
	ck_assert_str_eq(l.of[0].device[1].id, PF0);
	ck_assert(l.of[0].device[1].healthy);
	resource_look_clear(&l);
	(void)snprintf(f[0].driver, sizeof(f[0].driver), "vfio-pci");
	l = assigned(f, 2, conf);
	ck_assert_uint_eq(l.of[0].n_maybe, 0);
}
END_TEST

START_TEST(a_function_in_a_pod_that_may_belong_to_two_resources_is_behind_the_devices)
{
	struct function f[] = { vf(PF0, "0000:3b:00.1", 0), vf(PF0, "0000:3b:00.2", 1),
				vf(PF0, "0000:3b:00.3", 2), vf(PF0, "0000:3b:00.4", 3) };
	const char *given[] = { "0000:3b:00.1", "0000:3b:00.9" };
	auto_resource_look struct resource_look l = { 0 };
	struct err e = { .msg = "" };

	for (size_t i = 0; i < ARRAY_SIZE(f); i++)
		(void)snprintf(f[i].pkey, sizeof(f[i].pkey), i < 3 ? "0x8001" : "0x8002");
	f[0].pkey[0] = f[1].pkey[0] = '\0';
	f[0].use = FUNCTION_IN_POD;
	f[1].use = FUNCTION_IN_USE;
	l = assigned(f, 4,
		     OWN(RES("one", "\"pkey\":\"0x8001\"", "") "," RES("two", "\"pkey\":\"0x8002\"",
								       "")));
	for (size_t i = 0; i < 2; i++) {
		ck_assert_uint_eq(l.of[i].n, 1);
		ck_assert_uint_eq(l.of[i].n_maybe, 2);
		ck_assert_str_eq(l.of[i].device[0].id, f[2 + i].addr);
		ck_assert_str_eq(l.of[i].device[1].id, f[0].addr);
		ck_assert_str_eq(l.of[i].device[2].id, f[1].addr);
	}
	/* The kubelet gave one of them as a device of the second resource. */
	ck_assert_int_eq(resource_devices_keep(&l.of[1], given, 2, &e), 0);
	ck_assert_uint_eq(l.of[1].n, 3);
	ck_assert_uint_eq(l.of[1].n_maybe, 1);
	ck_assert_str_eq(l.of[1].device[1].id, f[0].addr);
	ck_assert(l.of[1].device[1].healthy);
	ck_assert(!l.of[1].device[2].healthy);
	ck_assert_str_eq(l.of[1].device[2].id, given[1]);
	ck_assert_str_eq(l.of[1].device[3].id, f[1].addr);
	given[0] = f[1].addr;
	ck_assert_int_eq(resource_devices_keep(&l.of[1], given, 1, &e), 0);
	ck_assert_uint_eq(l.of[1].n, 4);
	ck_assert_uint_eq(l.of[1].n_maybe, 0);
	ck_assert(l.of[1].device[3].healthy);
}
END_TEST

START_TEST(what_is_left_out_has_a_note)
{
	struct function f[] = { fn(PF0), fn(PF1) };
	auto_resource_look struct resource_look l = { 0 };

	f[0].has_route = true;
	f[1].numa = -1;
	l = assigned(f, 2,
		     OWN(RES("x", "\"driver\":\"mlx5_core\"", "") "," RES(
			     "none", "\"vendor\":\"8086\"",
			     "") "," RES("shared", "\"vendor\":\"8086\"", ",\"share\":3")));
	ck_assert_uint_eq(l.of[0].n, 1);
	ck_assert_uint_eq(l.of[0].device[0].n_numa, 0);
	ck_assert_uint_eq(l.of[1].n, 0);
	ck_assert_uint_eq(l.of[2].n, 0);
	ck_assert_uint_eq(l.n_notes, 3);
	ck_assert_ptr_nonnull(strstr(l.note[0], "a.b/x: " PF0 " is left out"));
	ck_assert_ptr_nonnull(
		strstr(l.note[1], "a.b/none: its selectors match no network function"));
	ck_assert_ptr_nonnull(strstr(l.note[2], "match no RDMA device"));
}
END_TEST

START_TEST(without_vhost_net_the_devices_are_offered_and_not_its_file)
{
	struct function f[] = { fn(PF0) };
	const struct functions all = { .f = f, .n = 1, .no_vhost = true };
	auto_resource_set struct resource_set *s =
		set_of(OWN(RES("v", "\"vendor\":\"15b3\"",
			       ",\"vhostNet\":true") "," RES("w", "\"vendor\":\"8086\"", "")));
	auto_resource_look struct resource_look l = { 0 };
	struct err e = { .msg = "" };

	ck_assert_int_eq(functions_assign(&all, s, &l, &e), 0);
	ck_assert_uint_eq(l.of[0].n, 1);
	ck_assert(l.of[0].device[0].healthy && !l.of[0].device[0].vhost);
	ck_assert_uint_eq(l.n_notes, 2);
	ck_assert_ptr_nonnull(strstr(l.note[0], "a.b/v: containers do not get /dev/vhost-net"));
}
END_TEST

START_TEST(a_key_that_is_not_known_has_a_note)
{
	auto_resource_look struct resource_look l = { 0 };

	l = assigned(NULL, 0,
		     "{\"log\":1,\"resourceList\":[{\"resourceName\":\"r\",\"new\":1,"
		     "\"selectors\":{\"odd\":[]}}]}");
	ck_assert_uint_eq(l.n_notes, 4);
	ck_assert_str_eq(l.note[0], "a.json: file: the key \"log\" is not known, and ignored");
	ck_assert_str_eq(l.note[1], "a.json: resourceList[0].selectors: the key \"odd\" is not "
				    "known, and ignored");
	ck_assert_str_eq(l.note[2],
			 "a.json: resourceList[0]: the key \"new\" is not known, and ignored");
}
END_TEST

START_TEST(shared_hcas_have_numbered_copies)
{
	struct function f[] = { fn(PF0), fn(PF1), fn("0000:60:00.0"), { .link = "ether" } };
	auto_resource_look struct resource_look l = { 0 };

	f[0].has_vfs = true;
	f[0].has_route = true;
	f[1].numa = 0;
	f[2].rdma[0] = '\0';
	f[3].numa = -1;
	(void)snprintf(f[3].rdma, sizeof(f[3].rdma), "rxe0");
	l = assigned(f, 4,
		     OWN(RES("s", "\"vendor\":\"15b3\"", ",\"share\":3") "," RES(
			     "soft", "\"rdmaDevice\":\"rxe0\"",
			     ",\"share\":1") "," RES("link", "\"linkType\":\"ether\"",
						     ",\"share\":1,\"numa\":false")));
	ck_assert_uint_eq(l.of[0].n, 3);
	ck_assert_uint_eq(l.of[0].n_hcas, 2);
	ck_assert_str_eq(l.of[0].hca[0].addr, PF0);
	ck_assert_str_eq(l.of[0].hca[1].addr, PF1);
	ck_assert_str_eq(l.of[0].hca[0].name, f[0].rdma);
	for (size_t i = 0; i < 3; i++) {
		const char id[] = { (char)('0' + i), '\0' };

		ck_assert_str_eq(l.of[0].device[i].id, id);
		ck_assert(l.of[0].device[i].healthy);
		ck_assert_uint_eq(l.of[0].device[i].n_numa, 2);
		ck_assert_int_eq(l.of[0].device[i].numa[0], 1);
		ck_assert_int_eq(l.of[0].device[i].numa[1], 0);
	}
	/* Software devices are taken by name only. */
	ck_assert_uint_eq(l.of[1].n_hcas, 1);
	ck_assert_str_eq(l.of[1].hca[0].addr, "");
	ck_assert_str_eq(l.of[1].hca[0].name, "rxe0");
	ck_assert_uint_eq(l.of[1].device[0].n_numa, 0);
	ck_assert_uint_eq(l.of[2].n_hcas, 2);
	ck_assert_uint_eq(l.of[2].device[0].n_numa, 0);
}
END_TEST

START_TEST(more_nodes_than_a_device_has_room_for_are_left_out)
{
	struct function f[RESOURCE_NUMA_MAX + 2];
	auto_resource_look struct resource_look l = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(f); i++) {
		char addr[PCI_STR_LEN];

		(void)snprintf(addr, sizeof(addr), "0000:%02zx:00.0", i + 1);
		f[i] = fn(addr);
		f[i].numa = (int)(i / 2 * 2);
	}
	l = assigned(f, ARRAY_SIZE(f), OWN(RES("s", "\"vendor\":\"15b3\"", ",\"share\":1")));
	ck_assert_uint_eq(l.of[0].device[0].n_numa, 5);
	for (size_t i = 0; i < ARRAY_SIZE(f); i++)
		f[i].numa = (int)i;
	resource_look_clear(&l);
	l = assigned(f, ARRAY_SIZE(f), OWN(RES("s", "\"vendor\":\"15b3\"", ",\"share\":1")));
	ck_assert_uint_eq(l.of[0].device[0].n_numa, RESOURCE_NUMA_MAX);
}
END_TEST

START_TEST(upstream_rules_for_shared_copies)
{
	struct function f[] = { fn(PF0), { .link = "" } };
	auto_resource_look struct resource_look l = { 0 };

	(void)snprintf(f[1].rdma, sizeof(f[1].rdma), "rxe0");
	(void)snprintf(f[1].netdev, sizeof(f[1].netdev), "eth0");
	f[0].link_up = TOPO_NO;
	l = assigned(f, 2,
		     "{\"configList\":[{\"resourceName\":\"a\",\"rdmaHcaMax\":2,"
		     "\"selectors\":{\"vendors\":[\"15b3\"]}},"
		     "{\"resourceName\":\"b\",\"rdmaHcaMax\":2,\"devices\":[\"eth0\"]},"
		     "{\"resourceName\":\"c\",\"selectors\":{\"vendors\":[\"15b3\"]}}]}");
	ck_assert_uint_eq(l.of[0].n, 2);
	ck_assert(l.of[0].device[0].healthy);
	ck_assert_uint_eq(l.of[0].device[0].n_numa, 0);
	ck_assert_uint_eq(l.of[1].n, 0);
	ck_assert_uint_eq(l.of[2].n, 0);
}
END_TEST

/* ---- health ---- */

static struct resource_device health_of(const struct function *f, bool link_matters)
{
	const struct resource_conf r = { .link_matters = link_matters };
	struct resource_device d = { .busy = true };

	memset(d.why, 'x', sizeof(d.why) - 1);
	function_health(&r, f, &d);
	ck_assert_int_eq(d.healthy, !*d.why);
	return d;
}

START_TEST(a_device_that_an_attachment_cannot_have_is_unhealthy)
{
	struct function f = vf(PF0, "0000:3b:00.1", 0);

	ck_assert(health_of(&f, true).healthy && !health_of(&f, true).busy);
	f.link_up = TOPO_YES;
	ck_assert(health_of(&f, true).healthy);
	f.link_up = TOPO_NO;
	ck_assert(health_of(&f, false).healthy);
	ck_assert_str_eq(health_of(&f, true).why, "the port mlx5_0 is down");
	ck_assert(!health_of(&f, true).busy);
	f.link_up = TOPO_UNKNOWN;
	f.pf_netdev[0] = '\0';
	ck_assert_str_eq(health_of(&f, true).why, "its PF " PF0 " has no interface");
	(void)snprintf(f.driver, sizeof(f.driver), "vfio-pci");
	ck_assert(health_of(&f, true).healthy);
	f.driver[0] = '\0';
	ck_assert_str_eq(health_of(&f, true).why, "no driver is bound to it");
}
END_TEST

START_TEST(a_device_in_a_pod_is_healthy_and_one_in_use_is_busy)
{
	struct function f = vf(PF0, "0000:3b:00.1", 0);

	f.use = FUNCTION_IN_POD;
	ck_assert(health_of(&f, true).healthy && health_of(&f, true).attached);
	f.use = FUNCTION_HAS_ADDRESS;
	ck_assert(health_of(&f, true).healthy && !health_of(&f, true).attached);
	f.use = FUNCTION_IN_USE;
	(void)snprintf(f.use_why, sizeof(f.use_why), "has the device br0 above it");
	ck_assert_str_eq(health_of(&f, true).why, "it has the device br0 above it");
	ck_assert(health_of(&f, true).busy);
}
END_TEST

START_TEST(shared_hcas_are_unhealthy_when_all_ports_are_down)
{
	const struct resource_conf r = { .link_matters = true }, lax = { 0 };
	struct functions all = { .n = 0 };
	struct function a = fn(PF0), b = fn(PF1);
	const struct function *both[] = { &a, &b };
	struct resource_device d = { .healthy = false };

	a.link_up = TOPO_NO;
	shared_health(&r, &all, both, 2, &d);
	ck_assert(d.healthy);
	shared_health(&r, &all, both, 1, &d);
	ck_assert(!d.healthy);
	ck_assert_str_eq(d.why, "the port mlx5_0 is down");
	b.link_up = TOPO_NO;
	shared_health(&r, &all, both, 2, &d);
	ck_assert(!d.healthy);
	ck_assert_str_eq(d.why, "all of its 2 ports are down");
	shared_health(&lax, &all, both, 2, &d);
	ck_assert(d.healthy);
	shared_health(&r, &all, both, 0, &d);
	ck_assert(d.healthy);
	all.exclusive = true;
	shared_health(&lax, &all, both, 2, &d);
	ck_assert(!d.healthy);
	ck_assert_ptr_nonnull(strstr(d.why, "exclusive"));
}
END_TEST

/* ---- places in real machines ---- */

static struct function placed(const struct topo_machine *m, const char *hca)
{
	uint32_t h = topo_find_hca(m, hca);
	struct function f = { .numa = -1 };

	ck_assert_uint_ne(h, TOPO_NONE);
	pci_format(m->pci[m->hca[h].pci].addr, f.addr);
	function_place(&f, m);
	return f;
}

START_TEST(rails_of_a_dgx_have_switches_and_gpus_near)
{
	auto_topo_machine struct topo_machine m = { 0 };
	char bridges[16][PCI_STR_LEN];
	size_t n = 0, near = 0;
	uint32_t least = UINT32_MAX;

	fixture_dgx_h100(&m);
	for (size_t i = 0; i < m.n_hcas; i++) {
		struct function f = placed(&m, m.hca[i].name);

		ck_assert(*f.bridge);
		ck_assert_int_eq(f.link_up, TOPO_YES);
		ck_assert_str_eq(f.port, m.hca[i].name);
		if (f.gpu_distance < least)
			near = 0, least = f.gpu_distance;
		near += f.gpu_distance == least;
		memcpy(bridges[n++ % 16], f.bridge, PCI_STR_LEN);
	}
	/* Eight of the twelve HCAs share a switch with a GPU. */
	ck_assert_uint_eq(near, 8);
	ck_assert_uint_eq(n, m.n_hcas);
	ck_assert_str_ne(bridges[0], bridges[n - 1]);
}
END_TEST

START_TEST(a_vf_is_where_its_pf_is)
{
	auto_topo_machine struct topo_machine m = { 0 };
	struct fixture fx = { .m = &m };
	struct function pf, f = { .numa = -1 };

	fixture_root(&fx, 3);
	uint32_t port = fixture_port(&fx);
	uint32_t down = fixture_slot(&fx, port, &fixture_plain);
	(void)fixture_gpu(&fx, fixture_port(&fx));
	(void)fixture_hca(&fx, down, "mlx5_0");
	m.hca[0].port[0].active = TOPO_NO;
	fixture_done(&fx);
	pf = placed(&m, "mlx5_0");
	memcpy(f.pf, pf.addr, sizeof(f.pf));
	(void)snprintf(f.addr, sizeof(f.addr), "0000:ff:00.7");
	function_place(&f, &m);
	ck_assert_str_eq(f.bridge, pf.bridge);
	ck_assert_uint_eq(f.gpu_distance, pf.gpu_distance);
	ck_assert_int_eq(f.link_up, TOPO_NO);
	ck_assert_int_eq(f.numa, 3);
	/* The bridge is the switch, not its port. */
	uint32_t hca = m.hca[topo_find_hca(&m, "mlx5_0")].pci;
	char above[PCI_STR_LEN];
	pci_format(m.pci[m.pci[hca].parent].addr, above);
	ck_assert_str_ne(f.bridge, above);
}
END_TEST

START_TEST(one_port_that_is_up_is_enough)
{
	auto_topo_machine struct topo_machine m = { 0 };
	struct fixture fx = { .m = &m };
	static struct topo_port two[] = { { .port = 1, .active = TOPO_YES },
					  { .port = 2, .active = TOPO_NO } };
	struct topo_port *one;
	struct function f;

	fixture_root(&fx, 0);
	uint32_t port = fixture_port(&fx);
	(void)fixture_hca(&fx, port, "mlx5_0");
	fixture_done(&fx);
	one = m.hca[0].port;
	m.hca[0].port = two;
	m.hca[0].n_ports = 2;
	f = placed(&m, "mlx5_0");
	ck_assert_int_eq(f.link_up, TOPO_YES);
	two[0].active = TOPO_UNKNOWN;
	f = placed(&m, "mlx5_0");
	ck_assert_int_eq(f.link_up, TOPO_NO);
	/* The port of a software device or a subfunction says nothing. */
	m.hca[0].kind = TOPO_HCA_SOFTWARE;
	f = placed(&m, "mlx5_0");
	ck_assert_int_eq(f.link_up, TOPO_UNKNOWN);
	m.hca[0].kind = TOPO_HCA_SF;
	f = placed(&m, "mlx5_0");
	ck_assert_int_eq(f.link_up, TOPO_UNKNOWN);
	/* Without a switch the bridge is the root port. */
	char above[PCI_STR_LEN];
	ck_assert_str_eq(f.bridge, pci_format(m.pci[m.pci[m.hca[0].pci].parent].addr, above));
	/* A bond is also on its second function. */
	m.hca[0].kind = TOPO_HCA_BOND;
	m.hca[0].second = m.hca[0].pci;
	m.hca[0].pci = port;
	function_place(&f, &m);
	ck_assert_int_eq(f.link_up, TOPO_NO);
	m.hca[0].port = one;
	m.hca[0].n_ports = 1;
}
END_TEST

START_TEST(a_function_that_the_machine_lacks_is_far_from_all)
{
	auto_topo_machine struct topo_machine m = { 0 };
	struct fixture fx = { .m = &m };
	struct function f = { .addr = "0000:ff:00.0", .numa = -1 }, g = { .addr = "" }, near;

	fixture_root(&fx, 0);
	(void)fixture_hca(&fx, TOPO_NONE, "mlx5_0");
	fixture_done(&fx);
	function_place(&f, &m);
	function_place(&g, &m);
	near = placed(&m, "mlx5_0");
	ck_assert_str_eq(f.bridge, "");
	ck_assert_int_eq(f.link_up, TOPO_UNKNOWN);
	ck_assert_uint_eq(f.gpu_distance, g.gpu_distance);
	/* Without a GPU all are equally far. */
	ck_assert_uint_eq(near.gpu_distance, f.gpu_distance);
	ck_assert_str_eq(near.bridge, "");
	ck_assert_int_eq(near.link_up, TOPO_YES);
}
END_TEST

/* ---- memory ---- */

struct case_of {
	struct function f[3];
	struct resource_set *s;
};

static int assign_all(void *arg, struct err *e)
{
	struct case_of *c = arg;
	const struct functions all = { .f = c->f, .n = ARRAY_SIZE(c->f) };
	auto_resource_look struct resource_look l = { 0 };

	return functions_assign(&all, c->s, &l, e);
}

START_TEST(an_assignment_without_memory_leaks_nothing)
{
	struct case_of c = { { fn(PF0), fn(PF1), fn("0000:60:00.0") }, NULL };

	c.f[2].has_route = true;
	c.s = set_of(OWN(RES("a", "\"vendor\":\"15b3\"",
			     "") "," RES("b", "\"vendor\":\"15b3\"",
					 ",\"share\":3") "," RES("c", "\"vendor\":\"8086\"", "")));
	ck_assert_str_eq(alloc_fail_each(assign_all, &c), "ok");
	resource_set_free(c.s);
}
END_TEST

TEST_PROGRAM("assign", a_VF_that_the_driver_of_claims_offers,
	     a_whole_function_whose_interface_a_pod_has, a_function_belongs_to_the_first_resource,
	     a_function_in_a_pod_that_may_belong_to_two_resources_is_behind_the_devices,
	     what_is_left_out_has_a_note, a_key_that_is_not_known_has_a_note,
	     without_vhost_net_the_devices_are_offered_and_not_its_file,
	     shared_hcas_have_numbered_copies, more_nodes_than_a_device_has_room_for_are_left_out,
	     upstream_rules_for_shared_copies, a_device_that_an_attachment_cannot_have_is_unhealthy,
	     a_device_in_a_pod_is_healthy_and_one_in_use_is_busy,
	     shared_hcas_are_unhealthy_when_all_ports_are_down,
	     rails_of_a_dgx_have_switches_and_gpus_near, a_vf_is_where_its_pf_is,
	     one_port_that_is_up_is_enough, a_function_that_the_machine_lacks_is_far_from_all,
	     an_assignment_without_memory_leaks_nothing)
