// SPDX-License-Identifier: Apache-2.0
/*
 * NIC fusion: ncclTopoMakeVNics, ncclTopoForceMerge, ncclTopoAutoMerge and ncclTopoGetVNicParent of
 * topo.cc. The devices are compared by their elements of the XML. If its parts share an element, a
 * fused net is in it. Otherwise it is in a new element below the one that they have in common.
 */
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "lib/base/parse.h"
#include "lib/nccl/hca_list.h"
#include "topo/nccl/system.h"

#define DEPTH_MAX     256      /* NCCL_TOPO_XML_DEPTH_MAX */
#define NCCL_PORT     NCCL_NVL /* PATH_PORT has the number of PATH_NVL */
#define VENDOR_AMAZON 0x1d0f
#define CLASS_BRIDGE  0x060400
#define GROUPS_MAX    65536

/* ---- the distance of two nets: ncclTopoGetPath ---- */

struct above { /* elements from a net's own up to its cpu */
	uint32_t item[DEPTH_MAX], n;
};

static struct above items_above(const struct nccl_xml *v, uint32_t item)
{
	struct above a = { .n = 0 };

	for (; item != TOPO_NONE && a.n < DEPTH_MAX; item = v->item[item].parent)
		a.item[a.n++] = item;
	return a;
}

/* Functions of one device: NCCL compares all of the address but its last digit. */
static bool one_device(const struct topo_machine *m, uint32_t x, uint32_t y)
{
	if (x == TOPO_NONE || y == TOPO_NONE)
		return false;
	struct pci_addr a = m->pci[x].addr, b = m->pci[y].addr;

	a.fn = b.fn;
	return pci_same(a, b);
}

/* *common: the lowest element above both; TOPO_NONE: they are below different cpus. */
static enum nccl_path_type nets_path(const struct topo_machine *m, const struct nccl_xml *v,
				     uint32_t x, uint32_t y, uint32_t *common)
{
	struct above a = items_above(v, x), b = items_above(v, y);

	*common = TOPO_NONE;
	while (a.n && b.n && a.item[a.n - 1] == b.item[b.n - 1]) {
		*common = a.item[--a.n];
		b.n--;
	}
	if (x == y || (a.n && b.n &&
		       one_device(m, v->item[a.item[a.n - 1]].pci, v->item[b.item[b.n - 1]].pci)))
		return NCCL_PORT;
	if (*common == TOPO_NONE)
		return NCCL_SYS;
	if (v->item[*common].pci == TOPO_NONE)
		return NCCL_PHB;
	return a.n == 1 && b.n == 1 ? NCCL_PIX : NCCL_PXB;
}

/* ---- groups ---- */

struct group {
	uint32_t net[NCCL_FUSED_MAX], n; /* in the order of the nets */
	struct nccl_xml_net made;
};

struct fusing {
	const struct topo_machine *m;
	const struct nccl_opts *o;
	struct nccl_xml *v;
	uint32_t n;    /* physical nets */
	uint32_t *nth; /* nets in the order of the plugin, in which NCCL looks at them */
	bool *placed;  /* by net */
	enum nccl_path_type *path; /* [net][net] */
	struct group *group;       /* in the order in which NCCL makes their devices */
	size_t n_groups;
};

static void fusing_clear(struct fusing *f)
{
	free(f->nth);
	free(f->placed);
	free(f->path);
	free(f->group);
}
#define auto_fusing auto_clean(fusing_clear)

/* ncclIbMakeVDeviceInternal: only devices of one link layer can be one, and none if
 * NCCL_IB_MERGE_NICS is 0. A group of one is always possible. */
static bool can_be_made(const struct fusing *f, const struct group *g)
{
	const struct topo_port *p = nccl_net_port(f->m, &f->v->net[g->net[0]].net);

	for (uint32_t i = 1; i < g->n; i++) {
		const struct topo_port *q = nccl_net_port(f->m, &f->v->net[g->net[i]].net);
		if ((p ? p->layer : TOPO_LAYER_UNKNOWN) != (q ? q->layer : TOPO_LAYER_UNKNOWN))
			return false;
	}
	return g->n == 1 || !f->o->no_merge_nics;
}

