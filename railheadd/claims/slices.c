/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices.c: the forms are those of k8s.io/api, resource/v1/types.go (Kubernetes 1.36). The standard
 * attributes are those of k8s.io/dynamic-resource-allocation, deviceattribute. A name without a
 * domain is of the driver's: "rail" is railhead.io/rail.
 *
 * The order of devices matters: the scheduler takes the first one that fits. It sorts pools and the
 * slices of a pool by name, as text. The devices of a slice keep the order of the list
 * (k8s.io/dynamic-resource-allocation 0.36, structured/internal/incubating: buildPool and
 * allocateOne).
 */
#include "railheadd/claims/slices.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/device/rdma.h"
#include "railheadd/claims/claim.h"

#define STANDARD "resource.kubernetes.io/"
#define TAINT    CLAIM_DRIVER "/degraded"
#define COUNTERS "vf" /* "vf5": the set of counters of VF 5 of each rail */

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

static int slices_add_layer(struct json *attributes, bool infiniband)
{
	return slices_add_text(attributes, "linkLayer", infiniband ? "InfiniBand" : "Ethernet");
}

/* How a pod can have the RDMA device. That of a card cannot move: in mode exclusive no pod has it.
 */
static int slices_add_rdma(struct json *attributes, const struct slices_facts *f, bool of_vfs)
{
	const bool has = f->rdma && (of_vfs || strcmp(f->rdma, rdma_mode_name(RDMA_SHARED)) == 0);

	return slices_add_text(attributes, "rdma", has ? f->rdma : "");
}

/* vf NULL: the card itself. A name of an interface changes while the VF is in a pod. */
static int slices_add_card(struct json *attributes, const struct slices_facts *f,
			   const struct slices_rail *r, const struct slices_vf *vf)
{
	return slices_add_text(attributes, "kind", vf ? "vf" : "card") ||
			       slices_add_number(attributes, "rail", r->number) ||
			       slices_add_text(attributes, "group", r->group ? r->group : "") ||
			       slices_add_text(attributes, "ifName", vf ? "" : r->ifname) ||
			       slices_add_text(attributes, "hca", vf ? vf->hca : r->hca) ||
			       slices_add_layer(attributes, r->infiniband) ||
			       slices_add_text(attributes, "leaf", r->leaf) ||
			       slices_add_text(attributes, "port", r->port) ||
			       slices_add_rdma(attributes, f, vf != NULL) ||
			       (r->gbps && slices_add_number(attributes, "gbps", r->gbps)) ||
			       slices_add_text(attributes, STANDARD "pciBusID",
					       vf ? vf->pci : r->pci) ||
			       slices_add_text(attributes, STANDARD "pcieRoot", r->root) ||
			       (r->numa >= 0 &&
				slices_add_number(attributes, STANDARD "numaNode", r->numa))
		       ? -1
		       : 0;
}

static int slices_add_set(struct json *attributes, const struct slices_facts *f, const char *kind)
{
	return slices_add_text(attributes, "kind", kind) ||
			       slices_add_number(attributes, "rails", (int64_t)f->n) ||
			       slices_add_number(attributes, "missing", (int64_t)f->missing) ||
			       slices_add_layer(attributes, f->rail[0].infiniband) ||
			       slices_add_rdma(attributes, f, strcmp(kind, "vf-set") == 0)
		       ? -1
		       : 0;
}

static struct json *slices_push_device(struct json *list, const char *name,
				       struct json **attributes)
{
	struct json *device = json_push_object(list);

	*attributes = device && json_add_str(device, "name", name) == 0
			      ? json_add_object(device, "attributes")
			      : NULL;
	return *attributes ? device : NULL;
}

uint32_t slices_rate(uint32_t now, uint32_t before, uint32_t published)
{
	return now && (now == before || !published) ? now : published;
}

/* One of these rails is down, or a set lacks one. Pods that run there stay: the link may come back.
 */
