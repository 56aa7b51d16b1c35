/* SPDX-License-Identifier: Apache-2.0 */
/* ib.c: builds a host with VFs of InfiniBand from veth interfaces, files, and two fake kernels. */
#include "plugins/testing/ib.h"

#include <stdio.h>
#include <sys/mman.h>

#include "cni/testing/call.h"
#include "lib/testing/alloc.h"
#include "lib/testing/net.h"
#include "lib/testing/pci.h"
#include "lib/testing/testing.h"
#include "plugins/sriov/ib_attach.h"

#define DRIVER "mlx5_core"

/* The fake kernels call back without a context. */
static struct {
	struct testib t;
	struct netns host, pod;
	bool in_pod;
} host;

struct guid testib_guid(uint32_t n)
{
	return guid_of_number(UINT64_C(0x506b4b0300000100) + n);
}

struct fakehca_dev *testib_dev(const struct testib *t, uint32_t n)
{
	char name[RDMA_NAME_LEN];

	(void)snprintf(name, sizeof(name), "mlx5_%u", n);
	for (uint32_t i = t->hca->n; i-- > 0;) {
		if (!t->hca->dev[i].gone && strcmp(t->hca->dev[i].link.name, name) == 0)
			return &t->hca->dev[i];
	}
	return NULL;
}

/* ---- sysfs ---- */

static void show_rdma(uint32_t n, bool shown)
{
	static unsigned spare;
	char from[160], to[64], file[96], text[GUID_STR_LEN];
	const struct guid g = host.t.w.kernel->vf[n].node;

	(void)snprintf(from, sizeof(from), TESTHOST_SYS "/devices/pci/%s/infiniband",
		       testhost_vf(n));
	(void)snprintf(to, sizeof(to), "/mnt/rdma-%d-%u", (int)getpid(), spare++);
	(void)rename(from, to);
	if (!shown)
		return;
	(void)snprintf(file, sizeof(file), "infiniband/mlx5_%u/node_guid", n);
	fakepci_file(TESTHOST_SYS, testhost_vf(n), file, guid_format(g, text));
	(void)snprintf(file, sizeof(file), "infiniband/mlx5_%u/ports/1/pkeys/0", n);
	fakepci_file(TESTHOST_SYS, testhost_vf(n), file, "0xffff");
}

/* ---- interfaces ---- */

static void drop_interface(uint32_t n)
{
	auto_nl struct nl *nl = net_socket_in(&host.host);
	char peer[IFNAME_LEN];
	struct link_info li;
	struct err e;

	(void)snprintf(peer, sizeof(peer), "w-v%u", n);
	if (nl_link_by_name(nl, peer, &li, &e) == 0)
		ck_assert_int_eq(nl_link_delete(nl, li.ifindex, &e), 0);
	testhost_shows(n, NULL);
}

static void make_interface(uint32_t n, bool in_pod)
{
	auto_nl struct nl *nl = net_socket_in(&host.host);
	auto_nl struct nl *there = net_socket_in(in_pod ? &host.pod : &host.host);
	char name[IFNAME_LEN], peer[IFNAME_LEN];
	struct err e;

	(void)snprintf(name, sizeof(name), "ib%u", n);
	(void)snprintf(peer, sizeof(peer), "w-v%u", n);
	ck_assert_int_eq(netns_enter(&host.host, &e), 0);
	net_veth(peer, name, in_pod ? &host.pod : NULL);
	fakepf_link(n, testhost_vf(n), net_ifindex(there, name), net_ifindex(nl, peer));
	testhost_shows(n, in_pod ? NULL : name);
}

/* ---- what the kernels call ---- */

/* What the fakes ask of the kernel does not count, and does not fail. */
struct pause {
	unsigned requests, fail_at;
};

static struct pause pause_faults(void)
{
	struct fakepf *k = host.t.w.kernel;
	const struct pause was = { k->requests, k->fail_at };

	alloc_fail_pause(true);
	k->fail_at = 0;
	return was;
}

static void resume_faults(struct pause was)
{
	host.t.w.kernel->requests = was.requests;
	host.t.w.kernel->fail_at = was.fail_at;
	alloc_fail_pause(false);
}

static void unbound(uint32_t n)
{
	const struct pause was = pause_faults();
	struct fakehca_dev *d = testib_dev(&host.t, n);

	if (d)
		d->gone = true;
	drop_interface(n);
	show_rdma(n, false);
	fakepci_driver(TESTHOST_SYS, testhost_vf(n), NULL);
	resume_faults(was);
}

static void add_device(uint32_t n)
{
	char name[RDMA_NAME_LEN];

	(void)snprintf(name, sizeof(name), "mlx5_%u", n);
	struct fakehca_dev *d = fakehca_add(name);
	d->ifin = d->in;
	show_rdma(n, true);
}

static void rebound(uint32_t n)
{
	const struct pause was = pause_faults();

	fakepci_driver(TESTHOST_SYS, testhost_vf(n), DRIVER);
	make_interface(n, false);
	add_device(n);
	++*host.t.rebinds;
	resume_faults(was);
}

