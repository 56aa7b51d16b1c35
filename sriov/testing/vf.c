/* SPDX-License-Identifier: Apache-2.0 */
/* vf.c: builds a host with a PF, VFs and pods of veth interfaces and files. */
#include "sriov/testing/vf.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/testing/testing.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "lib/testing/pci.h"

/* Distances of a real NIC: not all of its VFs are in the slot of the PF. */
static struct fakepci_vfs layout(uint32_t num)
{
	return (struct fakepci_vfs){ num, 14, 16, 2 };
}

const char *testhost_vf(uint32_t n)
{
	static char ring[4][PCI_STR_LEN];
	static unsigned next;

	return fakepci_vf_addr(TESTHOST_PF, layout(14), n, ring[next++ % ARRAY_SIZE(ring)]);
}

static void make_interface(const char *addr, const char *name)
{
	char peer[IFNAME_LEN];

	(void)snprintf(peer, sizeof(peer), "w-%.12s", name);
	net_veth(name, peer, NULL);
	fakepci_netdev(TESTHOST_SYS, addr, name, NULL);
	fakepci_driver(TESTHOST_SYS, addr, "igbvf");
}

void testhost_pf(const struct testhost_pf *pf)
{
	char addr[PCI_STR_LEN], name[IFNAME_LEN];

	fakepci_function(TESTHOST_SYS, pf->addr);
	fakepci_vfs(TESTHOST_SYS, pf->addr, layout(pf->vfs));
	make_interface(pf->addr, pf->name);
	for (uint32_t n = 0; n < pf->vfs; n++) {
		(void)snprintf(name, sizeof(name), "v%u", pf->first + n);
		make_interface(fakepci_vf_addr(pf->addr, layout(pf->vfs), n, addr), name);
	}
}

/* ---- sysfs ---- */

static void rename_away(const char *from)
{
	static unsigned n;
	char to[128];

	(void)snprintf(to, sizeof(to), "/mnt/gone-%d-%u", (int)getpid(), n++);
	ck_assert_int_eq(rename(from, to), 0);
}

static const char *folder_of(uint32_t n, const char *what, char out[128])
{
	(void)snprintf(out, 128, TESTHOST_SYS "/devices/pci/%s%s", testhost_vf(n), what);
	return out;
}

void testhost_shows(uint32_t n, const char *name)
{
	char folder[128];
	struct stat st;

	if (stat(folder_of(n, "/net", folder), &st) == 0)
		rename_away(folder);
	if (name)
		fakepci_netdev(TESTHOST_SYS, testhost_vf(n), name, NULL);
}

void testhost_vanish(uint32_t n)
{
	char path[128];

	rename_away(folder_of(n, "", path));
	(void)snprintf(path, sizeof(path), TESTHOST_SYS "/bus/pci/devices/%s", testhost_vf(n));
	ck_assert_int_eq(unlink(path), 0);
}

void testhost_remake(uint32_t n, const char *name)
{
	char target[64];

	testhost_vanish(n);
	fakepci_function(TESTHOST_SYS, testhost_vf(n));
	fakepci_driver(TESTHOST_SYS, testhost_vf(n), "igbvf");
	(void)snprintf(target, sizeof(target), "../%s", TESTHOST_PF);
	fakepci_link(TESTHOST_SYS, testhost_vf(n), "physfn", target);
	testhost_shows(n, name);
}

/* The other end, which stays on the host, says where a VF's interface is. */
static const char *name_here(struct nl *nl, uint32_t n, struct link_info *li)
{
	char peer[IFNAME_LEN];
	struct err ignored;

	(void)snprintf(peer, sizeof(peer), "w-v%u", n);
	return nl_link_by_name(nl, peer, li, &ignored) == 0 && li->lower_nsid < 0 &&
			       nl_link_by_index(nl, li->lower_ifindex, li, &ignored) == 0
		       ? li->name
		       : NULL;
}

static void show_all(void)
{
	auto_nl struct nl *nl = net_socket();
	struct link_info li;
	char folder[128];
	struct stat st;

	for (uint32_t n = 0; stat(folder_of(n, "", folder), &st) == 0; n++)
		testhost_shows(n, name_here(nl, n, &li));
}

struct testhost testhost(uint32_t vfs)
{
	char name[IFNAME_LEN], peer[IFNAME_LEN];
	struct testhost w;

	net_enter_new();
	(void)testing_dir();
	ctx_init(&w.ctx, "test");
	w.ctx.sysfs = TESTHOST_SYS;
	w.ctx.run_dir = TESTHOST_RUN;
	w.ctx.cni_dir = TESTHOST_CNI;
	w.ctx.log.fd = open(TESTHOST_LOG, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	ck_assert_int_ge(w.ctx.log.fd, 0);
	w.ctx.log.level = LOG_LEVEL_DEBUG;
	testhost_pf(&(struct testhost_pf){ TESTHOST_PF, "pf0", vfs, 0 });
	w.nl = net_socket();
	w.kernel = fakepf(net_ifindex(w.nl, "pf0"), vfs);
	for (uint32_t n = 0; n < vfs; n++) {
		(void)snprintf(name, sizeof(name), "v%u", n);
		(void)snprintf(peer, sizeof(peer), "w-v%u", n);
		fakepf_link(n, testhost_vf(n), net_ifindex(w.nl, name), net_ifindex(w.nl, peer));
	}
	w.kernel->moved = show_all;
	return w;
}

void testhost_clear(struct testhost *w)
{
	fakepf_stop();
	nl_release(w->nl);
	(void)close(w->ctx.log.fd);
}

/* ---- pods ---- */

struct pod pod(void)
{
	struct pod p = { .ns = net_another() };

	(void)snprintf(p.path, sizeof(p.path), "/proc/self/fd/%d", p.ns.fd);
	p.nl = net_socket_in(&p.ns);
	return p;
}

void pod_clear(struct pod *p)
{
	nl_release(p->nl);
	p->nl = NULL;
	netns_close(&p->ns);
}

struct claimant claimant_of(const struct testhost *w, const char *container, const struct pod *p)
{
	return (struct claimant){
		.ctx = &w->ctx,
		.nl = w->nl,
		.key = { "net-a", container, "net1" },
		.netns = p->path,
		.netns_id = p->ns.id,
		.will_change = VF_ETHERNET,
	};
}

/* ---- the VF state ---- */

struct vf_entry testhost_entry(const struct testhost *w, uint32_t n)
{
	struct vf_entry x = { 0 };
	struct err e = { .msg = "" };

	ck_assert_msg(vf_state_read(&w->ctx, testhost_vf(n), &x, &e) == 0, "%s", e.msg);
	return x;
}

bool testhost_log_has(const char *text)
{
	char line[4096];
	FILE *f = fopen(TESTHOST_LOG, "re");
	bool found = false;

	ck_assert_ptr_nonnull(f);
	while (!found && fgets(line, sizeof(line), f))
		found = strstr(line, text) != NULL;
	(void)fclose(f);
	return found;
}
