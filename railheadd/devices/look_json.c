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

/* A device, or so many copies of it; 0: one. */
struct device_value {
	struct resource_device d;
	uint32_t copies;
	const struct json *numa;
};

static const struct json_field device_fields[] = {
	{ "id", J_CHARS, J_AT(struct device_value, d.id), .flags = J_REQUIRED, .min = 1 },
	{ "copies", J_UINT, J_AT(struct device_value, copies), .flags = J_OMIT, .min = 1,
	  .max = RESOURCE_IDS_MAX },
	{ "healthy", J_BOOL, J_AT(struct device_value, d.healthy), .flags = J_OMIT },
	{ "why", J_CHARS, J_AT(struct device_value, d.why), .flags = J_OMIT },
	{ "busy", J_BOOL, J_AT(struct device_value, d.busy), .flags = J_OMIT },
	{ "attached", J_BOOL, J_AT(struct device_value, d.attached), .flags = J_OMIT },
	{ "rdma", J_BOOL, J_AT(struct device_value, d.rdma), .flags = J_OMIT },
	{ "vhost", J_BOOL, J_AT(struct device_value, d.vhost), .flags = J_OMIT },
	{ "pf", J_CHARS, J_AT(struct device_value, d.pf), .flags = J_OMIT },
	{ "bridge", J_CHARS, J_AT(struct device_value, d.bridge), .flags = J_OMIT },
	{ "distance", J_UINT, J_AT(struct device_value, d.gpu_distance) },
	{ "numa", J_ARRAY, J_AT(struct device_value, numa), .flags = J_READ },
	{ 0 },
};

static const struct json_field hca_fields[] = {
	{ "addr", J_CHARS, J_AT(struct resource_hca, addr), .flags = J_OMIT },
	{ "name", J_CHARS, J_AT(struct resource_hca, name) },
	{ 0 },
};

static const struct json_field hcas_fields[] = {
	{ "hcas", J_LIST, J_AT(struct resource_devices, hca), .flags = J_POINTER,
	  .item = sizeof(struct resource_hca), .has = offsetof(struct resource_devices, n_hcas),
	  .of = hca_fields },
	{ 0 },
};

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
	const struct device_value v = { *d, copies > 1 ? (uint32_t)copies : 0, NULL };

	return json_encode(o, device_fields, &v) || put_numa(o, d) ? -1 : 0;
}

static int put_resource(struct json *list, const struct resource_devices *r)
{
	struct json *o = json_push_object(list), *devices, *maybe;

	if (!o || !(maybe = json_add_array(o, "maybe")) ||
	    !(devices = json_add_array(o, "devices")))
		return -1;
	for (size_t i = 0, copies; i < r->n + r->n_maybe; i += copies) {
		copies = i < r->n ? count_copies(&r->device[i], r->n - i) : 1;
		if (put_device(i < r->n ? devices : maybe, &r->device[i], copies))
			return -1;
	}
	return json_encode(o, hcas_fields, r);
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

static int look_json_bad(struct err *e)
{
	return err_set(e, ERR_DECODE, 0, "this is not a look at resources");
}

static int take_numa(const struct json *list, struct resource_device *d, struct err *e)
{
	if (json_len(list) > RESOURCE_NUMA_MAX)
		return look_json_bad(e);
	json_each (node, list) {
		const char *text = json_str(node);
		uint64_t v;

		if (!text || parse_u64(text, 0, INT32_MAX, &v))
			return look_json_bad(e);
		d->numa[d->n_numa++] = (int)v;
	}
	return 0;
}

static int look_json_add_copies(const struct resource_device *d, size_t copies,
				struct resource_devices *r, struct err *e)
{
	size_t at = r->n + r->n_maybe;

	if (ARRAY_GROW_BY(r->device, at, copies, RESOURCE_IDS_MAX, "devices of a resource", e))
		return -1;
	for (size_t i = 0; i < copies; i++) {
		r->device[at + i] = *d;
		if (copies > 1 && copy_id(d, i, r->device[at + i].id))
			return look_json_bad(e);
	}
	return 0;
}

/* How many there are; -1: e says why. */
static int look_json_take_device(const struct json *n, struct resource_devices *r, struct err *e)
{
	struct device_value x = { .copies = 1 };

	if (json_type(n) != JSON_OBJECT)
		return look_json_bad(e);
	if (json_decode(n, "device", device_fields, &x, e) || take_numa(x.numa, &x.d, e))
		return -1;
	return look_json_add_copies(&x.d, x.copies, r, e) ? -1 : (int)x.copies;
}

static int take_hca(const struct json *n, struct resource_devices *r, struct err *e)
{
	struct resource_hca h = { .addr = "" };

	if (json_type(n) != JSON_OBJECT || json_decode(n, "", hca_fields, &h, e))
		return look_json_bad(e);
	if (ARRAY_GROW(r->hca, r->n_hcas, HCAS_MAX, "HCAs", e))
		return -1;
	r->hca[r->n_hcas++] = h;
	return 0;
}

static int take_resource(const struct json *n, struct resource_devices *r, struct err *e)
{
	int found;

	json_each (d, json_get(n, "devices")) {
		if ((found = look_json_take_device(d, r, e)) < 0)
			return -1;
		r->n += (size_t)found;
	}
	json_each (d, json_get(n, "maybe")) {
		if ((found = look_json_take_device(d, r, e)) < 0)
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
		return look_json_bad(e);
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
		return look_json_bad(e);
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

/* A set that is read borrows info until it has its own. */
static const struct json_field conf_fields[] = {
	{ "name", J_CHARS, J_AT(struct resource_conf, name), .flags = J_REQUIRED },
	{ "shared", J_BOOL, J_AT(struct resource_conf, shared) },
	{ "deviceNodes", J_ENUM, J_AT(struct resource_conf, nodes), .names = conf_node_ways },
	{ "info", J_OBJECT, J_AT(struct resource_conf, info) },
	{ 0 },
};

struct json *resource_set_to_json(const struct resource_set *s)
{
	auto_json struct json *list = json_new_array();

	for (size_t i = 0; list && i < s->n; i++) {
		if (json_encode(json_push_object(list), conf_fields, &s->conf[i]))
			return NULL;
	}
	return TAKE_PTR(list);
}

static int take_conf(const struct json *n, struct resource_set *s, struct err *e)
{
	struct resource_conf x = { .name = "" };

	if (json_type(n) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "a resource must be an object");
	if (json_decode(n, "resource", conf_fields, &x, e) ||
	    ARRAY_GROW(s->conf, s->n, RESOURCES_MAX, "resources", e))
		return -1;
	if (!strchr(x.name, '/'))
		return err_set(e, ERR_DECODE, 0, "\"%s\" is not the name of a resource", x.name);
	if (x.info && !(x.info = json_dup(x.info)))
		return err_nomem(e);
	s->conf[s->n++] = x;
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
