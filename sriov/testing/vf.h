/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vf.h: a host with a PF and VFs, for tests: veth stands in for them in the kernel,
 * lib/testing/pf.h answers for the PF, and a /sys in a folder says whose interface is which. All is
 * gone when the test's process ends.
 */
#ifndef RAILHEAD_SRIOV_TESTING_VF_H
#define RAILHEAD_SRIOV_TESTING_VF_H

#include "lib/sys/netns.h"
#include "lib/net/link.h"
#include "lib/testing/pf.h"
#include "sriov/take/claim.h"

#define WORLD_SYS "/mnt/sys"
#define WORLD_RUN "/mnt/run"
#define WORLD_CNI "/mnt/cni" /* not there until a test makes it */
#define WORLD_LOG "/mnt/log"
#define WORLD_PF  "0000:3b:00.0" /* its interface is "pf0"; VF n is "v<n>" */

struct world {
	struct ctx ctx; /* logs into WORLD_LOG */
	struct nl *nl;
	struct fakepf *kernel;
};

struct world world(uint32_t vfs);
void world_clear(struct world *w);
#define auto_world auto_clean(world_clear)

/* world_pf - a further PF; what it knows of its VFs is nothing (EOPNOTSUPP). */
struct world_pf {
	const char *addr, *name;
	uint32_t vfs, first; /* number in the name of the first VF */
};
void world_pf(const struct world_pf *pf);

/* world_vf - address of VF n of WORLD_PF; in a static buffer of which there are several. */
const char *world_vf(uint32_t n);

/* world_shows - sysfs shows name as the interface of VF n; NULL: none. Whenever a link moves or is
 * renamed it shows all as they are. */
void world_shows(uint32_t n, const char *name);

/* world_remake - VF n vanishes, and another one comes in its place (make: with interface name). */
void world_remake(uint32_t n, const char *name);
void world_vanish(uint32_t n);

/* A pod's namespace, by a path that is there until pod_clear(). */
struct pod {
	struct netns ns;
	char path[64];
	struct nl *nl;
};
struct pod pod(void);
void pod_clear(struct pod *p);
#define auto_pod auto_clean(pod_clear)

/* claimant_of - container's interface net1, in that pod, that dirties everything. */
struct claimant claimant_of(const struct world *w, const char *container, const struct pod *p);

/* world_entry - the state of VF n. */
struct vf_entry world_entry(const struct world *w, uint32_t n);

/* world_log_has - whether a line of the log has text. */
bool world_log_has(const char *text);

#endif
