// SPDX-License-Identifier: Apache-2.0
/*
 * Finds coherent links between a GPU and the CPU of its package (NVLink-C2C), which PCIe does not
 * show. NCCL asks NVML. Here one of two facts of an Arm host proves them: the memory of the GPU is
 * a NUMA node, by NVIDIA's driver; or the PCI device id is that of such a package.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "topo/read/tree.h"

#define VENDOR_NVIDIA 0x10de

/*
 * Device ids: GH200, GB200 and GB300 are those of drivers/vfio/pci/nvgrace-gpu/main.c of Linux,
 * GB10 and VR200 those of dumps of NCCL. Links: `nvidia-smi c2c -s` of a GH200, NCCL's dumps of
 * GB300, GB10 and VR200; two GPUs share a Grace, so GB200 has the 5 links of GB300. NVML reports no
 * GPUDirect RDMA on GB10.
 */
static const struct package {
	uint16_t device;
	uint32_t mbps, count;
	bool no_gdr;
} packages[] = {
	{ 0x2342, 44712, 10, false }, { 0x2345, 44712, 10, false }, { 0x2348, 44712, 10, false },
	{ 0x2941, 44712, 5, false },  { 0x31c2, 44712, 5, false },  { 0x307f, 56376, 7, false },
	{ 0x2e12, 43125, 8, true },
};

/* The links of a package whose id is not known: as slow as the slowest that is. No NIC is faster,
 * so that their number decides nothing. */
static const struct package unknown = { 0, 44712, 5, false };

static const struct package *package_of(const struct topo_pci *p)
{
	for (size_t i = 0; p->has_ids && i < ARRAY_SIZE(packages); i++) {
		if (p->device == packages[i].device)
			return &packages[i];
	}
	return NULL;
}

/* The driver's file has "Node: 2" if the memory of the GPU is NUMA node 2, and -1 if it is none. */
static bool memory_is_node(int proc, bool live, const struct topo_pci *p)
{
	char path[TREE_PATH], bdf[PCI_STR_LEN], text[TREE_VALUE];
	uint64_t node;

	(void)snprintf(path, sizeof(path), "driver/nvidia/gpus/%s/numa_status",
		       pci_format(p->addr, bdf));
	auto_fd int fd = proc < 0 ? -1 : tree_text(proc, path, live);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	if (strncmp(text, "Node:", 5) != 0)
		return false;
	char *word = text + 5 + strspn(text + 5, " \t");
	word[strcspn(word, " \t\n")] = '\0';
	return !parse_u64(word, 0, UINT16_MAX, &node);
}

static bool is_arm(const struct topo_machine *m)
{
	for (size_t i = 0; i < m->n_cpus; i++) {
		if (!strcmp(m->cpu[i].arch, "arm64"))
			return true;
	}
	return false;
}

void tree_c2c(struct tree *t, const char *proc)
{
	struct topo_machine *m = t->m;
	/* A guest of another architecture can have such a GPU, but not its CPU. */
	auto_fd int dir = proc && is_arm(m) ? open(proc, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	for (size_t i = 0; i < m->n_gpus && is_arm(m); i++) {
		struct topo_gpu *g = &m->gpu[i];
		const struct topo_pci *p = &m->pci[g->pci];
		const struct package *known = package_of(p);
		if (!p->has_ids || p->vendor != VENDOR_NVIDIA)
			continue;
		bool node = memory_is_node(dir, m->source == TOPO_LIVE, p);
		if (!node && !known)
			continue;
		g->c2c_from = node ? "numa_status" : "device";
		known = known ? known : &unknown;
		g->c2c_mbps = known->mbps;
		g->c2c_count = known->count;
		if (known->no_gdr)
			g->gdr = TOPO_NO;
	}
}
