/* SPDX-License-Identifier: Apache-2.0 */
/* rails_slots.c: `railctl rails slots`: to which slot each number of a rail is pinned. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cni/record/record.h"
#include "plugins/prepared/prepared.h"
#include "railctl/attachments/rails.h"
#include "topo/read/rail_survey.h"

struct slots_view {
	const struct ctx *ctx;
	struct rail_slots pins;  /* of the file */
	struct rail_slots found; /* of the cards that the machine would number now */
	struct rail_list rails;
	struct rail_survey now; /* without pins */
	uint32_t *number;       /* of each HCA of now, by the pins; owned */
	bool pinned;
	char why[PCI_STR_LEN + 64]; /* they are not pinned */
};

static void slots_view_clear(struct slots_view *v)
{
	rail_survey_clear(&v->now);
	free(v->number);
}
#define auto_slots_view auto_clean(slots_view_clear)

static bool slots_has_operator(const struct ctx *ctx)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/" RAIL_LIST_FILE, ctx->etc_dir);
	return access(path, F_OK) == 0;
}

static int slots_read_machine(const struct ctx *ctx, struct slots_view *v, struct err *e)
{
	if (rail_survey_read(ctx, false, &v->now, e) ||
	    rail_survey_slots(ctx, &v->now, &v->found, e))
		return -1;
	v->number = calloc(v->now.m.n_hcas + 1, sizeof(*v->number));
	return v->number ? 0 : err_nomem(e);
}

static void slots_say_why(const struct cmd_run *r, struct slots_view *v)
{
	char pci[PCI_STR_LEN];

	if (geteuid() != 0)
		(void)snprintf(v->why, sizeof(v->why), "only root may read them");
	else if (slots_has_operator(&r->ctx))
		(void)snprintf(v->why, sizeof(v->why), RAIL_LIST_FILE " numbers the rails");
	else if (rail_survey_unready(&v->now, pci))
		(void)snprintf(v->why, sizeof(v->why), "%s has no RDMA device", pci);
	else
		(void)snprintf(v->why, sizeof(v->why), "the node agent has not done it");
}

static int slots_view_read(const struct cmd_run *r, struct slots_view *v, struct err *e)
{
	int rc = rail_slots_read(&r->ctx, &v->pins, e);

	if (rc < 0 || slots_read_machine(&r->ctx, v, e) || rail_list_load(&r->ctx, &v->rails, e) ||
	    rail_slots_numbers(&r->ctx, &v->pins, &v->now.m, v->number, e))
		return -1;
	v->pinned = rc == 0 && !slots_has_operator(&r->ctx);
	if (!v->pinned)
		slots_say_why(r, v);
	return 0;
}

/* ---- what is shown ---- */

static const struct out_column slots_columns[] = {
	{ "RAIL", OUT_RIGHT }, { "SLOT", OUT_SHRINK }, { "PCI", 0 },
	{ "INTERFACE", 0 },    { "STATE", 0 },
};

struct slots_row {
	const struct rail_slot *slot;
	bool numbered, has_hca;
	char pci[PCI_STR_LEN]; /* "": no card is there */
	const char *ifname, *state;
	enum out_style style;
};

/* "no rail": its role says so. A device that is not visible may be in a pod. */
static void slots_describe(const struct slots_view *v, struct slots_row *row)
{
	const struct rail_entry *x = rail_list_find(&v->rails, row->slot->number);

	row->ifname = row->numbered && x ? x->ifname : "";
	row->style = *row->ifname ? OUT_GOOD : OUT_BAD;
	row->state = !row->numbered ? "no number"
		     : x            ? "ok"
		     : row->has_hca ? rail_list_find_dead(&v->rails, row->slot->number)
					      ? "no interface"
					      : "no rail"
		     : *row->pci    ? "no RDMA device"
				    : "no card";
}

