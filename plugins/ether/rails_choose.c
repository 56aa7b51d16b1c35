/* SPDX-License-Identifier: Apache-2.0 */
/* rails_choose.c: which rails of this node an attachment gets. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "plugins/ether/rails_priv.h"
#include "lib/base/text.h"
#include "sriov/choose/near.h"

#define KUBELET_MS 5000 /* for the kubelet to say which GPUs the pod has */

static const struct rails_conf *rails_choose_conf_of(const struct attach *a)
{
	return (const void *)a->state;
}

static bool names_gpu(const struct attach *a)
{
	const char *text = json_str(rails_choose_conf_of(a)->rails);

	return text && strcmp(text, "gpu") == 0;
}

static bool asks_gpu(const struct attach *a)
{
	return names_gpu(a) && a->call->env.cmd != CNI_STATUS;
}

/* *l: the rails nearest to the GPUs that the pod has. */
static int load_near(struct attach *a, struct rail_list *all, struct rail_list *l, struct err *e)
{
	const int64_t until = ctx_mono_ms() + KUBELET_MS;
	struct near_gpus gpus;

	if (near_gpus(a->call, rails_choose_conf_of(a)->rails, &gpus, e))
		return err_wrap(e, RAILS_KEY);
	if (!gpus.n && near_pod_gpus(a->call, RAILS_KEY, until, &gpus, e))
		return -1;
	if (!gpus.n) {
		(void)near_no_gpu(a->call, RAILS_KEY, e);
		return -1;
	}
	return rail_list_load_near(&a->call->ctx, (struct rail_gpus){ gpus.gpu, gpus.n }, all, l, e)
		       ? err_wrap(e, RAILS_KEY)
		       : 0;
}

static int rails_choose_load(struct attach *a, struct rail_list *all, struct rail_list *l,
			     struct err *e)
{
	if (asks_gpu(a))
		return load_near(a, all, l, e);
	if (rail_list_load(&a->call->ctx, all, e))
		return -1;
	*l = *all;
	return 0;
}

/* Where an operator corrects the interface of a rail. */
static void name_source(const struct attach *a, const struct rail_list *l, struct rails_made *out)
{
	if (strcmp(l->source, RAIL_LIST_FILE) == 0)
		(void)snprintf(out->from, sizeof(out->from), "%s/" RAIL_LIST_FILE,
			       a->call->ctx.etc_dir);
	else if (strcmp(l->source, RAIL_SLOTS_FILE) == 0)
		(void)snprintf(out->from, sizeof(out->from), "%s (`railctl rails slots`)",
			       l->source);
	else
		(void)snprintf(out->from, sizeof(out->from), "the %s (`railctl topo`)", l->source);
}

/* With "min", an interface that has gone makes its rail one that is missing. */
static int rails_choose_is_there(struct attach *a, const struct rail_entry *x, bool *out,
				 struct err *e)
{
	struct link_info link;
	struct err why;

	*out = true;
	if (!x || !rails_choose_conf_of(a)->min ||
	    nl_link_by_any_name(a->host_nl, x->ifname, &link, &why) == 0)
		return 0;
	if (why.errnum != ENODEV) {
		*e = why;
		return err_wrap(e, "rail %u", x->number);
	}
	*out = false;
	return 0;
}

/* x NULL: the node does not have it. */
static int take_rail(struct attach *a, uint32_t number, const struct rail_entry *x,
		     struct rails_made *out, struct err *e)
{
	bool there;

	if (rails_choose_is_there(a, x, &there, e))
		return -1;
	if (!x || !there) {
		out->missing[out->n_missing++] = number;
		return 0;
	}
	out->rail[out->n].number = number;
	*out->rail[out->n].device = '\0';
	(void)snprintf(out->rail[out->n].master, IFNAME_LEN, "%s", x->ifname);
	out->n++;
	return 0;
}

static void name_missing(const struct rails_made *made, struct text *t)
{
	for (size_t i = 0; i < made->n_missing; i++)
		text_addf(t, "%s%u", i ? ", " : "", made->missing[i]);
}

/* A card of the file may come back: the reason is another one than a rail that is not in the file.
 */
static void hint_dead(const struct rail_list *l, const struct rails_made *made, struct err *e)
{
	for (size_t i = 0; i < made->n_missing; i++) {
		const struct rail_dead *x = rail_list_find_dead(l, made->missing[i]);

		if (x)
			(void)err_hint(e, "rail %u: the card at %s has no interface on the host",
				       x->number, x->pci);
	}
}