/* NCCL does not find its function, so that it is in the nic element of a cpu. */
static bool is_at_cpu(const struct fusing *f, uint32_t net)
{
	return f->v->item[f->v->net[net].item].pci == TOPO_NONE;
}

/* Only NCCL's IB plugin fuses: not EFA, not interfaces for sockets, not NICs of a skeleton, not
 * what a file has fused. */
static bool can_fuse(const struct fusing *f, uint32_t net)
{
	uint32_t hca = f->v->net[net].net.hca;
	const struct topo_hca *h = &f->m->hca[hca];
	const struct topo_pci *p = h->pci == TOPO_NONE ? NULL : &f->m->pci[h->pci];

	if (f->m->skeleton || strchr(h->name, '+'))
		return false;
	if (!p)
		return !nccl_is_tree(f->m) && !topo_is_socket(f->m, hca);
	return !(p->has_ids && p->vendor == VENDOR_AMAZON);
}

/* Place all nets of a group; a group of one is no device of its own. */
static int add_group(struct fusing *f, const struct group *g, struct err *e)
{
	for (uint32_t i = 0; i < g->n; i++)
		f->placed[g->net[i]] = true;
	if (g->n < 2)
		return 0;
	if (ARRAY_GROW(f->group, f->n_groups, GROUPS_MAX, "groups of fused devices", e))
		return -1;
	f->group[f->n_groups++] = *g;
	return 0;
}

/* NCCL_NET_MERGE_POLICY=RAIL: NCCL_IB_HCA has given both the same rail. */
static bool fits_policy(const struct fusing *f, uint32_t i, uint32_t j)
{
	const struct nccl_net *a = &f->v->net[i].net, *b = &f->v->net[j].net;
	const char *list = f->o->hca_list ? f->o->hca_list : "";
	bool ports = nccl_is_tree(f->m); /* as in nccl_filter_nets() */

	if (!f->o->merge_rails || !nccl_rule(f->o, NCCL_HCA_HAS_RAILS))
		return true;
	int rail = hca_list_rail(list, f->m->hca[a->hca].name, ports ? a->port : HCA_PORT_UNKNOWN);
	return rail >= 0 && rail == hca_list_rail(list, f->m->hca[b->hca].name,
						  ports ? b->port : HCA_PORT_UNKNOWN);
}

/* The net i, and each net that is near enough. */
static struct group gather(const struct fusing *f, uint32_t i)
{
	enum nccl_path_type level = f->o->merge_level ? f->o->merge_level : NCCL_PORT;
	struct group g = { .net = { i }, .n = 1 };

	for (uint32_t k = 0; k < f->n && g.n < NCCL_FUSED_MAX; k++) {
		uint32_t j = f->nth[k];
		if (j != i && !f->placed[j] && can_fuse(f, j) &&
		    f->path[(size_t)i * f->n + j] <= level && fits_policy(f, i, j))
			g.net[g.n++] = j;
	}
	return g;
}

/* ncclTopoAutoMerge. After a failure NCCL counts the others as not connected with the first, and
 * starts again at the second device. */
static int auto_merge(struct fusing *f, struct err *e)
{
	for (uint32_t at = 0; at < f->n && !f->o->no_merge && !f->o->no_merge_nics; at++) {
		uint32_t i = f->nth[at];
		if (f->placed[i] || !can_fuse(f, i))
			continue;
		struct group g = gather(f, i);
		if (can_be_made(f, &g)) {
			if (add_group(f, &g, e))
				return -1;
			continue;
		}
		for (uint32_t k = 1; k < g.n; k++) {
			f->path[(size_t)i * f->n + g.net[k]] = NCCL_DIS;
			f->path[(size_t)g.net[k] * f->n + i] = NCCL_DIS;
		}
		at = 0;
	}
	return 0;
}

/* ---- NCCL_NET_FORCE_MERGE ---- */

