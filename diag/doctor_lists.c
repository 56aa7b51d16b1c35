/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_lists.c: the lists of HCAs of UCX, NVSHMEM and Mooncake, UCX's list of transports, and
 * Mooncake's GID index.
 *
 * Sources: UCX 1.22, src/ucp/core/ucp_context.c (a name without port and "^" since 1.21) and
 * src/ucs/config/parser.c (ranges since 1.22). NVSHMEM 3.4.5, src/modules/transport/ibrc/ibrc.cpp
 * (the list), ibgda/ibgda.cpp (the prefix is any part of a name). Mooncake 0.3.12,
 * mooncake-transfer-engine/src/topology.cpp and config.cpp.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "diag/doctor_priv.h"

/* ---- what a list selects ---- */

struct device_list {
	enum job_var var;
	const char *check, *library;
	const char *none; /* what follows if it selects no rail */
	bool ports;       /* entries may have a port: NAME:PORT */
	bool ranges;      /* entries may have [FIRST-LAST] */
	bool negates;     /* "^" in front excludes */
	const char *all;  /* the word for all; NULL: there is none */
};

static const struct device_list lists[] = {
	{ JOB_UCX_NET_DEVICES, "ucx-devices", "UCX",
	  "UCX has no RDMA: it takes TCP, if the list has an interface, or ends the job", true,
	  true, true, "all" },
	{ JOB_NVSHMEM_HCA_LIST, "nvshmem-hca", "NVSHMEM", "NVSHMEM finds no HCA and ends the job",
	  true, false, true, NULL },
	{ JOB_MC_TE_FILTERS, "mooncake-devices", "Mooncake",
	  "Mooncake finds no RDMA device, and may take TCP", false, false, false, NULL },
	{ JOB_MC_MS_FILTERS, "mooncake-devices", "Mooncake's store",
	  "Mooncake finds no RDMA device, and may take TCP", false, false, false, NULL },
	{ JOB_MOONCAKE_DEVICE, "mooncake-devices", "Mooncake's store",
	  "Mooncake finds no RDMA device, and may take TCP", false, false, false, NULL },
};

/* The end of "[FIRST-LAST]" at p, with the numbers; NULL: there is none. */
static const char *range_at(const char *p, const char *end, unsigned long *first,
			    unsigned long *last)
{
	char *next;

	if (p == end || *p != '[' || p[1] < '0' || p[1] > '9')
		return NULL;
	*first = strtoul(p + 1, &next, 10);
	if (*next != '-' || next[1] < '0' || next[1] > '9')
		return NULL;
	*last = strtoul(next + 1, &next, 10);
	return *next == ']' && next < end ? next + 1 : NULL;
}

static bool entry_is(const struct device_list *l, struct slice entry, const char *name)
{
	const char *p = entry.p, *end = entry.p + entry.len;

	while (p < end && *name) {
		unsigned long first, last, number;
		const char *after = l->ranges ? range_at(p, end, &first, &last) : NULL;
		char *digits;

		if (!after && *p++ != *name++)
			return false;
		if (!after)
			continue;
		if (*name < '0' || *name > '9')
			return false;
		number = strtoul(name, &digits, 10);
		if (number < first || number > last)
			return false;
		p = after;
		name = digits;
	}
	return p == end && !*name;
}

static struct slice trimmed(struct slice s)
{
	while (s.len && *s.p == ' ')
		s = (struct slice){ s.p + 1, s.len - 1 };
	while (s.len && s.p[s.len - 1] == ' ')
		s.len--;
	return s;
}

static bool list_selects(const struct device_list *l, const char *text, const char *device,
			 const char *port)
{
	bool negated = l->negates && *text == '^', found = false;
	struct slice rest = { text + negated, strlen(text + negated) }, entry;

	while (slice_next(&rest, ',', &entry)) {
		entry = trimmed(entry);
		found |= entry_is(l, entry, device) || (l->ports && entry_is(l, entry, port)) ||
			 (l->all && entry_is(l, entry, l->all));
	}
	return found != negated;
}

/* ---- findings ---- */

/* MPI often starts a job of NCCL by UCX over TCP, on purpose. */
static bool is_only_start(const struct doctor *doc, enum job_var var)
{
	return (var == JOB_UCX_NET_DEVICES || var == JOB_UCX_TLS) && job_has_nccl(&doc->data->job);
}

