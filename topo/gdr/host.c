/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the machine: virtual or not, ACS on the kernel's command line, RDMA devices of others.
 */
#include <stdio.h>
#include <string.h>

#include "topo/gdr/priv.h"

/* ---- a virtual machine ---- */

static bool is_below_bridges(const struct topo_machine *m, uint32_t pci)
{
	uint32_t up = pci == TOPO_NONE ? TOPO_NONE : m->pci[pci].parent;

	return up != TOPO_NONE && m->pci[up].kind != TOPO_ROOT_PORT;
}

/* No device is below a switch, and none shares a port: the hypervisor does not show the host's
 * tree. */
static bool is_flat(const struct topo_machine *m)
{
	for (size_t i = 0; i < m->n_gpus; i++)
		if (is_below_bridges(m, m->gpu[i].pci))
			return false;
	for (size_t i = 0; i < m->n_hcas; i++)
		if (is_below_bridges(m, m->hca[i].pci))
			return false;
	return m->n_gpus + m->n_hcas > 1 && !topo_any_is_near(m);
}

/* Ports of an emulated machine: QEMU's root port, and the x3130 switch that QEMU emulates. */
static size_t count_emulated_ports(const struct topo_machine *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_pci; i++) {
		const struct topo_pci *p = &m->pci[i];
		bool root_port = p->vendor == 0x1b36 && p->device == 0x000c;
		bool x3130 = p->vendor == 0x104c && (p->device == 0x8232 || p->device == 0x8233);
		n += p->has_ids && (root_port || x3130);
	}
	return n;
}

static void check_vm(struct gdr *r)
{
	const struct topo_machine *m = r->m;
	struct finding *f = gdr_add(r, "vm", FINDING_OK, TOPO_NONE, TOPO_NONE);

	gdr_path(r, f, GDR_PROC, "cpuinfo");
	if (m->vm == TOPO_NO) {
		finding_set_value(f, "no flag \"hypervisor\"");
		return;
	}
	f->state = FINDING_UNKNOWN;
	if (m->vm == TOPO_UNKNOWN) {
		finding_set_reason(f, "it is not known whether this is a virtual machine");
		finding_set_remedy(f,
				   "run it on the machine itself, or give it a complete capture");
		return;
	}
	finding_set_value(f, "flag \"hypervisor\"; %zu ports are emulated",
			  count_emulated_ports(m));
	finding_set_reason(f, "this is a virtual machine: the switches, ACS and IOMMU of its host "
			      "are not visible from inside");
	finding_set_remedy(f, "run railctl topo check on the host, as root");
}

static void check_flat(struct gdr *r)
{
	struct finding *f;

	if (r->m->vm != TOPO_YES || !is_flat(r->m))
		return;
	f = gdr_add(r, "vm-tree", FINDING_WARN, TOPO_NONE, TOPO_NONE);
	gdr_path(r, f, GDR_SYS, "bus/pci/devices");
	finding_set_value(f, "no GPU and no RDMA device is below a switch");
	finding_set_reason(
		f, "NCCL treats every pair as far apart (PHB): it does not use GPUDirect RDMA, "
		   "and pairs GPUs and NICs by their order");
	finding_set_remedy(f, "give NCCL the host's tree: run railctl topo --nccl-xml-out FILE on "
			      "the host, and set NCCL_TOPO_FILE=FILE in the guest");
}

/* ---- the kernel's command line ---- */

#define CMDLINE_LEN 4096

/* The words of the command line that set ACS; false: there are none. */
static bool acs_words(char *cmdline, char *out, size_t size)
{
	static const char *const marks[] = { "disable_acs_redir=", "config_acs=",
					     "pcie_acs_override=" };
	size_t len = 0;
	char *rest = cmdline, *word;

	*out = '\0';
	while ((word = strsep(&rest, " ")))
		for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
			if (strstr(word, marks[i]) && len < size)
				len += (size_t)snprintf(out + len, size - len, "%s%s",
							len ? " " : "", word);
	return len > 0;
}