/* The port of a net in its properties: a tree has the real one, and NCCL adds the number of devices
 * of the same path before it (ncclIbGetPhysProperties). A file has the sum. */
static uint32_t props_port(const struct fusing *f, uint32_t net)
{
	const struct nccl_xml_net *n = &f->v->net[net];
	uint32_t before = 0;

	for (uint32_t i = 0; f->nth[i] != net && nccl_is_tree(f->m); i++)
		before += f->v->net[f->nth[i]].item == n->item;
	return n->net.port + before;
}

/* matchIfList: the word is the device's name, and its port, if it has one. */
static bool is_meant(const struct fusing *f, uint32_t net, struct slice word)
{
	const char *name = f->m->hca[f->v->net[net].net.hca].name;
	const char *colon = memchr(word.p, ':', word.len);
	size_t len = colon ? (size_t)(colon - word.p) : word.len;
	char port[16];

	if (strlen(name) != len || strncmp(name, word.p, len) != 0)
		return false;
	(void)snprintf(port, sizeof(port), "%u", props_port(f, net));
	return !colon ||
	       (strlen(port) == word.len - len - 1 && strncmp(port, colon + 1, strlen(port)) == 0);
}

static int refuse(struct slice group, const char *why, struct err *e)
{
	return err_set(e, ERR_FIELD, 0, "NCCL_NET_FORCE_MERGE: \"%.*s\" %s: NCCL ends",
		       (int)(group.len < 128 ? group.len : 128), group.p, why);
}

/* A name without a port is all ports of the device. As many nets must match as are named; NCCL
 * reads as many names as it fuses. */
static int force_group(struct fusing *f, struct slice text, struct err *e)
{
	struct slice word[NCCL_FUSED_MAX], rest = text;
	uint32_t n = 0;
	struct group g = { .n = 0 };

	while (n < NCCL_FUSED_MAX && slice_next(&rest, ',', &word[n]))
		n += word[n].len > 0;
	for (uint32_t at = 0; at < f->n; at++) {
		uint32_t i = f->nth[at];
		bool meant = false;
		for (uint32_t k = 0; k < n && !meant; k++)
			meant = is_meant(f, i, word[k]);
		if (!meant)
			continue;
		if (!can_fuse(f, i))
			return refuse(text, "has a device that NCCL's IB plugin does not have", e);
		if (g.n == n)
			return refuse(text, "matches more devices than it names", e);
		g.net[g.n++] = i;
	}
	if (!n || g.n < n)
		return refuse(text, "matches fewer devices than it names", e);
	if (!can_be_made(f, &g))
		return refuse(text,
			      f->o->no_merge_nics ? "is forbidden by NCCL_IB_MERGE_NICS=0"
						  : "has devices of different link layers",
			      e);
	return add_group(f, &g, e);
}

/* ncclTopoForceMerge: "mlx5_0,mlx5_1;mlx5_2,mlx5_3". */
static int force_merge(struct fusing *f, struct err *e)
{
	struct slice groups = { f->o->force_merge, strlen(f->o->force_merge) }, group;

	while (slice_next(&groups, ';', &group)) {
		if (group.len && force_group(f, group, e))
			return -1;
	}
	return 0;
}

/* ---- the element of a fused net: ncclTopoGetVNicParent ---- */

static uint32_t item_width(const struct fusing *f, uint32_t item)
{
	const struct nccl_xml_node *it = &f->v->item[item];

	if (it->pci == TOPO_NONE) /* a cpu has no link */
		return 0;
	return it->width ? it->width : nccl_pcie_link(f->m, f->o, it->pci).width;
}

/* ncclTopoFindLinkWidth: the lanes between the group and an element above it. Each element passes
 * no more than it has. */
static uint32_t lanes_below(const struct fusing *f, const struct group *g, uint32_t top,
			    uint32_t *sum)
{
	for (uint32_t i = 0; i < g->n; i++)
		sum[f->v->net[g->net[i]].item] = item_width(f, f->v->net[g->net[i]].item);
	/* parents come before children */
	for (uint32_t i = f->v->n_items; i-- > top + 1;) {
		uint32_t parent = f->v->item[i].parent, own;
		if (!sum[i] || !nccl_is_above(f->v, top, i))
			continue;
		own = item_width(f, i);
		if (own && own < sum[i])
			sum[i] = own;
		sum[parent] += sum[i];
	}
	return sum[top];
}

