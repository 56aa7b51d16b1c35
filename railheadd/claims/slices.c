/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices.c: the forms are those of k8s.io/api, resource/v1/types.go (Kubernetes 1.36). The standard
 * attributes are those of k8s.io/dynamic-resource-allocation, deviceattribute. A name without a
 * domain is of the driver's: "rail" is railhead.io/rail.
 */
#include "railheadd/claims/slices.h"

#include <stdio.h>
#include <string.h>

#include "railheadd/claims/claim.h"

#define STANDARD "resource.kubernetes.io/"

/* ---- devices ---- */

static int slices_add_text(struct json *attributes, const char *name, const char *text)
{
	struct json *o = *text ? json_add_object(attributes, name) : NULL;

	return *text && (!o || json_add_str(o, "string", text)) ? -1 : 0;
}

static int slices_add_number(struct json *attributes, const char *name, int64_t value)
{
	struct json *o = json_add_object(attributes, name);

	return !o || json_add_int(o, "int", value) ? -1 : 0;
}

static int slices_add_slots(struct json *device)
{
	struct json *o, *slots, *policy;
	char value[16];

	(void)snprintf(value, sizeof(value), "%d", SLICES_SLOTS);
	return json_add_bool(device, "allowMultipleAllocations", true) ||
			       !(o = json_add_object(device, "capacity")) ||
			       !(slots = json_add_object(o, "slots")) ||
			       json_add_str(slots, "value", value) ||
			       !(policy = json_add_object(slots, "requestPolicy")) ||
			       json_add_str(policy, "default", "1")
		       ? -1
		       : 0;
}

static int slices_add_card(struct json *attributes, const struct slices_rail *r)
{
	return slices_add_text(attributes, "kind", "card") ||
			       slices_add_number(attributes, "rail", r->number) ||
			       slices_add_text(attributes, "ifName", r->ifname) ||
			       slices_add_text(attributes, "hca", r->hca) ||
			       slices_add_text(attributes, "linkLayer", "Ethernet") ||
			       (r->gbps && slices_add_number(attributes, "gbps", r->gbps)) ||
			       slices_add_text(attributes, STANDARD "pciBusID", r->pci) ||
			       slices_add_text(attributes, STANDARD "pcieRoot", r->root) ||
			       (r->numa >= 0 &&
				slices_add_number(attributes, STANDARD "numaNode", r->numa))
		       ? -1
		       : 0;
}

static int slices_add_set(struct json *attributes, const struct slices_facts *f)
{
	return slices_add_text(attributes, "kind", "set") ||
			       slices_add_number(attributes, "rails", (int64_t)f->n) ||
			       slices_add_number(attributes, "missing", (int64_t)f->missing)
		       ? -1
		       : 0;
}

/* r NULL: the set. */
static int slices_add_device(struct json *list, const struct slices_facts *f,
			     const struct slices_rail *r, int copy)
{
	char name[CLAIM_DEVICE_LEN], number[16] = "", behind[16] = "";
	struct json *device, *attributes;

	if (r)
		(void)snprintf(number, sizeof(number), "%u", r->number);
	if (!f->shared)
		(void)snprintf(behind, sizeof(behind), "-%d", copy);
	(void)snprintf(name, sizeof(name), "%s%s%s", r ? CLAIM_CARD : CLAIM_SET, number, behind);
	device = json_push_object(list);
	attributes = device && json_add_str(device, "name", name) == 0
			     ? json_add_object(device, "attributes")
			     : NULL;
	if (!attributes || (r ? slices_add_card(attributes, r) : slices_add_set(attributes, f)))
		return -1;
	return f->shared ? slices_add_slots(device) : 0;
}

struct json *slices_devices(const struct slices_facts *f)
{
	auto_json struct json *list = json_new_array();

	for (int copy = 0; copy < (f->shared ? 1 : SLICES_COPIES); copy++) {
		if (!list || (f->n && !f->mixed && slices_add_device(list, f, NULL, copy)))
			return NULL;
		for (size_t i = 0; i < f->n; i++) {
			if (slices_add_device(list, f, &f->rail[i], copy))
				return NULL;
		}
	}
	return TAKE_PTR(list);
}

/* ---- slices ---- */

size_t slices_count(const struct json *devices)
{
	return (json_len(devices) + SLICES_DEVICES - 1) / SLICES_DEVICES;
}

char *slices_name(const char *node, size_t i)
{
	char *name;

	return asprintf(&name, "%s-" CLAIM_DRIVER "-%zu", node, i) < 0 ? NULL : name;
}

