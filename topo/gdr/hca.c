/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of one HCA: ports, settings of its function, role, bond, and VFs as NCCL sees them. */
#include <stdio.h>

#include "lib/device/ib_port.h"
#include "topo/gdr/priv.h"
#include "topo/core/distance.h"

/* ---- ports ---- */

static enum topo_tristate is_active(const struct topo_hca *h)
{
	enum topo_tristate t = h->n_ports ? TOPO_NO : TOPO_UNKNOWN;

	for (size_t i = 0; i < h->n_ports; i++) {
		if (h->port[i].active == TOPO_YES)
			return TOPO_YES;
		if (h->port[i].active == TOPO_UNKNOWN)
			t = TOPO_UNKNOWN;
	}
	return t;
}

static uint32_t hca_rate_of(const struct topo_hca *h)
{
	uint32_t most = 0;

	for (size_t i = 0; i < h->n_ports; i++)
		if (h->port[i].rate_mbps > most)
			most = h->port[i].rate_mbps;
	return most;
}

static void set_ports_path(struct gdr *r, struct finding *f, uint32_t hca)
{
	char path[GDR_PATH_LEN];

	(void)snprintf(path, sizeof(path), "class/infiniband/%s/ports", r->m->hca[hca].name);
	gdr_path(r, f, GDR_SYS, path);
}

/* For a port that is ACTIVE, or whose state is not known. */
static void judge_port(struct finding *f, enum topo_tristate active, uint32_t rate_mbps)
{
	char rate[IB_RATE_LEN];

	if (active == TOPO_YES && rate_mbps)
		finding_set_value(f, "ACTIVE, %s Gbit/s", ib_rate_text(rate_mbps, rate));
	else if (active == TOPO_YES)
		finding_set_value(f, "ACTIVE");
	if (active == TOPO_YES)
		return;
	f->state = FINDING_UNKNOWN;
	finding_set_reason(f,
			   "the state of its ports is not known, and NCCL uses only ACTIVE ports");
	finding_set_remedy(f, "run railctl rdma list on the node");
}

static void set_port_remedy(struct finding *f, enum topo_layer layer)
{
	finding_set_remedy(f, "%s",
			   layer == TOPO_INFINIBAND
				   ? "check the cable, and that a subnet manager runs"
				   : "check the cable, and that the interface is up: ip link set "
				     "DEV up");
}

static void hca_check_port(struct gdr *r, uint32_t hca)
{
	const struct topo_hca *h = &r->m->hca[hca];
	enum topo_tristate active = is_active(h);
	struct finding *f;

	if (active == TOPO_NO || !r->tree)
		return; /* TOPO_NO: gdr_ports() reports it */
	f = gdr_add(r, "port", FINDING_OK, TOPO_NONE, hca);
	set_ports_path(r, f, hca);
	judge_port(f, active, hca_rate_of(h));
}

void gdr_port(struct gdr *r, struct gdr_rail which)
{
	const struct topo_port *p = &r->m->hca[which.hca].port[which.port];
	struct finding *f = gdr_add(r, "port", FINDING_OK, TOPO_NONE, which.hca);
	char path[GDR_PATH_LEN];

	(void)snprintf(path, sizeof(path), "class/infiniband/%s/ports/%u/state",
		       r->m->hca[which.hca].name, p->port);
	gdr_path(r, f, GDR_SYS, path);
	if (p->active != TOPO_NO) {
		judge_port(f, p->active, p->rate_mbps);
		return;
	}
	f->state = FINDING_WARN;
	finding_set_value(f, "the port is %s", *p->state ? p->state : "not ACTIVE");
	finding_set_reason(f, "NCCL and UCX cannot use it");
	set_port_remedy(f, p->layer);
}

/* The HCA would be among the nearest, or nearer, if its port were up. */
static bool would_be_near(const struct gdr *r, uint32_t gpu, uint32_t hca)
{
	const struct topo_gpu_choice *g = &r->c->gpu[gpu];
	struct topo_distance this, best;

	topo_distance_to_hca(r->m, gpu, hca, &this);
	if (this.class == TOPO_CLASS_UNKNOWN)
		return false;
	if (!g->n_nearest)
		return true;
	topo_distance_to_hca(r->m, gpu, g->nearest[0], &best);
	return topo_distance_cmp(&this, &best) <= 0;
}

void gdr_ports(struct gdr *r, uint32_t gpu)
{
	for (uint32_t i = 0; i < r->m->n_hcas && !r->m->gpu[gpu].on_package; i++) {
		const struct topo_hca *h = &r->m->hca[i];
		struct finding *f;

		if (!gdr_has_hca(r, i) || is_active(h) != TOPO_NO || !topo_is_network(h) ||
		    !would_be_near(r, gpu, i))
			continue;
		f = gdr_add(r, "port", FINDING_WARN, gpu, i);
		set_ports_path(r, f, i);
		finding_set_value(f, "no port is ACTIVE");
		finding_set_reason(f, "no HCA is nearer to this GPU, but NCCL cannot use this one");
		set_port_remedy(f, h->port[0].layer);
	}
}

