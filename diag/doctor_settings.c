/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_settings.c: the checks of settings that keep NCCL from the rails of the pod.
 *
 * Sources: NCCL 2.30.7, src/transport/net_ib/init.cc (NCCL_IB_DISABLE, NCCL_IB_HCA), src/plugin/
 * net.cc (NCCL_NET is compared without case; NCCL_NET_PLUGIN=none loads none).
 */
#include <string.h>
#include <strings.h>

#include "lib/base/text.h"
#include "lib/rdma/hca_list.h"
#include "diag/doctor_priv.h"
#include "rdma/env/env.h"

static void check_disabled(struct doctor *doc)
{
	const struct job_value *v = &doc->data->job.var[JOB_NCCL_IB_DISABLE];
	struct finding *f;

	if (job_number(&doc->data->job, JOB_NCCL_IB_DISABLE, 0) == 0)
		return;
	f = doctor_add(doc, "nccl-net", "NCCL_IB_DISABLE", FINDING_WARN);
	finding_set_value(f, "NCCL_IB_DISABLE is %s (%s)", v->text, v->from);
	finding_set_reason(f, "NCCL does not use RDMA: it falls back to TCP");
	finding_set_remedy(f, "remove it from %s", v->from);
}

static void check_net(struct doctor *doc)
{
	const struct job_value *v = &doc->data->job.var[JOB_NCCL_NET];
	bool ib = strcasecmp(v->text, "IB") == 0, socket = strcasecmp(v->text, "Socket") == 0;
	struct finding *f;

	if (!v->set)
		return;
	f = doctor_add(doc, "nccl-net", "NCCL_NET",
		       ib       ? FINDING_OK
		       : socket ? FINDING_WARN
				: FINDING_UNKNOWN);
	finding_set_value(f, "NCCL_NET is %.64s (%s)%s", v->text, v->from,
			  ib || socket ? "" : ": a plugin, which has rules of its own");
	if (!socket)
		return;
	finding_set_reason(f, "NCCL does not use RDMA: it sends by TCP");
	finding_set_remedy(f, "remove it from %s", v->from);
}

static void check_plugin(struct doctor *doc)
{
	const struct job_value *v = &doc->data->job.var[JOB_NCCL_NET_PLUGIN];
	struct finding *f;

	if (!v->set || strcmp(v->text, "none") == 0)
		return;
	f = doctor_add(doc, "nccl-net", "NCCL_NET_PLUGIN", FINDING_UNKNOWN);
	finding_set_value(f,
			  "NCCL_NET_PLUGIN is %.64s (%s): the plugin may have rules of its own for "
			  "HCAs, GIDs and classes",
			  v->text, v->from);
}

/* ---- NCCL_IB_HCA ---- */

bool doctor_is_rail(const struct probe_data *data, const struct inv_port *p)
{
	for (size_t i = 0; i < data->rails->n; i++)
		if (data->rails->rail[i].port == p)
			return true;
	return false;
}

/*
 * The NCCL_IB_HCA of "railctl rdma env", owned by the caller: a job with it is right. NULL: it has
 * none.
 */
static char *advised_hcas(struct doctor *doc)
{
	static const struct env_options options = ENV_OPTIONS_INIT;
	auto_env struct env env = { 0 };
	struct err why;

	if (env_make(doc->data->inventory, &options, &env, &why)) {
		doc->out.spare.failed |= why.code == ERR_NOMEM;
		return NULL;
	}
	for (size_t i = 0; i < env.n_vars; i++) {
		if (strcmp(env.var[i].name, "NCCL_IB_HCA") == 0) {
			char *value = env.var[i].value;

			env.var[i].value = NULL;
			return value;
		}
	}
	return NULL;
}

struct selection {
	const char *advised;          /* NULL: all rails are */
	struct text missing, foreign; /* ports: rails that are not selected, others that are */
	size_t usable;                /* rails that are selected, and ports of InfiniBand */
};

static void doctor_settings_add_port(struct text *t, const struct inv_device *d,
				     const struct inv_port *p)
{
	text_addf(t, "%s%s:%u", t->len ? ", " : "", d->link.name, p->port);
}

/*
 * NCCL uses only ports that are ACTIVE. A port of InfiniBand needs no interface, so one that is not
 * a rail may be right.
 */
static void select_port(const struct probe_data *data, const struct inv_device *d,
			const struct inv_port *p, struct selection *s)
{
	bool selected =
		hca_list_selects(data->job.var[JOB_NCCL_IB_HCA].text, d->link.name, p->port);
	bool rail = doctor_is_rail(data, p), active = p->state == RDMA_PORT_ACTIVE;
	bool ib = p->layer == IB_LAYER_INFINIBAND;
	bool advised = !s->advised || hca_list_selects(s->advised, d->link.name, p->port);

	if (rail && advised && !selected)
		doctor_settings_add_port(&s->missing, d, p);
	else if (!rail && !ib && selected && active)
		doctor_settings_add_port(&s->foreign, d, p);
	s->usable += selected && (rail || (ib && active));
}

static void judge_hcas(struct doctor *doc, const char *missing, const char *foreign, size_t usable)
{
	const struct job_value *v = &doc->data->job.var[JOB_NCCL_IB_HCA];
	bool right = !*missing && !*foreign;
	struct finding *f = doctor_add(doc, "nccl-hca", "",
				       v->cut    ? FINDING_UNKNOWN
				       : right   ? FINDING_OK
				       : !usable ? FINDING_FAIL
						 : FINDING_WARN);

	if (v->cut) {
		finding_set_value(f,
				  "NCCL_IB_HCA (%s) is longer than %d characters: its end was not "
				  "read",
				  v->from, JOB_VALUE_LEN - 1);
		return;
	}
	finding_set_value(f, "NCCL_IB_HCA is %.160s (%s)%s%.160s%s%.160s", v->text, v->from,
			  *missing ? "; it does not select the rails " : "", missing,
			  *foreign ? "; it also selects " : "", foreign);
	if (right)
		return;
	finding_set_reason(
		f, *foreign ? "NCCL uses ports that are not rails of this pod: "
			      "connections time out, or other pods are disturbed"
		   : usable
			   ? "NCCL uses only some of the pod's rails, which is right if the others "
			     "are for storage"
			   : "NCCL finds no HCA and falls back to TCP");
	finding_set_remedy(f, "set what \"railctl rdma env\" prints: with \"=\" names match whole");
}

static void check_hcas(struct doctor *doc)
{
	const struct probe_data *data = doc->data;

	if (!data->job.var[JOB_NCCL_IB_HCA].set)
		return;

	auto_free char *advised = advised_hcas(doc);
	struct selection s = { .advised = advised };

	for (size_t i = 0; i < data->inventory->n_devices; i++)
		for (size_t p = 0; p < data->inventory->device[i].n_ports; p++)
			select_port(data, &data->inventory->device[i],
				    &data->inventory->device[i].port[p], &s);

	auto_free char *missing = text_take(&s.missing), *foreign = text_take(&s.foreign);

	if (missing && foreign)
		judge_hcas(doc, missing, foreign, s.usable);
	else
		doc->out.spare.failed = true;
}

void doctor_check_settings(struct doctor *doc)
{
	if (!doc->data->rails->n)
		return;
	check_disabled(doc);
	check_net(doc);
	check_plugin(doc);
	check_hcas(doc);
}
