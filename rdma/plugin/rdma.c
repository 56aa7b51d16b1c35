/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdma.c: the rdma plugin. It stands behind the plugin that made the interface, and moves that
 * one's RDMA device into the pod (mode exclusive) or verifies that the shared one carries the pod's
 * addresses (mode shared).
 */
#include "rdma/plugin/attach.h"

int main(void)
{
	return attach_main(&rdma_type);
}