/* ---- settings ---- */

#define FAST_MBPS 200000

static void judge_reads(struct gdr *r, struct finding *f, const struct pcicap_express *x,
			uint32_t pci)
{
	char bdf[PCI_STR_LEN];

	finding_set_value(f, "%u bytes", x->mrrs);
	if (x->mrrs >= 4096 || hca_rate_of(&r->m->hca[f->of[GDR_OF_HCA]]) < FAST_MBPS)
		return;
	f->state = FINDING_WARN;
	finding_set_reason(f, "with small requests (512 bytes after power on) a NIC of 200 Gbit/s "
			      "or more reads memory too slowly");
	finding_set_remedy(f, "setpci -s %s CAP_EXP+8.w=5000:7000 (until the next boot)",
			   gdr_bdf(r, pci, bdf));
}

static void judge_ordering(struct gdr *r, struct finding *f, const struct pcicap_express *x,
			   uint32_t pci)
{
	char bdf[PCI_STR_LEN];

	finding_set_value(f, "%s", x->relaxed ? "allowed" : "switched off");
	if (x->relaxed || r->m->vm != TOPO_YES)
		return;
	f->state = FINDING_WARN;
	finding_set_reason(f, "in a virtual machine, writes to GPU memory wait for each other: "
			      "bandwidth is lower");
	finding_set_remedy(f, "setpci -s %s CAP_EXP+8.w=0010:0010, on the host too",
			   gdr_bdf(r, pci, bdf));
}

typedef void (*judge_fn)(struct gdr *r, struct finding *f, const struct pcicap_express *x,
			 uint32_t pci);

static void hca_check_setting(struct gdr *r, const char *id, uint32_t pci, uint32_t hca,
			      judge_fn judge)
{
	struct finding *f = gdr_add(r, id, FINDING_OK, TOPO_NONE, hca);
	struct gdr_config config;
	struct pcicap_express x;
	char path[GDR_PATH_LEN];
	enum pcicap_found found = pcicap_express(gdr_config(r, pci, &config), &x);

	if (found == PCICAP_UNKNOWN) {
		gdr_config_unknown(r, f, pci, &config);
		return;
	}
	gdr_path(r, f, GDR_SYS, gdr_pci_path(r, pci, "config", path));
	if (found == PCICAP_ABSENT)
		finding_set_value(f, "no PCI Express");
	else
		judge(r, f, &x, pci);
}

/* ---- role and bond ---- */

static void check_role(struct gdr *r, uint32_t hca)
{
	static const char *const names[] = { "", "compute", "storage", "management" };
	const struct topo_hca *h = &r->m->hca[hca];
	bool odd = h->role == TOPO_STORAGE || h->role == TOPO_MANAGEMENT;
	struct finding *f;

	if (h->role == TOPO_ROLE_UNKNOWN)
		return;
	f = gdr_add(r, "role", odd ? FINDING_WARN : FINDING_OK, TOPO_NONE, hca);
	finding_set_value(f, "%s: %s", names[h->role], h->rule);
	if (!odd)
		return;
	finding_set_reason(f, "the nearest card also carries traffic that is not between GPUs: "
			      "both share its bandwidth");
	finding_set_remedy(f, "if the node has other cards, exclude this one: NCCL_IB_HCA=^=%s",
			   h->name);
}

static void check_bond(struct gdr *r, uint32_t hca)
{
	const struct topo_hca *h = &r->m->hca[hca];
	char a[PCI_STR_LEN], b[PCI_STR_LEN];
	struct finding *f;

	if (h->kind != TOPO_HCA_BOND || h->pci == TOPO_NONE || h->second == TOPO_NONE)
		return;

	bool far = r->m->pci[h->pci].parent != r->m->pci[h->second].parent;

	f = gdr_add(r, "bond", far ? FINDING_WARN : FINDING_OK, TOPO_NONE, hca);
	finding_set_value(f, "%s and %s are one RDMA device", gdr_bdf(r, h->pci, a),
			  gdr_bdf(r, h->second, b));
	if (!far)
		return;
	finding_set_reason(f, "its two cards have different places in the PCIe tree: traffic of "
			      "one of them takes a longer path");
	finding_set_remedy(
		f, "do not bond ports that carry traffic between GPUs: give each a network of "
		   "its own");
}

/* ---- the path that NCCL uses ---- */

