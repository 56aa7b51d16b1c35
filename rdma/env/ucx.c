/* SPDX-License-Identifier: Apache-2.0 */
/* ucx.c: UCX's choice of a GID, by the priorities of version and family. */
#include "rdma/env/ucx.h"

struct priority {
	bool v2;
	enum ip_family family;
	bool local; /* link-local addresses count */
};

static bool is_allowed(const struct ucx_rule *r, struct ip a)
{
	for (size_t i = 0; i < r->n_subnets; i++)
		if (ip_in_prefix(r->subnet[i], a))
			return true;
	return r->n_subnets == 0;
}

static bool fits(const struct inv_gid *g, const struct priority *want)
{
	struct ip a = gid_to_ip(&g->entry.gid);

	return (g->entry.type == GID_ROCE_V2) == want->v2 && a.family == want->family &&
	       (want->local || !ip_is_link_local(a));
}

const struct inv_gid *ucx_gid(const struct inv_port *p, const struct ucx_rule *r)
{
	const struct priority order[] = {
		{ true, IP_V4, true },  { true, IP_V6, !r->local_last },  { true, IP_V6, true },
		{ false, IP_V4, true }, { false, IP_V6, !r->local_last }, { false, IP_V6, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		for (size_t k = 0; k < p->n_gids; k++)
			if (fits(&p->gid[k], &order[i]) &&
			    is_allowed(r, gid_to_ip(&p->gid[k].entry.gid)))
				return &p->gid[k];
	return NULL;
}
