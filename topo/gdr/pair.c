/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the path between a GPU and an HCA: its distance, and ports that redirect (ACS). */
#include <stdio.h>
#include <string.h>

#include "topo/gdr/priv.h"
#include "topo/core/distance.h"

/* ---- distance ---- */

/* The pair of HCA and Data Direct function is probable only. It is not ok unless the HCA's own
 * function is near, too. */
static void judge_direct(const struct gdr *r, struct finding *f)
{
	struct topo_distance own;

	topo_distance_to_own(r->m, f->of[GDR_OF_GPU], f->of[GDR_OF_HCA], &own);
	if (own.class < TOPO_PHB || r->m->hca[f->of[GDR_OF_HCA]].direct_proved)
		return;
	f->state = FINDING_UNKNOWN;
	finding_set_reason(f,
			   "the HCA itself is behind a CPU (%s); that this Data Direct function is "
			   "its own is probable, but not proved",
			   topo_class_name(own.class));
	finding_set_remedy(f,
			   "run \"rdma-probe list\", and put its answer about %s into "
			   "/etc/railhead/topo.json (dataDirect)",
			   r->m->hca[f->of[GDR_OF_HCA]].name);
}

static void check_distance(struct gdr *r, uint32_t gpu, uint32_t hca, const struct topo_distance *x)
{
	struct finding *f = gdr_add(r, "distance", FINDING_OK, gpu, hca);
	bool c2c = gdr_c2c(r, gpu);

	finding_set_value(f, "%s%s", topo_class_name(x->class),
			  c2c && x->class >= TOPO_PHB ? " by PCIe; C2C leads to the CPU" : "");
	if (x->class == TOPO_CLASS_UNKNOWN) {
		f->state = FINDING_UNKNOWN;
		finding_set_reason(f, "the place of the RDMA device is not known");
		finding_set_remedy(f, "run railctl topo on the host");
		return;
	}
	if (c2c)
		return;
	if (x->direct) {
		judge_direct(r, f);
		return;
	}
	if (x->class < TOPO_PHB)
		return;
	f->state = FINDING_WARN;
	finding_set_reason(f, "the path between GPU and NIC leads through a CPU: NCCL does not use "
			      "GPUDirect RDMA there, even if the drivers support it");
	finding_set_remedy(f,
			   "put a NIC below the GPU's switch; or set NCCL_NET_GDR_LEVEL=%s and "
			   "measure, because not every CPU forwards such traffic",
			   x->class == TOPO_SYS ? "SYS" : "PHB");
}

/* ---- ACS ---- */

#define PORTS_LEN 320

struct acs_look {
	const struct gdr *r;
	char ports[PORTS_LEN];  /* the ports that redirect, each with its ACS bits */
	char setpci[PORTS_LEN]; /* commands that switch it off */
	uint32_t first;         /* the first port that redirects; TOPO_NONE */
	uint32_t unread;        /* the first port that could not be read; TOPO_NONE */
	struct gdr_config why;  /* the configuration space of `unread` */
	size_t seen;
	bool direct; /* all ports that redirect let translated requests pass */
};

static void note_redirect(struct acs_look *l, uint32_t port, uint16_t on)
{
	char bdf[PCI_STR_LEN], names[PCICAP_ACS_LEN];
	size_t n = strlen(l->ports), m = strlen(l->setpci);

	if (l->first == TOPO_NONE)
		l->first = port;
	l->direct &= !!(on & PCICAP_ACS_DT);
	(void)gdr_bdf(l->r, port, bdf);
	(void)snprintf(l->ports + n, PORTS_LEN - n, "%s%s: %s", n ? ", " : "", bdf,
		       pcicap_acs_names(on, names));
	(void)snprintf(l->setpci + m, PORTS_LEN - m, "%ssetpci -s %s ECAP_ACS+6.w=0000",
		       m ? "; " : "", bdf);
}

static void look_at_port(struct acs_look *l, uint32_t port)
{
	struct gdr_config config;
	struct pcicap_acs acs;
	enum pcicap_found found = pcicap_acs(gdr_config(l->r, port, &config), &acs);

	l->seen++;
	if (found == PCICAP_UNKNOWN && l->unread == TOPO_NONE) {
		l->unread = port;
		l->why = config;
	}
	if (found == PCICAP_FOUND && (acs.on & (PCICAP_ACS_RR | PCICAP_ACS_CR)))
		note_redirect(l, port, acs.on);
}

