/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dra.h: the rails of a machine as objects of Kubernetes for dynamic resource allocation. Pure.
 *
 * A driver publishes the devices of each node with attributes, and a DeviceClass selects among them
 * by an expression in CEL. The objects are of resource.k8s.io/v1, Kubernetes 1.34 and newer.
 *
 *	DRANET			driver dra.net; a device is a PF or a VF, by dra.net/pciAddress
 *	dra-driver-sriov	driver sriovnetwork.k8snetworkplumbingwg.io; a device is a VF. An
 *				object DeviceAttributes gives the VFs of a rail railhead.io/rail,
 *				and a SriovResourcePolicy says which VFs these are
 */
#ifndef RAILHEAD_TOPO_OUTPUT_DRA_H
#define RAILHEAD_TOPO_OUTPUT_DRA_H

#include "lib/json/json.h"
#include "topo/core/choose.h"

enum dra_driver { DRA_DRANET, DRA_SRIOV };

struct dra_input {
	const struct topo_machine *m;
	const struct topo_choice *choice; /* topo_choose() of m; its rails are printed */
	/* The label railhead.io/rail-addresses of the nodes whose rails have these addresses, see
	 * show_rail_addresses(); NULL: all nodes. */
	const char *nodes;
};

/*
 * dra_objects - a List of Kubernetes; for each rail a DeviceClass, and a ResourceClaimTemplate for
 * one GPU and one function of the rail. For DRA_SRIOV also a DeviceAttributes for each rail, and
 * one SriovResourcePolicy. The caller owns *out.
 *
 * The claim compares resource.kubernetes.io/pcieRoot of GPU and NIC if this finds the GPUs that are
 * nearest to the rail, and no other. If not, it names the addresses of these GPUs. The annotation
 * railhead.io/note says which and why.
 *
 * ERR_NOTFOUND: no rail has a PCI function. ERR_EXHAUSTED: a rail has more VFs than an expression
 * can name.
 */
int dra_objects(const struct dra_input *in, enum dra_driver driver, struct json **out,
		struct err *e) must_check;

#endif
