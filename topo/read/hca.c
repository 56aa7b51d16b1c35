// SPDX-License-Identifier: Apache-2.0
/*
 * Reads RDMA devices: all entries of class/infiniband, whatever the PCI class of their function is.
 * The function comes from the path of the device's folder (.../0000:0c:00.0/infiniband/mlx5_0; a
 * subfunction has mlx5_core.sf.4 in it) or from its link `device`. A software device has the
 * function of its network interface.
 */
#include <stdio.h>
#include <string.h>

#include "lib/base/parse.h"
#include "lib/device/ib_port.h"

#include "topo/read/tree.h"

#define CLASS_IB "class/infiniband"
#define PORTS    256
#define HCAS     8192

/* "0c42:a103:00f7:0bcf" */
static uint64_t hca_guid_of(const char *text)
{
	uint64_t guid = 0;
	size_t digits = 0;

	for (; *text; text++) {
		int digit = hex_digit(*text);
		if (digit < 0 && *text != ':')
			return 0;
		if (digit < 0)
			continue;
		guid = guid << 4 | (uint64_t)digit;
		digits++;
	}
	return digits == 16 ? guid : 0;
}

struct port_range {
	uint32_t from, to;
};

static const char *port_file(struct tree_path *path, uint32_t port, const char *name)
{
	char file[64];

	(void)snprintf(file, sizeof(file), "ports/%u/%s", port, name);
	return tree_at(path, file);
}

static void read_rate(const struct tree *t, struct tree_path *path, struct topo_port *p)
{
	static const enum topo_layer layers[] = { [IB_LAYER_UNKNOWN] = TOPO_LAYER_UNKNOWN,
						  [IB_LAYER_ETHERNET] = TOPO_ETHERNET,
						  [IB_LAYER_INFINIBAND] = TOPO_INFINIBAND };
	char text[TREE_VALUE];

	if (!tree_value(t->fd, port_file(path, p->port, "rate"), text))
		p->rate_mbps = ib_rate_mbps(text);
	if (!tree_value(t->fd, port_file(path, p->port, "link_layer"), text))
		p->layer = layers[ib_link_layer_parse(text)];
}

/* Read the ports of a range that exist; they are numbered from 1. The state of the first may be
 * missing; a VF gets its rate in finish_vfs(). */
static int hca_read_ports(const struct tree *t, struct tree_path *path, struct topo_hca *h,
			  struct port_range which, struct err *e)
{
	char text[TREE_VALUE];

	for (uint32_t n = which.from; n <= which.to; n++) {
		bool has_state = !tree_value(t->fd, port_file(path, n, "state"), text);
		auto_fd int folder =
			has_state || n > 1 ? -1 : tree_open(t->fd, port_file(path, 1, "."));
		if (!has_state && folder < 0)
			return 0;
		if (topo_add_port(h, n, e))
			return -1;
		struct topo_port *p = &h->port[h->n_ports - 1];
		if (has_state) {
			p->active = ib_state_is_active(text) ? TOPO_YES : TOPO_NO;
			(void)snprintf(p->state, sizeof(p->state), "%s", ib_state_name(text));
		}
		if (h->kind != TOPO_HCA_VF)
			read_rate(t, path, p);
	}
	return 0;
}

/* Set kind and function by the paths. The packets of a software device use its interface. */
static void read_place_hca(const struct tree *t, struct tree_path *path, struct topo_hca *h)
{
	char device[TREE_PATH] = "", parent[TREE_VALUE];

	path->text[path->len] = '\0';
	h->pci = tree_last(t, path->text);
	bool virtual = !strncmp(path->text, "devices/virtual/", 16);
	bool sf = strstr(path->text, "_core.sf.");
	if (h->pci == TOPO_NONE) {
		auto_fd int dir = tree_open(t->fd, path->text);
		if (dir >= 0 && tree_link(dir, path->text, "device", device) == TREE_LINK)
			h->pci = tree_last(t, device);
		sf = strstr(device, "_core.sf.");
	}
	if (h->pci != TOPO_NONE) {
		h->kind = sf ? TOPO_HCA_SF : t->m->pci[h->pci].is_vf ? TOPO_HCA_VF : TOPO_HCA_PF;
		return;
	}
	bool named = !tree_value(t->fd, tree_at(path, "parent"), parent);
	if (named)
		h->pci = tree_netdev(t, parent);
	if (named || virtual)
		h->kind = TOPO_HCA_SOFTWARE;
}

/* tree_matters() may have skipped the function because of its class: read it now. */
static void complete_function(struct tree *t, struct tree_path *path, const struct topo_hca *h)
{
	struct tree_path p = { .len = 0 };
	struct pci_addr a;

	if (h->pci == TOPO_NONE || t->m->pci[h->pci].has_ids || h->kind == TOPO_HCA_SOFTWARE)
		return;
	for (size_t i = 1; i <= path->len && i < TREE_PATH; i++) {
		if (path->text[i] != '/')
			continue;
		memcpy(p.text, path->text, i);
		p.text[i] = '\0';
		if (tree_is_function(tree_last_name(p.text), &a) && tree_find(t, a) == h->pci)
			p.len = i;
	}
	if (p.len)
		tree_function(t, &p, h->pci);
}

