/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vf.h: a host with a PF and VFs, for tests. Their interfaces are veth, lib/testing/pf.h answers
 * requests about the PF, and a /sys of files says which device has which interface. Everything
 * disappears when the test's process ends.
 */
#ifndef RAILHEAD_SRIOV_TESTING_VF_H
#define RAILHEAD_SRIOV_TESTING_VF_H

#include "lib/sys/netns.h"
#include "lib/net/link.h"
#include "lib/testing/pf.h"
#include "sriov/take/claim.h"

#define WORLD_SYS "/mnt/sys"
#define WORLD_RUN "/mnt/run"
#define WORLD_CNI "/mnt/cni" /* absent until a test creates it */
#define WORLD_LOG "/mnt/log"
#define WORLD_PF  "0000:3b:00.0" /* its interface is "pf0"; VF n is "v<n>" */

struct world {
	struct ctx ctx; /* logs into WORLD_LOG */
	struct nl *nl;
	struct fakepf *kernel;
};

/* world - a new network namespace with a PF of that many VFs. world_clear - stop and close
 * it.
 */
struct world world(uint32_t vfs);
void world_clear(struct world *w);
#define auto_world auto_clean(world_clear)

/* world_pf - add another PF; requests for its VFs fail with EOPNOTSUPP. */
struct world_pf {
	const char *addr, *name;
	uint32_t vfs, first; /* number in the name of the first VF */
};
void world_pf(const struct world_pf *pf);

/* world_vf - the PCI address of VF n of WORLD_PF, in one of four static buffers. */
const char *world_vf(uint32_t n);

/*
 * world_shows - sysfs shows name as the interface of VF n; NULL: none. After the next move or
 * rename of a link sysfs shows the real names again.
 */
void world_shows(uint32_t n, const char *name);

/* world_vanish - VF n disappears. world_remake - a new VF with interface name replaces VF n.
 */
void world_remake(uint32_t n, const char *name);
void world_vanish(uint32_t n);

/* A pod's namespace, with a path that is valid until pod_clear(). */
struct pod {
	struct netns ns;
	char path[64];
	struct nl *nl;
};
/* pod - a new network namespace. pod_clear - close it. */
struct pod pod(void);
void pod_clear(struct pod *p);
#define auto_pod auto_clean(pod_clear)

/* claimant_of - interface net1 of container in that pod, which will change every attribute. */
struct claimant claimant_of(const struct world *w, const char *container, const struct pod *p);

/* world_entry - the VF state of VF n, which must exist; the caller clears it. */
struct vf_entry world_entry(const struct world *w, uint32_t n);

/* world_log_has - whether a line of the log has text. */
bool world_log_has(const char *text);

#endif
