/* SPDX-License-Identifier: Apache-2.0 */
/* device_test.c: RDMA devices by bus address and by interface, on a fake sysfs and fake netlink. */
#include "rdma/device/device.h"

#include <errno.h>
#include <stdio.h>

#include "lib/testing/testing.h"
#include "lib/testing/net.h"
#include "lib/testing/pci.h"
#include "rdma/testing/node.h"

/* ---- by bus address ---- */

START_TEST(the_device_of_a_function_is_found)
{
	struct testnode w = testnode(RDMA_SHARED, 2);
	auto_nl struct nl *nl = net_socket();
	struct rdma_link d;
	struct err e = { 0 };

	ck_assert_int_eq(rdma_of_bus(TESTNODE_SYS, nl, "0000:3B:02.1", &d, &e), 0);
	ck_assert_str_eq(d.name, "mlx5_1");
	ck_assert_uint_eq(d.index, w.hca->dev[2].link.index);
	ck_assert_int_eq(rdma_of_bus(TESTNODE_SYS, nl, "0000:3b:02.7", &d, &e), -1);
	ck_assert(e.code == ERR_NOTFOUND && e.errnum == ENOENT);
	ck_assert_int_eq(rdma_of_bus(TESTNODE_SYS, nl, "mlx5_core.sf.2", &d, &e), -1);
	ck_assert(e.code == ERR_NOTFOUND && e.errnum == ENOENT);
	ck_assert_int_eq(rdma_of_bus(TESTNODE_SYS, nl, "../x", &d, &e), -1);
	ck_assert_int_eq(e.code, ERR_FIELD);
	fakepci_file(TESTNODE_SYS, "0000:3b:02.1", "infiniband/another/node_type", "1");
	ck_assert_int_eq(rdma_of_bus(TESTNODE_SYS, nl, "0000:3b:02.1", &d, &e), -1);
	ck_assert(e.code == ERR_NOTFOUND && e.errnum == EEXIST);
	ck_assert_ptr_nonnull(strstr(e.msg, "more than one"));
	/* sysfs shows one that netlink does not. */
	w.hca->dev[1].gone = true;
	ck_assert_int_eq(rdma_of_bus(TESTNODE_SYS, nl, "0000:3b:02.0", &d, &e), -1);
	ck_assert(e.code == ERR_NOTFOUND && e.errnum == ENOENT);
	ck_assert_ptr_nonnull(strstr(e.msg, "mlx5_0"));
}
END_TEST

/* ---- by interface ---- */

/* The two sides of a pod. */
struct sides {
	struct netns host;
	struct nl *host_nl, *pod_nl;
	struct rdma_view v;
};

static void open_sides(struct sides *s, const struct testnode *w, const struct testpod *p)
{
	*s = (struct sides){ .host = net_self(),
			     .host_nl = net_socket(),
			     .pod_nl = net_socket_in(&p->ns) };
	s->v = (struct rdma_view){
		.ctx = &w->ctx,
		.host = &s->host,
		.pod = &p->ns,
		.host_nl = s->host_nl,
		.pod_nl = s->pod_nl,
		.host_rdma = s->host_nl,
	};
}

static void close_sides(struct sides *s)
{
	netns_close(&s->host);
	nl_release(s->host_nl);
	nl_release(s->pod_nl);
}

