/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gdr.h: checks whether GPUDirect RDMA can work; each finding is ok, warn, fail or unknown.
 *
 * A value that cannot be read, or is not in a capture, makes the finding unknown with a reason,
 * never ok. The checks change nothing and run no remedy.
 *
 * The checks read these files, so that a capture must have them. "+": also if it is empty.
 *	of a function	config, resource, resource[0-2]_resize (their existence),
 *			mem_info_vram_total, iommu_group
 *	sys		kernel/iommu_groups+, kernel/iommu_groups/N/type, module+,
 *			module/nvidia_peermem/version, and in kernel/mm/memory_peers,
 *			kernel/memory_peers, memory_peers: {nv_mem,nv_mem_nc,amdkfd}/version
 *	proc		cpuinfo, cmdline, sys/kernel/osrelease, driver/nvidia/version,
 *			driver/nvidia/gpus/<address>/numa_status
 *	boot		config-<osrelease>
 */
#ifndef RAILHEAD_TOPO_GDR_GDR_H
#define RAILHEAD_TOPO_GDR_GDR_H

#include "lib/cli/finding.h"
#include "lib/rdma/version.h"
#include "topo/core/choose.h"

/* Indices of struct finding.of: the GPU and the HCA of a finding; TOPO_NONE: all of them. */
enum { GDR_OF_GPU, GDR_OF_HCA };

struct gdr_findings {
	struct findings all;     /* worst first; railctl(8) explains each id */
	enum finding_state *gpu; /* by GPU: the worst state; owned */
	size_t n_gpus;
};

/* The folders of a tree: "/sys", "/proc", "/boot" when live. boot may be NULL. */
struct topo_tree_dirs {
	const char *sysfs, *proc, *boot;
	const struct topo_scope *scope; /* the GPUs and HCAs that are checked; NULL: all */
	const struct lib_version *nccl; /* of the jobs; NULL: not known */
	bool others_seen; /* HCAs out of scope belong to other pods, and are visible */
};

/*
 * gdr_check - check every GPU in scope with its nearest HCAs; c: topo_choose() of the same scope.
 * For a machine from a topology file, d may be NULL: checks that need a tree are unknown. Findings
 * name files by their paths on the machine, whichever folders d has. The caller clears *out.
 */
int gdr_check(const struct topo_machine *m, const struct topo_choice *c,
	      const struct topo_tree_dirs *d, struct gdr_findings *out, struct err *e) must_check;

/* A port of an HCA: m->hca[hca].port[port]. */
struct gdr_rail {
	uint32_t hca;
	size_t port;
};
/*
 * gdr_check_rail - the findings "port" and "link" of one port, near a GPU or not. The HCA has a
 * function; of a bond, both functions have their "link". d: as above. findings_clear() frees *out.
 */
int gdr_check_rail(const struct topo_machine *m, const struct topo_tree_dirs *d,
		   struct gdr_rail which, struct findings *out, struct err *e) must_check;

/* gdr_findings_clear - free all that f owns. */
void gdr_findings_clear(struct gdr_findings *f);
#define auto_gdr_findings auto_clean(gdr_findings_clear)

/*
 * gdr_worst - the worst state of the findings that concern a GPU: about itself, its nearest HCAs,
 * or the machine. TOPO_NONE: the worst of all GPUs. The order is ok, unknown, warn, fail.
 */
enum finding_state gdr_worst(const struct gdr_findings *f, uint32_t gpu);

#endif
