/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_class.c: the checks of the traffic class: what NCCL, UCX and NVSHMEM use.
 *
 * Sources: NCCL 2.30.7, src/transport/net_ib: connect.cc (only -1 counts as unset; then the class
 * of the communicator, else 0). gin.cc (GIN has NCCL_GIN_IB_TC, else NCCL_IB_TC).
 * gdaki/gin_host_gdaki.cc (queue pairs made through DevX). UCX 1.22, src/uct/ib/base/ib_iface.c
 * (UCX_IB_TRAFFIC_CLASS is "auto", which is 106 for RoCE v2). NVSHMEM's documentation of its
 * environment (NVSHMEM_IB_TRAFFIC_CLASS is 0; it does not read NCCL_IB_TC).
 * lib/rdma/traffic_class.h says which queue pairs the driver's class rules.
 */
#include <string.h>

#include "diag/doctor_priv.h"

int doctor_nccl_class(const struct job_vars *j)
{
	int64_t tc = job_number(j, JOB_NCCL_IB_TC, -1);

	/* A queue pair has eight bits for it. */
	return tc == -1 ? -1 : (int)(tc & 0xff);
}

/* The class that the driver sets on all RoCE rails; 0: none; -1: there is no such rail. */
static int driver_class(const struct rails *rails)
{
	int tc = -1;

	for (size_t i = 0; i < rails->n; i++)
		if (rails->rail[i].port->layer == IB_LAYER_ETHERNET)
			tc = rail_common_class(&rails->rail[i], tc);
	return tc;
}

#define NO_CLASS (-4) /* its DSCP is that of no packet */

/* The first RoCE rail to which the driver gives no class (unset), or one of another DSCP. */
static const struct rdma_rail *differing(const struct rails *rails, int tc, bool unset)
{
	for (size_t i = 0; i < rails->n; i++) {
		const struct inv_port *p = rails->rail[i].port;
		bool differs = p->traffic_class && p->traffic_class / 4 != tc / 4;

		if (p->layer == IB_LAYER_ETHERNET && (unset ? !p->traffic_class : differs))
			return &rails->rail[i];
	}
	return NULL;
}

/* The same; a rail whose fabric is lossy only if there is no other one. */
static const struct rdma_rail *find_unset(const struct doctor *doc)
{
	const struct rails *rails = doc->data->rails;

	for (size_t i = 0; i < rails->n; i++)
		if (rails->rail[i].port->layer == IB_LAYER_ETHERNET &&
		    !rails->rail[i].port->traffic_class && !doctor_is_lossy(doc, &rails->rail[i]))
			return &rails->rail[i];
	return differing(rails, 0, true);
}

/* ---- NCCL ---- */

/* Only the lowest eight bits of the variable are in the packets. */
static void judge_range(struct doctor *doc, int tc)
{
	const struct job_value *v = &doc->data->job.var[JOB_NCCL_IB_TC];
	struct finding *f = doctor_add(doc, "traffic-class", "", FINDING_WARN);

	finding_set_value(f, "NCCL_IB_TC is %.32s (%s), which is not from 0 to 255", v->text,
			  v->from);
	finding_set_reason(f, "NCCL's packets have class %d: DSCP %d", tc, tc / 4);
	finding_set_remedy(f, "set four times the DSCP value, and 2 for ECN: 106 for DSCP 26");
}

/* The driver's class replaces that of NCCL. */
static void judge_replaced(struct doctor *doc, int tc, const struct rdma_rail *r)
{
	const struct job_value *v = &doc->data->job.var[JOB_NCCL_IB_TC];
	int driver = r->port->traffic_class;
	char port[RAIL_PORT_LEN];
	struct finding *f = doctor_add(doc, "traffic-class", "", FINDING_WARN);

	finding_set_value(f, "NCCL_IB_TC is %.32s (%s), and the driver sets class %d on %s",
			  v->text, v->from, driver, rail_port(r, port));
	finding_set_reason(f,
			   "packets have the driver's class, DSCP %d; only queue pairs made "
			   "through DevX (NCCL's GIN) have DSCP %d",
			   driver / 4, tc / 4);
	finding_set_remedy(f,
			   "set both alike: NCCL_IB_TC=%d, or the class of the driver with "
			   "\"railctl rdma qos set --tc %d\"",
			   driver, tc);
}

/* without: a rail to which the driver gives no class. */
static void judge_none(struct doctor *doc, const struct rdma_rail *without)
{
	const struct probe_data *data = doc->data;
	const struct job_value *v = &data->job.var[JOB_NCCL_IB_TC];
	bool unset = doctor_nccl_class(&data->job) < 0;
	bool lossy = doctor_is_lossy(doc, without);
	char port[RAIL_PORT_LEN];
	struct finding *f = doctor_add(doc, "traffic-class", "",
				       !data->has_environ ? FINDING_UNKNOWN
				       : lossy            ? FINDING_OK
							  : FINDING_WARN);

	if (!data->has_environ)
		finding_set_value(f, "%s", doctor_from_outside);
	else
		finding_set_value(f,
				  "NCCL_IB_TC is %.32s%s%s%s, and the driver sets no traffic "
				  "class on %s",
				  v->set ? v->text : "not set", v->set ? " (" : "",
				  v->set ? v->from : "", v->set ? ")" : "",
				  rail_port(without, port));
	if (lossy && data->has_environ)
		return;
	if (data->has_environ)
		finding_set_reason(f,
				   "NCCL's packets have DSCP 0%s: they share a priority with all "
				   "other traffic",
				   unset ? ", unless the program gives its communicator a class"
					 : "");
	finding_set_remedy(f, "if DSCP 26 is the lossless one, set what \"railctl rdma env --tc "
			      "106\" prints (106 = 4 * 26 + 2)");
}

