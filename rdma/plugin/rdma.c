/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdma.c: the rdma plugin. It stands behind the plugin that made the interface, and moves that
 * one's RDMA device into the pod (mode exclusive) or verifies that the shared one carries the pod's
 * addresses (mode shared).
 */
#include "rdma/plugin/attach.h"

int main(void)
{
	static const struct cni_plugin plugin = {
		.name = "rdma",
		.add = rdma_add,
		.del = rdma_del,
		.check = rdma_check,
		.gc = rdma_gc,
		.status = rdma_status,
	};

	return cni_main(&plugin);
}