/* The function that is in the slot now; "": none is. */
static int slots_find_function(const struct slots_view *v, const struct rail_slot *slot,
			       char pci[PCI_STR_LEN], struct err *e)
{
	const struct topo_machine *m = &v->now.m;
	char path[RAIL_SLOT_LEN];

	*pci = '\0';
	for (uint32_t i = 0; i < m->n_pci; i++) {
		if (m->pci[i].is_vf || m->pci[i].class_code >> 16 != 0x02)
			continue;
		if (rail_slots_path(v->ctx, m, i, path, e))
			return -1;
		if (strcmp(path, slot->path) == 0)
			pci_format(m->pci[i].addr, pci);
	}
	return 0;
}

/* The row of a pinned number: its card may have another address now. */
static int slots_row_of(const struct slots_view *v, const struct rail_slot *slot,
			struct slots_row *out, struct err *e)
{
	struct slots_row row = { .slot = slot, .numbered = true };

	for (size_t i = 0; i < v->now.m.n_hcas; i++)
		row.has_hca = row.has_hca || v->number[i] == slot->number;
	if (slots_find_function(v, slot, row.pci, e))
		return -1;
	slots_describe(v, &row);
	*out = row;
	return 0;
}

/* A card that would be a rail, in a slot without a number. */
static bool slots_is_new(const struct slots_view *v, const struct rail_slot *slot)
{
	for (size_t i = 0; i < v->now.m.n_hcas; i++) {
		char pci[PCI_STR_LEN];

		if (v->now.m.hca[i].pci == TOPO_NONE || v->number[i] == TOPO_NONE)
			continue;
		pci_format(v->now.m.pci[v->now.m.hca[i].pci].addr, pci);
		if (strcmp(pci, slot->pci) == 0)
			return false;
	}
	return true;
}

typedef int (*slots_row_fn)(const struct slots_row *row, void *arg, struct err *e);

static int slots_each(const struct slots_view *v, slots_row_fn fn, void *arg, struct err *e)
{
	for (size_t i = 0; v->pinned && i < v->pins.n; i++) {
		struct slots_row row;

		if (slots_row_of(v, &v->pins.slot[i], &row, e) || fn(&row, arg, e))
			return -1;
	}
	for (size_t i = 0; i < v->found.n; i++) {
		struct slots_row row = { .slot = &v->found.slot[i],
					 .numbered = !v->pinned,
					 .has_hca = true };

		if (v->pinned && !slots_is_new(v, row.slot))
			continue;
		memcpy(row.pci, row.slot->pci, sizeof(row.pci));
		slots_describe(v, &row);
		if (fn(&row, arg, e))
			return -1;
	}
	return 0;
}

static int slots_add_row(const struct slots_row *row, void *arg, struct err *e)
{
	char number[16] = "";

	if (row->numbered)
		(void)snprintf(number, sizeof(number), "%u", row->slot->number);

	const struct out_cell cells[] = {
		{ number, OUT_PLAIN },      { row->slot->path, OUT_PLAIN }, { row->pci, OUT_PLAIN },
		{ row->ifname, OUT_PLAIN }, { row->state, row->style },
	};

	return out_row(arg, cells, e);
}

static int slots_add_json(const struct slots_row *row, void *arg, struct err *e)
{
	struct json *o = json_push_object(arg);
	int rc = !o ? -1
		    : (row->numbered ? json_add_int(o, "rail", row->slot->number)
				     : json_add_null(o, "rail")) ||
				 json_add_str(o, "slot", row->slot->path) ||
				 json_add_or_null(o, "pci", row->pci) ||
				 json_add_or_null(o, "interface", row->ifname) ||
				 json_add_str(o, "state", row->state);

	return rc ? err_nomem(e) : 0;
}

static int slots_count_bad(const struct slots_row *row, void *arg, struct err *e)
{
	(void)e;
	*(int *)arg += strcmp(row->state, "ok") != 0 && strcmp(row->state, "no rail") != 0;
	return 0;
}

