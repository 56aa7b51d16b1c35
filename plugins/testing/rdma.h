/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdma.h: a host whose Ethernet VFs have RDMA devices, for tests: VF n has "mlx5_<n>". /sys shows a
 * device while it is in the host's namespace, and its character device always.
 */
#ifndef RAILHEAD_PLUGINS_TESTING_RDMA_H
#define RAILHEAD_PLUGINS_TESTING_RDMA_H

#include "cni/engine/attach.h"
#include "lib/testing/hca.h"
#include "sriov/testing/vf.h"

#define TESTRDMA_OUT "/mnt/out"
#define TESTRDMA_BIN "/mnt/bin" /* CNI_PATH; absent until a test creates it */

struct testrdma {
	struct testhost w;
	struct fakehca *hca;
	const char *container, *args; /* of the calls: "c1", and no CNI_ARGS; a test may set them */
};

/* testrdma - a host with so many VFs. testrdma_clear - stop the fake kernels, close the host. */
struct testrdma testrdma(uint32_t vfs, enum rdma_mode mode);
void testrdma_clear(struct testrdma *t);
#define auto_testrdma auto_clean(testrdma_clear)

/* testrdma_dev - the RDMA device of VF n. */
struct fakehca_dev *testrdma_dev(const struct testrdma *t, uint32_t n);

/* testrdma_end - the pod ends: the kernel returns its interface and its RDMA devices to the host.
 */
void testrdma_end(const struct testrdma *t, struct pod *p);

/*
 * testrdma_is_restored - the test fails, with the text when, unless VF n is free, and has its
 * interface and its RDMA device on the host under their first names.
 */
void testrdma_is_restored(const struct testrdma *t, uint32_t n, const char *when);

/*
 * testrdma_call - a command of sriov for the interface net1 of p, or of no pod (NULL). keys: those
 * of the network. TESTRDMA_OUT is what it prints. The result of the command.
 */
int testrdma_call(const struct testrdma *t, enum cni_command cmd, const struct pod *p,
		  const char *keys, struct err *e);

#endif
