/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf.h: what a configuration of type "sriov" asks for. Pure.
 *
 * The keys are those of k8snetworkplumbingwg/sriov-cni, with the meaning they have there, and
 * "resource", "near" and "tier". What sriov-cni takes for "off" without a word ("spoofchk": "yes")
 * is an error here.
 */
#ifndef RAILHEAD_SRIOV_PLUGIN_CONF_H
#define RAILHEAD_SRIOV_PLUGIN_CONF_H

#include "sriov/attach/vf_attach.h"
#include "sriov/take/tier.h"
#include "sriov/vf/vf.h"

struct sriov_conf {
	struct vf_attach which;
	const char *mac, *tier;
	int64_t vlan, qos, min_rate, max_rate;       /* -1: not given */
	int64_t traffic_class;                       /* of the tier; -1: it has none */
	int vlan_proto, spoofchk, trust, link_state; /* -1: not given */
	struct vf_request request;                   /* filled by sriov_conf_check */
};

extern const struct json_field sriov_fields[];

/* sriov_conf_defaults - nothing is given yet. */
void sriov_conf_defaults(void *conf);

/*
 * sriov_conf_check - what the keys say together: which VF, and what it shall be like. ERR_CONFIG
 * and ERR_FIELD name key and value. The MAC is chosen by attach_choose_mac.
 */
int sriov_conf_check(const struct attach *a, struct sriov_conf *c, struct err *e) must_check;

/*
 * sriov_conf_take_tier - what c->tier stands for becomes part of the request: after
 * sriov_conf_check, which sees to it that the configuration says nothing of that itself.
 * ERR_CONFIG: it has a VLAN priority, and the configuration no vlan. sriov_conf_tier - the inverse;
 * false: there is none.
 */
int sriov_conf_take_tier(struct sriov_conf *c, const struct tier *t, struct err *e) must_check;
bool sriov_conf_tier(const struct sriov_conf *c, struct tier *out);

#endif