static void serves(const struct sides *s, const char *name, uint32_t port, bool own)
{
	struct rdma_serving out;
	struct err e = { 0 };

	ck_assert_msg(rdma_of_netdev(&s->v, "net1", &out, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(out.link.name, name);
	ck_assert_uint_eq(out.port, port);
	ck_assert_int_eq(out.own, own);
}

START_TEST(a_vf_in_the_pod_has_its_device)
{
	struct testnode w = testnode(RDMA_SHARED, 2);
	struct testpod p = testpod("c1");
	struct sides s;

	testnode_give(1, &p);
	open_sides(&s, &w, &p);
	serves(&s, "mlx5_1", 1, true);
	/* One device for both ports of a card: the kernel tells which port the interface is. */
	w.hca->dev[2].link.ports = 2;
	w.hca->dev[2].ifindex = net_ifindex(s.pod_nl, "net1");
	w.hca->dev[2].ifin = p.ns.id;
	serves(&s, "mlx5_1", 1, true);
	close_sides(&s);
}
END_TEST

START_TEST(a_macvlan_has_the_device_of_its_master)
{
	struct testnode w = testnode(RDMA_SHARED, 1);
	struct testpod p = testpod("c1");
	struct rdma_serving out;
	struct sides s;
	struct err e = { 0 };

	testnode_macvlan(&p);
	open_sides(&s, &w, &p);
	serves(&s, "mlx5_pf", 1, false);
	/* Of two ports, sysfs tells which when netlink does not. */
	w.hca->dev[0].link.ports = 2;
	w.hca->dev[0].ifindex = 0;
	fakepci_file(TESTNODE_SYS, "0000:3b:00.0", "net/pf0/dev_port", "1\n");
	serves(&s, "mlx5_pf", 2, false);
	w.hca->requests = 0;
	serves(&s, "mlx5_pf", 2, false);
	ck_assert_uint_le(w.hca->requests, 2);
	w.hca->dev[0].gone = true;
	w.hca->moved();
	ck_assert_int_eq(rdma_of_netdev(&s.v, "net1", &out, &e), -1);
	ck_assert(e.code == ERR_NOTFOUND && e.errnum == ENODEV);
	ck_assert_ptr_nonnull(strstr(
		e.msg, "interface net1 lies on pf0 (0000:3b:00.0), which has no RDMA device"));
	ck_assert_str_eq(out.pci, "0000:3b:00.0");
	close_sides(&s);
}
END_TEST

/* rxe has no hardware; its port tells the interface that it is on. */
START_TEST(a_software_device_is_found)
{
	struct testnode w = testnode(RDMA_SHARED, 1);
	struct testpod p = testpod("c1");
	struct sides s;

	testnode_macvlan(&p);
	open_sides(&s, &w, &p);
	w.hca->dev[0].gone = true;
	w.hca->moved();
	(void)fakehca_add("other");
	struct fakehca_dev *d = fakehca_add("rxe0");
	d->ifindex = net_ifindex(s.host_nl, "pf0");
	d->ifin = w.host;
	serves(&s, "rxe0", 1, false);
	d = fakehca_add("rxe1");
	d->ifindex = net_ifindex(s.pod_nl, "net1");
	d->ifin = p.ns.id;
	serves(&s, "rxe1", 1, true);
	close_sides(&s);
}
END_TEST

static uint64_t guid_of(struct nl *nl, const char *ifname)
{
	struct link_info link;
	struct err e;

	ck_assert_int_eq(nl_link_by_name(nl, ifname, &link, &e), 0);
	const uint8_t *m = link.addr.byte;
	return (uint64_t)(m[0] ^ 2) << 56 | (uint64_t)m[1] << 48 | (uint64_t)m[2] << 40 |
	       UINT64_C(0xfffe) << 24 | (uint64_t)m[3] << 16 | (uint64_t)m[4] << 8 | m[5];
}

/* A GUID that fits is believed only when the port says the same; however many others there are. */
START_TEST(a_software_device_is_found_among_many)
{
	struct testnode w = testnode(RDMA_SHARED, 1);
	struct testpod p = testpod("c1");
	struct sides s;
	char name[16];

	testnode_macvlan(&p);
	open_sides(&s, &w, &p);
	w.hca->dev[0].gone = true;
	w.hca->moved();
	for (int i = 0; i < 16; i++) {
		(void)snprintf(name, sizeof(name), "other%d", i);
		(void)fakehca_add(name);
	}
	struct fakehca_dev *liar = fakehca_add("liar"), *d = fakehca_add("rxe0");
	liar->link.node_guid = guid_of(s.host_nl, "pf0");
	liar->ifindex = 1;
	liar->ifin = w.host;
	d->link.node_guid = liar->link.node_guid;
	d->ifindex = net_ifindex(s.host_nl, "pf0");
	d->ifin = w.host;
	w.hca->requests = 0;
	serves(&s, "rxe0", 1, false);
	ck_assert_uint_le(w.hca->requests, 3);
	/* That on the pod's own interface, whatever comes first. */
	struct fakehca_dev *own = fakehca_add("rxe1");
	own->link.node_guid = guid_of(s.pod_nl, "net1");
	own->ifindex = net_ifindex(s.pod_nl, "net1");
	own->ifin = p.ns.id;
	serves(&s, "rxe1", 1, true);
	/* MACs change, GUIDs do not: then all are asked, and the nearest counts as well. */
	own->link.node_guid = d->link.node_guid = 1;
	serves(&s, "rxe1", 1, true);
	close_sides(&s);
}
END_TEST

START_TEST(a_veth_is_no_hardware)
{
	struct testnode w = testnode(RDMA_SHARED, 1);
	struct testpod p = testpod("c1");
	struct rdma_serving out;
	struct sides s;
	struct err e = { 0 };

	net_veth("va", "net1", &p.ns);
	open_sides(&s, &w, &p);
	ck_assert_int_eq(rdma_of_netdev(&s.v, "net1", &out, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "interface net1 has no RDMA device"));
	ck_assert_int_eq(rdma_of_netdev(&s.v, "net9", &out, &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
	ck_assert_ptr_nonnull(strstr(e.msg, "net9"));
	close_sides(&s);
}
END_TEST

/* ---- character devices ---- */

TEST_PROGRAM("rdma/device/device", the_device_of_a_function_is_found,
	     a_vf_in_the_pod_has_its_device, a_macvlan_has_the_device_of_its_master,
	     a_software_device_is_found, a_software_device_is_found_among_many,
	     a_veth_is_no_hardware)