static void moved(void)
{
	const struct pause was = pause_faults();
	auto_netns struct netns self = net_self();
	struct err e;

	for (uint32_t n = 0; n < host.t.w.kernel->n; n++) {
		struct fakehca_dev *d = testib_dev(&host.t, n);
		bool here = d && netns_same(d->in, host.host.id);

		if (!d || netns_same(d->ifin, d->in))
			continue;
		drop_interface(n);
		make_interface(n, !here && host.in_pod);
		show_rdma(n, here);
		d->ifin = d->in;
	}
	ck_assert_int_eq(netns_enter(&self, &e), 0);
	resume_faults(was);
}

/* ---- the host ---- */

void testib_no_guid(const struct testib *t, uint32_t n)
{
	struct vf_info *is = &t->w.kernel->vf[n].is;

	is->node_guid = is->port_guid = GUID_ZERO;
	fakepf_read_guids(n);
	show_rdma(n, true);
}

struct testib testib(uint32_t vfs, enum rdma_mode mode, bool in_pod)
{
	struct testib t = { .w = testhost(vfs), .hca = fakehca(mode) };

	t.rebinds = mmap(NULL, sizeof(*t.rebinds), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(t.rebinds, MAP_FAILED);
	t.w.ctx.etc_dir = TESTIB_ETC;
	t.w.ctx.state_dir = "/mnt/ib-state";
	host.t = t;
	host.host = net_self();
	host.in_pod = in_pod;
	t.w.kernel->ipoib = t.w.kernel->guids = true;
	t.w.kernel->unbound = unbound;
	t.w.kernel->rebound = rebound;
	t.hca->moved = moved;
	for (uint32_t n = 0; n < vfs; n++) {
		struct vf_info *is = &t.w.kernel->vf[n].is;

		is->has = VF_LINK_STATE | VF_GUIDS;
		is->node_guid = is->port_guid = testib_guid(n);
		fakepf_read_guids(n);
		fakepci_driver(TESTHOST_SYS, testhost_vf(n), DRIVER);
		add_device(n);
	}
	return t;
}

void testib_pod(const struct pod *p)
{
	host.pod = p->ns;
}

void testib_clear(struct testib *t)
{
	fakehca_stop();
	netns_close(&host.host);
	testhost_clear(&t->w);
}

/* ---- afterwards ---- */

void testib_is_restored(const struct testib *t, uint32_t n, const char *when)
{
	const struct fakepf_vf *vf = &t->w.kernel->vf[n];
	const struct fakehca_dev *d = testib_dev(t, n);
	auto_vf_entry struct vf_entry x = { 0 };
	char name[IFNAME_LEN], want[IFNAME_LEN], driver[PCI_DRIVER_LEN];
	struct err e;

	(void)snprintf(want, sizeof(want), "v%u", n);
	ck_assert_msg(pci_driver(TESTHOST_SYS, testhost_vf(n), driver, &e) == 0 &&
			      strcmp(driver, DRIVER) == 0,
		      "%s: its driver", when);
	ck_assert_msg(pci_vf_netdev(TESTHOST_SYS, testhost_vf(n), name, &e) == 0 &&
			      strcmp(name, want) == 0,
		      "%s: its interface is %s", when, name);
	ck_assert_msg(guid_equal(vf->is.node_guid, testib_guid(n)) &&
			      guid_equal(vf->is.port_guid, testib_guid(n)),
		      "%s: the GUIDs at the PF", when);
	ck_assert_msg(guid_equal(vf->node, testib_guid(n)) && guid_equal(vf->port, testib_guid(n)),
		      "%s: its GUIDs", when);
	ck_assert_msg(vf->is.link_state == VF_LINK_AUTO, "%s: its link state", when);
	ck_assert_msg(d && netns_same(d->in, host.host.id), "%s: its RDMA device", when);
	ck_assert_msg(vf_state_read(&t->w.ctx, testhost_vf(n), &x, &e) ||
			      (!x.owned && !x.to_restore),
		      "%s: its state", when);
}

/* ---- the plugin ---- */

int testib_call(const struct testib *t, enum cni_command cmd, const struct pod *p, const char *keys,
		struct err *e)
{
	struct cni_call c = {
		.ctx = t->w.ctx,
		.env = { .cmd = cmd,
			 .container = p ? "c1" : "",
			 .netns = p ? p->path : "",
			 .ifname = p ? "net1" : "",
			 .path = TESTIB_BIN,
			 .args = "K8S_POD_NAMESPACE=train;K8S_POD_NAME=worker-0" },
	};

	return testing_call_keys(&ib_sriov_type, &c, keys, TESTIB_OUT, e);
}

void testib_has_guid(const struct testib *t, struct guid want)
{
	const struct fakepf_vf *vf = &t->w.kernel->vf[0];

	ck_assert(guid_equal(vf->is.node_guid, want) && guid_equal(vf->is.port_guid, want));
	ck_assert(guid_equal(vf->node, want) && guid_equal(vf->port, want));
}
