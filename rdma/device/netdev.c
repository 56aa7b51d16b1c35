/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netdev.c: from a pod's interface down to the RDMA device that serves it.
 *
 * Hardware is found by its bus address, at the same cost for any number of devices. A software
 * device (rxe, siw) has no bus address. The kernel makes
 * its GUID from the MAC of its interface. The search first reads the interfaces of devices whose
 * GUID fits. If none of them is found, it reads those of all devices.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/device/sysfs.h"
#include "rdma/device/device.h"

#define LEVELS_MAX 8

struct level {
	struct link_info link;
	bool in_pod;
};

struct lower_path {
	const struct rdma_view *v;
	struct level level[LEVELS_MAX]; /* the interface itself first */
	size_t n;
	struct nl *pod_rdma; /* owned; opened on first use */
};

static void lower_path_clear(struct lower_path *d)
{
	nl_release(d->pod_rdma);
}

/* RDMA netlink as one of the two namespaces sees it. */
static int rdma_of(struct lower_path *d, bool in_pod, struct nl **out, struct err *e)
{
	if (in_pod && !d->pod_rdma && nl_rdma_open_in(d->v->pod, d->v->host, &d->pod_rdma, e))
		return -1;
	*out = in_pod ? d->pod_rdma : d->v->host_rdma;
	return 0;
}

/* ---- down ---- */

/* IFLA_LINK is the device below only for these kinds. A veth or a tunnel uses it differently. */
static bool is_on_another(const struct link_info *link)
{
	static const char *const kinds[] = { "macvlan", "ipvlan", "vlan",
					     "macvtap", "ipvtap", "ipoib" };

	for (size_t i = 0; i < ARRAY_SIZE(kinds) && link->lower_ifindex; i++) {
		if (strcmp(link->kind, kinds[i]) == 0)
			return true;
	}
	return false;
}

/* A child of IPoIB has the GID of its parent's port. */
static bool is_parent(struct nl *nl, const struct link_info *child)
{
	struct link_info parent;
	struct err ignored;

	return nl_link_by_index(nl, child->lower_ifindex, &parent, &ignored) == 0 &&
	       strcmp(parent.kind, child->kind) == 0 && hw_addr_equal(parent.addr, child->addr);
}

/* Returns 1 with *in_pod set, or 0 if the device below is in neither of the two namespaces. */
static int place_of_lower(const struct lower_path *d, const struct level *top, bool *in_pod,
			  struct err *e)
{
	int host;

	/* The kernel does not say in which namespace the parent of a child of IPoIB is. */
	if (strcmp(top->link.kind, "ipoib") == 0) {
		*in_pod = top->in_pod && is_parent(d->v->pod_nl, &top->link);
		return *in_pod || is_parent(d->v->host_nl, &top->link);
	}
	*in_pod = top->in_pod;
	if (top->link.lower_nsid < 0 || !top->in_pod)
		return top->link.lower_nsid < 0;
	if (nl_link_nsid(d->v->pod_nl, d->v->host, &host, e))
		return -1;
	*in_pod = false;
	return top->link.lower_nsid == host;
}

static int netdev_find_lower(struct lower_path *d, const char *ifname, struct err *e)
{
	struct level next = { .in_pod = true };

	if (nl_link_by_name(d->v->pod_nl, ifname, &next.link, e))
		return err_wrap(e, "look at interface %s of the pod", ifname);
	for (;;) {
		int lower = next.link.lower_ifindex, known;
		bool in_pod;

		d->level[d->n++] = next;
		if (d->n == LEVELS_MAX || !is_on_another(&next.link))
			return 0;
		known = place_of_lower(d, &next, &in_pod, e);
		if (known <= 0)
			return known;
		next.in_pod = in_pod;
		if (nl_link_by_index(in_pod ? d->v->pod_nl : d->v->host_nl, lower, &next.link, e))
			return err_wrap(e, "look at the device below %s",
					d->level[d->n - 1].link.name);
	}
}

/* ---- hardware ---- */

/* Kernels before 5.14 do not report the bus address. On the host, sysfs has it. */
static void bus_of(const struct lower_path *d, const struct level *l, char out[BUS_ADDR_LEN])
{
	char pci[PCI_STR_LEN];
	struct err ignored;

	*out = '\0';
	if (*l->link.parent && bus_addr_valid(l->link.parent))
		(void)snprintf(out, BUS_ADDR_LEN, "%s", l->link.parent);
	else if (!*l->link.parent && !*l->link.kind && !l->in_pod &&
		 pci_of_netdev(d->v->ctx->sysfs, l->link.name, pci, &ignored) == 0)
		(void)snprintf(out, BUS_ADDR_LEN, "%s", pci);
}

