/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_class.c: the checks of the traffic class: what NCCL uses, what UCX uses.
 *
 * Sources: NCCL 2.30.7, src/transport/net_ib: connect.cc (class 0 without NCCL_IB_TC; -1 is the
 * same as unset), gin.cc (GIN has NCCL_GIN_IB_TC, else NCCL_IB_TC), gdaki/gin_host_gdaki.cc (queue
 * pairs made through DevX). UCX 1.22, src/uct/ib/base/ib_iface.c (UCX_IB_TRAFFIC_CLASS is "auto",
 * which is 106 for RoCE v2). lib/rdma/traffic_class.h says which queue pairs the driver's class
 * rules.
 */
#include <string.h>

#include "rdma/doctor/doctor_priv.h"

/* The class that the drivers of all RoCE rails set; 0: one has none, or they differ. */
static bool has_roce(const struct probe_data *data, int64_t *driver)
{
	bool roce = false;

	*driver = 0;
	for (size_t i = 0; i < data->rails->n; i++) {
		const struct inv_port *p = data->rails->rail[i].port;

		if (p->layer != IB_LAYER_ETHERNET)
			continue;
		*driver = !roce || *driver == p->traffic_class ? p->traffic_class : 0;
		roce = true;
	}
	return roce;
}

/* The driver sets a class, and NCCL has none. */
static void judge_bypass(struct doctor *doc, int64_t driver)
{
	const struct probe_data *data = doc->data;
	int64_t gin = job_number(&data->job, JOB_NCCL_GIN_IB_TC, -1);
	struct finding *f = doctor_add(doc, "traffic-class", "",
				       !data->has_environ ? FINDING_UNKNOWN
				       : gin > 0          ? FINDING_OK
							  : FINDING_WARN);

	if (gin > 0) {
		finding_set_value(f,
				  "the driver sets class %lld (DSCP %lld), and NCCL_GIN_IB_TC is "
				  "%lld for the queue pairs that bypass it",
				  (long long)driver, (long long)driver / 4, (long long)gin);
		return;
	}
	finding_set_value(f,
			  "the driver sets class %lld (DSCP %lld) for queue pairs that the kernel "
			  "makes ready; NCCL_IB_TC is %s",
			  (long long)driver, (long long)driver / 4,
			  data->has_environ ? "not set" : "not visible from outside");
	finding_set_reason(f, "queue pairs made through DevX (NCCL's GIN, NVSHMEM's IBGDA) bypass "
			      "the driver's class: without NCCL_IB_TC their packets have DSCP 0");
	finding_set_remedy(f, "set NCCL_IB_TC=%lld; \"railctl rdma env\" prints it",
			   (long long)driver);
}

static void judge_own(struct doctor *doc, int64_t tc, int64_t driver)
{
	const struct job_value *v = &doc->data->job.var[JOB_NCCL_IB_TC];
	bool alike = driver <= 0 || driver == tc;
	struct finding *f = doctor_add(doc, "traffic-class", "", alike ? FINDING_OK : FINDING_WARN);

	if (alike) {
		finding_set_value(f, "NCCL_IB_TC is %s (%s): DSCP %lld", v->text, v->from,
				  (long long)tc / 4);
		return;
	}
	finding_set_value(f, "NCCL_IB_TC is %s (%s), and the driver sets class %lld", v->text,
			  v->from, (long long)driver);
	finding_set_reason(f,
			   "the driver's class replaces that of NCCL, except for queue pairs made "
			   "through DevX (NCCL's GIN, NVSHMEM's IBGDA): one job has DSCP %lld and "
			   "DSCP %lld",
			   (long long)driver / 4, (long long)tc / 4);
	finding_set_remedy(f,
			   "set both alike: NCCL_IB_TC=%lld, or the class of the driver with "
			   "\"railctl rdma qos set --tc %lld\"",
			   (long long)driver, (long long)tc);
}

static void judge_none(struct doctor *doc)
{
	const struct probe_data *data = doc->data;
	const struct job_value *v = &data->job.var[JOB_NCCL_IB_TC];
	struct finding *f = doctor_add(doc, "traffic-class", "",
				       data->has_environ ? FINDING_WARN : FINDING_UNKNOWN);

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

static void check_nccl(struct doctor *doc, int64_t driver)
{
	int64_t tc = job_number(&doc->data->job, JOB_NCCL_IB_TC, -1);

	if (tc > 0)
		judge_own(doc, tc, driver);
	else if (driver > 0)
		judge_bypass(doc, driver);
	else
		judge_none(doc);
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
	int64_t driver;

	if (!has_roce(doc->data, &driver))
		return;
	check_nccl(doc, driver);
	check_ucx(doc);
}
