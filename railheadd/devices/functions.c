/* SPDX-License-Identifier: Apache-2.0 */
/* functions.c: reads the network functions of this host. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/array.h"
#include "lib/net/link.h"
#include "lib/device/sysfs.h"
#include "lib/rdma/bus.h"
#include "railheadd/devices/assign.h"
#include "sriov/vf/host_use.h"
#include "topo/read/rail_list.h"
#include "topo/read/read.h"

#define CLASS_NETWORK    0x02u
#define CLASS_INFINIBAND 0x0207u

/* One look at the host. */
struct survey {
	const struct ctx *ctx;
	struct nl *nl;
	struct topo_machine m;
	struct inventory inventory;
	char default_netdev[IFNAME_LEN];
	struct functions found;
};

static void functions_survey_clear(struct survey *s)
{
	topo_machine_clear(&s->m);
	inventory_clear(&s->inventory);
	functions_clear(&s->found);
	nl_release(s->nl);
}
#define auto_survey auto_clean(functions_survey_clear)

void functions_clear(struct functions *f)
{
	free(f->f);
	*f = (struct functions){ 0 };
}

/* ---- one function ---- */

static void read_acpi(const struct survey *s, struct function *f)
{
	char path[96];
	struct err ignored;

	(void)snprintf(path, sizeof(path), "bus/pci/devices/%s/acpi_index", f->addr);
	if (sysfs_read(s->ctx->sysfs, path, f->acpi, sizeof(f->acpi), &ignored))
		f->acpi[0] = '\0';
}

static void read_pkey(const struct survey *s, struct function *f)
{
	char path[192], text[16];
	struct err ignored;
	uint16_t pkey;

	(void)snprintf(path, sizeof(path), "bus/pci/devices/%s/infiniband/%s/ports/1/pkeys/0",
		       f->addr, f->rdma);
	if (*f->rdma && sysfs_read(s->ctx->sysfs, path, text, sizeof(text), &ignored) == 0 &&
	    pkey_parse(text, &pkey) == 0)
		pkey_format(pkey, f->pkey);
}

/* The interface says it best. A function whose interface is out of sight has its class. */
static const char *functions_link_of(const struct survey *s, const struct function *f,
				     uint32_t class_code)
{
	const char *const name[] = { f->netdev, f->pf_netdev };
	struct link_info link;
	struct err ignored;

	for (size_t i = 0; i < ARRAY_SIZE(name); i++) {
		if (!*name[i] || nl_link_by_name(s->nl, name[i], &link, &ignored))
			continue;
		if (link_is_ethernet(&link))
			return "ether";
		if (link_is_ipoib(&link))
			return "infiniband";
	}
	if (class_code >> 8 == CLASS_INFINIBAND)
		return "infiniband";
	return class_code >> 8 == CLASS_NETWORK << 8 ? "ether" : "";
}

/* Without an RDMA device the interface tells whether the port is up. */
static void read_carrier(const struct survey *s, struct function *f)
{
	struct link_info link;
	struct err ignored;

	if (f->link_up != TOPO_UNKNOWN || !*f->pf_netdev ||
	    nl_link_by_name(s->nl, f->pf_netdev, &link, &ignored))
		return;
	f->link_up = link.flags & IFF_RUNNING ? TOPO_YES : TOPO_NO;
	(void)snprintf(f->port, sizeof(f->port), "%s", f->pf_netdev);
}

static void functions_fill(const struct survey *s, const struct pci_info *pci, struct function *f)
{
	(void)snprintf(f->vendor, sizeof(f->vendor), "%04x", pci->vendor);
	(void)snprintf(f->device, sizeof(f->device), "%04x", pci->device);
	memcpy(f->driver, pci->driver, sizeof(f->driver));
	f->numa = pci->numa_node;
	f->has_verbs = rdma_bus_verbs(s->ctx->sysfs, f->addr, NULL);
	f->link = functions_link_of(s, f, pci->class_code);
	f->has_route = *s->default_netdev && strcmp(s->default_netdev, f->netdev) == 0;
	read_acpi(s, f);
	read_pkey(s, f);
	function_place(f, &s->m);
	read_carrier(s, f);
}

static struct function *functions_add(struct survey *s, const char *addr, struct err *e)
{
	struct functions *all = &s->found;

	if (ARRAY_GROW(all->f, all->n, FUNCTIONS_MAX, "network functions", e))
		return NULL;
	struct function *f = &all->f[all->n++];
	*f = (struct function){ .link = "" };
	(void)snprintf(f->addr, sizeof(f->addr), "%s", addr);
	return f;
}

