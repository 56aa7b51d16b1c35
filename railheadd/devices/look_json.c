/* SPDX-License-Identifier: Apache-2.0 */
/*
 * look_json.c: a look as a tree, and back, and the parts of configurations that are needed after
 * it. Members with their usual value are left out. Copies of a shared resource are one object with
 * their number: there may be tens of thousands.
 */
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "railheadd/devices/conf.h"

#define NOTES_MAX 4096
#define HCAS_MAX  65536

/* ---- to JSON ---- */

static int put_numa(struct json *o, const struct resource_device *d)
{
	struct json *list = d->n_numa ? json_add_array(o, "numa") : NULL;
	char text[16];

	for (size_t i = 0; i < d->n_numa; i++) {
		(void)snprintf(text, sizeof(text), "%d", d->numa[i]);
		if (!list || json_push_str(list, text))
			return -1;
	}
	return 0;
}

static int put_flag(struct json *o, const char *key, bool v)
{
	return v ? json_add_bool(o, key, true) : 0;
}

static bool same_but_id(const struct resource_device *a, const struct resource_device *b)
{
	return a->healthy == b->healthy && a->busy == b->busy && a->attached == b->attached &&
	       a->rdma == b->rdma && a->vhost == b->vhost && a->gpu_distance == b->gpu_distance &&
	       a->n_numa == b->n_numa &&
	       memcmp(a->numa, b->numa, a->n_numa * sizeof(a->numa[0])) == 0 &&
	       strcmp(a->why, b->why) == 0 && strcmp(a->pf, b->pf) == 0 &&
	       strcmp(a->bridge, b->bridge) == 0;
}

/* The id of copy number i of a device; -1: d is not a copy. */
static int copy_id(const struct resource_device *d, size_t i, char out[RESOURCE_ID_LEN])
{
	uint64_t first;

	if (parse_u64(d->id, 0, UINT32_MAX, &first))
		return -1;
	(void)snprintf(out, RESOURCE_ID_LEN, "%zu", (size_t)first + i);
	return 0;
}

/* How many of the devices from d on are copies of it whose ids count up; d is the first. */
static size_t count_copies(const struct resource_device *d, size_t n)
{
	char id[RESOURCE_ID_LEN];
	size_t i = 0;

	while (i < n && copy_id(d, i, id) == 0 && strcmp(id, d[i].id) == 0 && same_but_id(d, &d[i]))
		i++;
	return i ? i : 1;
}

static int put_device(struct json *list, const struct resource_device *d, size_t copies)
{
	struct json *o = json_push_object(list);

	return !o || json_add_str(o, "id", d->id) ||
			       (copies > 1 && json_add_int(o, "copies", (int64_t)copies)) ||
			       put_flag(o, "healthy", d->healthy) ||
			       json_add_known(o, "why", d->why) || put_flag(o, "busy", d->busy) ||
			       put_flag(o, "attached", d->attached) ||
			       put_flag(o, "rdma", d->rdma) || put_flag(o, "vhost", d->vhost) ||
			       json_add_known(o, "pf", d->pf) ||
			       json_add_known(o, "bridge", d->bridge) ||
			       json_add_int(o, "distance", d->gpu_distance) || put_numa(o, d)
		       ? -1
		       : 0;
}

static int put_resource(struct json *list, const struct resource_devices *r)
{
	struct json *o = json_push_object(list), *devices, *maybe, *hcas;

	if (!o || !(maybe = json_add_array(o, "maybe")) ||
	    !(devices = json_add_array(o, "devices")) || !(hcas = json_add_array(o, "hcas")))
		return -1;
	for (size_t i = 0, copies; i < r->n + r->n_maybe; i += copies) {
		copies = i < r->n ? count_copies(&r->device[i], r->n - i) : 1;
		if (put_device(i < r->n ? devices : maybe, &r->device[i], copies))
			return -1;
	}
	for (size_t i = 0; i < r->n_hcas; i++) {
		struct json *h = json_push_object(hcas);

		if (!h || json_add_known(h, "addr", r->hca[i].addr) ||
		    json_add_str(h, "name", r->hca[i].name))
			return -1;
	}
	return 0;
}

struct json *resource_look_to_json(const struct resource_look *l)
{
	auto_json struct json *root = json_new_object();
	struct json *list, *notes;

	if (!root || !(list = json_add_array(root, "resources")) ||
	    !(notes = json_add_array(root, "notes")))
		return NULL;
	for (size_t i = 0; i < l->n; i++) {
		if (put_resource(list, &l->of[i]))
			return NULL;
	}
	for (size_t i = 0; i < l->n_notes; i++) {
		if (json_push_str(notes, l->note[i]))
			return NULL;
	}
	return TAKE_PTR(root);
}