static int slices_add_taint(struct json *device, const struct slices_facts *f, uint64_t rails)
{
	const bool lacks = rails == UINT64_MAX && f->missing;
	struct json *list, *taint;
	bool down = false;

	for (size_t i = 0; i < f->n; i++)
		down |= f->rail[i].down && rails >> f->rail[i].number & 1;
	if (!f->tainted || !(down || lacks))
		return 0;
	return !(list = json_add_array(device, "taints")) || !(taint = json_push_object(list)) ||
			       json_add_str(taint, "key", TAINT) ||
			       json_add_str(taint, "value", down ? "no-carrier" : "missing-rail") ||
			       json_add_str(taint, "effect", "NoSchedule")
		       ? -1
		       : 0;
}

/* r NULL: a set has all of them. */
static uint64_t slices_bits(const struct slices_rail *r)
{
	return r ? UINT64_C(1) << r->number : UINT64_MAX;
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
	if (!(device = slices_push_device(list, name, &attributes)) ||
	    (r ? slices_add_card(attributes, f, r, NULL) : slices_add_set(attributes, f, "set")) ||
	    slices_add_taint(device, f, slices_bits(r)))
		return -1;
	return f->shared ? slices_add_slots(device) : 0;
}

/* ---- groups ---- */

void slices_group(struct slices_facts *f, const struct agent_conf_groups *groups, const char *node)
{
	const size_t first = groups->n ? hash_add_text(HASH_START, node) % groups->n : 0;
	struct slices_rail sorted[RAIL_LIST_MAX];
	uint64_t done = 0;
	size_t n = 0;

	f->n_groups = 0;
	for (size_t k = 0; k <= groups->n; k++) {
		const struct agent_conf_group *g =
			k < groups->n ? &groups->of[(first + k) % groups->n] : NULL;
		uint64_t here = 0, infiniband = 0;

		for (size_t i = 0; i < f->n; i++) {
			const uint64_t bit = slices_bits(&f->rail[i]);

			if (done & bit || (g && !(g->rails & bit)))
				continue;
			sorted[n] = f->rail[i];
			sorted[n++].group = g ? g->name : NULL;
			here |= bit;
			infiniband |= f->rail[i].infiniband ? bit : 0;
		}
		done |= here;
		if (g && here == g->rails && (!infiniband || infiniband == here))
			f->group[f->n_groups++] =
				(struct slices_group){ g->name, g->rails, infiniband != 0 };
	}
	memcpy(f->rail, sorted, n * sizeof(*sorted));
}

static int slices_add_group(struct json *attributes, const struct slices_facts *f,
			    const struct slices_group *g, const char *kind)
{
	return slices_add_text(attributes, "kind", kind) ||
			       slices_add_text(attributes, "group", g->name) ||
			       slices_add_number(attributes, "rails",
						 __builtin_popcountll(g->rails)) ||
			       slices_add_layer(attributes, g->infiniband) ||
			       slices_add_rdma(attributes, f, strcmp(kind, "group") != 0)
		       ? -1
		       : 0;
}

/* One claim takes one device, so that claims go round the groups. */
static int slices_add_groups(struct json *list, const struct slices_facts *f)
{
	char name[CLAIM_DEVICE_LEN];
	struct json *device, *attributes;

	for (size_t i = 0; i < f->n_groups * SLICES_COPIES; i++) {
		const struct slices_group *g = &f->group[i % f->n_groups];

		(void)snprintf(name, sizeof(name), CLAIM_SET "-%s-%zu", g->name, i / f->n_groups);
		if (!(device = slices_push_device(list, name, &attributes)) ||
		    slices_add_group(attributes, f, g, "group") ||
		    slices_add_taint(device, f, g->rails))
			return -1;
	}
	return 0;
}

/* ---- VFs ---- */

void slices_facts_clear(struct slices_facts *f)
{
	free(f->vf);
	*f = (struct slices_facts){ .n = 0 };
}

