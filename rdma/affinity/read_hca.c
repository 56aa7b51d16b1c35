// SPDX-License-Identifier: Apache-2.0
/*
 * RDMA devices: what class/infiniband says, whatever the class of the function below. Where one is
 * told by the path of its folder (.../0000:0c:00.0/infiniband/mlx5_0, a subfunction's with
 * mlx5_core.sf.4 between), by its link `device`, or, of a software device, by its interface.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rdma/affinity/read_priv.h"

#define CLASS_IB "class/infiniband"
#define PORTS    256
#define HCAS     8192

/* "100 Gb/sec (4X EDR)", "2.5 Gb/sec" in Mbit/s */
static uint32_t rate_of(const char *text)
{
	char *end;
	double n = strtod(text, &end);

	if (end == text || strncmp(end, " Gb/sec", 7) != 0 || !(n >= 0 && n <= 4e6))
		return 0;
	return (uint32_t)lround(n * 1000);
}

/* "0c42:a103:00f7:0bcf" */
static uint64_t guid_of(const char *text)
{
	uint64_t guid = 0;
	unsigned int part[4];
	char more;

	if (sscanf(text, "%4x:%4x:%4x:%4x%c", &part[0], &part[1], &part[2], &part[3], &more) != 4)
		return 0;
	for (size_t i = 0; i < 4; i++)
		guid = guid << 16 | part[i];
	return guid;
}

static enum aff_layer layer_of(const char *text)
{
	if (!strcmp(text, "Ethernet"))
		return AFF_ETHERNET;
	return strcmp(text, "InfiniBand") != 0 ? AFF_LAYER_UNKNOWN : AFF_INFINIBAND;
}

static int read_port(const struct tree *t, const char *path, int dir, struct aff_port *p,
		     struct err *e)
{
	char text[TREE_VALUE];

	/* "4: ACTIVE" */
	if (!tree_value(dir, "state", text))
		p->active = strstr(text, "ACTIVE") ? AFF_YES : AFF_NO;
	if (!tree_value(dir, "rate", text))
		p->rate_mbps = rate_of(text);
	if (!tree_value(dir, "link_layer", text))
		p->layer = layer_of(text);
	return tree_port_netdev(t, path, dir, p, e);
}

static int by_port(const void *x, const void *y)
{
	const struct aff_port *a = x, *b = y;

	return (a->port > b->port) - (a->port < b->port);
}

static int read_ports(const struct tree *t, const char *path, int dir, struct aff_hca *h,
		      struct err *e)
{
	auto_tree_names struct tree_names names = { 0 };
	auto_fd int ports = tree_open(dir, "ports");
	uint64_t number;

	if (ports < 0)
		return 0;
	if (tree_names(ports, PORTS, &names, e))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		auto_fd int folder = -1;
		if (parse_u64(names.name[i], 1, PORTS, &number))
			continue;
		folder = tree_open(ports, names.name[i]);
		if (folder < 0)
			continue;
		if (aff_add_port(h, (uint32_t)number, e) ||
		    read_port(t, path, folder, &h->port[h->n_ports - 1], e))
			return -1;
	}
	if (h->n_ports)
		qsort(h->port, h->n_ports, sizeof(*h->port), by_port);
	return 0;
}

/* Where a software device's packets go: the interface that it names, or that its port has. */
static void place_software(const struct tree *t, int dir, struct aff_hca *h)
{
	char parent[TREE_VALUE];

	h->kind = AFF_HCA_SOFTWARE;
	if (!tree_value(dir, "parent", parent))
		h->pci = tree_netdev(t, parent);
	else if (h->n_ports)
		h->pci = tree_netdev(t, h->port[0].netdev);
}

/* A bond's, when it stands for both functions; each with a device of its own is an ordinary one. */
static void place_bond(const struct tree *t, struct aff_hca *h)
{
	if (h->kind == AFF_HCA_PF && h->n_ports && *h->port[0].netdev)
		h->second = tree_bond(t, h->port[0].netdev, h->pci);
}

static void place(const struct tree *t, const char *path, int dir, struct aff_hca *h)
{
	char device[TREE_PATH] = "";

	h->pci = tree_last(t, path);
	if (h->pci == AFF_NONE && tree_link(dir, path, "device", device) == TREE_LINK)
		h->pci = tree_last(t, device);
	if (h->pci == AFF_NONE) {
		char parent[TREE_VALUE];
		if (!strncmp(path, "devices/virtual/", 16) || !tree_value(dir, "parent", parent))
			place_software(t, dir, h);
		return;
	}
	if (t->m->pci[h->pci].is_vf)
		h->kind = AFF_HCA_VF;
	if (strstr(path, "_core.sf.") || strstr(device, "_core.sf."))
		h->kind = AFF_HCA_SF;
	place_bond(t, h);
}

