/* SPDX-License-Identifier: Apache-2.0 */
/* node.c: builds the node: fake HCAs, veth for the VFs, a /sys, and pods. */
#include "rdma/testing/node.h"

#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "lib/net/link.h"
#include "lib/testing/testing.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "lib/testing/pci.h"
#include "lib/testing/pf.h"
#include "lib/testing/time.h"
#include "rdma/testing/rdma.h"

#define PF "0000:3b:00.0"

static struct netns_id host;
static const struct fakehca *shown;

const char *testnode_vf(uint32_t n)
{
	static char ring[4][PCI_STR_LEN];
	static unsigned next;
	char *out = ring[next++ % ARRAY_SIZE(ring)];

	(void)snprintf(out, PCI_STR_LEN, "0000:3b:02.%u", n % 8);
	return out;
}

static void hide(const char *addr, const char *folder)
{
	char from[160], to[64];
	static unsigned spare;

	(void)snprintf(from, sizeof(from), TESTNODE_SYS "/devices/pci/%s/%s", addr, folder);
	(void)snprintf(to, sizeof(to), "/mnt/gone-%d-%u", (int)getpid(), spare++);
	(void)rename(from, to);
}

/* The character device is shown whatever namespace the RDMA device is in. */
static void show(const struct fakehca_dev *d, const char *addr)
{
	char to[64];

	hide(addr, "infiniband");
	hide(addr, "infiniband_verbs");
	(void)snprintf(to, sizeof(to), "infiniband_verbs/uverbs%u/dev", d->uverbs);
	if (!d->gone)
		fakepci_file(TESTNODE_SYS, addr, to, "231:192\n");
	(void)snprintf(to, sizeof(to), "infiniband/%.32s/node_type", d->link.name);
	if (!d->gone && netns_same(d->in, host))
		fakepci_file(TESTNODE_SYS, addr, to, "1: CA\n");
}

/* As the mount of the host's namespace does. The PF is device 0. */
static void show_all(void)
{
	for (uint32_t i = 0; i < shown->n; i++)
		show(&shown->dev[i], i ? testnode_vf(i - 1) : PF);
}

static void make_vf(struct fakehca *k, uint32_t n)
{
	char name[IFNAME_LEN], peer[IFNAME_LEN];

	auto_nl struct nl *nl = net_socket();

	(void)snprintf(name, sizeof(name), "v%u", n);
	(void)snprintf(peer, sizeof(peer), "w-v%u", n);
	net_veth(name, peer, NULL);
	fakepci_function(TESTNODE_SYS, testnode_vf(n));
	fakepci_driver(TESTNODE_SYS, testnode_vf(n), "mlx5_core");
	fakepf_link(n, testnode_vf(n), net_ifindex(nl, name), net_ifindex(nl, peer));
	(void)snprintf(name, sizeof(name), "mlx5_%u", n);
	(void)fakehca_add(name);
	(void)k;
}

struct testnode testnode(enum rdma_mode mode, uint32_t vfs)
{
	struct testnode w;

	(void)testing_dir();
	net_enter_new();
	auto_netns struct netns self = net_self();
	host = self.id;
	w.host = host;
	auto_nl struct nl *nl = net_socket();
	ctx_init(&w.ctx, "rdma");
	w.ctx.sysfs = TESTNODE_SYS;
	w.ctx.run_dir = TESTNODE_RUN;
	w.ctx.cni_dir = TESTNODE_CNI;
	w.ctx.log.fd = -1;
	/* Device-information files are below /run; testing_dir() made the mounts our own. */
	ck_assert_int_eq(mount("none", "/run", "tmpfs", 0, "mode=0755"), 0);
	net_veth("pf0", "w-pf0", NULL);
	(void)fakepf(net_ifindex(nl, "pf0"), vfs + 1);
	fakepf_link(vfs, PF, net_ifindex(nl, "pf0"), net_ifindex(nl, "w-pf0"));
	w.hca = fakehca(mode);
	shown = w.hca;
	fakepci_function(TESTNODE_SYS, PF);
	fakepci_netdev(TESTNODE_SYS, PF, "pf0", NULL);
	struct fakehca_dev *d = fakehca_add("mlx5_pf");
	d->ifindex = net_ifindex(nl, "pf0");
	d->ifin = host;
	for (uint32_t n = 0; n < vfs; n++)
		make_vf(w.hca, n);
	w.hca->moved = show_all;
	show_all();
	const struct gid_port port = { TESTNODE_SYS, "mlx5_pf", 1 };
	fakerdma_port(&port, "Ethernet", 16);
	faketime_begin(NULL);
	return w;
}

/* ---- pods ---- */

struct testpod testpod(const char *name)
{
	struct testpod p = { .ns = net_another(), .name = name };

	(void)snprintf(p.path, sizeof(p.path), "/proc/%d/fd/%d", (int)getpid(), p.ns.fd);
	return p;
}

void testpod_end(struct testpod *p)
{
	fakehca_end(p->ns.id);
	netns_close(&p->ns);
}

void testnode_give(uint32_t n, const struct testpod *p)
{
	auto_nl struct nl *nl = net_socket();
	char name[IFNAME_LEN];
	struct err e;

	(void)snprintf(name, sizeof(name), "v%u", n);
	ck_assert_int_eq(nl_link_move(nl, net_ifindex(nl, name), &p->ns, "net1", &e), 0);
}

void testnode_macvlan(const struct testpod *p)
{
	auto_nl struct nl *nl = net_socket();
	const struct link_spec spec = {
		.kind = "macvlan",
		.name = "net1",
		.lower_ifindex = net_ifindex(nl, "pf0"),
		.target = &p->ns,
		.data.macvlan.mode = MACVLAN_BRIDGE,
	};
	struct err e;

	ck_assert_int_eq(nl_link_create(nl, &spec, &e), 0);
}

void testnode_gid(const struct testnode *w, uint32_t index, const char *ip, const char *type)
{
	const struct gid_port port = { w->ctx.sysfs, "mlx5_pf", 1 };
	const struct fakerdma_gid g = { ip, type, "net1" };

	fakerdma_gid(&port, index, &g);
}

/* ---- what is so ---- */

bool testnode_host(const struct testnode *w, uint32_t n, const char *name)
{
	const struct fakehca_dev *d = &w->hca->dev[n + 1];

	return netns_same(d->in, host) && strcmp(d->link.name, name) == 0;
}

bool testnode_in(const struct testnode *w, uint32_t n, const struct testpod *p)
{
	return netns_same(w->hca->dev[n + 1].in, p->ns.id);
}