/* NCCL_IB_MERGE_VFS: NCCL replaces the path of a VF by device 0, function 0 of its bus, which
 * should be the PF. */
static bool leads_to_pf(struct pci_addr vf, struct pci_addr pf)
{
	return vf.domain == pf.domain && vf.bus == pf.bus && pf.dev == 0;
}

static void judge_vf(struct gdr *r, struct finding *f, uint32_t pci)
{
	uint32_t pf = r->m->pci[pci].physfn;
	char a[PCI_STR_LEN], b[PCI_STR_LEN];
	bool pf_near = false;

	(void)gdr_bdf(r, pci, a);
	if (pf == TOPO_NONE) {
		finding_set_value(f, "%s is a VF, and its PF is not visible here", a);
	} else if (leads_to_pf(r->m->pci[pci].addr, r->m->pci[pf].addr)) {
		finding_set_value(f, "VF %s of PF %s: NCCL finds it at the place of the PF", a,
				  gdr_bdf(r, pf, b));
		for (uint32_t h = 0; h < r->m->n_hcas && !pf_near; h++)
			pf_near = r->m->hca[h].pci == pf && gdr_is_near_any(r, h);
		if (!pf_near)
			return;
		f->state = FINDING_WARN;
		finding_set_reason(f, "PF and VF are both visible: NCCL treats them as two ports "
				      "of one card and merges them");
		finding_set_remedy(f, "hide the PF from the pod, or set NCCL_IB_MERGE_NICS=0");
		return;
	} else {
		finding_set_value(f, "VF %s of PF %s is on another bus than the PF", a,
				  gdr_bdf(r, pf, b));
	}
	f->state = FINDING_WARN;
	finding_set_reason(f, "NCCL replaces device and function in a VF's path by 00.0, and the "
			      "PF is not there: NCCL treats the card as far away");
	finding_set_remedy(f, "set NCCL_IB_MERGE_VFS=0");
}

static void check_vf(struct gdr *r, uint32_t hca)
{
	const struct topo_hca *h = &r->m->hca[hca];
	char path[GDR_PATH_LEN];
	struct finding *f;

	if (h->pci == TOPO_NONE || (h->kind != TOPO_HCA_VF && h->kind != TOPO_HCA_SF))
		return;
	f = gdr_add(r, h->kind == TOPO_HCA_SF ? "sf" : "vf", FINDING_OK, TOPO_NONE, hca);
	(void)snprintf(path, sizeof(path), "class/infiniband/%s/device", h->name);
	gdr_path(r, f, GDR_SYS, path);
	if (h->kind == TOPO_HCA_VF) {
		judge_vf(r, f, h->pci);
		return;
	}
	f->state = FINDING_WARN;
	finding_set_value(f, "it is a subfunction");
	finding_set_reason(
		f,
		"NCCL cannot find the place of a subfunction: it puts the device at the first CPU");
	finding_set_remedy(f, "use VFs, or give NCCL its place: railctl topo --nccl-xml-out FILE, "
			      "and NCCL_TOPO_FILE=FILE");
}

/* ---- all of it ---- */

static void check_settings(struct gdr *r, uint32_t hca)
{
	uint32_t owner = gdr_owner(r->m, hca);

	/* VFs share the settings of their PF: check them once, for the first VF. */
	if (owner == TOPO_NONE || !gdr_once(r, owner))
		return;
	gdr_link_state(r, owner, TOPO_NONE, hca);
	if (!r->tree)
		return;
	gdr_payload(r, owner, TOPO_NONE, hca);
	hca_check_setting(r, "read-request", owner, hca, judge_reads);
	hca_check_setting(r, "relaxed-ordering", owner, hca, judge_ordering);
}

static void check_hidden_pf(struct gdr *r, uint32_t hca)
{
	static const char *const ids[] = { "link", "payload", "read-request", "relaxed-ordering" };

	if (gdr_owner(r->m, hca) != TOPO_NONE || r->m->hca[hca].pci == TOPO_NONE)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		struct finding *f = gdr_add(r, ids[i], FINDING_UNKNOWN, TOPO_NONE, hca);

		finding_set_reason(
			f,
			"a VF does not have this setting itself, and its PF is not visible here");
		finding_set_remedy(f, "run railctl topo check on the host");
	}
}

void gdr_hca(struct gdr *r, uint32_t hca)
{
	const struct topo_hca *h = &r->m->hca[hca];

	hca_check_port(r, hca);
	check_role(r, hca);
	check_bond(r, hca);
	check_vf(r, hca);
	check_settings(r, hca);
	check_hidden_pf(r, hca);
	if (h->pci == TOPO_NONE)
		return;
	gdr_numa(r, h->pci, TOPO_NONE, hca);
	if (r->tree)
		gdr_iommu(r, h->pci, TOPO_NONE, hca);
}