/* One more than the highest number of a VF. */
static uint32_t slices_vfs_end(const struct slices_facts *f)
{
	uint32_t end = 0;

	for (size_t i = 0; i < f->n_vfs; i++) {
		if (f->vf[i].index >= end)
			end = f->vf[i].index + 1;
	}
	return end;
}

/* One of these rails has this VF. */
static bool slices_is_vf(const struct slices_facts *f, size_t i, uint32_t index, uint64_t rails)
{
	return f->vf[i].index == index && rails >> f->rail[f->vf[i].rail].number & 1;
}

/* How many of these rails have this VF. */
static size_t slices_vfs_of(const struct slices_facts *f, uint32_t index, uint64_t rails)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n_vfs; i++)
		n += slices_is_vf(f, i, index, rails);
	return n;
}

/* The counters of these VFs: one of the set "vf5" for each rail. */
static int slices_add_counters(struct json *o, const struct slices_facts *f, uint32_t index,
			       uint64_t rails)
{
	struct json *counters = json_add_object(o, "counters"), *counter;
	char name[CLAIM_DEVICE_LEN];

	for (size_t i = 0; counters && i < f->n_vfs; i++) {
		if (!slices_is_vf(f, i, index, rails))
			continue;
		(void)snprintf(name, sizeof(name), CLAIM_CARD "%u", f->rail[f->vf[i].rail].number);
		if (!(counter = json_add_object(counters, name)) ||
		    json_add_str(counter, "value", "1"))
			return -1;
	}
	return counters ? 0 : -1;
}

/* VF index of one rail, of the rails of a group, or, if both are NULL, of all rails. */
struct slices_vf_device {
	uint32_t index;
	const struct slices_vf *vf;
	const struct slices_group *group;
};

static int slices_add_vf(struct json *list, const struct slices_facts *f,
			 const struct slices_vf_device *d)
{
	const struct slices_rail *r = d->vf ? &f->rail[d->vf->rail] : NULL;
	const uint64_t rails = d->group ? d->group->rails : slices_bits(r);
	char name[CLAIM_DEVICE_LEN], counters[CLAIM_DEVICE_LEN];
	struct json *device, *attributes, *o;

	if (r)
		(void)snprintf(name, sizeof(name), CLAIM_CARD "%u" CLAIM_VF "%u", r->number,
			       d->index);
	else if (d->group)
		(void)snprintf(name, sizeof(name), CLAIM_SET "-%s" CLAIM_VF "%u", d->group->name,
			       d->index);
	else
		(void)snprintf(name, sizeof(name), CLAIM_VF_SET "%u", d->index);
	(void)snprintf(counters, sizeof(counters), COUNTERS "%u", d->index);
	if (!(device = slices_push_device(list, name, &attributes)) ||
	    (r          ? slices_add_card(attributes, f, r, d->vf)
	     : d->group ? slices_add_group(attributes, f, d->group, "vf-group")
			: slices_add_set(attributes, f, "vf-set")) ||
	    slices_add_taint(device, f, rails))
		return -1;
	if (!f->counted)
		return 0;
	return !(o = json_add_array(device, "consumesCounters")) || !(o = json_push_object(o)) ||
			       json_add_str(o, "counterSet", counters) ||
			       slices_add_counters(o, f, d->index, rails)
		       ? -1
		       : 0;
}

static int slices_add_vf_groups(struct json *list, const struct slices_facts *f, uint32_t index)
{
	for (size_t i = 0; i < f->n_groups; i++) {
		const struct slices_vf_device d = { index, NULL, &f->group[i] };
		const uint64_t rails = f->group[i].rails;

		if (slices_vfs_of(f, index, rails) == (size_t)__builtin_popcountll(rails) &&
		    slices_add_vf(list, f, &d))
			return -1;
	}
	return 0;
}

/* The scheduler takes the first device that fits: the sets from the first one on, and groups and
 * single VFs from the last one on, so that many sets stay whole. */