/* ---- from JSON ---- */

struct device_members {
	const char *id, *why, *pf, *bridge;
	bool healthy, busy, attached, rdma, vhost;
	uint32_t distance, copies;
	const struct json *numa;
};

#define MEMBER(name, what)                                                                         \
	{                                                                                          \
		.key = #name, .kind = (what), .offset = offsetof(struct device_members, name)      \
	}
static const struct json_field device_fields[] = {
	{ .key = "id",
	  .kind = J_STRING,
	  .offset = offsetof(struct device_members, id),
	  .flags = J_REQUIRED,
	  .min = 1,
	  .max = RESOURCE_ID_LEN - 1 },
	{ .key = "why",
	  .kind = J_STRING,
	  .offset = offsetof(struct device_members, why),
	  .max = RESOURCE_WHY_LEN - 1 },
	{ .key = "pf",
	  .kind = J_STRING,
	  .offset = offsetof(struct device_members, pf),
	  .max = PCI_STR_LEN - 1 },
	{ .key = "bridge",
	  .kind = J_STRING,
	  .offset = offsetof(struct device_members, bridge),
	  .max = PCI_STR_LEN - 1 },
	MEMBER(healthy, J_BOOL),
	MEMBER(busy, J_BOOL),
	MEMBER(attached, J_BOOL),
	MEMBER(rdma, J_BOOL),
	MEMBER(vhost, J_BOOL),
	MEMBER(distance, J_U32),
	{ .key = "copies",
	  .kind = J_U32,
	  .offset = offsetof(struct device_members, copies),
	  .min = 1,
	  .max = RESOURCE_IDS_MAX },
	MEMBER(numa, J_ARRAY),
	{ 0 },
};

static int bad(struct err *e)
{
	return err_set(e, ERR_DECODE, 0, "this is not a look at resources");
}

static int take_numa(const struct json *list, struct resource_device *d, struct err *e)
{
	if (json_len(list) > RESOURCE_NUMA_MAX)
		return bad(e);
	json_each (node, list) {
		const char *text = json_str(node);
		uint64_t v;

		if (!text || parse_u64(text, 0, INT32_MAX, &v))
			return bad(e);
		d->numa[d->n_numa++] = (int)v;
	}
	return 0;
}

static int add_copies(const struct resource_device *d, size_t copies, struct resource_devices *r,
		      struct err *e)
{
	size_t at = r->n + r->n_maybe;

	if (ARRAY_GROW_BY(r->device, at, copies, RESOURCE_IDS_MAX, "devices of a resource", e))
		return -1;
	for (size_t i = 0; i < copies; i++) {
		r->device[at + i] = *d;
		if (copies > 1 && copy_id(d, i, r->device[at + i].id))
			return bad(e);
	}
	return 0;
}

/* How many there are; -1: e says why. */
static int take_device(const struct json *n, struct resource_devices *r, struct err *e)
{
	struct device_members x = { .why = "", .pf = "", .bridge = "", .copies = 1 };
	struct resource_device d = { .busy = false };

	if (json_type(n) != JSON_OBJECT)
		return bad(e);
	if (json_decode(n, "device", device_fields, &x, e) || take_numa(x.numa, &d, e))
		return -1;
	(void)snprintf(d.id, sizeof(d.id), "%s", x.id);
	(void)snprintf(d.why, sizeof(d.why), "%s", x.why);
	(void)snprintf(d.pf, sizeof(d.pf), "%s", x.pf);
	(void)snprintf(d.bridge, sizeof(d.bridge), "%s", x.bridge);
	d.healthy = x.healthy;
	d.busy = x.busy;
	d.attached = x.attached;
	d.rdma = x.rdma;
	d.vhost = x.vhost;
	d.gpu_distance = x.distance;
	return add_copies(&d, x.copies, r, e) ? -1 : (int)x.copies;
}

static int take_hca(const struct json *n, struct resource_devices *r, struct err *e)
{
	const char *addr = json_text(n, "addr"), *name = json_text(n, "name");
	struct resource_hca *h;

	if (json_type(n) != JSON_OBJECT || strlen(addr) >= PCI_STR_LEN ||
	    strlen(name) >= PCI_RDMA_LEN)
		return bad(e);
	if (ARRAY_GROW(r->hca, r->n_hcas, HCAS_MAX, "HCAs", e))
		return -1;
	h = &r->hca[r->n_hcas++];
	*h = (struct resource_hca){ .addr = "" };
	(void)snprintf(h->addr, sizeof(h->addr), "%s", addr);
	(void)snprintf(h->name, sizeof(h->name), "%s", name);
	return 0;
}

