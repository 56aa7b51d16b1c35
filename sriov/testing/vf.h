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
#include "sriov/claim/claim.h"

#define TESTHOST_SYS "/mnt/sys"
#define TESTHOST_RUN "/mnt/run"
#define TESTHOST_CNI "/mnt/cni" /* absent until a test creates it */
#define TESTHOST_LOG "/mnt/log"
#define TESTHOST_PF  "0000:3b:00.0" /* its interface is "pf0"; VF n is "v<n>" */

struct testhost {
	struct ctx ctx; /* logs into TESTHOST_LOG */
	struct nl *nl;
	struct fakepf *kernel;
};

/* testhost - a new network namespace with a PF of that many VFs. testhost_clear - stop and close
 * it.
 */
struct testhost testhost(uint32_t vfs);
void testhost_clear(struct testhost *w);
#define auto_testhost auto_clean(testhost_clear)

/* testhost_pf - add another PF; requests for its VFs fail with EOPNOTSUPP. */
struct testhost_pf {
	const char *addr, *name;
	uint32_t vfs, first; /* number in the name of the first VF */
};
void testhost_pf(const struct testhost_pf *pf);

/* testhost_vf - the PCI address of VF n of TESTHOST_PF, in one of four static buffers. */
const char *testhost_vf(uint32_t n);

/*
 * testhost_shows - sysfs shows name as the interface of VF n; NULL: none. After the next move or
 * rename of a link sysfs shows the real names again.
 */
void testhost_shows(uint32_t n, const char *name);

/* testhost_vanish - VF n disappears. testhost_remake - a new VF with interface name replaces VF n.
 */
void testhost_remake(uint32_t n, const char *name);
void testhost_vanish(uint32_t n);

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
struct claimant claimant_of(const struct testhost *w, const char *container, const struct pod *p);

/* testhost_entry - the VF state of VF n, which must exist; the caller clears it. */
struct vf_entry testhost_entry(const struct testhost *w, uint32_t n);

/* testhost_log_has - whether a line of the log has text. */
bool testhost_log_has(const char *text);

#endif