static int slices_add_vfs(struct json *list, const struct slices_facts *f)
{
	const uint32_t end = slices_vfs_end(f);

	for (uint32_t index = 0; index < end && !f->mixed; index++) {
		const struct slices_vf_device d = { index, NULL, NULL };

		if (slices_vfs_of(f, index, UINT64_MAX) == f->n && slices_add_vf(list, f, &d))
			return -1;
	}
	for (uint32_t index = end; f->counted && index-- > 0;) {
		if (slices_add_vf_groups(list, f, index))
			return -1;
	}
	for (uint32_t index = end; f->counted && index-- > 0;) {
		for (size_t i = 0; i < f->n_vfs; i++) {
			const struct slices_vf_device d = { index, &f->vf[i], NULL };

			if (f->vf[i].index == index && slices_add_vf(list, f, &d))
				return -1;
		}
	}
	return 0;
}

struct json *slices_counters(const struct slices_facts *f)
{
	auto_json struct json *list = json_new_array();
	struct json *set;
	char name[CLAIM_DEVICE_LEN];

	for (uint32_t index = 0; list && f->counted && index < slices_vfs_end(f); index++) {
		if (!slices_vfs_of(f, index, UINT64_MAX))
			continue;
		(void)snprintf(name, sizeof(name), COUNTERS "%u", index);
		if (!(set = json_push_object(list)) || json_add_str(set, "name", name) ||
		    slices_add_counters(set, f, index, UINT64_MAX))
			return NULL;
	}
	return TAKE_PTR(list);
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
	return slices_add_vfs(list, f) || slices_add_groups(list, f) ? NULL : TAKE_PTR(list);
}

/* ---- slices ---- */

static size_t slices_parts(const struct json *list, size_t of)
{
	return (json_len(list) + of - 1) / of;
}

size_t slices_count(const struct slices_pool *p)
{
	return slices_parts(p->devices, SLICES_DEVICES) +
	       slices_parts(p->counters, SLICES_COUNTERS);
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
			       json_add_int(pool, "resourceSliceCount", (int64_t)slices_count(p))
		       ? -1
		       : 0;
}

/* A slice has either devices or counters. */
static int slices_add_items(struct json *spec, const struct slices_pool *p, size_t i)
{
	const size_t n = slices_parts(p->devices, SLICES_DEVICES),
		     of = i < n ? SLICES_DEVICES : SLICES_COUNTERS;
	struct json *list = json_add_array(spec, i < n ? "devices" : "sharedCounters");
	size_t at = 0;

	json_each (item, i < n ? p->devices : p->counters) {
		bool is_here = at++ / of == (i < n ? i : i - n);

		if (!list || (is_here && json_push(list, json_dup(item))))
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
	    slices_add_items(spec, p, i))
		return NULL;
	return TAKE_PTR(o);
}

/* ---- what the API server has ---- */

/* Lists have the same length and order; objects may have more members, but no taint and no
 * attribute. */
static bool slices_has(const struct json *stored, const struct json *wanted)
{
	const struct json *other = json_first(stored);

	if (!stored || json_type(stored) != json_type(wanted))
		return false;
	if (json_type(wanted) == JSON_OBJECT) {
		if (json_get(stored, "taints") && !json_get(wanted, "taints"))
			return false;
		json_each (member, wanted) {
			const struct json *has = json_get(stored, json_key(member));

			if (!slices_has(has, member) ||
			    (strcmp(json_key(member), "attributes") == 0 &&
			     json_len(has) != json_len(member)))
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
	if (json_len(items) != slices_count(p))
		return false;
	for (size_t i = 0; i < slices_count(p); i++) {
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

bool slices_has_list(const struct json *slice, const char *list)
{
	json_each (device, json_get(json_get(slice, "spec"), "devices")) {
		if (json_len(json_get(device, list)))
			return true;
	}
	return false;
}
