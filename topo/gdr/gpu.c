/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of one GPU: the size of its BAR, a C2C link, and whether it has an HCA. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo/gdr/priv.h"
#include "topo/core/distance.h"

/* ---- the BAR through which other devices reach its memory ---- */

#define GIB          (UINT64_C(1) << 30)
#define BARS         6
#define RESOURCE_LEN 2048
#define FLAG_MEM     0x200U
#define FLAG_MEM_64  0x100000U /* IORESOURCE_MEM_64: the BAR takes two lines */
#define SIZE_LEN     24

static char *size_text(uint64_t n, char out[SIZE_LEN])
{
	if (n >= GIB)
		(void)snprintf(out, SIZE_LEN, "%" PRIu64 " GiB", n / GIB);
	else
		(void)snprintf(out, SIZE_LEN, "%" PRIu64 " MiB", n >> 20);
	return out;
}

/* A line of `resource`: first address, last address, flags. */
struct bar {
	uint64_t size; /* 0: it is not memory, or has no address */
	bool is_64;
};

static struct bar read_bar(const char *line)
{
	char *end;
	uint64_t first = strtoull(line, &end, 16);
	uint64_t last = strtoull(end, &end, 16);
	uint64_t flags = strtoull(end, &end, 16);

	return (struct bar){ .size = last > first && (flags & FLAG_MEM) ? last - first + 1 : 0,
			     .is_64 = flags & FLAG_MEM_64 };
}

/*
 * The line of the BAR of the GPU's memory; BARS: the largest one. NVIDIA's "BAR 1" is the second
 * BAR. Up to Ampere the first one has 32 bits and one line; since Hopper it has 64 bits and two.
 */
static int line_of_window(const struct bar all[BARS], enum topo_vendor v)
{
	if (v == TOPO_NVIDIA)
		return all[0].is_64 ? 2 : 1;
	return v == TOPO_AMD ? 0 : BARS;
}

