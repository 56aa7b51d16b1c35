/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that GPUs and HCAs have in common: IOMMU, PCIe link, payload size, NUMA node. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "topo/read/read.h"
#include "topo/gdr/priv.h"

/* ---- the IOMMU ---- */

void gdr_group(const struct gdr *r, uint32_t pci, struct gdr_group *out)
{
	char path[GDR_PATH_LEN];
	int rc = gdr_link(r, GDR_SYS, gdr_pci_path(r, pci, "iommu_group", path), out->name,
			  sizeof(out->name));

	*out->type = '\0';
	if (rc)
		*out->name = '\0';
	out->error = 0;
	/* A kernel with support for groups has this folder, with or without an IOMMU. */
	if (rc == -ENOENT && gdr_there(r, GDR_SYS, "kernel/iommu_groups")) {
		out->mode = GDR_IOMMU_OFF;
		return;
	}
	out->mode = GDR_IOMMU_UNKNOWN;
	out->error = rc;
	if (rc)
		return;
	(void)snprintf(path, sizeof(path), "kernel/iommu_groups/%s/type", out->name);
	out->error = gdr_text(r, GDR_SYS, path, out->type, sizeof(out->type));
	if (!out->error)
		out->mode = strcmp(out->type, "identity") ? GDR_IOMMU_TRANSLATES : GDR_IOMMU_PASS;
}

void gdr_iommu(struct gdr *r, uint32_t pci, uint32_t gpu, uint32_t hca)
{
	struct gdr_group g;
	char path[GDR_PATH_LEN];
	struct finding *f = gdr_add(r, "iommu", FINDING_OK, gpu, hca);

	gdr_group(r, pci, &g);
	(void)gdr_pci_path(r, pci, *g.name ? "iommu_group/type" : "iommu_group", path);
	gdr_path(r, f, GDR_SYS, path);
	if (g.mode == GDR_IOMMU_UNKNOWN) {
		gdr_unread(f, g.error);
		return;
	}
	if (g.mode == GDR_IOMMU_OFF) {
		finding_set_value(f, "it is in no IOMMU group: there is no IOMMU");
		return;
	}
	finding_set_value(f, "%s, group %s", g.type, g.name);
	if (g.mode == GDR_IOMMU_PASS)
		return;
	f->state = FINDING_WARN;
	finding_set_reason(f, "the IOMMU translates its addresses: transfers between GPU and NIC "
			      "are slower, and fail where ACS redirects them");
	finding_set_remedy(
		f, "boot with iommu=pt on the kernel's command line, and keep amd_iommu=on or "
		   "intel_iommu=on; not on a host that gives devices to virtual machines");
}

/* ---- links ---- */

/* The first link up to the root whose current state is below its maximum; TOPO_NONE. */
static uint32_t find_slow_link(const struct topo_machine *m, uint32_t pci, bool widths_only)
{
	for (; pci != TOPO_NONE; pci = m->pci[pci].parent) {
		struct topo_pcie_link max = m->pci[pci].max, cur = m->pci[pci].cur;
		if (max.width && cur.width && cur.width < max.width)
			return pci;
		if (!widths_only && max.speed && cur.speed && cur.speed < max.speed)
			return pci;
	}
	return TOPO_NONE;
}

static void set_slow(struct gdr *r, struct finding *f, uint32_t at)
{
	const struct topo_pci *p = &r->m->pci[at];
	char bdf[PCI_STR_LEN];

	f->state = FINDING_WARN;
	finding_set_value(f, "the link of %s runs at %s x%u; its maximum is %s x%u",
			  gdr_bdf(r, at, bdf), topo_pcie_link_text(p->cur.speed), p->cur.width,
			  topo_pcie_link_text(p->max.speed), p->max.width);
	finding_set_reason(f, "the path has less bandwidth than card and slot allow");
	finding_set_remedy(
		f,
		"reseat the card, check riser and cable, and look for errors: lspci -vv -s %s, "
		"dmesg | grep AER",
		bdf);
}