static void check_cmdline(struct gdr *r)
{
	char cmdline[CMDLINE_LEN], words[256];
	struct finding *f;

	if (gdr_text(r, GDR_PROC, "cmdline", cmdline, sizeof(cmdline)) ||
	    !acs_words(cmdline, words, sizeof(words)))
		return;
	f = gdr_add(r, "acs-kernel", FINDING_OK, TOPO_NONE, TOPO_NONE);
	gdr_path(r, f, GDR_PROC, "cmdline");
	finding_set_value(f, "%s", words);
}

/* ---- RDMA at all ---- */

static void host_check_hcas(struct gdr *r)
{
	struct finding *f;

	if (r->m->n_hcas)
		return;
	f = gdr_add(r, "hcas", FINDING_FAIL, TOPO_NONE, TOPO_NONE);
	gdr_path(r, f, GDR_SYS, "class/infiniband");
	finding_set_value(f, "there is no RDMA device");
	finding_set_reason(f, "NCCL and UCX use TCP");
	finding_set_remedy(
		f, "load the driver of the NIC with its RDMA part (mlx5_ib, irdma, bnxt_re); in "
		   "a pod, attach one");
}

/* NCCL's net_ib.cc: MAX_IB_DEVS, ports that are ACTIVE in the order in which libibverbs finds them.
 */
#define NCCL_OPENS 32u

static void check_many(struct gdr *r)
{
	struct finding *f;
	bool by_hcas = false;
	size_t n = 0;

	for (size_t i = 0; i < r->m->n_gpus; i++)
		by_hcas |= !r->m->gpu[i].on_package;
	for (uint32_t i = 0; i < r->m->n_hcas && by_hcas; i++) {
		const struct topo_hca *h = &r->m->hca[i];

		n += !h->n_ports;
		for (size_t k = 0; k < h->n_ports; k++)
			n += h->port[k].active != TOPO_NO;
	}
	if (n <= NCCL_OPENS)
		return;
	f = gdr_add(r, "many", FINDING_WARN, TOPO_NONE, TOPO_NONE);
	gdr_path(r, f, GDR_SYS, "class/infiniband");
	finding_set_value(f, "%zu ports of RDMA devices", n);
	finding_set_reason(f,
			   "NCCL opens the first %u that it finds, whatever GPU they are near to",
			   NCCL_OPENS);
	finding_set_remedy(
		f, "set NCCL_IB_HCA as \"railctl topo --env\" prints it, or switch RDMA to mode "
		   "exclusive, where a pod sees only its own devices");
}

/* ---- a pod that sees RDMA devices of other pods ---- */

#define NAMES_LEN 320

static size_t put_others(const struct gdr *r, char names[NAMES_LEN])
{
	size_t n = 0, len = 0;

	*names = '\0';
	for (size_t h = 0; h < r->m->n_hcas; h++) {
		if (gdr_has_hca(r, h))
			continue;
		if (len < NAMES_LEN)
			len += (size_t)snprintf(names + len, NAMES_LEN - len, "%s%s", n ? ", " : "",
						r->m->hca[h].name);
		n++;
	}
	return n;
}

static void host_check_neighbours(struct gdr *r)
{
	char names[NAMES_LEN];
	struct finding *f;

	if (!r->others_seen || !put_others(r, names))
		return;
	f = gdr_add(r, "neighbours", FINDING_WARN, TOPO_NONE, TOPO_NONE);
	gdr_path(r, f, GDR_SYS, "class/infiniband");
	finding_set_value(f, "%s", names);
	finding_set_reason(f, "these devices belong to other pods but are visible here: without "
			      "settings, NCCL and UCX use them, their addresses and their rails");
	finding_set_remedy(
		f, "set what \"railctl topo --env\" prints; or switch RDMA to mode exclusive, "
		   "where a pod sees only its own devices (railctl rdma mode exclusive)");
}

void gdr_host(struct gdr *r)
{
	check_vm(r);
	check_flat(r);
	check_cmdline(r);
	host_check_hcas(r);
	check_many(r);
	host_check_neighbours(r);
}