/* ncclTopoWidenLinks: the links between the parts and `top`, too. */
static void widen_parts(struct fusing *f, const struct group *g, uint32_t top, uint32_t lanes)
{
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t at = f->v->net[g->net[i]].item;
		for (; at != top && f->v->item[at].pci != TOPO_NONE; at = f->v->item[at].parent)
			f->v->item[at].width = lanes;
	}
}

static void shift_net(struct nccl_xml_net *n, uint32_t at)
{
	n->item += n->item >= at;
	n->after += n->after != TOPO_NONE && n->after >= at;
}

/* ncclTopoMakeUniqueBusId: elements that were made for this device. */
static uint32_t made_before(const struct fusing *f, uint32_t pci)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->v->n_items; i++) {
		const struct nccl_xml_node *it = &f->v->item[i];
		n += it->made && one_device(f->m, it->pci, pci);
	}
	return n;
}

/* Add an element with the function of `like` as the last one below `parent`; returns it. */
static uint32_t insert_item(struct fusing *f, uint32_t parent, uint32_t like)
{
	struct nccl_xml *v = f->v;
	uint32_t at = parent + 1;

	while (at < v->n_items && nccl_is_above(v, parent, at))
		at++;
	struct nccl_xml_node new = v->item[like];
	new.parent = parent;
	new.made = made_before(f, new.pci) + 1;
	memmove(&v->item[at + 1], &v->item[at], (v->n_items - at) * sizeof(*v->item));
	v->item[at] = new;
	v->n_items++;
	for (uint32_t i = at + 1; i < v->n_items; i++) {
		if (v->item[i].parent != TOPO_NONE && v->item[i].parent >= at)
			v->item[i].parent++;
	}
	for (size_t i = 0; i < f->m->n_pci; i++)
		v->item_of[i] += v->item_of[i] != TOPO_NONE && v->item_of[i] >= at;
	for (uint32_t i = 0; i < v->n_nets; i++)
		shift_net(&v->net[i], at);
	for (size_t i = 0; i < f->n_groups; i++)
		shift_net(&f->group[i].made, at);
	return at;
}

static bool is_bridge(const struct fusing *f, uint32_t item)
{
	uint32_t pci = f->v->item[item].pci;

	return pci == TOPO_NONE ||
	       (f->m->pci[pci].has_class && f->m->pci[pci].class_code == CLASS_BRIDGE);
}

static uint32_t cpu_above(const struct nccl_xml *v, uint32_t item)
{
	while (v->item[item].parent != TOPO_NONE)
		item = v->item[item].parent;
	return item;
}

/* ncclTopoMakePciParent copies the function of the first part for the new net. */
static int refuse_lost(const struct fusing *f, const struct group *g, struct err *e)
{
	return err_set(e, ERR_FIELD, 0,
		       "NCCL_NET_MERGE_LEVEL or NCCL_NET_FORCE_MERGE: NCCL does not find the "
		       "function of %s, and ends",
		       f->m->hca[f->v->net[g->net[0]].net.hca].name);
}

static int refuse_cpus(const struct fusing *f, const struct group *g, uint32_t other, struct err *e)
{
	return err_set(e, ERR_FIELD, 0,
		       "NCCL_NET_MERGE_LEVEL or NCCL_NET_FORCE_MERGE: %s and %s are below "
		       "different CPUs: NCCL ends",
		       f->m->hca[f->v->net[g->net[0]].net.hca].name,
		       f->m->hca[f->v->net[other].net.hca].name);
}

/* ncclTopoGetPath of all parts: the element that they have in common, the longest distance, and a
 * part below another cpu; TOPO_NONE: there is none. */
struct meeting {
	uint32_t common, other;
	enum nccl_path_type far;
};

