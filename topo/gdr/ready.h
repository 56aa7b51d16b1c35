/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ready.h: whether GPUDirect RDMA can work: findings beyond distance, each ok, warn, fail or
 * unknown.
 *
 * What may not be read, or is not in a capture, is unknown with its reason, never ok. Nothing is
 * changed, and no remedy is run.
 *
 * Read, and so in a capture, beside the machine itself. Of a function: config, resource,
 * resource0_resize and resource1_resize (that they are there), mem_info_vram_total, iommu_group.
 * Below sys: kernel/iommu_groups (also when empty) and its N/type; module (also when none of these
 * is there), module/nvidia_peermem/version, kernel/mm/memory_peers, kernel/memory_peers and
 * memory_peers with {nv_mem,nv_mem_nc,amdkfd}/version. Below proc: cpuinfo, cmdline,
 * sys/kernel/osrelease, driver/nvidia/version, driver/nvidia/gpus/<address>/numa_status. Of boot:
 * config-<osrelease>.
 */
#ifndef RAILHEAD_TOPO_GDR_READY_H
#define RAILHEAD_TOPO_GDR_READY_H

#include "lib/cli/finding.h"
#include "topo/core/choose.h"

/* The numbers of a finding's subjects: struct finding.of; AFF_NONE: the machine, or every one. */
enum { AFF_OF_GPU, AFF_OF_HCA };

struct aff_findings {
	struct findings all;     /* worst first; railctl(8) explains each id */
	enum finding_state *gpu; /* the worst for each GPU; owned */
	size_t n_gpus;
};

/* The folders of a tree: "/sys", "/proc", "/boot" when live. boot may be NULL. */
struct aff_tree_dirs {
	const char *sysfs, *proc, *boot;
	const struct aff_scope *scope; /* nothing is said of others; NULL: all */
	bool others_seen;              /* HCAs out of scope are neighbours' that can be seen */
};

/*
 * aff_ready - of every GPU with its nearest HCAs. sysfs, proc and boot as of aff_read_sysfs. A
 * machine from a topology file (d may be NULL): all that needs a tree is unknown. Evidence names
 * files as the machine itself has them, whichever folder stands for them here.
 */
int aff_ready(const struct aff_machine *m, const struct aff_choice *c,
	      const struct aff_tree_dirs *d, struct aff_findings *out, struct err *e) must_check;
void aff_findings_clear(struct aff_findings *f);
#define auto_aff_findings auto_clean(aff_findings_clear)

/*
 * aff_worst - of what concerns this GPU: itself, its nearest HCAs, or the machine; gpu AFF_NONE: of
 * all GPUs. Unknown counts for worse than ok and better than warn.
 */
enum finding_state aff_worst(const struct aff_findings *f, uint32_t gpu);

#endif