/* Names are printed on terminals and into files that other programs parse. */
static bool hca_is_device_name(const char *s)
{
	for (const char *c = s; *c; c++) {
		if ((unsigned char)*c <= ' ' || *c == 0x7f || strchr("\"'\\<>&,=", *c))
			return false;
	}
	return *s && strlen(s) < TOPO_NAME_LEN && utf8_valid(s, strlen(s));
}

/* The path of an entry of class/infiniband; false: its link leads out of the tree. */
static bool hca_path_of(int class, const char *name, struct tree_path *out)
{
	struct tree_path p = { .len = 0 };
	enum tree_link l = tree_link(class, CLASS_IB, name, p.text);

	if (l == TREE_NO_LINK && snprintf(p.text, TREE_PATH, CLASS_IB "/%s", name) >= TREE_PATH)
		l = TREE_BAD_LINK;
	if (l == TREE_BAD_LINK)
		return false;
	p.len = strlen(p.text);
	*out = p;
	return true;
}

/* "smi1": a sub-device, one port for each plane, for the subnet manager of an XDR fabric. It is at
 * the function of its card, whose interface is not its own. */
static bool hca_is_smi(const char *name)
{
	return !strncmp(name, "smi", 3) && name[3] && !name[3 + strspn(name + 3, "0123456789")];
}

static bool hca_may_be_nvswitch(const struct tree *t, const struct topo_hca *h)
{
	bool ib = false;

	for (size_t i = 0; i < h->n_ports; i++)
		ib = ib || h->port[i].layer == TOPO_INFINIBAND;
	return ib && h->kind == TOPO_HCA_PF && h->pci != TOPO_NONE &&
	       !(t->opts && t->opts->no_vpd) && t->m->pci[h->pci].vendor == 0x15b3;
}

/* The bridge has four functions: where the VPD is hidden, only the fourth one is worth a remark. */
static int hca_find_nvswitch(struct tree *t, const struct tree_path *path, struct topo_hca *h,
			     struct err *e)
{
	const char *cut = strstr(path->text, "/infiniband/");
	char folder[TREE_PATH];

	if (!cut || !hca_may_be_nvswitch(t, h) ||
	    slice_copy((struct slice){ path->text, (size_t)(cut - path->text) }, folder,
		       sizeof(folder)))
		return 0;
	auto_fd int dir = tree_open(t->fd, folder);
	const enum topo_tristate is = dir < 0 ? TOPO_NO : tree_vpd_is_nvswitch(dir);

	if (is == TOPO_YES)
		h->kind = TOPO_HCA_NVSWITCH;
	if (is != TOPO_UNKNOWN || t->m->pci[h->pci].addr.fn != 3)
		return 0;
	return topo_add_note(t->m, e, "%s may be a port of an NVSwitch: its VPD cannot be read",
			     h->name);
}

static int note_left_out(struct tree *t, const char *name, struct err *e)
{
	return topo_add_note(t->m, e, "%s is left out: its link leads out of the tree, or nowhere",
			     name);
}

static int read_hca(struct tree *t, int class, const char *name, struct err *e)
{
	struct tree_path path;
	char text[TREE_VALUE];
	uint32_t hca;

	if (!hca_is_device_name(name))
		return topo_add_note(t->m, e,
				     "an entry of " CLASS_IB " is left out: its name is "
				     "none of an RDMA device");
	bool there = hca_path_of(class, name, &path);
	if (!there || topo_add_hca(t->m, name, &hca, e))
		return there ? -1 : note_left_out(t, name, e);
	struct topo_hca *h = &t->m->hca[hca];
	read_place_hca(t, &path, h);
	complete_function(t, &path, h);
	struct port_range which = { 1, h->kind == TOPO_HCA_VF ? 1 : PORTS };
	if (hca_read_ports(t, &path, h, which, e))
		return -1;
	if (h->kind == TOPO_HCA_PF && hca_is_smi(name))
		h->kind = TOPO_HCA_SMI;
	for (size_t i = 0; i < h->n_ports && h->kind != TOPO_HCA_SMI; i++) {
		if (tree_port_netdev(t, &path, h, &h->port[i], e))
			return -1;
	}
	if (h->kind != TOPO_HCA_VF && !tree_value(t->fd, tree_at(&path, "sys_image_guid"), text))
		h->guid = hca_guid_of(text);
	if (h->kind != TOPO_HCA_VF && !tree_value(t->fd, tree_at(&path, "node_guid"), text))
		h->node = hca_guid_of(text);
	path.text[path.len] = '\0';
	if (hca_find_nvswitch(t, &path, h, e))
		return -1;
	auto_fd int dir = h->n_ports ? -1 : tree_open(t->fd, path.text);
	if (!h->n_ports && dir < 0) {
		t->m->n_hcas--;
		return note_left_out(t, name, e);
	}
	if (h->kind == TOPO_HCA_SOFTWARE && h->pci == TOPO_NONE && h->n_ports)
		h->pci = tree_netdev(t, h->port[0].netdev);
	/* A bond may represent both functions of a card: mark_bonds(). */
	if (h->kind == TOPO_HCA_PF && h->pci != TOPO_NONE && h->n_ports && *h->port[0].netdev)
		h->second = tree_bond(t, h->port[0].netdev, h->pci);
	return 0;
}

