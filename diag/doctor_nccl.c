/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_nccl.c: the checks of NCCL's version, and of the GID that it takes. */
#include <string.h>
#include <strings.h>

#include "lib/rdma/hca_list.h"
#include "diag/doctor_priv.h"
#include "rdma/env/nccl.h"

bool doctor_nccl_has(const struct probe_data *data, enum lib_rule rule)
{
	bool known = data->nccl_from >= JOB_NCCL_LIBRARY;

	return lib_rule_holds(rule, known ? data->nccl : NCCL_VERSION_NEWEST);
}

/* ---- the GID settings of the job ---- */

/* The variables that choose a GID, in the order in which they count. */
static const enum job_var gid_vars[] = { JOB_NCCL_IB_GID_INDEX, JOB_NCCL_IB_ADDR_FAMILY,
					 JOB_NCCL_IB_ADDR_RANGE, JOB_NCCL_IB_ROCE_VERSION };

static bool has_gid_settings(const struct job_vars *j)
{
	for (size_t i = 0; i < ARRAY_SIZE(gid_vars); i++)
		if (j->var[gid_vars[i]].set)
			return true;
	return false;
}

/* As ncclIbGetGidIndex() reads them: IPv4 unless the text is AF_INET6; a bad range is not a range.
 */
static struct nccl_rule doctor_nccl_rule_of(const struct job_vars *j)
{
	const struct job_value *range = &j->var[JOB_NCCL_IB_ADDR_RANGE];
	struct nccl_rule r = { .family = IP_V4, .version = GID_ROCE_V2 };

	if (strcmp(j->var[JOB_NCCL_IB_ADDR_FAMILY].text, "AF_INET6") == 0)
		r.family = IP_V6;
	if (job_number(j, JOB_NCCL_IB_ROCE_VERSION, 2) == 1)
		r.version = GID_ROCE_V1;
	r.has_range = range->set && strchr(range->text, '/') &&
		      ip_parse_prefix(range->text, &r.range) == 0 &&
		      r.range.addr.family == r.family;
	return r;
}

/* ---- the version ---- */

/* NCCL_IB_HCA may leave a rail out. */
static bool is_selected(const struct job_vars *j, const struct rdma_rail *r)
{
	const struct job_value *v = &j->var[JOB_NCCL_IB_HCA];

	return !v->set || v->cut || hca_list_selects(v->text, r->device->link.name, r->port->port);
}

/* False where a setting may keep NCCL from its own InfiniBand transport. */
static bool uses_ib(const struct job_vars *j)
{
	const struct job_value *net = &j->var[JOB_NCCL_NET], *plugin = &j->var[JOB_NCCL_NET_PLUGIN];

	return job_number(j, JOB_NCCL_IB_DISABLE, 0) == 0 &&
	       (!net->set || strcasecmp(net->text, "IB") == 0) &&
	       (!plugin->set || strcmp(plugin->text, "none") == 0) && !j->var[JOB_NCCL_IB_HCA].cut;
}

/*
 * A version of the image is no proof. An asked one comes without a process of the job, unless that
 * has NCCL: a program's own settings may be others.
 */
static bool is_sure(const struct probe_data *data)
{
	bool of_job =
		data->nccl_from == JOB_NCCL_LIBRARY ||
		(data->nccl_from == JOB_NCCL_ASKED && data->job.library.is != JOB_LIBRARY_NONE);

	return of_job && data->has_environ && uses_ib(&data->job);
}

/* The first rail on which NCCL reads the type of a GID whose type sysfs does not show. */
static const struct rdma_rail *find_unreadable(const struct probe_data *data)
{
	struct nccl_rule rule = doctor_nccl_rule_of(&data->job);

	if (!lib_rule_holds(NCCL_ABORTS_ON_TYPE, data->nccl) ||
	    job_number(&data->job, JOB_NCCL_IB_GID_INDEX, -1) >= 0)
		return NULL;
	for (size_t i = 0; i < data->rails->n; i++) {
		const struct rdma_rail *r = &data->rails->rail[i];

		if (r->port->layer == IB_LAYER_ETHERNET && is_selected(&data->job, r) &&
		    nccl_reads_unknown(r->port, &rule))
			return r;
	}
	return NULL;
}

static const char *const nccl_sources[] = {
	[JOB_NCCL_IMAGE] = "NCCL_VERSION of the image; a program may bring another one",
	[JOB_NCCL_LIBRARY] = "the library that the process has mapped",
	[JOB_NCCL_ASKED] = "--nccl-version",
};

