/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdma.c: the rdma plugin. It follows the plugin that made the interface. In mode exclusive it
 * moves the RDMA device of the interface into the pod. In mode shared it verifies that the shared
 * device has GIDs for the pod's addresses.
 */
#include "plugins/rdma/attach.h"

int main(void)
{
	return attach_main(&rdma_type, NULL);
}