static int finish_vf(struct tree *t, int class, struct topo_hca *vf, const struct topo_hca *pf,
		     struct err *e)
{
	const struct port_range more = { 2, pf ? (uint32_t)pf->n_ports : PORTS };
	struct tree_path path;
	char text[TREE_VALUE];
	bool there = (!pf || pf->n_ports > 1) && vf->n_ports && hca_path_of(class, vf->name, &path);

	if (there && hca_read_ports(t, &path, vf, more, e))
		return -1;
	if (pf)
		vf->guid = pf->guid;
	else if (there && !tree_value(t->fd, tree_at(&path, "sys_image_guid"), text))
		vf->guid = hca_guid_of(text);
	for (size_t k = 0; k < vf->n_ports; k++) {
		if (pf && k < pf->n_ports) {
			vf->port[k].rate_mbps = pf->port[k].rate_mbps;
			vf->port[k].layer = pf->port[k].layer;
		} else if (there) {
			read_rate(t, &path, &vf->port[k]);
		}
	}
	return 0;
}

/* A VF uses the port of its PF: if the PF has an RDMA device, copy rate, layer and GUID from it
 * instead of reading the files of hundreds of VFs. */
static int finish_vfs(struct tree *t, int class, struct err *e)
{
	struct topo_machine *m = t->m;
	auto_free uint32_t *of = malloc((m->n_pci + 1) * sizeof(*of));

	if (!of)
		return err_nomem(e);
	memset(of, 0xff, (m->n_pci + 1) * sizeof(*of));
	for (uint32_t i = 0; i < m->n_hcas; i++) {
		if (m->hca[i].kind == TOPO_HCA_PF && m->hca[i].pci != TOPO_NONE)
			of[m->hca[i].pci] = i;
	}
	for (size_t i = 0; i < m->n_hcas; i++) {
		struct topo_hca *h = &m->hca[i];
		if (h->kind != TOPO_HCA_VF)
			continue;
		uint32_t pf = m->pci[h->pci].physfn;
		const struct topo_hca *of_pf =
			pf == TOPO_NONE || of[pf] == TOPO_NONE ? NULL : &m->hca[of[pf]];
		if (finish_vf(t, class, h, of_pf, e))
			return -1;
	}
	return 0;
}

/* A PF in a bond is a bond if the other function has no RDMA device of its own. */
static int mark_bonds(struct topo_machine *m, struct err *e)
{
	auto_free bool *has = calloc(m->n_pci + 1, sizeof(*has));

	if (!has)
		return err_nomem(e);
	for (size_t i = 0; i < m->n_hcas; i++) {
		if (m->hca[i].pci != TOPO_NONE && m->hca[i].kind != TOPO_HCA_SOFTWARE)
			has[m->hca[i].pci] = true;
	}
	for (size_t i = 0; i < m->n_hcas; i++) {
		struct topo_hca *h = &m->hca[i];
		if (h->second != TOPO_NONE && has[h->second])
			h->second = TOPO_NONE;
		else if (h->second != TOPO_NONE)
			h->kind = TOPO_HCA_BOND;
	}
	return 0;
}

/* ---- trees that were captured without class/infiniband ---- */

/* Functions of the class InfiniBand become HCAs, named as their driver would do. */
static int add_hcas_by_class(struct tree *t, struct err *e)
{
	struct topo_machine *m = t->m;
	char name[TOPO_NAME_LEN];
	unsigned int n = 0;
	uint32_t hca;

	for (size_t i = 0; i < t->n_places; i++) {
		uint32_t pci = t->place[i].pci;
		const struct topo_pci *p = &m->pci[pci];
		if (p->class_code >> 8 != 0x0207 && p->class_code >> 8 != 0x0c06)
			continue;
		const char *driver = p->device < 0x1011 ? "mlx4" : "mlx5";
		(void)snprintf(name, sizeof(name), "%s_%u", p->vendor == 0x15b3 ? driver : "hca",
			       n++);
		if (topo_add_hca(m, name, &hca, e))
			return -1;
		m->hca[hca].pci = pci;
		m->hca[hca].kind = p->is_vf ? TOPO_HCA_VF : TOPO_HCA_PF;
	}
	if (!n)
		return 0;
	return topo_add_note(m, e,
			     "the tree has no " CLASS_IB ": functions of the class InfiniBand are "
			     "taken for HCAs, and named in their order");
}

int tree_hcas(struct tree *t, struct err *e)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	auto_fd int class = tree_open(t->fd, CLASS_IB);

	if (class < 0)
		return t->m->source == TOPO_LIVE ? 0 : add_hcas_by_class(t, e);
	if (tree_names(class, HCAS, &names, e))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		if (read_hca(t, class, names.name[i], e))
			return -1;
	}
	return finish_vfs(t, class, e) || mark_bonds(t->m, e) ? -1 : 0;
}
