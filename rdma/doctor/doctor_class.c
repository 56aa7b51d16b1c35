/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_class.c: the checks of the traffic class: what NCCL uses, what UCX uses.
 *
 * Sources: NCCL 2.30.7, src/transport/net_ib/connect.cc (class 0 without NCCL_IB_TC, where -1 is
 * the same as unset); UCX 1.22, src/uct/ib/base/ib_iface.c (UCX_IB_TRAFFIC_CLASS is "auto", which
 * is 106 for RoCE v2).
 */
#include <string.h>

#include "rdma/doctor/doctor_priv.h"

/* True if there is a RoCE rail; *forced: the driver sets a class on each of them. */
static bool has_roce(const struct probe_data *data, bool *forced)
{
	bool roce = false;

	*forced = true;
	for (size_t i = 0; i < data->rails->n; i++) {
		const struct rdma_rail *r = &data->rails->rail[i];
		size_t d = (size_t)(r->device - data->inventory->device);

		if (r->port->layer != IB_LAYER_ETHERNET)
			continue;
		roce = true;
		*forced &= data->device[d].traffic_class > 0;
	}
	return roce;
}

static void check_nccl(struct doctor *doc, bool forced)
{
	const struct probe_data *data = doc->data;
	const struct job_value *v = &data->job.var[JOB_NCCL_IB_TC];
	int64_t tc = job_number(&data->job, JOB_NCCL_IB_TC, -1);
	struct finding *f = doctor_add(doc, "traffic-class", "",
				       tc > 0 || forced    ? FINDING_OK
				       : data->has_environ ? FINDING_WARN
							   : FINDING_UNKNOWN);

	if (tc > 0) {
		finding_set_value(f, "NCCL_IB_TC is %s (%s): DSCP %lld", v->text, v->from,
				  (long long)tc / 4);
		return;
	}
	if (forced) {
		finding_set_value(f, "the driver sets a traffic class for all packets");
		return;
	}
	if (!data->has_environ)
		finding_set_value(f, "%s", doctor_from_outside);
	else if (v->set)
		finding_set_value(f, "NCCL_IB_TC is %s (%s), and the driver sets no traffic class",
				  v->text, v->from);
	else
		finding_set_value(f, "NCCL_IB_TC is not set, and the driver sets no traffic class");
	if (data->has_environ)
		finding_set_reason(f, "NCCL's packets have DSCP 0: they share a priority with all "
				      "other traffic");
	finding_set_remedy(f, "if DSCP 26 is the lossless one, set what \"railctl rdma env --tc "
			      "106\" prints (106 = 4 * 26 + 2)");
}

/* Only a variable of UCX itself is worth a finding: without one, UCX has a class by default. */
static void check_ucx(struct doctor *doc)
{
	const struct job_value *v = &doc->data->job.var[JOB_UCX_TC];
	int64_t tc = job_number(&doc->data->job, JOB_UCX_TC, -1);
	struct finding *f;

	if (!v->set || strcmp(v->text, "auto") == 0)
		return;
	f = doctor_add(doc, "traffic-class", "UCX", tc > 0 ? FINDING_OK : FINDING_WARN);
	finding_set_value(f, "UCX_IB_TRAFFIC_CLASS is %s (%s): DSCP %lld", v->text, v->from,
			  (long long)tc / 4);
	if (tc > 0)
		return;
	finding_set_reason(f, "UCX's packets have DSCP 0: they share a priority with all other "
			      "traffic");
	finding_set_remedy(f, "remove it, because UCX uses 106 by itself; or set the class of the "
			      "lossless priority");
}

void doctor_check_traffic_class(struct doctor *doc)
{
	bool forced;

	if (!has_roce(doc->data, &forced))
		return;
	check_nccl(doc, forced);
	check_ucx(doc);
}