struct by_ifindex {
	const struct lower_path *d;
	bool in_pod;
	size_t level; /* that of a port */
	struct rdma_port port;
	bool found;
	bool elsewhere; /* none of the ports has an interface in that namespace */
};

static int match_port(const struct rdma_port *p, void *arg)
{
	struct by_ifindex *b = arg;

	b->elsewhere &= !p->ifindex;
	for (size_t i = 0; i < b->d->n && p->ifindex; i++) {
		if (b->d->level[i].in_pod == b->in_pod &&
		    b->d->level[i].link.ifindex == p->ifindex) {
			b->port = *p;
			b->level = i;
			b->found = true;
			break;
		}
	}
	return b->found;
}

/* The port of the device with one of our interfaces. A device that disappeared has none. */
static int look_at_ports(struct lower_path *d, const struct rdma_link *link, bool in_pod,
			 struct by_ifindex *out, struct err *e)
{
	struct rdma_port only;
	struct err why;
	struct nl *nl;

	*out = (struct by_ifindex){ .d = d, .in_pod = in_pod, .elsewhere = true };
	if (rdma_of(d, in_pod, &nl, e))
		return -1;
	/* For a device with one port this needs half the system calls of a list. */
	int rc = link->ports == 1 ? nl_rdma_port(nl, link->index, 1, &only, &why)
				  : nl_rdma_ports(nl, link->index, match_port, out, &why);

	if (rc && why.code != ERR_NOTFOUND)
		return err_pass(e, &why);
	if (rc == 0 && link->ports == 1)
		(void)match_port(&only, out);
	return 0;
}

/*
 * The port of the hardware that has the interface, if the kernel reports it. In mode exclusive the
 * interface may be in the pod before the device. The kernel then reports nothing, and dev_port,
 * which counts from 0, decides.
 */
static int choose_port(struct lower_path *d, size_t level, struct rdma_serving *out, struct err *e)
{
	const struct level *l = &d->level[level];
	struct by_ifindex b;
	char path[64 + IFNAME_LEN];
	uint64_t dev_port;
	struct err why;

	out->port = 1;
	if (out->link.ports < 2)
		return 0;
	if (look_at_ports(d, &out->link, l->in_pod, &b, e))
		return -1;
	(void)snprintf(path, sizeof(path), "class/net/%s/dev_port", l->link.name);
	if (b.found)
		out->port = b.port.port;
	else if (!l->in_pod && sysfs_read_u64(d->v->ctx->sysfs, path, &dev_port, &why) == 0 &&
		 dev_port < out->link.ports)
		out->port = (uint32_t)dev_port + 1;
	return 0;
}

/* Returns 1 if it found the device, 0 if this hardware has no RDMA device. */
static int try_bus(struct lower_path *d, size_t level, const char *bus, struct rdma_serving *out,
		   struct err *e)
{
	struct err why;

	if (rdma_of_bus(d->v->ctx->sysfs, d->v->host_rdma, bus, &out->link, &why))
		return why.code == ERR_NOTFOUND && why.errnum == ENOENT ? 0 : err_pass(e, &why);
	(void)snprintf(out->pci, sizeof(out->pci), "%s", bus);
	out->own = level == 0;
	return choose_port(d, level, out, e) ? -1 : 1;
}

/* The RDMA device of a bond is the device of a member, in most cases of the first. */
static int try_bond(struct lower_path *d, size_t level, struct rdma_serving *out, struct err *e)
{
	char path[64 + IFNAME_LEN], names[1024], one[IFNAME_LEN], pci[PCI_STR_LEN];
	struct slice rest, name;
	struct err ignored;
	int rc = 0;

	(void)snprintf(path, sizeof(path), "class/net/%s/bonding/slaves",
		       d->level[level].link.name);
	if (d->level[level].in_pod || strcmp(d->level[level].link.kind, "bond") != 0 ||
	    sysfs_read(d->v->ctx->sysfs, path, names, sizeof(names), &ignored))
		return 0;
	rest = (struct slice){ names, strlen(names) };
	while (rc == 0 && slice_next(&rest, ' ', &name)) {
		if (slice_copy(name, one, sizeof(one)) == 0 && *one &&
		    pci_of_netdev(d->v->ctx->sysfs, one, pci, &ignored) == 0)
			rc = try_bus(d, level, pci, out, e);
	}
	return rc;
}

