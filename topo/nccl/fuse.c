// SPDX-License-Identifier: Apache-2.0
/*
 * Which nets become one: ncclTopoMakeVNics, ncclTopoForceMerge and ncclTopoAutoMerge of topo.cc.
 * The devices are compared by their elements of the XML.
 */
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "lib/base/parse.h"
#include "lib/rdma/hca_list.h"
#include "topo/nccl/fuse.h"

#define VENDOR_AMAZON 0x1d0f
#define GROUPS_MAX    65536

/* ---- groups ---- */

static void fusing_clear(struct nccl_fusing *f)
{
	free(f->nth);
	free(f->placed);
	free(f->path);
	free(f->group);
}
#define auto_fusing auto_clean(fusing_clear)

/* ncclIbMakeVDeviceInternal: only devices of one link layer can be one, and none if
 * NCCL_IB_MERGE_NICS is 0. A group of one is always possible. */
static bool can_be_made(const struct nccl_fusing *f, const struct nccl_group *g)
{
	const struct topo_port *p = nccl_net_port(f->m, &f->v->net[g->net[0]].net);

	for (uint32_t i = 1; i < g->n; i++) {
		const struct topo_port *q = nccl_net_port(f->m, &f->v->net[g->net[i]].net);
		if ((p ? p->layer : TOPO_LAYER_UNKNOWN) != (q ? q->layer : TOPO_LAYER_UNKNOWN))
			return false;
	}
	return g->n == 1 || !f->o->no_merge_nics;
}

/* Only NCCL's IB plugin fuses: not EFA, not interfaces for sockets, not NICs of a skeleton, not
 * what a file has fused. */
static bool can_fuse(const struct nccl_fusing *f, uint32_t net)
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

/* Place all nets of a group; a group of one is not a device of its own. */
static int fuse_add_group(struct nccl_fusing *f, const struct nccl_group *g, struct err *e)
{
	for (uint32_t i = 0; i < g->n; i++)
		f->placed[g->net[i]] = true;
	if (g->n < 2)
		return 0;
	return ARRAY_PUSH(f->group, f->n_groups, GROUPS_MAX, "groups of fused devices", *g, e);
}

/* NCCL_NET_MERGE_POLICY=RAIL: NCCL_IB_HCA has given both the same rail. */
static bool fits_policy(const struct nccl_fusing *f, uint32_t i, uint32_t j)
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
static struct nccl_group gather(const struct nccl_fusing *f, uint32_t i)
{
	enum nccl_path_type level = f->o->merge_level ? f->o->merge_level : NCCL_PORT;
	struct nccl_group g = { .net = { i }, .n = 1 };

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
static int auto_merge(struct nccl_fusing *f, struct err *e)
{
	for (uint32_t at = 0; at < f->n && !f->o->no_merge && !f->o->no_merge_nics; at++) {
		uint32_t i = f->nth[at];
		if (f->placed[i] || !can_fuse(f, i))
			continue;
		struct nccl_group g = gather(f, i);
		if (can_be_made(f, &g)) {
			if (fuse_add_group(f, &g, e))
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
static uint32_t props_port(const struct nccl_fusing *f, uint32_t net)
{
	const struct nccl_xml_net *n = &f->v->net[net];
	uint32_t before = 0;

	for (uint32_t i = 0; f->nth[i] != net && nccl_is_tree(f->m); i++)
		before += f->v->net[f->nth[i]].item == n->item;
	return n->net.port + before;
}

/* matchIfList: the word is the device's name, and its port, if it has one. */
static bool fuse_is_meant(const struct nccl_fusing *f, uint32_t net, struct slice word)
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

static int fuse_refuse(struct slice group, const char *why, struct err *e)
{
	return err_set(e, ERR_FIELD, 0, "NCCL_NET_FORCE_MERGE: \"%.*s\" %s: NCCL ends",
		       (int)(group.len < 128 ? group.len : 128), group.p, why);
}

/* A name without a port is all ports of the device. As many nets must match as are named; NCCL
 * reads as many names as it fuses. */
static int force_group(struct nccl_fusing *f, struct slice text, struct err *e)
{
	struct slice word[NCCL_FUSED_MAX], rest = text;
	uint32_t n = 0;
	struct nccl_group g = { .n = 0 };

	while (n < NCCL_FUSED_MAX && slice_next(&rest, ',', &word[n]))
		n += word[n].len > 0;
	for (uint32_t at = 0; at < f->n; at++) {
		uint32_t i = f->nth[at];
		bool meant = false;
		for (uint32_t k = 0; k < n && !meant; k++)
			meant = fuse_is_meant(f, i, word[k]);
		if (!meant)
			continue;
		if (!can_fuse(f, i))
			return fuse_refuse(text, "has a device that NCCL's IB plugin does not have",
					   e);
		if (g.n == n)
			return fuse_refuse(text, "matches more devices than it names", e);
		g.net[g.n++] = i;
	}
	if (!n || g.n < n)
		return fuse_refuse(text, "matches fewer devices than it names", e);
	if (!can_be_made(f, &g))
		return fuse_refuse(text,
				   f->o->no_merge_nics ? "is forbidden by NCCL_IB_MERGE_NICS=0"
						       : "has devices of different link layers",
				   e);
	return fuse_add_group(f, &g, e);
}

/* ncclTopoForceMerge: "mlx5_0,mlx5_1;mlx5_2,mlx5_3". */
static int force_merge(struct nccl_fusing *f, struct err *e)
{
	struct slice groups = { f->o->force_merge, strlen(f->o->force_merge) }, group;

	while (slice_next(&groups, ';', &group)) {
		if (group.len && force_group(f, group, e))
			return -1;
	}
	return 0;
}

/* ---- all of it ---- */

/* Make the net of a group from its parts; the rates add up. */
static int fuse_group(struct nccl_fusing *f, struct nccl_group *g, struct err *e)
{
	struct nccl_xml_net made = f->v->net[g->net[0]];

	if (nccl_place_group(f, g, &made, e))
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
static void replace_parts(struct nccl_fusing *f)
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

static int find_groups(struct nccl_fusing *f, struct err *e)
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
			f->path[(size_t)i * f->n + j] =
				nccl_nets_path(f, f->v->net[i].item, f->v->net[j].item, &common);
	}
	if (f->o->force_merge && force_merge(f, e))
		return -1;
	return auto_merge(f, e);
}

int nccl_fuse_nets(const struct topo_machine *m, const struct nccl_opts *o, struct nccl_xml *v,
		   struct err *e)
{
	auto_fusing struct nccl_fusing f = { .m = m, .o = o, .v = v, .n = v->n_nets };

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