/* ---- who uses it ---- */

/* An address alone is not an obstacle for an attachment that names the function. */
static int ask_host(const struct survey *s, struct function *f, struct err *e)
{
	int use;

	if (!*f->netdev)
		return 0;
	use = host_use(s->ctx, s->nl, f->netdev, f->use_why, e);
	if (use < 0)
		return -1;
	f->use = use == (int)HOST_HAS_ADDRESS ? FUNCTION_HAS_ADDRESS
		 : use == (int)HOST_HAS_ABOVE ? FUNCTION_IN_USE
					      : FUNCTION_FREE;
	return 0;
}

static int find_use(const struct survey *s, const struct vf_view *v, struct function *f,
		    struct err *e)
{
	switch (v->use) {
	case VF_UNREPAIRED:
		if (v->entry.has_left && (v->entry.to_restore & VF_ISOLATES)) {
			f->use = FUNCTION_IN_USE;
			(void)snprintf(f->use_why, sizeof(f->use_why), "%s", v->why);
		}
		return 0;
	case VF_FREE:
	case VF_OWNER_GONE:
	case VF_DAMAGED:
	case VF_PEER_GONE:
		/* The next claim restores what is to be restored. */
		return 0;
	case VF_IN_USE:
		f->use = FUNCTION_IN_POD;
		return 0;
	case VF_OTHER_NETNS:
		f->use = FUNCTION_IN_USE;
		(void)snprintf(f->use_why, sizeof(f->use_why),
			       "has its interface in another network namespace");
		return 0;
	case VF_TAKEN:
		if (*f->netdev && ask_host(s, f, e))
			return -1;
		if (f->use == FUNCTION_FREE)
			f->use = FUNCTION_IN_USE;
		if (f->use == FUNCTION_IN_USE)
			(void)snprintf(f->use_why, sizeof(f->use_why), "%s", v->why);
		return 0;
	}
	return 0;
}

/* ---- all functions ---- */

static int functions_add_vf(struct survey *s, const struct pf_view *p, const struct vf_view *v,
			    struct err *e)
{
	struct function *f = functions_add(s, v->addr, e);

	if (!f)
		return -1;
	memcpy(f->pf, p->addr, sizeof(f->pf));
	memcpy(f->pf_netdev, p->netdev.name, sizeof(f->pf_netdev));
	memcpy(f->netdev, v->netdev.name, sizeof(f->netdev));
	memcpy(f->rdma, v->rdma, sizeof(f->rdma));
	f->vf = v->index;
	functions_fill(s, &v->pci, f);
	return find_use(s, v, f, e);
}

static int add_whole(struct survey *s, const char *addr, const struct pci_info *pci, struct err *e)
{
	struct function *f = functions_add(s, addr, e);
	struct err ignored;

	if (!f)
		return -1;
	if (pci_pf_netdev(s->ctx->sysfs, addr, f->netdev, &ignored))
		f->netdev[0] = '\0';
	memcpy(f->pf_netdev, f->netdev, sizeof(f->pf_netdev));
	if (pci_rdma_device(s->ctx->sysfs, addr, f->rdma, &ignored))
		f->rdma[0] = '\0';
	functions_fill(s, pci, f);
	return ask_host(s, f, e);
}

static int functions_add_pf(struct survey *s, const struct pf_view *p, struct err *e)
{
	if (add_whole(s, p->addr, &p->pci, e))
		return -1;
	s->found.f[s->found.n - 1].has_vfs = p->count.num > 0;
	for (size_t i = 0; i < p->n_vfs; i++) {
		if (functions_add_vf(s, p, &p->vf[i], e))
			return -1;
	}
	return 0;
}

static bool functions_is_listed(const struct survey *s, const char *addr)
{
	for (size_t i = 0; i < s->inventory.n_pfs; i++) {
		if (strcmp(s->inventory.pf[i].addr, addr) == 0)
			return true;
	}
	return false;
}

/* Network functions without SR-IOV. */
static int add_others(struct survey *s, struct err *e)
{
	for (size_t i = 0; i < s->m.n_pci; i++) {
		const struct topo_pci *p = &s->m.pci[i];
		char addr[PCI_STR_LEN];
		struct pci_info pci;
		struct err gone;

		if (!p->has_class || p->class_code >> 16 != CLASS_NETWORK || p->is_vf ||
		    functions_is_listed(s, pci_format(p->addr, addr)))
			continue;
		if (pci_read(s->ctx->sysfs, addr, &pci, &gone) == 0 && add_whole(s, addr, &pci, e))
			return -1;
	}
	return 0;
}

