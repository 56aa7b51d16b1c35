/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_lossless.c: follows NCCL's packets from end to end: traffic class, DSCP, priority, PFC.
 *
 * The DSCP is the upper six bits of the class. A port that trusts DSCP has a priority for each
 * value. Drivers list only those that have a rule, so the others are not known. Otherwise the VLAN
 * tag has the priority, and packets without a tag have 0.
 */
#include "diag/doctor_priv.h"

#include <string.h>

#define NOT_KNOWN (-1)

struct path {
	int tc; /* NOT_KNOWN: nobody says it */
	bool assumed, by_driver;
	unsigned dscp;
	int priority;
	const char *tc_from, *priority_from;
};

/* The class of queue pairs that the kernel makes ready. */
static struct path find_class(const struct doctor *doc, const struct inv_port *p)
{
	struct path path = { .tc = doctor_nccl_class(&doc->data->job), .tc_from = "NCCL_IB_TC" };

	if (p->traffic_class) {
		path.tc = p->traffic_class;
		path.by_driver = true;
		path.tc_from = "set by the driver";
	} else if (!doc->data->has_environ) {
		path.tc = NOT_KNOWN;
	} else if (path.tc < 0) {
		path.tc = 0;
		path.assumed = true;
		path.tc_from = "without NCCL_IB_TC, unless the program gives another one";
	}
	path.dscp = path.tc < 0 ? 0 : (unsigned)path.tc / 4;
	return path;
}

static void find_priority(const struct dcb_info *dcb, const struct rdma_rail *r, struct path *path)
{
	uint8_t rules = dcb->dscp[path->dscp];
	bool tagged = r->netdev && strcmp(r->netdev->link.kind, "vlan") == 0;

	path->priority = NOT_KNOWN;
	path->priority_from = "the driver lists no priority for that value";
	if (!dcb->dscp_rules) {
		path->priority = tagged ? NOT_KNOWN : 0;
		path->priority_from =
			tagged ? "the VLAN tag has the priority" : ", because DSCP is not trusted";
	} else if (rules) {
		path->priority_from = "";
		for (int i = 0; i < DCB_PRIORITIES; i++)
			if (rules >> i & 1)
				path->priority = i;
	}
}

/* A DSCP whose priority has PFC; -1: there is none. */
static int lossless_dscp(const struct dcb_info *dcb)
{
	for (int d = 0; dcb->dscp_rules && d < DCB_DSCP; d++)
		if (dcb->dscp[d] & dcb->pfc)
			return d;
	return -1;
}

/* The same for the driver's class, which replaces that of NCCL, and for NCCL's. */
static void advise_class(const struct path *path, const char *netdev, int dscp, struct finding *f)
{
	if (path->by_driver)
		finding_set_remedy(f,
				   "let the driver set a class of a priority with PFC: \"railctl "
				   "rdma qos set --pf %s --tc %d --save\" (DSCP %d)",
				   netdev, 4 * dscp + 2, dscp);
	else
		finding_set_remedy(f,
				   "use a class of a priority with PFC: \"railctl rdma env --tc "
				   "%d\" (DSCP %d)",
				   4 * dscp + 2, dscp);
}

/* --pfc sets exactly the priorities that it names, so it names those that are on, too. */
static void advise_pfc(const struct dcb_info *dcb, const char *netdev, const struct path *path,
		       struct finding *f)
{
	unsigned usual = path->dscp ? path->dscp / 8 : 3;
	unsigned on = dcb->pfc | 1u << (dcb->dscp_rules ? (unsigned)path->priority : usual);
	char list[DOCTOR_LIST_LEN];

	finding_set_remedy(f,
			   "railctl rdma qos set --pf %s --trust dscp --pfc %s --save, and the "
			   "same priorities on the switches",
			   netdev, doctor_list(on, ",", list));
}

static void doctor_lossless_judge(struct doctor *doc, const struct rdma_rail *r, const char *name,
				  const struct path *path)
{
	const struct dcb_info *dcb = &doctor_port(doc, r)->dcb;
	bool paused = dcb->pfc >> path->priority & 1;
	int dscp = lossless_dscp(dcb);
	char list[DOCTOR_LIST_LEN];
	struct finding *f = doctor_add(doc, "lossless", name,
				       paused          ? FINDING_OK
				       : path->assumed ? FINDING_UNKNOWN
						       : FINDING_WARN);

	finding_set_value(f, "class %d (%s), DSCP %u, priority %d%s; PFC is on for %s", path->tc,
			  path->tc_from, path->dscp, path->priority, path->priority_from,
			  doctor_list(dcb->pfc, ", ", list));
	if (paused)
		return;
	finding_set_reason(f, "NCCL's packets are in a priority that drops them under load: one "
			      "lost packet stops a queue pair for its whole timeout");
	if (dscp >= 0)
		advise_class(path, r->port->netdev, dscp, f);
	else
		advise_pfc(dcb, r->port->netdev, path, f);
}

void doctor_check_lossless(struct doctor *doc, const struct rdma_rail *r, const char *name)
{
	const struct port_data *p = doctor_port(doc, r);
	char list[DOCTOR_LIST_LEN];
	struct path path;
	struct finding *f;

	/* A software device has no priorities, and a lossy fabric no PFC. */
	if (doctor_is_lossy(doc, r) || job_is_of_ucx(&doc->data->job) ||
	    r->port->layer != IB_LAYER_ETHERNET || !*r->device->bus)
		return;
	path = find_class(doc, r->port);

	bool has_port = p->has_dcb && p->dcb.has_pfc && p->dcb.has_app;

	if (has_port)
		find_priority(&p->dcb, r, &path);
	if (path.tc >= 0 && has_port && path.priority >= 0) {
		doctor_lossless_judge(doc, r, name, &path);
		return;
	}
	f = doctor_add(doc, "lossless", name, FINDING_UNKNOWN);
	if (path.tc < 0)
		finding_set_value(f, "NCCL_IB_TC: %s", doctor_from_outside);
	else if (has_port)
		finding_set_value(
			f, "class %d (%s), DSCP %u, priority not known: %s; PFC is on for %s",
			path.tc, path.tc_from, path.dscp, path.priority_from,
			doctor_list(p->dcb.pfc, ", ", list));
	else
		finding_set_value(f,
				  "class %d (%s), DSCP %u; which priority that is, and whether it "
				  "has PFC, is visible where the PF is: run it on the host",
				  path.tc, path.tc_from, path.dscp);
}
