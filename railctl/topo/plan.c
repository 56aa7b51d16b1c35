/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c: `railctl topo plan`: assigns HCAs or VFs to the GPUs of N pods. */
#include <stdio.h>

#include "railctl/topo/topo.h"
#include "topo/core/plan.h"

/* ---- what is asked for ---- */

static int plan_take_number(struct cmd_run *r, const char *option, uint32_t *out, struct err *e)
{
	const char *text = opt_get(&r->opts, option);
	uint64_t n;

	if (!text)
		return cmd_usage(r, e, "\"%s\" needs --%s N", r->path, option);
	if (parse_u64(text, 1, 1024, &n))
		return cmd_usage(r, e, "--%s \"%.64s\" is not a number from 1 to 1024", option,
				 text);
	*out = (uint32_t)n;
	return 0;
}

/* ---- as a table ---- */

static const struct out_column columns[] = {
	{ "POD", OUT_RIGHT }, { "GPU", 0 },   { "RAIL", OUT_RIGHT },  { "HCA", OUT_SHRINK },
	{ "VF", 0 },          { "CLASS", 0 }, { "CHIPS", OUT_RIGHT },
};

static const char *bdf_of(const struct topo_machine *m, uint32_t pci, char buf[PCI_STR_LEN])
{
	return pci == TOPO_NONE ? NULL : pci_format(m->pci[pci].addr, buf);
}

static int plan_add_row(const struct topo *t, size_t pod, const struct topo_plan_item *i,
			struct out_table *table, struct err *e)
{
	char number[24], gpu[PCI_STR_LEN], rail[16], vf[PCI_STR_LEN], chips[16];
	bool known = i->distance.class != TOPO_CLASS_UNKNOWN;
	const struct out_cell cells[] = {
		{ number, OUT_PLAIN },
		{ bdf_of(&t->m, t->m.gpu[i->gpu].pci, gpu), OUT_PLAIN },
		{ i->rail == TOPO_NONE ? NULL : rail, OUT_PLAIN },
		{ t->m.hca[i->hca].name, OUT_PLAIN },
		{ bdf_of(&t->m, i->vf, vf), OUT_PLAIN },
		{ known ? topo_class_name(i->distance.class) : NULL, OUT_PLAIN },
		{ known ? chips : NULL, OUT_PLAIN },
	};

	(void)snprintf(number, sizeof(number), "%zu", pod);
	(void)snprintf(rail, sizeof(rail), "%u", i->rail);
	(void)snprintf(chips, sizeof(chips), "%u", i->distance.switches);
	return out_row(table, cells, e);
}

static int plan_show_table(const struct cmd_run *r, const struct topo *t, const struct topo_plan *p,
			   struct err *e)
{
	auto_table struct out_table table = { .columns = columns,
					      .n_columns = ARRAY_SIZE(columns) };

	for (size_t i = 0; i < p->n_pods; i++)
		for (size_t k = 0; k < p->pod[i].n_items; k++)
			if (plan_add_row(t, i, &p->pod[i].item[k], &table, e))
				return -1;
	out_table(&r->out, &table);
	for (size_t i = 0; i < p->n_notes; i++)
		out_line(&r->out, OUT_WARN, "  - %s", p->note[i]);
	return 0;
}

/* ---- as JSON ---- */

static int plan_add_text(struct json *o, const char *key, const char *text)
{
	return text ? json_add_str(o, key, text) : json_add_null(o, key);
}

static int plan_add_item(struct json *list, const struct topo *t, const struct topo_plan_item *i)
{
	struct json *o = json_push_object(list);
	bool known = i->distance.class != TOPO_CLASS_UNKNOWN;
	char bdf[PCI_STR_LEN];

	if (!o || plan_add_text(o, "gpu", bdf_of(&t->m, t->m.gpu[i->gpu].pci, bdf)) ||
	    json_add_str(o, "hca", t->m.hca[i->hca].name) ||
	    plan_add_text(o, "vf", bdf_of(&t->m, i->vf, bdf)) ||
	    plan_add_text(o, "class", known ? topo_class_name(i->distance.class) : NULL))
		return -1;
	if (i->rail == TOPO_NONE ? json_add_null(o, "rail") : json_add_int(o, "rail", i->rail))
		return -1;
	return known ? json_add_int(o, "switches", i->distance.switches)
		     : json_add_null(o, "switches");
}

