/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ib_sriov.c: the ib-sriov plugin moves a VF of an InfiniBand HCA into the pod, with the GUID that
 * the pod shall have.
 */
#include "plugins/ipam/ipam.h"
#include "plugins/sriov/ib_attach.h"

int main(void)
{
	return attach_main(&ib_sriov_type, &ipam_builtin);
}
