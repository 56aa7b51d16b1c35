/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf.h: what a configuration of type "sriov" asks for. Pure.
 *
 * The keys are those of k8snetworkplumbingwg/sriov-cni, with the same meaning, and "resource",
 * "near", "tier", "rdma", "renumbered" and "rdmaTimeout". sriov-cni silently treats an unknown
 * value ("spoofchk": "yes") as "off"; here it is an error.
 */
#ifndef RAILHEAD_PLUGINS_SRIOV_CONF_H
#define RAILHEAD_PLUGINS_SRIOV_CONF_H

#include "plugins/sriov/vf_rdma.h"
#include "sriov/claim/tier.h"
#include "sriov/vf/vf.h"

/* What becomes of the RDMA device of the VF: the key "rdma" is absent, or "exclusive". */
enum sriov_rdma { SRIOV_RDMA_STAYS, SRIOV_RDMA_MOVES };

struct sriov_conf {
	struct vf_attach which;
	const char *mac, *tier;
	int64_t vlan, qos, min_rate, max_rate;       /* -1: not given */
	int64_t traffic_class;                       /* of the tier; -1: it has none */
	int vlan_proto, spoofchk, trust, link_state; /* -1: not given */
	int rdma;                                    /* enum sriov_rdma */
	int renumbered;                              /* enum rdma_renumbered; -1: not given */
	uint32_t rdma_timeout;                       /* seconds; 0: not given */
	struct vf_request request;                   /* set by sriov_conf_check */
};

/* The keys, for struct sriov_conf. */
extern const struct json_field sriov_fields[];

/* sriov_conf_defaults - mark every key of the struct sriov_conf as not given. */
void sriov_conf_defaults(void *conf);

/*
 * sriov_conf_check - check the decoded keys, and set c->which and c->request. ERR_CONFIG and
 * ERR_FIELD name key and value. attach_choose_mac chooses the MAC.
 */
int sriov_conf_check(const struct attach *a, struct sriov_conf *c, struct err *e) must_check;

/*
 * sriov_conf_take_tier - add the values of the tier to the request, after sriov_conf_check, which
 * refuses keys that the tier sets, too. ERR_CONFIG: the tier has a VLAN priority, but the
 * configuration has no vlan. sriov_conf_tier - the values of c's tier; false: it has none.
 */
int sriov_conf_take_tier(struct sriov_conf *c, const struct tier *t, struct err *e) must_check;
bool sriov_conf_tier(const struct sriov_conf *c, struct tier *out);

#endif
