/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_lossless.c: follows NCCL's packets from end to end: traffic class, DSCP, priority, PFC.
 *
 * The DSCP is the upper six bits of the class. A port that trusts DSCP has a priority for each
 * value. mlx5 gives 0 to a value without a rule: mlx5e_dcbnl_ieee_delapp() in en_dcbnl.c of
 * Linux 6.12. Otherwise the VLAN tag has the priority, and packets without a tag have 0.
 */
#include "rdma/doctor/doctor_priv.h"

#include <stdio.h>
#include <string.h>

struct path {
	long long tc;
	unsigned dscp, priority;
	const char *tc_from, *priority_from;
};

/* The class of queue pairs that the kernel makes ready. False: not known. */
static bool find_class(const struct doctor *doc, const struct inv_port *p, struct path *out)
{
	int64_t tc = job_number(&doc->data->job, JOB_NCCL_IB_TC, -1);

	if (p->traffic_class) {
		out->tc = p->traffic_class;
		out->tc_from = "set by the driver";
	} else if (doc->data->has_environ) {
		out->tc = tc < 0 ? 0 : tc & 0xff;
		out->tc_from = tc < 0 ? "without NCCL_IB_TC" : "NCCL_IB_TC";
	} else {
		return false;
	}
	out->dscp = (unsigned)out->tc / 4;
	return true;
}

static void find_priority(const struct dcb_info *dcb, struct path *out)
{
	uint8_t rules = dcb->dscp[out->dscp];

	out->priority = 0;
	out->priority_from = !dcb->dscp_rules ? ", because DSCP is not trusted"
			     : !rules         ? ", because that value has no rule"
					      : "";
	for (unsigned i = 0; dcb->dscp_rules && i < DCB_PRIORITIES; i++)
		if (rules >> i & 1)
			out->priority = i;
}

/* A DSCP whose priority has PFC; -1: there is none. */
static int lossless_dscp(const struct dcb_info *dcb)
{
	for (int d = 0; dcb->dscp_rules && d < DCB_DSCP; d++)
		if (dcb->dscp[d] & dcb->pfc)
			return d;
	return -1;
}

static void advise(const struct dcb_info *dcb, const struct rdma_rail *r, const struct path *path,
		   struct finding *f)
{
	int dscp = lossless_dscp(dcb);

	finding_set_reason(f, "NCCL's packets are in a priority that drops them under load: one "
			      "lost packet stops a queue pair for its whole timeout");
	if (dscp >= 0)
		finding_set_remedy(f,
				   "use a class of a priority with PFC: \"railctl rdma env --tc "
				   "%d\" (DSCP %d)",
				   4 * dscp + 2, dscp);
	else
		finding_set_remedy(f,
				   "railctl rdma qos set --pf %s --trust dscp --pfc %u --save, the "
				   "same priority on the switches%s",
				   r->port->netdev, path->dscp ? path->dscp / 8 : 3,
				   path->dscp ? "" : ", and \"railctl rdma env --tc 106\"");
}

static void judge(struct doctor *doc, const struct rdma_rail *r, const char *name,
		  const struct path *path)
{
	const struct dcb_info *dcb = &doctor_port(doc, r)->dcb;
	bool paused = dcb->pfc >> path->priority & 1;
	char list[DOCTOR_LIST_LEN];
	struct finding *f = doctor_add(doc, "lossless", name, paused ? FINDING_OK : FINDING_WARN);

	finding_set_value(f, "class %lld (%s), DSCP %u, priority %u%s; PFC is on for %s", path->tc,
			  path->tc_from, path->dscp, path->priority, path->priority_from,
			  doctor_list(dcb->pfc, list));
	if (!paused)
		advise(dcb, r, path, f);
}

void doctor_check_lossless(struct doctor *doc, const struct rdma_rail *r, const char *name)
{
	const struct port_data *p = doctor_port(doc, r);
	struct path path = { 0 };
	struct finding *f;

	/* A software device has no priorities, and a lossy fabric nothing to lead to. */
	if (doc->data->lossy || r->port->layer != IB_LAYER_ETHERNET || !*r->device->bus)
		return;

	bool has_class = find_class(doc, r->port, &path);
	bool has_port = p->has_dcb && p->dcb.has_pfc && p->dcb.has_app;

	if (has_class && has_port) {
		find_priority(&p->dcb, &path);
		judge(doc, r, name, &path);
		return;
	}
	f = doctor_add(doc, "lossless", name, FINDING_UNKNOWN);
	if (has_class)
		finding_set_value(f,
				  "class %lld (%s), DSCP %u; which priority that is, and whether "
				  "it has PFC, is visible where the PF is: run it on the host",
				  path.tc, path.tc_from, path.dscp);
	else
		finding_set_value(f, "NCCL_IB_TC: %s", doctor_from_outside);
}
