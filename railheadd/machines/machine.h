/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h: virtual machines of KubeVirt, as the names and labels of their pods show them. Pure.
 *
 * KubeVirt runs a machine in a pod "virt-launcher-MACHINE-RANDOM" with the labels
 * "kubevirt.io": "virt-launcher" and "vm.kubevirt.io/name": MACHINE. The target of a live migration
 * has "kubevirt.io/migrationJobUID" as well, the source has not:
 * staging/src/kubevirt.io/api/core/v1 of KubeVirt, types.go.
 */
#ifndef RAILHEAD_RAILHEADD_MACHINES_MACHINE_H
#define RAILHEAD_RAILHEADD_MACHINES_MACHINE_H

#include "cluster/protocol/object.h"

/*
 * machine_pod - the name of the Pod object, see CLUSTER_KUBE_POD, if the pod of the identity may
 * run a machine. False: it runs none.
 */
bool machine_pod(const char *identity, char out[CLUSTER_NAME_LEN]);

/*
 * machine_identity - the labels say that the pod runs a machine: *out is the identity of the
 * machine, and *migrates whether the pod is the target of a migration. False: it runs none.
 */
bool machine_identity(const struct json *labels, const char *identity, char out[IDENTITY_LEN],
		      bool *migrates);

#endif