static struct meeting meet(const struct fusing *f, const struct group *g)
{
	const struct nccl_xml *v = f->v;
	uint32_t own = v->net[g->net[0]].item;
	struct meeting at = { own, TOPO_NONE, NCCL_PORT };

	for (uint32_t i = 1; i < g->n; i++) {
		uint32_t top;
		enum nccl_path_type p = nets_path(f->m, v, own, v->net[g->net[i]].item, &top);
		at.far = p > at.far ? p : at.far;
		if (p == NCCL_SYS) {
			at.other = at.other == TOPO_NONE ? g->net[i] : at.other;
			top = cpu_above(v, own);
		}
		at.common = nccl_is_above(v, top, at.common) ? top : at.common;
	}
	return at;
}

static bool is_all_at_cpu(const struct fusing *f, const struct group *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (!is_at_cpu(f, g->net[i]))
			return false;
	}
	return true;
}

/* Where the new net is, and the width of its link. */
static int widen(struct fusing *f, const struct group *g, const struct meeting *at,
		 struct nccl_xml_net *made, struct err *e)
{
	struct nccl_xml *v = f->v;
	uint32_t own = v->net[g->net[0]].item, lanes = 0;

	if (at->far != NCCL_PORT && at->far != NCCL_SYS && nccl_rule(f->o, NCCL_WIDENS_FUSED)) {
		auto_free uint32_t *sum = calloc(v->n_items + 1, sizeof(*sum));
		if (!sum)
			return err_nomem(e);
		lanes = lanes_below(f, g, at->common, sum);
	}
	if (lanes && nccl_rule(f->o, NCCL_WIDENS_ALL))
		widen_parts(f, g, at->common, lanes);
	made->item = is_bridge(f, at->common) ? insert_item(f, at->common, own) : at->common;
	if (lanes && v->item[at->common].pci != TOPO_NONE)
		v->item[at->common].width = lanes;
	if (lanes)
		v->item[made->item].width = lanes;
	return 0;
}

/* Before NCCL_WIDENS_FUSED, a net of several root ports is in the nic of their cpu. */
static void place_at_cpu(const struct nccl_xml *v, uint32_t cpu, struct nccl_xml_net *made)
{
	made->item = cpu;
	made->after = TOPO_NONE;
	for (uint32_t i = 0; i < v->n_items; i++) {
		if (v->item[i].parent == cpu)
			made->after = i;
	}
	for (uint32_t i = 0; i < v->n_nets; i++) {
		if (v->net[i].item == cpu)
			made->after = v->net[i].after;
	}
}

static int place_group(struct fusing *f, const struct group *g, struct nccl_xml_net *made,
		       struct err *e)
{
	struct meeting at = meet(f, g);
	bool over_cpus = f->o->rccl && nccl_rule(f->o, RCCL_FUSES_OVER_CPUS);

	made->item = f->v->net[g->net[0]].item;
	if (at.far == NCCL_SYS && !over_cpus && nccl_rule(f->o, NCCL_REFUSES_CPUS))
		return refuse_cpus(f, g, at.other, e);
	/* a nic element below the top element, or one inside a nic: NCCL does not look there */
	made->lost = (at.far == NCCL_SYS && !over_cpus) || is_all_at_cpu(f, g);
	if (made->lost || (at.common == made->item && !is_at_cpu(f, g->net[0])))
		return 0;
	if (f->v->item[at.common].pci == TOPO_NONE && !nccl_rule(f->o, NCCL_WIDENS_FUSED)) {
		place_at_cpu(f->v, at.common, made);
		return 0;
	}
	if (is_at_cpu(f, g->net[0]))
		return refuse_lost(f, g, e);
	return widen(f, g, &at, made, e);
}

/* ---- all of it ---- */

/* Make the net of a group from its parts; the rates add up. */
static int fuse_group(struct fusing *f, struct group *g, struct err *e)
{
	struct nccl_xml_net made = f->v->net[g->net[0]];

	if (place_group(f, g, &made, e))
		return -1;
	for (uint32_t i = 1; i < g->n; i++) {
		const struct nccl_xml_net *other = &f->v->net[g->net[i]];
		made.net.with[made.net.fused++] = nccl_net_part(&other->net, 0);
		made.mbps += other->mbps;
	}
	g->made = made;
	return 0;
}