#define ONLY_START ", which is right if MPI starts the job by UCX, and NCCL has the rails"

static void judge_list(struct doctor *doc, const struct device_list *l, size_t rails,
		       const char *foreign)
{
	const struct job_value *v = &doc->data->job.var[l->var];
	bool starts = is_only_start(doc, l->var);
	struct finding *f = doctor_add(doc, l->check, job_var_name(l->var),
				       v->cut               ? FINDING_UNKNOWN
				       : !rails && !starts  ? FINDING_FAIL
				       : !rails || *foreign ? FINDING_WARN
							    : FINDING_OK);

	if (v->cut) {
		finding_set_value(f, "%s (%s) is longer than %d characters: its end was not read",
				  job_var_name(l->var), v->from, JOB_VALUE_LEN - 1);
		return;
	}
	finding_set_value(f, "%s is %.160s (%s)%s%.160s", job_var_name(l->var), v->text, v->from,
			  !rails     ? "; it selects no rail"
			  : *foreign ? "; it also selects "
				     : "",
			  rails ? foreign : "");
	if (rails && !*foreign)
		return;
	finding_set_reason(f,
			   rails ? "%s uses ports that are not rails of this pod: connections "
				   "time out, or other pods are disturbed%s"
				 : "%s%s",
			   rails ? l->library : l->none, !rails && starts ? ONLY_START : "");
	finding_set_remedy(f, "set what \"railctl rdma env --for %s\" prints",
			   l->var == JOB_UCX_NET_DEVICES    ? "ucx"
			   : l->var == JOB_NVSHMEM_HCA_LIST ? "nvshmem"
							    : "mooncake");
}

/* A process may have one rail of several, so a rail that is not selected is right. */
static void check_list(struct doctor *doc, const struct device_list *l)
{
	const struct rdma_inventory *v = doc->data->inventory;
	const char *text = doc->data->job.var[l->var].text;
	auto_text struct text foreign = { 0 };
	size_t rails = 0;

	for (size_t i = 0; i < v->n_devices; i++) {
		const struct inv_device *d = &v->device[i];

		for (size_t k = 0; k < d->n_ports; k++) {
			const struct inv_port *p = &d->port[k];
			char port[RAIL_PORT_LEN];
			bool ib = p->layer == IB_LAYER_INFINIBAND;

			(void)snprintf(port, sizeof(port), "%s:%u", d->link.name, p->port);
			if (!list_selects(l, text, d->link.name, port))
				continue;
			if (doctor_is_rail(doc->data, p) || (ib && p->state == RDMA_PORT_ACTIVE))
				rails++;
			else if (p->state == RDMA_PORT_ACTIVE)
				text_addf(&foreign, "%s%s", foreign.len ? ", " : "", port);
		}
	}

	auto_free char *names = text_take(&foreign);

	if (names)
		judge_list(doc, l, rails, names);
	else
		doc->out.spare.failed = true;
}

/* The class is no sign: rdma env sets it for every job of RoCE. */
static bool has_nvshmem(const struct job_vars *j)
{
	return j->var[JOB_NVSHMEM_HCA_LIST].set || *j->var[JOB_NVSHMEM_HCA_PREFIX].from;
}

/* NVSHMEM takes HCAs whose names have the prefix; each has an empty one. Since 2026 "^smi" means
 * all others. */
static void check_prefix(struct doctor *doc)
{
	const struct job_value *v = &doc->data->job.var[JOB_NVSHMEM_HCA_PREFIX];
	bool given = *v->from;
	const char *prefix = given ? v->text : "mlx5", *odd = "";
	bool negated = *prefix == '^';
	struct finding *f;

	for (size_t i = 0; i < doc->data->rails->n; i++) {
		const char *name = doc->data->rails->rail[i].device->link.name;

		if ((strstr(name, prefix + negated) != NULL) == negated)
			odd = name;
	}
	if (!has_nvshmem(&doc->data->job) || (!*odd && !given))
		return;
	f = doctor_add(doc, "nvshmem-hca", "NVSHMEM_HCA_PREFIX",
		       !*odd   ? FINDING_OK
		       : given ? FINDING_FAIL
			       : FINDING_WARN);
	if (given)
		finding_set_value(f, "NVSHMEM_HCA_PREFIX is %.64s (%s)", v->text, v->from);
	else
		finding_set_value(f,
				  "NVSHMEM_HCA_PREFIX is not set, and %.64s has no \"mlx5\" in "
				  "its name",
				  odd);
	if (!*odd)
		return;
	finding_set_reason(f,
			   given ? "NVSHMEM takes no HCA of another name, as %.64s"
				 : "NVSHMEM up to 3.5 does not take %.64s",
			   odd);
	finding_set_remedy(f, "set what \"railctl rdma env --for nvshmem\" prints");
}

