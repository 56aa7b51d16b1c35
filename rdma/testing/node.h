/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.h: a node with a NIC, VFs, their RDMA devices, and pods, for tests of the plugin.
 *
 * lib/testing/hca.h has the RDMA devices, veth stand in for the VFs' interfaces, and a /sys in a
 * folder shows only the RDMA devices of the host's namespace. The clock is a fake one.
 * All is gone when the test's process ends. For test programs only.
 */
#ifndef RAILHEAD_RDMA_TESTING_NODE_H
#define RAILHEAD_RDMA_TESTING_NODE_H

#include "cni/protocol/plugin.h"
#include "lib/sys/netns.h"
#include "lib/testing/hca.h"

#define TESTNODE_SYS "/mnt/sys"
#define TESTNODE_RUN "/mnt/run"
#define TESTNODE_CNI "/mnt/cni" /* not there until a test makes it */
#define TESTNODE_OUT "/mnt/out" /* what was printed last */

struct testnode {
	struct ctx ctx;
	struct fakehca *hca;
	struct netns_id host;
};

/*
 * testnode - so many VFs, up to 8: VF n is the PCI function testnode_vf(n) with the RDMA device
 * mlx5_<n> and the interface "v<n>". The PF is "pf0", with mlx5_pf.
 */
struct testnode testnode(enum rdma_mode mode, uint32_t vfs);
const char *testnode_vf(uint32_t n); /* "0000:3b:02.<n>" */

/* A pod's namespace, by a path that is there until testpod_end(). */
struct testpod {
	struct netns ns;
	char path[64];
	const char *name;
};
struct testpod testpod(const char *name);
/* testpod_end - remove the namespace: the kernel returns its RDMA devices to the host. */
void testpod_end(struct testpod *p);

/* testnode_give - the interface of VF n becomes net1 of the pod. testnode_macvlan - net1 is a
 * macvlan.
 */
void testnode_give(uint32_t n, const struct testpod *p);
void testnode_macvlan(const struct testpod *p);

/* testnode_gid - add an entry for net1 to the GID table of the PF. */
void testnode_gid(const struct testnode *w, uint32_t index, const char *ip, const char *type);

/* testnode_host - true if VF n's device is on the host with that name. testnode_in - in the pod. */
bool testnode_host(const struct testnode *w, uint32_t n, const char *name);
bool testnode_in(const struct testnode *w, uint32_t n, const struct testpod *p);

#endif
