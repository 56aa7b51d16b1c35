/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h: virtual machines of KubeVirt, as the names and labels of their pods show them. Pure.
 *
 * KubeVirt runs a machine in a pod "virt-launcher-MACHINE-RANDOM" with the label "kubevirt.io":
 * "virt-launcher" and the annotation "kubevirt.io/domain": MACHINE. The label "vm.kubevirt.io/name"
 * is not a name: it is the host name, which several machines may have. The target of a live
 * migration has the label "kubevirt.io/migrationJobUID", the source has not: types.go in core/v1 of
 * the API of KubeVirt, and its renderer of launchers.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_MACHINE_H
#define RAILHEAD_RAILHEADD_POOLS_MACHINE_H

#include "cluster/store/cluster_store.h"
#include "ipam/block/object.h"

/*
 * machine_pod - the name of the Pod object, see CLUSTER_KUBE_POD, if the pod of the identity may
 * run a machine. False: it runs none.
 */
bool machine_pod(const char *identity, char out[CLUSTER_NAME_LEN]);

/*
 * machine_identity - the value of a CLUSTER_KUBE_POD says that the pod runs a machine: *out is the
 * identity of the machine, and *migrates whether the pod is the target of a migration. False: it
 * runs none.
 */
bool machine_identity(const struct json *value, const char *identity, char out[IDENTITY_LEN],
		      bool *migrates);

#endif