/* Without MC_GID_INDEX Mooncake reads NCCL_IB_GID_INDEX, whose check is that of NCCL. */
static void check_index(struct doctor *doc)
{
	const struct job_value *v = &doc->data->job.var[JOB_MC_GID_INDEX];
	const struct rdma_rail *wrong = NULL;
	char port[RAIL_PORT_LEN];
	struct finding *f;

	for (size_t i = 0; v->set && i < doc->data->rails->n; i++) {
		const struct rdma_rail *r = &doc->data->rails->rail[i];
		const struct inv_gid *own = doctor_own_gid(r);

		if (own && job_number(&doc->data->job, JOB_MC_GID_INDEX, -1) != own->entry.index)
			wrong = r;
	}
	if (!v->set)
		return;
	f = doctor_add(doc, "mooncake-gid", "", wrong ? FINDING_FAIL : FINDING_OK);
	finding_set_value(f, "MC_GID_INDEX is %.32s (%s)", v->text, v->from);
	if (!wrong)
		return;
	finding_set_reason(f, "on %s the GID of the pod has index %u: Mooncake takes another one",
			   rail_port(wrong, port), doctor_own_gid(wrong)->entry.index);
	finding_set_remedy(f, "set what \"railctl rdma env --for mooncake\" prints");
}

/* ---- TCP ---- */

/* A transport of RDMA, or a word that has one (ucp_tl_aliases). After a backslash it is the name of
 * a transport alone. */
static bool is_rdma_transport(struct slice t)
{
	static const char *const beginnings[] = { "rc", "ud", "dc", "ib", "srd", "gga", "all" };

	if (t.len && *t.p == '\\')
		t = (struct slice){ t.p + 1, t.len - 1 };
	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (t.len >= strlen(beginnings[i]) &&
		    memcmp(t.p, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

static void doctor_lists_refuse_tcp(struct doctor *doc, const struct job_value *v,
				    const char *check, enum job_var var)
{
	bool starts = is_only_start(doc, var);
	struct finding *f =
		doctor_add(doc, check, job_var_name(var), starts ? FINDING_WARN : FINDING_FAIL);

	finding_set_value(f, "%s is %.160s (%s)", job_var_name(var), v->text, v->from);
	finding_set_reason(f, "%s does not use RDMA%s", var == JOB_UCX_TLS ? "UCX" : "Mooncake",
			   starts ? ONLY_START : "");
	finding_set_remedy(f, "remove it from %s", v->from);
}

/* With "^" only the word for all of them excludes RDMA for sure. */
static void check_transports(struct doctor *doc)
{
	const struct job_value *v = &doc->data->job.var[JOB_UCX_TLS];
	const struct job_value *tcp = &doc->data->job.var[JOB_MC_FORCE_TCP];
	bool negated = *v->text == '^', rdma = false, ib = false;
	struct slice rest = { v->text + negated, strlen(v->text + negated) }, t;

	if (*tcp->from) /* also an empty one */
		doctor_lists_refuse_tcp(doc, tcp, "mooncake-tcp", JOB_MC_FORCE_TCP);
	while (slice_next(&rest, ',', &t)) {
		t = trimmed(t);
		rdma |= is_rdma_transport(t);
		ib |= t.len == 2 && memcmp(t.p, "ib", 2) == 0;
	}
	if (v->set && !v->cut && (negated ? ib : !rdma))
		doctor_lists_refuse_tcp(doc, v, "ucx-transports", JOB_UCX_TLS);
}

/* SGLang also takes a map in JSON, from GPUs to devices: that is not judged. */
void doctor_check_lists(struct doctor *doc)
{
	if (!doc->data->rails->n)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (doc->data->job.var[lists[i].var].set &&
		    *doc->data->job.var[lists[i].var].text != '{')
			check_list(doc, &lists[i]);
	check_prefix(doc);
	check_index(doc);
	check_transports(doc);
}