void doctor_check_nccl_version(struct doctor *doc)
{
	const struct probe_data *data = doc->data;
	const struct rdma_rail *rail = find_unreadable(data);
	char version[LIB_VERSION_LEN], port[RAIL_PORT_LEN], versions[LIB_RULE_LEN];
	struct finding *f;

	if (data->nccl_from == JOB_NCCL_UNKNOWN || !data->rails->n)
		return;
	f = doctor_add(doc, "nccl-version", "",
		       !rail           ? FINDING_OK
		       : is_sure(data) ? FINDING_FAIL
				       : FINDING_WARN);
	finding_set_value(f, "NCCL %s (%s)", lib_version_format(data->nccl, version),
			  nccl_sources[data->nccl_from]);
	if (!rail)
		return;
	finding_set_reason(f,
			   "%s ends the job: to choose a GID on %s it compares one whose type "
			   "sysfs does not show",
			   lib_rule_versions(NCCL_ABORTS_ON_TYPE, versions), rail_port(rail, port));
	finding_set_remedy(f,
			   "use NCCL 2.26.2 or newer, or set what \"railctl rdma env "
			   "--nccl-version %s\" prints",
			   version);
}

/* ---- the GID ---- */

static uint32_t taken_index(const struct probe_data *data, const struct inv_port *p)
{
	struct nccl_rule rule = doctor_nccl_rule_of(&data->job);
	int64_t index = job_number(&data->job, JOB_NCCL_IB_GID_INDEX, -1);

	if (index >= 0)
		return (uint32_t)index;
	return doctor_nccl_has(data, NCCL_CHOOSES_GID) ? nccl_gid_index(p, &rule) : 0;
}

static bool is_usable(const struct inv_gid *g)
{
	return g && g->here && g->entry.type == GID_ROCE_V2 &&
	       !ip_is_link_local(gid_to_ip(&g->entry.gid));
}

static const char *conditions(const struct doctor *doc)
{
	return has_gid_settings(&doc->data->job) ? "with the settings of the job"
						 : "without settings";
}

static void warn_neighbour(struct doctor *doc, const struct rdma_rail *r, const char *name,
			   const struct inv_gid *g)
{
	struct finding *f = doctor_add(doc, "neighbour", name, FINDING_WARN);
	char ip[IP_STR_LEN];

	finding_set_value(f,
			  "%s, NCCL uses GID index %u: %s of %s%s%s, which is not an "
			  "address of this namespace; the pod's own GID has index %u",
			  conditions(doc), g->entry.index, ip_format(gid_to_ip(&g->entry.gid), ip),
			  *g->entry.netdev ? g->entry.netdev : "an interface",
			  *g->netns ? " in " : "", g->netns, doctor_own_gid(r)->entry.index);
	finding_set_reason(f, "packets have the address of a neighbour, and answers go there: "
			      "connections time out");
	finding_set_remedy(f, "set what \"railctl rdma env\" prints; or use VFs in mode exclusive, "
			      "where the table has no GID of a neighbour");
}

/* An occupied entry without a type: the driver does not show all that belongs to other pods. */
static const char *may_be_incomplete(const struct inv_port *p)
{
	for (size_t i = 0; i < p->n_gids; i++) {
		if (p->gid[i].entry.type == GID_UNKNOWN)
			return "; the driver hides what belongs to other pods, so the table may be "
			       "incomplete";
	}
	return "";
}

/* An entry that is free, link-local, or RoCE v1. */
static void warn_unusable(struct doctor *doc, const struct rdma_rail *r, const char *name,
			  uint32_t index)
{
	const struct inv_gid *g = inv_gid_at(r->port, index), *own = doctor_own_gid(r);
	struct finding *f = doctor_add(doc, "nccl-gid", name, FINDING_WARN);
	char ip[IP_STR_LEN] = "free", mine[IP_STR_LEN];

	if (g)
		(void)ip_format(gid_to_ip(&g->entry.gid), ip);
	finding_set_value(
		f, "%s, NCCL uses GID index %u (%s%s%s); the pod's own GID %s has index %u%s",
		conditions(doc), index, ip, g ? ", " : "", g ? gid_type_name(g->entry.type) : "",
		ip_format(gid_to_ip(&own->entry.gid), mine), own->entry.index,
		may_be_incomplete(r->port));
	finding_set_reason(
		f, "%s%s",
		r->v4 || has_gid_settings(&doc->data->job)
			? ""
			: "NCCL looks for an IPv4 address unless NCCL_IB_ADDR_FAMILY is AF_INET6, "
			  "and stays at index 0 if there is none: ",
		g ? "that GID cannot be routed, and connections beyond its subnet time out"
		  : "there is no GID, and connections fail");
	finding_set_remedy(f, "set what \"railctl rdma env\" prints");
}

void doctor_check_nccl_gid(struct doctor *doc, const struct rdma_rail *r, const char *name)
{
	const struct inv_gid *own = doctor_own_gid(r), *g;

	if (r->port->layer != IB_LAYER_ETHERNET || !own)
		return;

	uint32_t index = taken_index(doc->data, r->port);

	g = inv_gid_at(r->port, index);
	if (index == own->entry.index || is_usable(g))
		return;
	if (g && !g->here && !ip_is_link_local(gid_to_ip(&g->entry.gid)))
		warn_neighbour(doc, r, name, g);
	else
		warn_unusable(doc, r, name, index);
}