static int rails_choose_check_number(struct attach *a, const struct rail_list *l,
				     const struct rails_made *made, struct err *e)
{
	const uint32_t min = rails_choose_conf_of(a)->min;
	auto_text struct text missing = { 0 };

	name_missing(made, &missing);
	if (missing.failed)
		return err_nomem(e);
	if (made->n && made->n >= min && (!made->n_missing || min)) {
		if (made->n_missing)
			log_warn(&a->call->ctx.log,
				 RAILS_KEY ": %zu of %zu; this node has no rail %s", made->n,
				 made->n + made->n_missing, missing.s);
		return 0;
	}
	if (made->n_missing)
		err_set(e, ERR_CONFIG, 0, RAILS_KEY ": this node has no rail %.200s", missing.s);
	else if (min)
		err_set(e, ERR_CONFIG, 0, "min: %u, but this node has %zu of the rails asked for",
			min, made->n);
	else
		err_set(e, ERR_CONFIG, 0, RAILS_KEY ": this node has 0 of the rails asked for");
	hint_dead(l, made, e);
	return err_hint(e, "the node has %zu rails by %s; %s \"min\" accepts fewer", l->n,
			made->from, min ? "a lower" : "the key");
}

/* Where a card without an interface is, /sys may not say: it is not known whether it is near. */
static int take_all(struct attach *a, const struct rail_list *l, struct rails_made *out,
		    struct err *e)
{
	for (size_t i = 0; i < l->n; i++)
		if (take_rail(a, l->rail[i].number, &l->rail[i], out, e))
			return -1;
	for (size_t i = 0; i < l->n_dead; i++) {
		if (!names_gpu(a) && take_rail(a, l->dead[i].number, NULL, out, e))
			return -1;
		if (names_gpu(a))
			log_warn(&a->call->ctx.log,
				 RAILS_KEY ": rail %u is not considered: the card at %s has no "
					   "interface on the host",
				 l->dead[i].number, l->dead[i].pci);
	}
	return 0;
}

/*
 * Devices that are given decide: "all" and "gpu" are the rails among theirs. A rail of a list
 * without a device is an error, or with "min" a rail that is missing.
 */
static int give_devices(struct attach *a, struct rails_devices *d, struct rails_made *made,
			struct err *e)
{
	const bool listed = json_type(rails_choose_conf_of(a)->rails) == JSON_ARRAY;
	size_t n = 0;

	for (size_t i = 0; d->n && i < made->n; i++) {
		if (rails_devices_take(&a->call->ctx, d, made->rail[i].master, made->rail[i].device,
				       e))
			return err_wrap(e, "rail %u: %s", made->rail[i].number, made->from);
		if (*made->rail[i].device)
			made->rail[n++] = made->rail[i];
		else if (listed && !rails_choose_conf_of(a)->min)
			return err_set(e, ERR_CONFIG, 0, "%s: none is a VF of rail %u (%s)",
				       d->source, made->rail[i].number, made->rail[i].master);
		else if (listed)
			made->missing[made->n_missing++] = made->rail[i].number;
	}
	if (!d->n)
		return 0;
	made->n = n;
	if (!listed)
		made->n_missing = 0;
	return rails_devices_all_taken(d, e);
}

/* A VF of the PF of each rail, unless devices or other PFs are given. */
static int check_pfs(const struct attach *a, const struct rails_made *made, struct err *e)
{
	const struct rails_conf *c = rails_choose_conf_of(a);
	char pf[PCI_STR_LEN];

	for (size_t i = 0; rails_moves(a->call->conf.tree) && !c->resource && i < made->n; i++)
		if (!*made->rail[i].device &&
		    rails_devices_pf(&a->call->ctx, made->rail[i].master, pf, e))
			return err_wrap(e, "rail %u: %s", made->rail[i].number, made->from);
	return 0;
}

static int name_rails(struct attach *a, struct rails_made *made, struct err *e)
{
	const struct rails_names names = { rails_choose_conf_of(a)->ifname, a->call->env.ifname };

	/* STATUS has no pod, and so no names. */
	for (size_t i = 0; a->call->env.cmd != CNI_STATUS && i < made->n; i++)
		if (rails_name(&names, i, made->rail[i].number, made->rail[i].ifname, e))
			return -1;
	return 0;
}

int rails_choose(struct attach *a, struct rails_made *out, struct err *e)
{
	const struct json *asked = rails_choose_conf_of(a)->rails;
	struct rails_devices devices = { .n = 0 };
	struct rail_list all, l;

	*out = (struct rails_made){ .n = 0 };
	if (rails_choose_load(a, &all, &l, e))
		return -1;
	name_source(a, &all, out);
	if (json_type(asked) == JSON_ARRAY) {
		json_each (item, asked) {
			const uint32_t number = (uint32_t)json_num(item);

			if (take_rail(a, number, rail_list_find(&l, number), out, e))
				return -1;
		}
	} else if (take_all(a, &l, out, e)) {
		return -1;
	}
	/* Which rails the devices of a pod will be, STATUS does not know. */
	if (a->call->env.cmd == CNI_STATUS && rails_choose_conf_of(a)->resource_name &&
	    json_type(asked) != JSON_ARRAY)
		out->n_missing = 0;
	return rails_devices_find(a, rails_choose_conf_of(a), &devices, e) ||
			       give_devices(a, &devices, out, e) ||
			       rails_choose_check_number(a, &all, out, e) || check_pfs(a, out, e) ||
			       name_rails(a, out, e)
		       ? -1
		       : 0;
}