/* Each rail has a class of the driver. */
static void judge_driver(struct doctor *doc, const struct rdma_rail *first)
{
	int driver = first->port->traffic_class;
	char port[RAIL_PORT_LEN], second[RAIL_PORT_LEN];
	const struct rdma_rail *other = differing(doc->data->rails, driver, false);
	struct finding *f = doctor_add(doc, "traffic-class", "", FINDING_OK);

	if (other)
		finding_set_value(f,
				  "the driver sets class %d (DSCP %d) on %s, and class %d (DSCP "
				  "%d) on %s",
				  driver, driver / 4, rail_port(first, port),
				  other->port->traffic_class, other->port->traffic_class / 4,
				  rail_port(other, second));
	else
		finding_set_value(f,
				  "the driver sets class %d (DSCP %d) for all queue pairs but "
				  "those made through DevX",
				  driver, driver / 4);
}

static void judge_own(struct doctor *doc, int tc)
{
	const struct job_value *v = &doc->data->job.var[JOB_NCCL_IB_TC];
	struct finding *f = doctor_add(doc, "traffic-class", "", FINDING_OK);

	finding_set_value(f, "NCCL_IB_TC is %s (%s): DSCP %d", v->text, v->from, tc / 4);
}

static void check_nccl(struct doctor *doc)
{
	const struct job_vars *job = &doc->data->job;
	int tc = doctor_nccl_class(job);
	const struct rdma_rail *replaced = differing(doc->data->rails, tc, false);
	const struct rdma_rail *without = find_unset(doc);
	const struct rdma_rail *driver = differing(doc->data->rails, NO_CLASS, false);

	if (tc >= 0 && tc != job_number(job, JOB_NCCL_IB_TC, -1))
		judge_range(doc, tc);
	else if (tc > 0 && replaced)
		judge_replaced(doc, tc, replaced);
	else if (tc > 0)
		judge_own(doc, tc);
	else if (without)
		judge_none(doc, without);
	else if (driver)
		judge_driver(doc, driver);
}

/* GIN is in a class of its own: worth a finding if that is another one than that of the rest. */
static void check_gin(struct doctor *doc, int driver)
{
	const struct job_value *v = &doc->data->job.var[JOB_NCCL_GIN_IB_TC];
	int64_t gin = job_number(&doc->data->job, JOB_NCCL_GIN_IB_TC, -1);
	int tc = driver ? driver : doctor_nccl_class(&doc->data->job);
	struct finding *f;

	if (gin == -1 || tc < 0 || (gin & 0xff) / 4 == tc / 4 ||
	    !doctor_nccl_has(doc->data, NCCL_HAS_GIN_TC))
		return;
	f = doctor_add(doc, "traffic-class", "GIN", FINDING_WARN);
	finding_set_value(f, "NCCL_GIN_IB_TC is %.32s (%s): DSCP %d", v->text, v->from,
			  (int)(gin & 0xff) / 4);
	finding_set_reason(f, "NCCL's other packets have DSCP %d: one job has two", tc / 4);
	finding_set_remedy(f,
			   "remove it, and set NCCL_IB_TC=%d; or ignore this if the fabric has "
			   "a class for GIN",
			   tc);
}

/* ---- other libraries ---- */

/* Only a variable that is set is worth a finding. */
static void check_other(struct doctor *doc, enum job_var var, const char *library,
			const char *remedy)
{
	const struct job_value *v = &doc->data->job.var[var];
	int64_t tc = job_number(&doc->data->job, var, -1);
	struct finding *f;

	if (!v->set || strcmp(v->text, "auto") == 0)
		return;
	f = doctor_add(doc, "traffic-class", library, tc > 0 ? FINDING_OK : FINDING_WARN);
	finding_set_value(f, "%s is %.32s (%s): DSCP %d", job_var_name(var), v->text, v->from,
			  (int)(tc & 0xff) / 4);
	if (tc > 0)
		return;
	finding_set_reason(f,
			   "%s's packets have DSCP 0: they share a priority with all other "
			   "traffic",
			   library);
	finding_set_remedy(f, "%s", remedy);
}

void doctor_check_traffic_class(struct doctor *doc)
{
	int driver = driver_class(doc->data->rails);

	if (driver < 0)
		return;
	if (!job_is_of_ucx(&doc->data->job))
		check_nccl(doc);
	check_gin(doc, driver);
	check_other(doc, JOB_UCX_TC, "UCX",
		    "remove it, because UCX uses 106 by itself; or set the class of the lossless "
		    "priority");
	check_other(doc, JOB_NVSHMEM_TC, "NVSHMEM", "set the class of the lossless priority");
}
