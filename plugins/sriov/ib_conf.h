/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ib_conf.h: what a configuration of type "ib-sriov" asks for. Pure.
 *
 * The keys are those of k8snetworkplumbingwg/ib-sriov-cni, with the same meaning, and "resource",
 * "near", "guidFrom", "guidDomain" and "renumbered". Values in args.cni can be of any JSON type.
 */
#ifndef RAILHEAD_PLUGINS_SRIOV_IB_CONF_H
#define RAILHEAD_PLUGINS_SRIOV_IB_CONF_H

#include "lib/base/pkey.h"
#include "plugins/sriov/vf_rdma.h"
#include "sriov/vf/vf.h"

enum ib_guid_from { IB_GUID_FROM_VF, IB_GUID_FROM_POD };

/* Strings are borrowed from the configuration. */
struct ib_conf {
	struct vf_attach which;
	const char *guid_domain; /* NULL: not given */
	int link_state;          /* -1: not given */
	int guid_from;           /* enum ib_guid_from */
	int renumbered;          /* enum rdma_renumbered */
	bool rdma_isolation, ib_kubernetes, vfio;
	bool leases_guid; /* set by ib_conf_check: the GUID is one of ipam.guidPool */
	uint16_t pkey;    /* 0: not given */
	struct vf_info
		want; /* set by ib_conf_check: what the PF shall have, GUIDs if one is given */
};

/* The keys, for struct ib_conf. */
extern const struct json_field ib_fields[];

/* ib_conf_defaults - mark every key of the struct ib_conf as not given. */
void ib_conf_defaults(void *conf);

/*
 * ib_conf_check - check the decoded keys, and set want and c->which. For ADD it chooses the
 * GUID (ib_guid_choose). ERR_CONFIG, ERR_FIELD and ERR_DECODE name key and value. ERR_AGAIN:
 * ib-kubernetes has not configured the pod yet. With leases_guid, create sets the GUIDs of want.
 */
int ib_conf_check(const struct attach *a, struct ib_conf *c, struct err *e) must_check;

/* ---- guid.c ---- */

/*
 * ib_guid_choose - the GUID of this attachment. The first one that is given counts: of
 * runtimeConfig.infinibandGUID, of args.cni.guid, with guidFrom "pod" a GUID made of the pod's
 * name. 1: out is set, 0: none is given, so the VF keeps its own. ERR_CONFIG: one that no port can
 * have. Another source of GUIDs belongs here.
 */
int ib_guid_choose(const struct attach *a, const struct ib_conf *c, struct guid *out,
		   struct err *e) must_check;

/*
 * ib_guid_of_pod - 02 and 7 bytes of the SHA-256 of domain, namespace, pod and interface. domain
 * can be "".
 */
struct ib_pod_identity {
	const char *domain, *namespace, *pod, *ifname;
};
struct guid ib_guid_of_pod(const struct ib_pod_identity *who);

#endif
