// SPDX-License-Identifier: Apache-2.0
/*
 * The net devices of NCCL's IB plugin (ncclIbInit) and their functions (ncclIbGetPciPath). The
 * plugin rewrites the PCI path of a device: function 0, to merge the ports of a card; and with
 * NCCL_IB_MERGE_VFS=1, the default, device number 00, where it expects the PF of a VF.
 */
#include "lib/rdma/hca_list.h"
#include "topo/nccl/fuse.h"

#define VENDOR_AMAZON 0x1d0f

/* EFA needs the plugin aws-ofi-nccl, which does not change paths. A topology file with nets has
 * them where NCCL found them; for a skeleton the plugin looks for them. */
static bool has_ib_path(const struct topo_machine *m, const struct topo_hca *h)
{
	return h->pci != TOPO_NONE && (nccl_is_tree(m) || m->skeleton) &&
	       !(m->pci[h->pci].has_ids && m->pci[h->pci].vendor == VENDOR_AMAZON);
}

/* ncclIbGetPciPath: the function at the rewritten path of an HCA; TOPO_NONE: it does not exist. */
static uint32_t ib_pci(const struct topo_machine *m, const struct topo_hca *h,
		       const struct nccl_opts *o)
{
	if (!has_ib_path(m, h))
		return h->pci;
	/* the rewriting destroys the name of an auxiliary device */
	if (h->kind == TOPO_HCA_SF)
		return TOPO_NONE;
	if (nccl_rule(o, NCCL_KEEPS_PATH))
		return h->pci;
	const struct topo_pci *p = &m->pci[h->pci];
	struct pci_addr a = p->addr;
	a.fn = 0;
	if (!o->keep_vf_path) /* two hexadecimal digits: before that rule, the last one */
		a.dev = nccl_rule(o, NCCL_VF_AT_00) ? 0 : a.dev & 0x10;
	if (pci_same(a, p->addr))
		return h->pci;
	if (p->physfn != TOPO_NONE && pci_same(a, m->pci[p->physfn].addr))
		return p->physfn;
	return topo_find_pci(m, a);
}

/* The last component of the path of an HCA, which is not rewritten here, as a number. The name of
 * an auxiliary device is 0; devices without hardware come last. */
static uint64_t path_order(const struct topo_machine *m, uint32_t hca)
{
	return m->hca[hca].kind == TOPO_HCA_SF ? 0 : topo_pci_order(m, m->hca[hca].pci);
}

/* ncclIbCompareDevs */
static int by_path(const void *x, const void *y, void *m)
{
	const struct nccl_xml_net *a = x, *b = y;
	int c = cmp_u64(path_order(m, a->net.hca), path_order(m, b->net.hca));

	if (c)
		return c;
	if (a->net.hca != b->net.hca)
		return a->net.hca < b->net.hca ? -1 : 1;
	if (a->net.port != b->net.port)
		return a->net.port < b->net.port ? -1 : 1;
	return a->net.direct - b->net.direct;
}

static enum topo_layer net_layer(const struct topo_machine *m, const struct nccl_xml_net *p)
{
	const struct topo_port *port = nccl_net_port(m, &p->net);

	return port ? port->layer : TOPO_LAYER_UNKNOWN;
}

static void join_net(struct nccl_net *to, const struct nccl_net *n)
{
	if (to->fused < NCCL_FUSED_MAX - 1)
		to->with[to->fused] = nccl_net_part(n, 0);
	to->fused++;
}

/* For topology files, and where there are too many for fuse.c: VFs with one rewritten path and link
 * layer are one device. */
static void merge_devices(const struct topo_machine *m, const struct nccl_opts *o,
			  struct nccl_xml *v)
{
	uint32_t n = 0, first = 0;

	for (uint32_t i = 0; i < v->n_nets; i++) {
		const struct nccl_xml_net *p = &v->net[i];
		uint32_t pci = m->hca[p->net.hca].pci;
		bool vf = pci != TOPO_NONE && m->pci[pci].is_vf;
		if (n && v->net[first].item != p->item)
			first = n;
		if (!o->keep_vf_path && n > first && p->item != TOPO_NONE && vf &&
		    net_layer(m, p) == net_layer(m, &v->net[first]))
			join_net(&v->net[first].net, &p->net);
		else
			v->net[n++] = *p;
	}
	v->n_nets = n;
}

/* ncclIbFindMatchingDev, before fuse.c: a device joins the first one that is still alone and has
 * the same path, GUID and link layer. */
static uint32_t find_matching_dev(const struct topo_machine *m, const struct nccl_xml *v,
				  uint32_t n, const struct nccl_xml_net *p)
{
	for (uint32_t i = 0; i < n && p->item != TOPO_NONE; i++) {
		const struct nccl_xml_net *first = &v->net[i];
		if (!first->net.fused && first->item == p->item &&
		    m->hca[first->net.hca].guid == m->hca[p->net.hca].guid &&
		    net_layer(m, first) == net_layer(m, p))
			return i;
	}
	return TOPO_NONE;
}