static int take_resource(const struct json *n, struct resource_devices *r, struct err *e)
{
	int found;

	json_each (d, json_get(n, "devices")) {
		if ((found = take_device(d, r, e)) < 0)
			return -1;
		r->n += (size_t)found;
	}
	json_each (d, json_get(n, "maybe")) {
		if ((found = take_device(d, r, e)) < 0)
			return -1;
		r->n_maybe += (size_t)found;
	}
	json_each (h, json_get(n, "hcas")) {
		if (take_hca(h, r, e))
			return -1;
	}
	return 0;
}

static int take_note(const struct json *n, struct resource_look *l, struct err *e)
{
	if (!json_str(n))
		return bad(e);
	if (ARRAY_GROW(l->note, l->n_notes, NOTES_MAX, "notes", e))
		return -1;
	l->note[l->n_notes] = strdup(json_str(n));
	return l->note[l->n_notes] ? (l->n_notes++, 0) : err_nomem(e);
}

int resource_look_from_json(const struct json *j, size_t n, struct resource_look *out,
			    struct err *e)
{
	auto_resource_look struct resource_look l = { 0 };
	const struct json *list = json_get(j, "resources");

	if (json_type(j) != JSON_OBJECT || !list || json_type(list) != JSON_ARRAY ||
	    json_len(list) != n)
		return bad(e);
	l.of = calloc(n + 1, sizeof(*l.of));
	if (!l.of)
		return err_nomem(e);
	json_each (r, list) {
		if (take_resource(r, &l.of[l.n++], e))
			return -1;
	}
	json_each (note, json_get(j, "notes")) {
		if (take_note(note, &l, e))
			return -1;
	}
	*out = l;
	l = (struct resource_look){ 0 };
	return 0;
}

/* ---- configurations ---- */

static const char *way_name(enum node_way way)
{
	const struct json_enum *x = conf_node_ways;

	while (x->name && x->value != (int)way)
		x++;
	return x->name;
}

static int put_conf(struct json *list, const struct resource_conf *r)
{
	struct json *o = json_push_object(list);

	return !o || json_add_str(o, "name", r->name) || json_add_bool(o, "shared", r->shared) ||
			       json_add_str(o, "deviceNodes", way_name(r->nodes)) ||
			       (r->info && json_add_copy(o, "info", r->info))
		       ? -1
		       : 0;
}

struct json *resource_set_to_json(const struct resource_set *s)
{
	auto_json struct json *list = json_new_array();

	for (size_t i = 0; list && i < s->n; i++) {
		if (put_conf(list, &s->conf[i]))
			return NULL;
	}
	return TAKE_PTR(list);
}

struct conf_members {
	const char *name;
	bool shared;
	int nodes;
	const struct json *info;
};

static const struct json_field conf_fields[] = {
	{ .key = "name",
	  .kind = J_STRING,
	  .offset = offsetof(struct conf_members, name),
	  .flags = J_REQUIRED,
	  .max = RESOURCE_NAME_LEN - 1 },
	{ .key = "shared", .kind = J_BOOL, .offset = offsetof(struct conf_members, shared) },
	{ .key = "deviceNodes",
	  .kind = J_ENUM,
	  .offset = offsetof(struct conf_members, nodes),
	  .names = conf_node_ways },
	{ .key = "info", .kind = J_OBJECT, .offset = offsetof(struct conf_members, info) },
	{ 0 },
};

static int take_conf(const struct json *n, struct resource_set *s, struct err *e)
{
	struct conf_members x = { .name = "" };
	struct resource_conf *r;

	if (json_type(n) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "a resource must be an object");
	if (json_decode(n, "resource", conf_fields, &x, e) ||
	    ARRAY_GROW(s->conf, s->n, RESOURCES_MAX, "resources", e))
		return -1;
	if (!strchr(x.name, '/'))
		return err_set(e, ERR_DECODE, 0, "\"%s\" is not the name of a resource", x.name);
	r = &s->conf[s->n];
	*r = (struct resource_conf){ .shared = x.shared, .nodes = (enum node_way)x.nodes };
	(void)snprintf(r->name, sizeof(r->name), "%s", x.name);
	if (x.info && !(r->info = json_dup(x.info)))
		return err_nomem(e);
	s->n++;
	return 0;
}

int resource_set_from_json(const struct json *j, struct resource_set **out, struct err *e)
{
	auto_resource_set struct resource_set *s = NULL;

	if (json_type(j) != JSON_ARRAY)
		return err_set(e, ERR_DECODE, 0, "this is not a list of resources");
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_nomem(e);
	json_each (n, j) {
		if (take_conf(n, s, e))
			return -1;
	}
	*out = TAKE_PTR(s);
	return 0;
}