/* The BAR of the GPU's memory. Returns its line, which is the number in the names of sysfs. */
static int find_window(const char *text, enum topo_vendor v, uint64_t *size)
{
	struct bar all[BARS] = { 0 };
	int best = 0, line;

	for (int i = 0; i < BARS && text; i++) {
		all[i] = read_bar(text);
		if (all[i].size > all[best].size)
			best = i;
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	line = line_of_window(all, v);
	if (line == BARS)
		line = best;
	*size = all[line].size;
	return line;
}

static void set_small_window(struct gdr *r, struct finding *f, int bar, uint64_t memory)
{
	char resize[32], path[GDR_PATH_LEN], bdf[PCI_STR_LEN], size[SIZE_LEN];
	uint32_t pci = r->m->gpu[f->of[GDR_OF_GPU]].pci;

	(void)snprintf(resize, sizeof(resize), "resource%d_resize", bar);
	finding_set_reason(
		f,
		f->state == FINDING_FAIL
			? "the GPU's memory has no address on the bus: no NIC can reach it"
			: "a NIC can reach only a part of the GPU's memory%s%s at a time: large "
			  "registrations fail",
		memory ? " of " : "", memory ? size_text(memory, size) : "");
	if (gdr_there(r, GDR_SYS, gdr_pci_path(r, pci, resize, path)))
		finding_set_remedy(
			f,
			"unload the GPU's driver, read /sys/bus/pci/devices/%s/%s, and write the "
			"largest size into it; or switch on \"Above 4G decoding\" and \"Resizable "
			"BAR\" in the firmware",
			gdr_bdf(r, pci, bdf), resize);
	else
		finding_set_remedy(f,
				   "switch on \"Above 4G decoding\" and \"Resizable BAR\" in the "
				   "firmware; for a virtual machine, give it more MMIO space");
}

static void check_window(struct gdr *r, uint32_t gpu)
{
	const struct topo_gpu *g = &r->m->gpu[gpu];
	char path[GDR_PATH_LEN], text[RESOURCE_LEN], bytes[SIZE_LEN];
	struct finding *f = gdr_add(r, "bar1", FINDING_OK, gpu, TOPO_NONE);
	uint64_t size, memory = 0;
	int bar;
	ssize_t n = gdr_read(r, GDR_SYS, gdr_pci_path(r, g->pci, "resource", path), text,
			     sizeof(text) - 1);

	gdr_path(r, f, GDR_SYS, path);
	if (n < 0) {
		gdr_unread(f, (int)n);
		return;
	}
	text[n] = '\0';
	bar = find_window(text, g->vendor, &size);
	/* only AMD's driver has this file */
	if (!gdr_text(r, GDR_SYS, gdr_pci_path(r, g->pci, "mem_info_vram_total", path), text,
		      sizeof(text)))
		memory = strtoull(text, NULL, 10);
	finding_set_value(f, "BAR %d: %s", g->vendor == TOPO_NVIDIA ? 1 : bar,
			  size_text(size, bytes));
	if (size >= GIB && size >= memory)
		return;
	f->state = size ? FINDING_WARN : FINDING_FAIL;
	set_small_window(r, f, bar, memory);
}

/* ---- Grace: GPU and CPU are one package ---- */

bool gdr_c2c(const struct gdr *r, uint32_t gpu)
{
	return r->m->gpu[gpu].c2c_count && r->m->gpu[gpu].c2c_mbps;
}

static void check_c2c(struct gdr *r, uint32_t gpu)
{
	const struct topo_gpu *g = &r->m->gpu[gpu];
	char path[GDR_PATH_LEN], bdf[PCI_STR_LEN];
	struct finding *f;

	if (!gdr_c2c(r, gpu))
		return;
	f = gdr_add(r, "c2c", FINDING_OK, gpu, TOPO_NONE);
	if (!strcmp(g->c2c_from, "numa_status")) {
		(void)snprintf(path, sizeof(path), "driver/nvidia/gpus/%s/numa_status",
			       gdr_bdf(r, g->pci, bdf));
		gdr_path(r, f, GDR_PROC, path);
	} else if (r->tree) {
		gdr_path(r, f, GDR_SYS, gdr_pci_path(r, g->pci, "device", path));
	}
	if (g->gdr != TOPO_NO) {
		finding_set_value(
			f, "%u C2C links to the CPU: GPUDirect RDMA works through it (P2C in NCCL)",
			g->c2c_count);
		return;
	}
	f->state = FINDING_WARN;
	finding_set_value(f, "%u C2C links to the CPU", g->c2c_count);
	finding_set_reason(f, "no GPUDirect RDMA: the driver of this GPU does not offer it");
	finding_set_remedy(f, "nothing: NCCL copies through host memory, which the GPU shares");
}

/* ---- an HCA ---- */

static void check_on_package(struct gdr *r, uint32_t gpu)
{
	struct finding *f = gdr_add(r, "on-package", FINDING_OK, gpu, TOPO_NONE);
	char path[GDR_PATH_LEN];

	gdr_path(r, f, GDR_SYS, gdr_pci_path(r, r->m->gpu[gpu].pci, "vendor", path));
	finding_set_value(f, "%s has RDMA ports of its own: it needs no HCA",
			  r->m->gpu[gpu].vendor == TOPO_ASCEND ? "Ascend (hccn_tool shows them)"
							       : "Gaudi");
}

static void check_nearest(struct gdr *r, uint32_t gpu)
{
	const struct topo_gpu_choice *g = &r->c->gpu[gpu];
	size_t software = 0;
	struct finding *f;

	if (g->n_nearest || !r->m->n_hcas)
		return;
	for (size_t i = 0; i < r->m->n_hcas; i++)
		software += r->m->hca[i].kind == TOPO_HCA_SOFTWARE;
	f = gdr_add(r, software ? "software" : "nearest", FINDING_FAIL, gpu, TOPO_NONE);
	gdr_path(r, f, GDR_SYS, "class/infiniband");
	if (software)
		finding_set_value(f, "%zu of %zu RDMA devices are software (rxe, siw)", software,
				  r->m->n_hcas);
	else
		finding_set_value(f, "%s", g->why_none ? g->why_none : "no RDMA device is usable");
	finding_set_reason(f, "no GPUDirect RDMA: %s",
			   software ? "software devices copy through host memory"
				    : "no NIC can be used for this GPU");
	finding_set_remedy(f, software ? "attach a NIC whose driver has an RDMA device"
				       : "bring up a port: railctl rdma list shows their states");
}

void gdr_gpu(struct gdr *r, uint32_t gpu)
{
	if (r->m->gpu[gpu].on_package) {
		check_on_package(r, gpu);
		return;
	}
	check_nearest(r, gpu);
	check_c2c(r, gpu);
	gdr_link_state(r, r->m->gpu[gpu].pci, gpu, TOPO_NONE);
	gdr_numa(r, r->m->gpu[gpu].pci, gpu, TOPO_NONE);
	if (!r->tree)
		return;
	check_window(r, gpu);
	gdr_iommu(r, r->m->gpu[gpu].pci, gpu, TOPO_NONE);
	gdr_payload(r, r->m->gpu[gpu].pci, gpu, TOPO_NONE);
}
