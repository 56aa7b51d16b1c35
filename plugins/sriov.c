/* SPDX-License-Identifier: Apache-2.0 */
/* sriov.c: the sriov plugin moves a VF of an Ethernet NIC into the pod. */
#include "plugins/ipam/ipam.h"
#include "plugins/sriov/attach.h"

int main(void)
{
	return attach_main(&sriov_type, &ipam_builtin);
}