/* Keep the nets that are in no group. A fused one comes behind those of its element and before the
 * next, because NCCL adds it later. */
static void replace_parts(struct fusing *f)
{
	struct nccl_xml *v = f->v;
	bool *gone = f->placed;

	memset(gone, 0, f->n * sizeof(*gone));
	for (size_t i = 0; i < f->n_groups; i++) {
		for (uint32_t k = 0; k < f->group[i].n; k++)
			gone[f->group[i].net[k]] = true;
	}
	v->n_nets = 0;
	for (uint32_t i = 0; i < f->n; i++) {
		if (!gone[i])
			v->net[v->n_nets++] = v->net[i];
	}
	for (size_t i = 0; i < f->n_groups; i++) {
		uint32_t at = 0;
		const struct nccl_xml_net *made = &f->group[i].made;
		/* a net without a path is the last one */
		uint32_t place = made->lost ? UINT32_MAX : nccl_net_place(v, made);
		while (at < v->n_nets && nccl_net_place(v, &v->net[at]) <= place)
			at++;
		memmove(&v->net[at + 1], &v->net[at], (v->n_nets - at) * sizeof(*v->net));
		v->net[at] = *made;
		v->n_nets++;
	}
}

/* Room for an element and a net of each group: a forced group can have nets of another one. */
static int make_room(struct nccl_xml *v, size_t more, struct err *e)
{
	void *item = realloc(v->item, (v->n_items + more + 1) * sizeof(*v->item));

	if (!item)
		return err_nomem(e);
	v->item = item;
	void *net = realloc(v->net, (v->n_nets + more + 1) * sizeof(*v->net));
	if (!net)
		return err_nomem(e);
	v->net = net;
	return 0;
}

static int by_nth(const void *x, const void *y, void *v)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	const struct nccl_xml_net *net = ((const struct nccl_xml *)v)->net;

	if (net[a].nth != net[b].nth)
		return net[a].nth < net[b].nth ? -1 : 1;
	return (a > b) - (a < b);
}

static int find_groups(struct fusing *f, struct err *e)
{
	f->nth = calloc(f->n + 1, sizeof(*f->nth));
	f->placed = calloc(f->n + 1, sizeof(*f->placed));
	f->path = calloc((size_t)f->n * f->n + 1, sizeof(*f->path));
	if (!f->nth || !f->placed || !f->path)
		return err_nomem(e);
	for (uint32_t i = 0; i < f->n; i++)
		f->nth[i] = i;
	qsort_r(f->nth, f->n, sizeof(*f->nth), by_nth, f->v);
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t common;
		for (uint32_t j = 0; j < f->n; j++)
			f->path[(size_t)i * f->n + j] = nets_path(f->m, f->v, f->v->net[i].item,
								  f->v->net[j].item, &common);
	}
	if (f->o->force_merge && force_merge(f, e))
		return -1;
	return auto_merge(f, e);
}

int nccl_fuse_nets(const struct topo_machine *m, const struct nccl_opts *o, struct nccl_xml *v,
		   struct err *e)
{
	auto_fusing struct fusing f = { .m = m, .o = o, .v = v, .n = v->n_nets };

	if (v->n_nets > NCCL_NETS_MAX && o->force_merge)
		return err_set(e, ERR_FIELD, 0,
			       "NCCL_NET_FORCE_MERGE: more than %d devices: NCCL ends",
			       NCCL_NETS_MAX);
	if (v->n_nets > NCCL_NETS_MAX || (o->no_merge && !o->force_merge))
		return 0;
	if (find_groups(&f, e) || make_room(v, f.n_groups, e))
		return -1;
	for (size_t i = 0; i < f.n_groups; i++) {
		if (fuse_group(&f, &f.group[i], e))
			return -1;
		f.group[i].made.nth = f.n + (uint32_t)i;
	}
	replace_parts(&f);
	return 0;
}