static int slices_add_meta(struct json *o, const struct slices_pool *p, size_t i,
			   const char *version)
{
	auto_free char *name = slices_name(p->node, i);
	struct json *meta = json_add_object(o, "metadata"), *owners, *owner;

	if (!name || !meta || json_add_str(meta, "name", name) ||
	    json_add_str(meta, "resourceVersion", version))
		return -1;
	if (!p->node_uid)
		return 0;
	return !(owners = json_add_array(meta, "ownerReferences")) ||
			       !(owner = json_push_object(owners)) ||
			       json_add_str(owner, "apiVersion", "v1") ||
			       json_add_str(owner, "kind", "Node") ||
			       json_add_str(owner, "name", p->node) ||
			       json_add_str(owner, "uid", p->node_uid)
		       ? -1
		       : 0;
}

static int slices_add_pool(struct json *spec, const struct slices_pool *p)
{
	struct json *pool = json_add_object(spec, "pool");

	return !pool || json_add_str(pool, "name", p->node) ||
			       json_add_int(pool, "generation", p->generation) ||
			       json_add_int(pool, "resourceSliceCount",
					    (int64_t)slices_count(p->devices))
		       ? -1
		       : 0;
}

static int slices_add_devices(struct json *spec, const struct json *devices, size_t i)
{
	struct json *list = json_add_array(spec, "devices");
	size_t at = 0;

	json_each (device, devices) {
		bool is_here = at++ / SLICES_DEVICES == i;

		if (!list || (is_here && json_push(list, json_dup(device))))
			return -1;
	}
	return list ? 0 : -1;
}

struct json *slices_object(const struct slices_pool *p, size_t i, const char *version)
{
	auto_json struct json *o = json_new_object();
	struct json *spec;

	if (!o || json_add_str(o, "apiVersion", "resource.k8s.io/v1") ||
	    json_add_str(o, "kind", "ResourceSlice") || slices_add_meta(o, p, i, version) ||
	    !(spec = json_add_object(o, "spec")) || json_add_str(spec, "driver", CLAIM_DRIVER) ||
	    json_add_str(spec, "nodeName", p->node) || slices_add_pool(spec, p) ||
	    slices_add_devices(spec, p->devices, i))
		return NULL;
	return TAKE_PTR(o);
}

/* ---- what the API server has ---- */

/* Lists have the same length and order; objects may have more members. */
static bool slices_has(const struct json *stored, const struct json *wanted)
{
	const struct json *other = json_first(stored);

	if (!stored || json_type(stored) != json_type(wanted))
		return false;
	if (json_type(wanted) == JSON_OBJECT) {
		json_each (member, wanted) {
			if (!slices_has(json_get(stored, json_key(member)), member))
				return false;
		}
		return true;
	}
	if (json_type(wanted) != JSON_ARRAY)
		return json_same(stored, wanted);
	json_each (item, wanted) {
		if (!slices_has(other, item))
			return false;
		other = json_next(other);
	}
	return !other;
}

const struct json *slices_find(const struct json *items, const char *name)
{
	json_each (item, items) {
		if (strcmp(json_text(json_get(item, "metadata"), "name"), name) == 0)
			return item;
	}
	return NULL;
}

static int64_t slices_generation_of(const struct json *item)
{
	const struct json *pool = json_get(json_get(item, "spec"), "pool");

	return (int64_t)json_num(json_get(pool, "generation"));
}

int64_t slices_generation(const struct json *items)
{
	int64_t highest = 0;

	json_each (item, items) {
		if (slices_generation_of(item) > highest)
			highest = slices_generation_of(item);
	}
	return highest;
}

static bool slices_one_stands(const struct json *items, const struct slices_pool *p, size_t i)
{
	auto_free char *name = slices_name(p->node, i);
	auto_json struct json *wanted = slices_object(p, i, NULL);

	return name && wanted &&
	       slices_has(json_get(slices_find(items, name), "spec"), json_get(wanted, "spec"));
}

bool slices_stand(const struct json *items, const struct slices_pool *p)
{
	struct slices_pool now = *p;

	now.generation = slices_generation(items);
	if (json_len(items) != slices_count(p->devices))
		return false;
	for (size_t i = 0; i < slices_count(p->devices); i++) {
		if (!slices_one_stands(items, &now, i))
			return false;
	}
	return true;
}

bool slices_shared(const struct json *slice)
{
	const struct json *devices = json_get(json_get(slice, "spec"), "devices");

	return json_true(json_get(json_first(devices), "allowMultipleAllocations"));
}