void nccl_pair_ports(const struct topo_machine *m, struct nccl_xml *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n_nets; i++) {
		uint32_t with = find_matching_dev(m, v, n, &v->net[i]);
		if (with == TOPO_NONE) {
			v->net[n++] = v->net[i];
			continue;
		}
		join_net(&v->net[with].net, &v->net[i].net);
		v->net[with].mbps += v->net[i].mbps;
	}
	v->n_nets = n;
}

/* ---- NCCL_IB_HCA ---- */

void nccl_filter_nets(const struct topo_machine *m, const char *list, struct nccl_xml *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n_nets; i++) {
		const struct nccl_net *net = &v->net[i].net;
		/* a file counts the ports of a card on, over its functions */
		uint32_t port = nccl_is_tree(m) ? net->port : HCA_PORT_UNKNOWN;

		if (hca_list_selects(list, m->hca[net->hca].name, port))
			v->net[n++] = v->net[i];
	}
	v->n_nets = n;
}

/* The rewritten path leads to a place with other distances: not to the PF of a VF, nor to function
 * 0 of the same device. */
static bool is_displaced(const struct topo_machine *m, uint32_t at, uint32_t real)
{
	if (at == TOPO_NONE)
		return true;
	struct pci_addr a = m->pci[at].addr, r = m->pci[real].addr;
	a.fn = r.fn;
	return !pci_same(a, r) && at != m->pci[real].physfn;
}

uint32_t nccl_ib_pci(const struct topo_machine *m, uint32_t hca, const struct nccl_opts *o,
		     bool *displaced)
{
	const struct topo_hca *h = &m->hca[hca];
	uint32_t at = ib_pci(m, h, o);

	*displaced = h->pci != TOPO_NONE && is_displaced(m, at, h->pci);
	return at;
}

/* ncclTopoFillNet: one net for a port of an HCA; without known ports, one for the HCA. */
static void add_plain_net(const struct topo_machine *m, uint32_t hca, const struct topo_port *port,
			  const struct nccl_opts *o, struct nccl_xml *v)
{
	bool displaced;
	uint32_t at = nccl_ib_pci(m, hca, o, &displaced);

	v->net[v->n_nets++] = (struct nccl_xml_net){
		.net = { .hca = hca, .port = port ? port->port : 0, .displaced = displaced },
		.item = at,
		.mbps = port && port->rate_mbps ? port->rate_mbps : NCCL_MBPS_UNKNOWN,
	};
}

/* ncclIbInitDevices: a device with Data Direct is exposed only at that function, or twice. The path
 * of that function is not rewritten. */
static void add_net(const struct topo_machine *m, uint32_t hca, const struct topo_port *port,
		    const struct nccl_opts *o, struct nccl_xml *v)
{
	bool direct = m->hca[hca].direct != TOPO_NONE && nccl_rule(o, NCCL_HAS_DATA_DIRECT) &&
		      o->direct != NCCL_DIRECT_OFF;

	if (!direct || o->direct == NCCL_DIRECT_BOTH)
		add_plain_net(m, hca, port, o, v);
	if (!direct)
		return;
	add_plain_net(m, hca, port, o, v);
	struct nccl_xml_net *n = &v->net[v->n_nets - 1];
	n->net.direct = true;
	n->net.displaced = false;
	n->item = m->hca[hca].direct;
}

void nccl_xml_add_nets(const struct topo_machine *m, const struct topo_scope *scope,
		       const struct nccl_opts *o, struct nccl_xml *v)
{
	for (uint32_t i = 0; i < m->n_hcas; i++) {
		const struct topo_hca *h = &m->hca[i];
		if (scope && scope->hca && !scope->hca[i])
			continue;
		if (!h->n_ports)
			add_net(m, i, NULL, o, v);
		for (size_t k = 0; k < h->n_ports; k++) {
			if (h->port[k].active != TOPO_NO)
				add_net(m, i, &h->port[k], o, v);
		}
	}
	qsort_r(v->net, v->n_nets, sizeof(*v->net), by_path, (void *)(uintptr_t)m);
	if (o->hca_list) /* the plugin drops a device before it merges any */
		nccl_filter_nets(m, o->hca_list, v);
	if (o->fold_vfs || v->n_nets > NCCL_NETS_MAX)
		merge_devices(m, o, v);
	else if (nccl_rule(o, NCCL_PAIRS_PORTS) && !o->no_merge_nics)
		nccl_pair_ports(m, v);
	for (uint32_t i = 0; i < v->n_nets; i++)
		v->net[i].nth = i;
}