/* What is printed goes to terminals and into files that others parse. */
static bool is_name(const char *s)
{
	for (const char *c = s; *c; c++) {
		if ((unsigned char)*c <= ' ' || *c == 0x7f || strchr("\"'\\<>&,=", *c))
			return false;
	}
	return *s && strlen(s) < AFF_NAME_LEN && utf8_valid(s, strlen(s));
}

static int read_hca(struct tree *t, int class, const char *name, struct err *e)
{
	char path[TREE_PATH], text[TREE_VALUE];
	enum tree_link l = tree_link(class, CLASS_IB, name, path);
	uint32_t hca;

	if (l == TREE_NO_LINK &&
	    snprintf(path, sizeof(path), CLASS_IB "/%s", name) >= (int)sizeof(path))
		l = TREE_BAD_LINK;
	auto_fd int dir = l == TREE_BAD_LINK ? -1 : tree_open(t->fd, path);
	if (!is_name(name))
		return aff_add_note(t->m, e,
				    "an entry of " CLASS_IB " is left out: its name is "
				    "none of an RDMA device");
	if (dir < 0)
		return aff_add_note(t->m, e,
				    "%s is left out: its link leads out of the tree, or "
				    "nowhere",
				    name);
	if (aff_add_hca(t->m, name, &hca, e) || read_ports(t, path, dir, &t->m->hca[hca], e))
		return -1;
	if (!tree_value(dir, "sys_image_guid", text))
		t->m->hca[hca].guid = guid_of(text);
	place(t, path, dir, &t->m->hca[hca]);
	return 0;
}

static int mark_bonds(struct aff_machine *m, struct err *e)
{
	auto_free bool *has = calloc(m->n_pci + 1, sizeof(*has));

	if (!has)
		return err_nomem(e);
	for (size_t i = 0; i < m->n_hcas; i++) {
		if (m->hca[i].pci != AFF_NONE && m->hca[i].kind != AFF_HCA_SOFTWARE)
			has[m->hca[i].pci] = true;
	}
	for (size_t i = 0; i < m->n_hcas; i++) {
		struct aff_hca *h = &m->hca[i];
		if (h->second != AFF_NONE && has[h->second])
			h->second = AFF_NONE;
		else if (h->second != AFF_NONE)
			h->kind = AFF_HCA_BOND;
	}
	return 0;
}

/* ---- trees that were captured without class/infiniband ---- */

static bool is_infiniband(const struct aff_pci *p)
{
	return p->class_code >> 8 == 0x0207 || p->class_code >> 8 == 0x0c06;
}

/* The driver by which the kernel would name it. */
static const char *stem_of(const struct aff_pci *p)
{
	if (p->vendor != 0x15b3)
		return "hca";
	return p->device < 0x1011 ? "mlx4" : "mlx5";
}

static int by_class(struct tree *t, struct err *e)
{
	struct aff_machine *m = t->m;
	char name[AFF_NAME_LEN];
	unsigned int n = 0;
	uint32_t hca;

	for (size_t i = 0; i < t->n_places; i++) {
		uint32_t pci = t->place[i].pci;
		if (!is_infiniband(&m->pci[pci]))
			continue;
		(void)snprintf(name, sizeof(name), "%s_%u", stem_of(&m->pci[pci]), n++);
		if (aff_add_hca(m, name, &hca, e))
			return -1;
		m->hca[hca].pci = pci;
		m->hca[hca].kind = m->pci[pci].is_vf ? AFF_HCA_VF : AFF_HCA_PF;
	}
	if (!n)
		return 0;
	return aff_add_note(m, e,
			    "the tree has no " CLASS_IB ": functions of the class InfiniBand are "
			    "taken for HCAs, and named in their order");
}

int tree_hcas(struct tree *t, struct err *e)
{
	auto_tree_names struct tree_names names = { 0 };
	auto_fd int class = tree_open(t->fd, CLASS_IB);

	if (class < 0)
		return t->m->source == AFF_LIVE ? 0 : by_class(t, e);
	if (tree_names(class, HCAS, &names, e))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		if (read_hca(t, class, names.name[i], e))
			return -1;
	}
	return mark_bonds(t->m, e);
}