static int slots_show(struct cmd_run *r, const struct slots_view *v, struct err *e)
{
	auto_table struct out_table t = { .columns = slots_columns,
					  .n_columns = ARRAY_SIZE(slots_columns) };
	auto_json struct json *o = json_new_object();
	struct json *list;
	int bad = 0;

	if (slots_each(v, slots_count_bad, &bad, e))
		return -1;
	r->status = bad ? CMD_FAILED : CMD_OK;
	if (r->out.json) {
		if (json_add_bool(o, "pinned", v->pinned) || json_add_or_null(o, "why", v->why) ||
		    !(list = json_add_array(o, "rails")))
			return err_nomem(e);
		return slots_each(v, slots_add_json, list, e) ? -1 : out_json(&r->out, o, e);
	}
	if (slots_each(v, slots_add_row, &t, e))
		return -1;
	if (t.n_rows)
		out_table(&r->out, &t);
	else
		out_line(&r->out, OUT_PLAIN, "No rails.");
	if (!v->pinned)
		out_line(&r->out, OUT_WARN, "The numbers are not pinned: %s.", v->why);
	return 0;
}

/* ---- new numbers ---- */

static int slots_count_record(const struct record *r, void *arg)
{
	(void)r;
	++*(size_t *)arg;
	return 0;
}

static int slots_count_claim(const struct prepared_entry *x, void *arg)
{
	(void)x;
	++*(size_t *)arg;
	return 0;
}

/* Pools, addresses and routes of what is attached belong to the old numbers. */
static int slots_check_drained(const struct ctx *ctx, struct err *e)
{
	size_t attachments = 0, claims = 0;

	if (slots_has_operator(ctx))
		return err_set(e, ERR_CONFIG, 0, "%s/" RAIL_LIST_FILE " numbers the rails",
			       ctx->etc_dir);
	if (record_each(ctx, NULL, slots_count_record, &attachments, e) ||
	    prepared_each(ctx, NULL, slots_count_claim, &claims, e))
		return -1;
	if (!attachments && !claims)
		return 0;
	err_set(e, ERR_BUSY, 0, "the node is not drained: %zu attachments, %zu prepared claims",
		attachments, claims);
	return err_hint(e, "\"railctl attachments list\" shows the pods");
}

static int slots_renumber(const struct cmd_run *r, struct err *e)
{
	auto_slots_view struct slots_view v = { .ctx = &r->ctx };

	if (slots_check_drained(&r->ctx, e) || slots_read_machine(&r->ctx, &v, e))
		return -1;
	if (!v.found.n)
		return err_set(e, ERR_NOTFOUND, 0, "this node has no rails");
	return rail_slots_write(&r->ctx, &v.found, e);
}

static int slots_run(struct cmd_run *r, struct err *e)
{
	auto_slots_view struct slots_view v = { .ctx = &r->ctx };
	const bool anew = opt_is_set(&r->opts, "renumber");
	char pci[PCI_STR_LEN];

	if ((anew && slots_renumber(r, e)) || slots_view_read(r, &v, e) || slots_show(r, &v, e))
		return -1;
	if (anew && !r->out.json && rail_survey_unready(&v.now, pci))
		out_line(&r->out, OUT_WARN, "%s has no RDMA device, and got no number.", pci);
	return 0;
}

static const struct opt options[] = {
	{ "renumber", NULL, "pin new numbers, in the order of PCI addresses: a drained node", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railctl rails slots",
	"railctl rails slots --renumber",
	NULL,
};

const struct cmd rails_slots_cmd = {
	.name = "slots",
	.summary = "show to which slot each rail number is pinned",
	.about = "The node agent pins the numbers once, when each card has its RDMA device. A card "
		 "that is swapped in its slot keeps the number, and a missing card leaves a hole. "
		 "A card in another slot has no number and is no rail before --renumber. The exit "
		 "status is 1 if a rail cannot be used, or a card has no number.",
	.opts = { options },
	.examples = examples,
	.run = slots_run,
};
