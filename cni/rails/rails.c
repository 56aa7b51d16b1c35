/* SPDX-License-Identifier: Apache-2.0 */
/* rails.c: the type rails for the engine: a call for each rail, and one for the IPAM. */
#include "cni/rails/rails.h"

#include <stdio.h>
#include <string.h>

#include "cni/rails/rails_priv.h"
#include "cni/record/record.h"

/* The engine borrows all of this until the end of the call. */
struct rails_calls {
	struct rails_made made;
	struct cni_call part[RAIL_LIST_MAX], ipam;
	struct json *note;
};

struct rails_state {
	struct rails_conf conf; /* the fields are its own: it comes first */
	struct rails_calls *calls;
};

_Static_assert(sizeof(struct rails_state) <= ATTACH_STATE_MAX, "the state is too large");
_Static_assert(RAIL_LIST_MAX <= ATTACH_PARTS_MAX, "more rails than interfaces of one ADD");

static void clear(void *state)
{
	struct rails_calls *c = ((struct rails_state *)state)->calls;

	if (!c)
		return;
	for (size_t i = 0; i < c->made.n; i++)
		json_free(c->part[i].conf.tree);
	free(c->ipam.conf.text);
	json_free(c->note);
	free(c);
}

/* CHECK compares what ADD made, whatever rails the node has by now. */
static int find_made(struct attach *a, struct rails_made *out, struct err *e)
{
	auto_record struct record r = { 0 };

	if (a->call->env.cmd != CNI_CHECK)
		return rails_choose(a, out, e);
	return attach_read_record(a, &r, e) ||
			       rails_read_note(json_get(r.device, RAILS_KEY), out, e)
		       ? -1
		       : 0;
}

static int make_calls(const struct cni_call *call, const struct attach_type *type,
		      struct rails_calls *c, struct err *e)
{
	for (size_t i = 0; i < c->made.n; i++) {
		c->part[i] = *call;
		c->part[i].data = type;
		c->part[i].env.ifname = c->made.rail[i].ifname;
		c->part[i].conf.tree = rails_part(call->conf.tree, &c->made, i);
		if (!c->part[i].conf.tree)
			return err_nomem(e);
	}
	c->ipam = *call;
	c->ipam.conf.text = NULL;
	return *call->conf.ipam_type ? rails_ipam(call->conf.tree, &c->made, &c->ipam.conf.text,
						  &c->ipam.conf.len, e)
				     : 0;
}

/* The record has {"rails": NOTE}: DEL and repair go by the record's parts, CHECK by this. */
static int keep_note(struct attach *a, struct rails_calls *c, struct err *e)
{
	auto_json struct json *device = json_new_object();

	c->note = rails_note(&c->made);
	if (!c->note || !device || json_add_copy(device, RAILS_KEY, c->note))
		return err_nomem(e);
	json_free(a->device);
	a->device = TAKE_PTR(device);
	return 0;
}

static int parts(struct attach *a, struct attach_parts *out, struct err *e)
{
	struct rails_state *s = (void *)a->state;
	struct rails_calls *c = s->calls = calloc(1, sizeof(*c));

	if (!c)
		return err_nomem(e);
	if (find_made(a, &c->made, e) || make_calls(a->call, rails_kinds[s->conf.kind], c, e) ||
	    keep_note(a, c, e))
		return -1;
	if (a->conf.routing.is_default && c->made.n > 1)
		return err_set(e, ERR_CONFIG, 0,
			       "routing.default: one rail of a pod can have the default route of "
			       "the pod, and these are %zu",
			       c->made.n);
	for (size_t i = 0; i < c->made.n; i++) {
		out->call[i] = &c->part[i];
		(void)snprintf(out->what[i], sizeof(out->what[i]), "rail %u",
			       c->made.rail[i].number);
	}
	out->n = c->made.n;
	out->ipam = c->ipam.conf.text ? &c->ipam : NULL;
	out->key = RAILS_KEY;
	out->note = c->note;
	return 0;
}

/* ---- without a record ---- */

struct name_visit {
	struct rails_names names;
	const struct json *prev; /* the result of ADD, or NULL */
	attach_name_fn fn;
	void *arg;
};

/* The result of ADD names the interface, in a namespace of a pod. */
static bool is_in_result(const struct name_visit *v, const char *name)
{
	json_each (x, json_get(v->prev, "interfaces")) {
		if (*json_text(x, "sandbox") && strcmp(json_text(x, "name"), name) == 0)
			return true;
	}
	return false;
}

static int visit(const struct name_visit *v, const char *name, const char *kind)
{
	return is_in_result(v, name) ? v->fn(name, kind, v->arg) : 0;
}

/*
 * Rails may have come and gone since ADD: every number is tried. Only what the result of ADD has
 * can be ours: without it, ADD failed, and an interface of that name is of another program.
 */
static int each_name_of(const struct name_visit *v, const char *kind)
{
	char name[IFNAME_LEN];
	struct err ignored;
	int rc = v->names.template ? 0 : visit(v, v->names.ifname, kind);

	for (uint32_t n = 0; rc == 0 && n <= RAIL_NUMBER_MAX; n++)
		if (rails_name(&v->names, 1, n, name, &ignored) == 0)
			rc = visit(v, name, kind);
	return rc;
}

static int each_name(const struct cni_call *call, attach_name_fn fn, void *arg)
{
	const char *kind = json_text(call->conf.tree, "kind");
	const char *template = json_text(call->conf.tree, "ifname");
	const struct name_visit v = {
		.names = { *template ? template : NULL, call->env.ifname },
		.prev = json_get(call->conf.tree, "prevResult"),
		.fn = fn,
		.arg = arg,
	};

	for (size_t i = 0; i < 2; i++)
		if (strcmp(kind, rails_kinds[i]->kind) == 0)
			return each_name_of(&v, rails_kinds[i]->kind);
	return 0;
}

static const struct attach_several several = { .parts = parts, .each_name = each_name };

const struct attach_type rails_type = {
	.name = "rails",
	.role = ATTACH_MAKES,
	.kind = "",
	.fields = rails_fields,
	.clear = clear,
	.several = &several,
	.validate = rails_validate,
};
