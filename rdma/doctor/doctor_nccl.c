/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_nccl.c: the checks of NCCL's version, and of the settings that the job has. */
#include "rdma/doctor/doctor_priv.h"

/* A RoCE rail above a card: macvlan, ipvlan. */
static const struct rdma_rail *find_above(const struct probe_data *data)
{
	for (size_t i = 0; i < data->rails->n; i++) {
		const struct rdma_rail *r = &data->rails->rail[i];

		if (r->port->layer == IB_LAYER_ETHERNET && r->netdev && !r->own)
			return r;
	}
	return NULL;
}

static bool aborts_on_type(const struct probe_data *data)
{
	return lib_rule_holds(NCCL_ABORTS_ON_TYPE, data->nccl) &&
	       data->inventory->mode == RDMA_SHARED && find_above(data) &&
	       job_number(&data->job, JOB_NCCL_IB_GID_INDEX, -1) < 0;
}

void doctor_check_nccl_version(struct doctor *doc)
{
	const struct probe_data *data = doc->data;
	bool aborts = aborts_on_type(data);
	char version[LIB_VERSION_LEN];
	struct finding *f;

	/* Without a version the newest is assumed, which says nothing about this pod. */
	if (!data->nccl_from || !data->rails->n)
		return;
	f = doctor_add(doc, "nccl-version", "", aborts ? FINDING_FAIL : FINDING_OK);
	finding_set_value(f, "NCCL %s (%s)", lib_version_format(data->nccl, version),
			  data->nccl_from);
	if (!aborts)
		return;
	finding_set_reason(f,
			   "%s abort in a pod with macvlan or ipvlan (%s): to choose a GID they "
			   "read the type of other pods' GIDs, which gives EINVAL",
			   lib_rule_versions(NCCL_ABORTS_ON_TYPE),
			   find_above(data)->netdev->link.name);
	finding_set_remedy(f,
			   "use NCCL 2.26.2 or newer, or set NCCL_IB_GID_INDEX as \"railctl "
			   "rdma env --nccl-version %s\" prints it",
			   version);
}