static int topo_plan_add_pod(struct json *list, const struct topo *t, const struct topo_plan *p,
			     size_t pod)
{
	struct json *o = json_push_object(list), *gpus, *items;
	char bdf[PCI_STR_LEN];

	if (!o || json_add_int(o, "pod", (int64_t)pod))
		return -1;
	gpus = json_add_array(o, "gpus");
	for (size_t i = 0; i < p->pod[pod].n_gpus; i++)
		if (!gpus ||
		    json_push_str(gpus, bdf_of(&t->m, t->m.gpu[p->pod[pod].gpu[i]].pci, bdf)))
			return -1;
	items = json_add_array(o, "vfs");
	for (size_t i = 0; i < p->pod[pod].n_items; i++)
		if (!items || plan_add_item(items, t, &p->pod[pod].item[i]))
			return -1;
	return gpus && items ? 0 : -1;
}

static struct json *plan_json(const struct topo *t, const struct topo_plan *p)
{
	auto_json struct json *o = json_new_object();
	struct json *pods, *notes;

	if (!o || json_add_int(o, "version", 1))
		return NULL;
	pods = json_add_array(o, "pods");
	for (size_t i = 0; i < p->n_pods; i++)
		if (!pods || topo_plan_add_pod(pods, t, p, i))
			return NULL;
	notes = json_add_array(o, "notes");
	for (size_t i = 0; i < p->n_notes; i++)
		if (!notes || json_push_str(notes, p->note[i]))
			return NULL;
	return pods && notes ? TAKE_PTR(o) : NULL;
}

/* ---- the command ---- */

static int plan_run(struct cmd_run *r, struct err *e)
{
	auto_topo struct topo t = { 0 };
	auto_topo_plan struct topo_plan p = { 0 };
	struct topo_plan_request w = { 0 };
	auto_json struct json *o = NULL;
	auto_free bool *taken = NULL;

	if (plan_take_number(r, "pods", &w.pods, e) ||
	    plan_take_number(r, "gpus-per-pod", &w.gpus_per_pod, e) || topo_load(r, 0, &t, e) ||
	    topo_taken(r, &t, &taken, e))
		return -1;
	w.scope = &t.view.scope;
	w.taken = taken;
	if (topo_plan_make(&t.m, &t.choice, &w, &p, e))
		return -1;
	if (!r->out.json)
		return plan_show_table(r, &t, &p, e);
	o = plan_json(&t, &p);
	return o ? out_json(&r->out, o, e) : err_nomem(e);
}

static const struct opt options[] = {
	{ "pods", "N", "number of pods", 0 },
	{ "gpus-per-pod", "M", "number of GPUs of each pod", 0 },
	TOPO_OPT_SYSFS,
	TOPO_OPT_XML,
	TOPO_OPT_GPUS,
	TOPO_OPT_HCAS,
	TOPO_OPT_CLASS,
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railctl topo plan --pods 8 --gpus-per-pod 1 --nccl-xml dgx-a100.xml",
	NULL,
};

const struct cmd topo_plan_cmd = {
	.name = "plan",
	.summary = "print which VF each pod should get, so that no two pods share a rail",
	.about = "Pods get the GPUs in the order of their PCI addresses, and for each GPU the HCA "
		 "that \"railctl topo\" assigns to it: one of its VFs, or the whole HCA if it has "
		 "no VFs. On this machine only VFs without a pod are used. Nothing is changed.",
	.opts = { options },
	.examples = examples,
	.run = plan_run,
};
