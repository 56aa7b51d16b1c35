/* SPDX-License-Identifier: Apache-2.0 */
/* rdma.c: adds RDMA devices to the VFs of a made-up host, and shows them in its /sys. */
#include "plugins/testing/rdma.h"

#include <stdio.h>

#include "cni/testing/call.h"
#include "lib/testing/alloc.h"
#include "lib/testing/net.h"
#include "lib/testing/pci.h"
#include "lib/testing/testing.h"
#include "plugins/sriov/attach.h"

/* The fake kernel calls back without a context. */
static struct {
	const struct fakehca *hca;
	struct netns_id id;
} host;

/* ---- sysfs ---- */

static void hide(uint32_t n, const char *folder)
{
	static unsigned spare;
	char from[160], to[64];

	(void)snprintf(from, sizeof(from), TESTHOST_SYS "/devices/pci/%s/%s", testhost_vf(n),
		       folder);
	(void)snprintf(to, sizeof(to), "/mnt/rdma-%d-%u", (int)getpid(), spare++);
	(void)rename(from, to);
}

static void show(const struct fakehca_dev *d, uint32_t n)
{
	char file[96];

	hide(n, "infiniband");
	hide(n, "infiniband_verbs");
	if (d->gone)
		return;
	(void)snprintf(file, sizeof(file), "infiniband_verbs/uverbs%u/dev", d->uverbs);
	fakepci_file(TESTHOST_SYS, testhost_vf(n), file, "231:192\n");
	if (!netns_same(d->in, host.id))
		return;
	(void)snprintf(file, sizeof(file), "infiniband/%.32s/node_type", d->link.name);
	fakepci_file(TESTHOST_SYS, testhost_vf(n), file, "1: CA\n");
}

static void show_all(void)
{
	alloc_fail_pause(true);
	for (uint32_t n = 0; n < host.hca->n; n++)
		show(&host.hca->dev[n], n);
	alloc_fail_pause(false);
}

/* ---- the host ---- */

struct testrdma testrdma(uint32_t vfs, enum rdma_mode mode)
{
	struct testrdma t = {
		.w = testhost(vfs), .hca = fakehca(mode), .container = "c1", .args = ""
	};
	auto_netns struct netns self = net_self();
	char name[RDMA_NAME_LEN];

	host.hca = t.hca;
	host.id = self.id;
	for (uint32_t n = 0; n < vfs; n++) {
		(void)snprintf(name, sizeof(name), "mlx5_%u", n);
		(void)fakehca_add(name);
	}
	t.hca->moved = show_all;
	show_all();
	return t;
}

void testrdma_clear(struct testrdma *t)
{
	fakehca_stop();
	testhost_clear(&t->w);
}

struct fakehca_dev *testrdma_dev(const struct testrdma *t, uint32_t n)
{
	return &t->hca->dev[n];
}

void testrdma_end(const struct testrdma *t, struct pod *p)
{
	auto_netns struct netns self = net_self();
	struct link_info link;
	struct err e = { .msg = "" };

	ck_assert_msg(nl_link_by_name(p->nl, "net1", &link, &e) == 0 &&
			      nl_link_move(p->nl, link.ifindex, &self, "dev5", &e) == 0,
		      "%s", e.msg);
	fakehca_end(p->ns.id);
	pod_clear(p);
	(void)t;
}

void testrdma_is_restored(const struct testrdma *t, uint32_t n, const char *when)
{
	const struct fakehca_dev *d = testrdma_dev(t, n);
	auto_vf_entry struct vf_entry x = { 0 };
	char name[IFNAME_LEN] = "not here", want[RDMA_NAME_LEN];
	struct err e;

	(void)snprintf(want, sizeof(want), "v%u", n);
	ck_assert_msg(pci_vf_netdev(TESTHOST_SYS, testhost_vf(n), name, &e) == 0 &&
			      strcmp(name, want) == 0,
		      "%s: its interface is %s", when, name);
	(void)snprintf(want, sizeof(want), "mlx5_%u", n);
	ck_assert_msg(netns_same(d->in, host.id) && strcmp(d->link.name, want) == 0,
		      "%s: its RDMA device", when);
	if (vf_state_read(&t->w.ctx, testhost_vf(n), &x, &e))
		ck_assert_msg(e.code == ERR_NOTFOUND, "%s: %s", when, e.msg);
	ck_assert_msg(!x.owned && !x.to_restore, "%s: its state", when);
}

/* ---- the plugin ---- */

int testrdma_call(const struct testrdma *t, enum cni_command cmd, const struct pod *p,
		  const char *keys, struct err *e)
{
	struct cni_call c = {
		.ctx = t->w.ctx,
		.env = { .cmd = cmd,
			 .container = p ? t->container : "",
			 .netns = p ? p->path : "",
			 .ifname = p ? "net1" : "",
			 .path = TESTRDMA_BIN,
			 .args = t->args },
	};

	return testing_call_keys(&sriov_type, &c, keys, TESTRDMA_OUT, e);
}