/* Only downstream ports below the common ancestor redirect; at a root complex, root ports too. */
static void check_ports_below(struct acs_look *l, uint32_t from, uint32_t ancestor)
{
	const struct topo_machine *m = l->r->m;

	for (uint32_t p = m->pci[from].parent; p != TOPO_NONE && p != ancestor;
	     p = m->pci[p].parent)
		if (m->pci[p].kind == TOPO_DOWNSTREAM ||
		    (m->pci[p].kind == TOPO_ROOT_PORT && ancestor == TOPO_NONE))
			look_at_port(l, p);
}

/* The HCA sends translated requests. A VF has the setting of its PF. */
static bool has_ats(const struct gdr *r, uint32_t pci)
{
	struct gdr_config config;
	bool on = false;

	return pcicap_ats(gdr_config(r, pci, &config), &on) == PCICAP_FOUND && on;
}

static bool iommu_translates(const struct gdr *r, uint32_t pci)
{
	struct gdr_group g;

	gdr_group(r, pci, &g);
	return g.mode == GDR_IOMMU_TRANSLATES;
}

static void set_redirect(struct gdr *r, struct finding *f, const struct acs_look *l)
{
	uint32_t gpu = r->m->gpu[f->of[GDR_OF_GPU]].pci, hca = r->m->hca[f->of[GDR_OF_HCA]].pci;
	bool translated = iommu_translates(r, gpu) || iommu_translates(r, hca);
	char path[GDR_PATH_LEN];

	gdr_path(r, f, GDR_SYS, gdr_pci_path(r, l->first, "config", path));
	if (l->direct && has_ats(r, hca)) {
		finding_set_value(
			f,
			"%s; the ports let translated requests pass, and the HCA sends them (ATS)",
			l->ports);
		return;
	}
	finding_set_value(f, "%s", l->ports);
	f->state = translated ? FINDING_FAIL : FINDING_WARN;
	finding_set_reason(f, translated
				      ? "transfers between GPU and NIC go to the root complex, "
					"where the IOMMU blocks them: they hang or end in errors"
				      : "transfers between GPU and NIC go up to the root complex "
					"and down again: they have a fraction of the bandwidth");
	finding_set_remedy(
		f,
		"%s (until the next boot; devices of different virtual machines are then not "
		"isolated). Permanently: pci=disable_acs_redir= or pci=config_acs= on the kernel's "
		"command line, or switch ACS off in the firmware%s",
		l->setpci,
		l->direct ? "; or switch ATS on in the HCA, because these ports let translated "
			    "requests pass"
			  : "");
}

static void check_acs(struct gdr *r, uint32_t gpu, uint32_t hca, const struct topo_distance *x)
{
	struct acs_look l = { .r = r, .first = TOPO_NONE, .unread = TOPO_NONE, .direct = true };
	struct finding *f = gdr_add(r, "acs", FINDING_OK, gpu, hca);

	check_ports_below(&l, r->m->gpu[gpu].pci, x->ancestor);
	check_ports_below(&l, x->direct ? r->m->hca[hca].direct : r->m->hca[hca].pci, x->ancestor);
	if (l.first != TOPO_NONE)
		set_redirect(r, f, &l);
	else if (l.unread != TOPO_NONE)
		gdr_config_unknown(r, f, l.unread, &l.why);
	else
		finding_set_value(f, "%zu ports on the path, none redirects", l.seen);
}

/* ---- Data Direct: a second function of a ConnectX-8, nearer to the GPUs ---- */

static void check_data_direct(struct gdr *r, uint32_t gpu, uint32_t hca,
			      const struct topo_distance *x)
{
	char bdf[PCI_STR_LEN], path[GDR_PATH_LEN];
	struct finding *f;

	if (!x->direct)
		return;
	f = gdr_add(r, "data-direct", FINDING_OK, gpu, hca);
	gdr_path(r, f, GDR_SYS, gdr_pci_path(r, r->m->hca[hca].direct, "class", path));
	finding_set_value(f, "%s (Data Direct) is %snearer: %s; NCCL uses it as %s_dma",
			  gdr_bdf(r, r->m->hca[hca].direct, bdf),
			  r->m->hca[hca].direct_proved ? "" : "probably ",
			  topo_class_name(x->class), r->m->hca[hca].name);
}

void gdr_pair(struct gdr *r, uint32_t gpu, uint32_t hca)
{
	struct topo_distance x;

	topo_distance_to_hca(r->m, gpu, hca, &x);
	check_distance(r, gpu, hca, &x);
	if (r->m->hca[hca].pci == TOPO_NONE || !topo_is_network(&r->m->hca[hca]))
		return;
	check_data_direct(r, gpu, hca, &x);
	if (r->tree)
		check_acs(r, gpu, hca, &x);
}