static int try_hardware(struct lower_path *d, struct rdma_serving *out, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < d->n && rc == 0; i++) {
		char bus[BUS_ADDR_LEN];

		bus_of(d, &d->level[i], bus);
		if (*bus)
			(void)snprintf(out->pci, sizeof(out->pci), "%s", bus);
		rc = *bus ? try_bus(d, i, bus, out, e) : try_bond(d, i, out, e);
	}
	return rc;
}

/* ---- software ---- */

/* As the kernel makes it of the MAC that the interface had then (addrconf_addr_eui48). */
static uint64_t guid_of_mac(const uint8_t mac[MAC_LEN])
{
	const uint8_t eui[] = { mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5] };
	uint64_t guid = 0;

	for (size_t i = 0; i < sizeof(eui); i++)
		guid = guid << 8 | eui[i];
	return guid;
}

struct device_search {
	struct lower_path *d;
	bool all;               /* false: only devices whose GUID fits */
	struct by_ifindex best; /* the nearest to the pod's interface so far */
	struct rdma_link link;  /* the device of best */
	struct err *e;
	bool failed;
};

static bool guid_fits(const struct lower_path *d, const struct rdma_link *link)
{
	for (size_t i = 0; i < d->n; i++) {
		if (hw_addr_is_mac(d->level[i].link.addr) &&
		    guid_of_mac(d->level[i].link.addr.byte) == link->node_guid)
			return true;
	}
	return false;
}

/* A namespace reports the interface of a port only if that interface is in it. */
static int netdev_find_device(const struct rdma_link *link, void *arg)
{
	struct device_search *h = arg;
	struct by_ifindex b;

	if (!h->all && !guid_fits(h->d, link))
		return 0;
	h->failed = look_at_ports(h->d, link, false, &b, h->e) ||
		    (b.elsewhere && look_at_ports(h->d, link, true, &b, h->e));
	/* A device on the interface itself is nearer than one on what lies below. */
	if (!h->failed && b.found && (!h->best.found || b.level < h->best.level)) {
		h->best = b;
		h->link = *link;
	}
	return h->failed;
}

/* Returns 1 if a device is on one of the interfaces of the path. */
static int try_software(struct lower_path *d, bool all, struct rdma_serving *out, struct err *e)
{
	struct device_search h = { .d = d, .all = all, .e = e };

	if (nl_rdma_list(d->v->host_rdma, netdev_find_device, &h, e) || h.failed)
		return -1;
	if (!h.best.found)
		return 0;
	out->link = h.link;
	out->port = h.best.port.port;
	out->own = h.best.level == 0;
	return 1;
}

/* ---- all ---- */

static int refuse_no_device(const struct lower_path *d, const struct rdma_serving *s, struct err *e)
{
	const struct level *bottom = &d->level[d->n - 1];

	char hardware[BUS_ADDR_LEN + 4] = "";

	if (*s->pci)
		(void)snprintf(hardware, sizeof(hardware), " (%s)", s->pci);
	if (d->n > 1)
		err_set(e, ERR_NOTFOUND, 0, "interface %s lies on %s%s, which has no RDMA device",
			d->level[0].link.name, bottom->link.name, hardware);
	else
		err_set(e, ERR_NOTFOUND, 0, "interface %s%s has no RDMA device",
			d->level[0].link.name, hardware);
	e->errnum = ENODEV;
	return err_hint(e, "is the RDMA driver of the NIC loaded (mlx5_ib, irdma, bnxt_re)?");
}

int rdma_of_netdev(const struct rdma_view *v, const char *ifname, struct rdma_serving *out,
		   struct err *e)
{
	auto_clean(lower_path_clear) struct lower_path d = { .v = v };
	struct rdma_serving s = { .port = 0 };
	int rc;

	if (netdev_find_lower(&d, ifname, e))
		return -1;
	rc = try_hardware(&d, &s, e);
	if (rc == 0)
		rc = try_software(&d, false, &s, e);
	if (rc == 0)
		rc = try_software(&d, true, &s, e);
	if (rc < 0)
		return -1;
	memcpy(out->pci, s.pci, sizeof(out->pci));
	if (rc == 0)
		return refuse_no_device(&d, &s, e);
	*out = s;
	return 0;
}
