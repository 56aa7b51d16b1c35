/* SPDX-License-Identifier: Apache-2.0 */
/* ib_conf.c: checks what the keys of type "ib-sriov" say together. Pure. */
#include "plugins/sriov/ib_conf.h"

#include <string.h>

#define FIELD(k, m) .key = k, .offset = offsetof(struct ib_conf, m)

/* The annotation of ib-kubernetes, which Multus hands on in args.cni. */
#define IB_KUBERNETES_KEY  "mellanox.infiniband.app"
#define IB_KUBERNETES_DONE "configured"

static const struct json_enum sources[] = {
	{ "vf", IB_GUID_FROM_VF }, { "pod", IB_GUID_FROM_POD }, { "", IB_GUID_FROM_VF }, { 0 }
};

const struct json_field ib_fields[] = {
	VF_ATTACH_FIELDS(struct ib_conf, which),
	{ FIELD("pkey", pkey), .kind = J_PKEY },
	{ FIELD("link_state", link_state), .kind = J_ENUM, .names = vf_attach_link_states },
	{ FIELD("rdmaIsolation", rdma_isolation), .kind = J_BOOL },
	{ FIELD("ibKubernetesEnabled", ib_kubernetes), .kind = J_BOOL },
	{ FIELD("vfioPciMode", vfio), .kind = J_BOOL },
	{ FIELD("guidFrom", guid_from), .kind = J_ENUM, .names = sources },
	{ FIELD("guidDomain", guid_domain), .kind = J_STRING },
	{ FIELD("renumbered", renumbered), .kind = J_ENUM, .names = rdma_reactions },
	{ 0 },
};

void ib_conf_defaults(void *conf)
{
	*(struct ib_conf *)conf = (struct ib_conf){ .link_state = VF_LINK_NOT_GIVEN };
}

/* ib-kubernetes annotates the pod some time after it is scheduled. The runtime then repeats ADD. */
static int check_ib_kubernetes(const struct attach *a, const struct ib_conf *c, bool guid_given,
			       struct err *e)
{
	const char *state = json_str(json_get(a->call->conf.args_cni, IB_KUBERNETES_KEY));

	if (!c->ib_kubernetes)
		return 0;
	if (!state || strcmp(state, IB_KUBERNETES_DONE) != 0) {
		err_set(e, ERR_AGAIN, 0,
			"args.cni[\"" IB_KUBERNETES_KEY "\"]: is %s%.64s%s, not "
			"\"" IB_KUBERNETES_DONE "\"",
			state ? "\"" : "", state ? state : "missing", state ? "\"" : "");
		return err_hint(e, "ib-kubernetes sets it when the subnet manager knows the pod's "
				   "GUID; see the log of its daemon");
	}
	if (guid_given)
		return 0;
	err_set(e, ERR_AGAIN, 0,
		"args.cni.guid: missing: ibKubernetesEnabled is true, and ib-kubernetes gave no "
		"GUID");
	return err_hint(e, "give it in runtimeConfig.infinibandGUID or in args.cni.guid");
}

int ib_conf_check(const struct attach *a, struct ib_conf *c, struct err *e)
{
	struct guid guid;

	if (vf_attach_check_keys(a, &c->which, e))
		return -1;
	vf_attach_want_link_state(c->link_state, &c->want);
	if (a->call->env.cmd != CNI_ADD)
		return 0;
	const char *pool = cni_conf_guid_pool(a->call->conf.ipam);
	c->leases_guid = pool != NULL;
	if (c->leases_guid && c->guid_from == IB_GUID_FROM_POD)
		return err_set(e, ERR_CONFIG, 0,
			       "guidFrom: \"pod\" and ipam.guidPool \"%.64s\" cannot be used "
			       "together: each gives the GUID",
			       pool);
	int rc = ib_guid_choose(a, c, &guid, e);
	if (rc < 0)
		return -1;
	if (rc > 0 || c->leases_guid)
		c->want.has |= VF_GUIDS;
	if (rc > 0)
		c->want.node_guid = c->want.port_guid = guid;
	return check_ib_kubernetes(a, c, rc > 0, e);
}