static int add_software(struct survey *s, struct err *e)
{
	for (size_t i = 0; i < s->m.n_hcas; i++) {
		const struct topo_hca *h = &s->m.hca[i];
		struct function *f;

		if (h->kind != TOPO_HCA_SOFTWARE)
			continue;
		if (!(f = functions_add(s, "", e)))
			return -1;
		(void)snprintf(f->rdma, sizeof(f->rdma), "%s", h->name);
		if (h->n_ports)
			memcpy(f->netdev, h->port[0].netdev, sizeof(f->netdev));
		f->numa = -1;
		f->link = "ether";
		f->link_up = h->n_ports ? h->port[0].active : TOPO_UNKNOWN;
		memcpy(f->port, f->rdma, sizeof(f->port));
	}
	return 0;
}

static int functions_compare(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	struct pci_addr p, q;
	bool has_p = pci_parse(x->addr, &p) == 0, has_q = pci_parse(y->addr, &q) == 0;

	if (has_p && has_q)
		return cmp_u64(pci_order(p), pci_order(q));
	return has_p != has_q ? has_q - has_p : strcmp(x->rdma, y->rdma);
}

/* A kernel without RDMA has no mode. */
static int read_mode(struct functions *all, struct err *e)
{
	auto_nl struct nl *nl = NULL;
	struct rdma_sys sys;
	struct err why;

	if (nl_rdma_open(&nl, &why) == 0 && nl_rdma_sys_get(nl, &sys, &why) == 0) {
		all->exclusive = sys.mode == RDMA_EXCLUSIVE;
		return 0;
	}
	if (why.code == ERR_NOTFOUND)
		return 0;
	return err_pass(e, &why);
}

/*
 * The container of an agent has a /dev of its own. The kernel shows the device once its module is
 * loaded; before, the node of the host may exist, and to open it loads the module.
 */
static bool has_vhost(const struct ctx *ctx)
{
	const struct {
		const char *root, *path;
	} at[] = {
		{ ctx->sysfs, "class/misc/vhost-net" },
		{ ctx->dev, "vhost-net" },
		{ ctx->proc, "1/root/dev/vhost-net" },
	};
	char path[1100];

	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		(void)snprintf(path, sizeof(path), "%.1024s/%s", at[i].root, at[i].path);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

static void read_rails(const struct ctx *ctx, char why[RESOURCE_WHY_LEN])
{
	struct rail_list all;
	struct err e;

	why[0] = '\0';
	if (rail_list_load(ctx, &all, &e))
		(void)snprintf(why, RESOURCE_WHY_LEN, "%.180s", e.msg);
	else if (!all.n)
		(void)snprintf(why, RESOURCE_WHY_LEN, "this node has no rails");
}

int functions_read(const struct ctx *ctx, struct functions *out, struct err *e)
{
	static const struct topo_read_opts no_vpd = { .no_vpd = true };
	auto_survey struct survey s = { .ctx = ctx };

	topo_default_netdev(ctx->proc, strcmp(ctx->proc, "/proc") == 0, s.default_netdev);
	if (nl_open(&s.nl, e) || topo_read_sysfs(ctx->sysfs, ctx->proc, &no_vpd, &s.m, e) ||
	    inventory_read(ctx, s.nl, &s.inventory, e))
		return -1;
	for (size_t i = 0; i < s.inventory.n_pfs; i++) {
		if (functions_add_pf(&s, &s.inventory.pf[i], e))
			return -1;
	}
	if (add_others(&s, e) || add_software(&s, e) || read_mode(&s.found, e))
		return -1;
	s.found.no_vhost = !has_vhost(ctx);
	read_rails(ctx, s.found.rails_why);
	if (s.found.n)
		qsort(s.found.f, s.found.n, sizeof(*s.found.f), functions_compare);
	*out = s.found;
	s.found = (struct functions){ 0 };
	return 0;
}

int functions_mark_claimed(const struct ctx *ctx, struct functions *f, struct err *e)
{
	char pf[PCI_STR_LEN];
	struct rail_list all;
	struct err ignored;

	if (rail_list_load(ctx, &all, e))
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		if (pci_of_netdev(ctx->sysfs, all.rail[i].ifname, pf, &ignored))
			continue;
		for (size_t k = 0; k < f->n; k++)
			f->f[k].claimed |= strcmp(f->f[k].pf, pf) == 0;
	}
	return 0;
}
