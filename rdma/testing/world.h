/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h: a node with a NIC, VFs, their RDMA devices, and pods, for tests of the plugin.
 *
 * lib/testing/hca.h has the RDMA devices, veth stand in for the VFs' interfaces, and a /sys in a
 * folder shows only the RDMA devices of the host's namespace. The clock is a fake one.
 * All is gone when the test's process ends. For test programs only.
 */
#ifndef RAILHEAD_RDMA_TESTING_WORLD_H
#define RAILHEAD_RDMA_TESTING_WORLD_H

#include "cni/protocol/plugin.h"
#include "lib/sys/netns.h"
#include "lib/testing/hca.h"

#define RWORLD_SYS "/mnt/sys"
#define RWORLD_RUN "/mnt/run"
#define RWORLD_CNI "/mnt/cni" /* not there until a test makes it */
#define RWORLD_OUT "/mnt/out" /* what was printed last */

struct rworld {
	struct ctx ctx;
	struct fakehca *hca;
	struct netns_id host;
};

/*
 * rworld - so many VFs, up to 8: VF n is the PCI function rworld_vf(n) with the RDMA device
 * mlx5_<n> and the interface "v<n>". The PF is "pf0", with mlx5_pf.
 */
struct rworld rworld(enum rdma_mode mode, uint32_t vfs);
const char *rworld_vf(uint32_t n); /* "0000:3b:02.<n>" */

/* A pod's namespace, by a path that is there until rpod_end(). */
struct rpod {
	struct netns ns;
	char path[64];
	const char *name;
};
struct rpod rpod(const char *name);
/* rpod_end - remove the namespace: the kernel returns its RDMA devices to the host. */
void rpod_end(struct rpod *p);

/* rworld_give - the interface of VF n becomes net1 of the pod. rworld_macvlan - net1 is a macvlan.
 */
void rworld_give(uint32_t n, const struct rpod *p);
void rworld_macvlan(const struct rpod *p);

/* rworld_gid - add an entry for net1 to the GID table of the PF. */
void rworld_gid(const struct rworld *w, uint32_t index, const char *ip, const char *type);

/*
 * rworld_call - one call of the plugin for net1 of the pod, with these keys beside name and type
 * (and prevResult: net1 has 10.88.0.5). What it prints is in RWORLD_OUT. Its result.
 */
int rworld_call(const struct rworld *w, enum cni_command cmd, const struct rpod *p,
		const char *keys, struct err *e);

/* rworld_host - true if VF n's device is on the host with that name. rworld_in - in the pod. */
bool rworld_host(const struct rworld *w, uint32_t n, const char *name);
bool rworld_in(const struct rworld *w, uint32_t n, const struct rpod *p);

/* rworld_records - the number of records of the plugin. */
unsigned rworld_records(const struct rworld *w);

#endif