/* An idle GPU slows its link down to save power, so that only the width counts. */
void gdr_link_state(struct gdr *r, uint32_t pci, uint32_t gpu, uint32_t hca)
{
	const struct topo_pci *p = &r->m->pci[pci];
	uint32_t slow = find_slow_link(r->m, pci, hca == TOPO_NONE);
	struct finding *f = gdr_add(r, "link", FINDING_OK, gpu, hca);
	char path[GDR_PATH_LEN];

	gdr_path(r, f, GDR_SYS,
		 gdr_pci_path(r, slow == TOPO_NONE ? pci : slow, "current_link_width", path));
	if (slow != TOPO_NONE) {
		set_slow(r, f, slow);
	} else if (!p->cur.width || !p->max.width) {
		f->state = FINDING_UNKNOWN;
		finding_set_reason(f, "the link's width is not known");
		finding_set_remedy(
			f, "%s",
			r->m->vm == TOPO_YES
				? "run railctl topo check on the host of the virtual machine"
				: "run lspci -vv on the node, as root");
	} else {
		finding_set_value(f, "x%u, its maximum", p->cur.width);
	}
}

/* ---- payload ---- */

struct payload {
	enum pcicap_found found;
	struct pcicap_express express;
	struct gdr_config config;
};

static void read_payload(const struct gdr *r, uint32_t pci, struct payload *out)
{
	out->found = pcicap_express(gdr_config(r, pci, &out->config), &out->express);
}

static void judge_payload(struct finding *f, const struct pcicap_express *x,
			  const struct pcicap_express *above)
{
	uint16_t able = x->mps_able;

	if (above && above->mps_able < able)
		able = above->mps_able;
	if (above)
		finding_set_value(f, "%u bytes; the port above has %u; both support %u", x->mps,
				  above->mps, able);
	else
		finding_set_value(f, "%u bytes; the device supports %u", x->mps, able);
	if (x->mps >= able && (!above || x->mps == above->mps))
		return;
	f->state = FINDING_WARN;
	finding_set_reason(f, above && x->mps > above->mps
				      ? "the packets are larger than the port above accepts: they "
					"are errors, and the link fails"
				      : "the same data need more packets: bandwidth is lower");
	finding_set_remedy(
		f, "boot with pci=pcie_bus_perf on the kernel's command line, or set the payload "
		   "in the firmware");
}

void gdr_payload(struct gdr *r, uint32_t pci, uint32_t gpu, uint32_t hca)
{
	uint32_t up = r->m->pci[pci].parent;
	struct payload own, above = { .found = PCICAP_ABSENT };
	struct finding *f = gdr_add(r, "payload", FINDING_OK, gpu, hca);
	char path[GDR_PATH_LEN];

	read_payload(r, pci, &own);
	if (own.found == PCICAP_UNKNOWN) {
		gdr_config_unknown(r, f, pci, &own.config);
		return;
	}
	gdr_path(r, f, GDR_SYS, gdr_pci_path(r, pci, "config", path));
	if (own.found == PCICAP_ABSENT) {
		finding_set_value(f, "no PCI Express");
		return;
	}
	if (up != TOPO_NONE)
		read_payload(r, up, &above);
	if (above.found == PCICAP_UNKNOWN)
		gdr_config_unknown(r, f, up, &above.config);
	else
		judge_payload(f, &own.express, above.found == PCICAP_FOUND ? &above.express : NULL);
}

/* ---- NUMA ---- */

void gdr_numa(struct gdr *r, uint32_t pci, uint32_t gpu, uint32_t hca)
{
	struct finding *f = gdr_add(r, "numa", FINDING_OK, gpu, hca);
	int node = r->m->pci[pci].numa;
	uint32_t root = r->m->pci[pci].root;
	char path[GDR_PATH_LEN];

	/* firmware may set the node of the root complex only */
	if (node < 0 && root != TOPO_NONE && r->m->root[root].cpu != TOPO_NONE)
		node = r->m->cpu[r->m->root[root].cpu].numa;
	gdr_path(r, f, GDR_SYS, gdr_pci_path(r, pci, "numa_node", path));
	finding_set_value(f, "%d", node);
	if (node >= 0)
		return;
	f->state = FINDING_UNKNOWN;
	finding_set_reason(f, "the firmware does not name its NUMA node: NCCL gives it a node of "
			      "its own, far from all others (SYS)");
	finding_set_remedy(f, "update the firmware; for a virtual machine, give the root complex a "
			      "node (QEMU: pxb-pcie,numa_node=); or set NCCL_TOPO_FILE");
}
