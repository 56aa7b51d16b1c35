/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ib.h: a host whose PF is of InfiniBand, for tests: VFs with GUIDs, IPoIB interfaces and RDMA
 * devices. A driver that is bound again reads the GUIDs, makes a new interface "ib<n>" and a new
 * RDMA device "mlx5_<n>". A device that moves gets a new interface, too.
 */
#ifndef RAILHEAD_PLUGINS_TESTING_IB_H
#define RAILHEAD_PLUGINS_TESTING_IB_H

#include "cni/engine/attach.h"
#include "lib/testing/hca.h"
#include "sriov/testing/vf.h"

#define TESTIB_ETC "/mnt/ib-etc"
#define TESTIB_BIN "/mnt/ib-bin" /* the programs of CNI_PATH; not there at first */
#define TESTIB_OUT "/mnt/out"

struct testib {
	struct testhost w;
	struct fakehca *hca;
	unsigned *rebinds; /* how often a driver was bound again; shared with forked processes */
};

/*
 * testib - VFs with the GUIDs testib_guid(n), as an administrator assigned them. in_pod: as since
 * Linux 7, the interface of a device that moves is made in the pod, which is that of testib_pod().
 */
struct testib testib(uint32_t vfs, enum rdma_mode mode, bool in_pod);
/* testib_pod - the namespace to which RDMA devices move. */
void testib_pod(const struct pod *p);
/* testib_clear - stop the fake kernels, and close the host. */
void testib_clear(struct testib *t);
#define auto_testib auto_clean(testib_clear)

/* testib_guid - the GUID that VF n has at first. */
struct guid testib_guid(uint32_t n);

/* testib_no_guid - VF n has no GUID, and its PF knows none: as a new VF. */
void testib_no_guid(const struct testib *t, uint32_t n);

/* testib_dev - the RDMA device that VF n has now. */
struct fakehca_dev *testib_dev(const struct testib *t, uint32_t n);

/*
 * testib_is_restored - the test fails, with the text when, unless VF n is free, and has its first
 * name, GUID, driver and RDMA device on the host.
 */
void testib_is_restored(const struct testib *t, uint32_t n, const char *when);

/*
 * testib_call - a command of ib-sriov for the interface net1 of p, or of no pod (NULL). keys: those
 * of the network. TESTIB_OUT is what it prints. The result of the command.
 */
int testib_call(const struct testib *t, enum cni_command cmd, const struct pod *p, const char *keys,
		struct err *e);

/* testib_has_guid - the test fails unless PF and port have this GUID for VF 0. */
void testib_has_guid(const struct testib *t, struct guid want);

#endif
