/* SPDX-License-Identifier: Apache-2.0 */
/*
 * publish.c: the rails of this node as ResourceSlices. Only slices of our driver and of this node
 * are read and written. They are read when the rails have changed, and from time to time, since a
 * person or the kubelet may have deleted them.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/base/hash.h"
#include "lib/device/sysfs.h"
#include "lib/sys/fs.h"
#include "railheadd/claims/api.h"
#include "railheadd/claims/jobs.h"
#include "railheadd/claims/vfs.h"
#include "railheadd/devices/files.h"
#include "railheadd/watch/memory.h"

struct publishing {
	const struct jobs_place *place;
	struct jobs_published *now;
	struct api *api;
	const struct json *items; /* the slices of the API server */
};

/* ---- what there is ---- */

static uint64_t publish_read(const struct ctx *ctx, const char *ifname, const char *file)
{
	char path[96];
	struct err ignored;
	uint64_t value;

	(void)snprintf(path, sizeof(path), "class/net/%s/%s", ifname, file);
	return sysfs_read_u64(ctx->sysfs, path, &value, &ignored) ? 0 : value;
}

/* Members that cannot be read are left out. */
static void publish_read_rail(const struct ctx *ctx, const struct rail_entry *from,
			      struct slices_rail *to)
{
	struct pci_info info;
	struct err ignored;
	uint64_t carrier;
	char path[96];

	*to = (struct slices_rail){ .number = from->number,
				    .numa = -1,
				    .infiniband = rail_list_is_infiniband(ctx, from) };
	(void)snprintf(to->ifname, sizeof(to->ifname), "%s", from->ifname);
	/* An interface that is set down has no value there. A pod sets it up. */
	(void)snprintf(path, sizeof(path), "class/net/%s/carrier", from->ifname);
	to->down = sysfs_read_u64(ctx->sysfs, path, &carrier, &ignored) == 0 && !carrier;
	/* 4294967295 while there is no link */
	to->gbps = (uint32_t)(publish_read(ctx, from->ifname, "speed") / 1000);
	if (to->gbps > 100000)
		to->gbps = 0;
	if (pci_of_netdev(ctx->sysfs, from->ifname, to->pci, &ignored)) {
		*to->pci = '\0';
		return;
	}
	if (pci_read(ctx->sysfs, to->pci, &info, &ignored) == 0)
		to->numa = info.numa_node;
	if (pci_root(ctx->sysfs, to->pci, to->root, &ignored))
		*to->root = '\0';
	if (pci_rdma_device(ctx->sysfs, to->pci, to->hca, &ignored))
		*to->hca = '\0';
}

/* A pod may have the card itself. */
static bool publish_is_there(const struct ctx *ctx, const struct rail_entry *rail)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%.2000s/class/net/%s", ctx->sysfs, rail->ifname);
	return fs_may_exist(path);
}

/* Rails without RDMA are offered all the same. */
static void publish_read_rdma(struct jobs_published *now, struct slices_facts *out)
{
	auto_nl struct nl *nl = NULL;
	struct rdma_sys sys;
	struct err why;

	if (files_open_rdma(&nl, &why) || (nl && nl_rdma_sys_get(nl, &sys, &why)))
		(void)snprintf(now->note, sizeof(now->note),
			       "devices get no attribute rdma: the RDMA mode is not known: %.150s",
			       why.msg);
	else
		out->rdma = nl ? rdma_mode_name(sys.mode) : NULL;
}

/* A text that an attribute has no room for is left out. */
static void publish_take_text(const char *text, char out[SLICES_TEXT])
{
	if (strlen(text) < SLICES_TEXT)
		memcpy(out, text, strlen(text) + 1);
}

/* The neighbour of each rail that has one interface. A bond has several. */
static int publish_take_leaves(void *arg, const struct json *list, struct err *e)
{
	struct slices_facts *f = arg;

	(void)e;
	json_each (n, list) {
		for (struct slices_rail *r = f->rail; r < f->rail + f->n; r++) {
			if (strcmp(json_text(n, "interface"), r->ifname) != 0)
				continue;
			publish_take_text(json_text_or(n, "system", json_text(n, "chassis")),
					  r->leaf);
			publish_take_text(json_text_or(n, "portName", json_text(n, "port")),
					  r->port);
		}
	}
	return 0;
}

/* The agent's file also says what was heard last while it is blind, so no slice changes then. */
static void publish_read_leaves(const struct jobs_place *p, struct jobs_published *now,
				struct slices_facts *out)
{
	struct memory m = { .ctx = p->ctx, .name = "neighbours" };
	struct err why;

	if (p->listens && memory_load(&m, publish_take_leaves, out, &why))
		(void)snprintf(now->note, sizeof(now->note),
			       "devices get no attribute leaf: %.200s", why.msg);
	memory_clear(&m);
}

static int publish_facts(const struct jobs_place *p, struct jobs_published *now,
			 struct slices_facts *out, struct err *e)
{
	const struct ctx *ctx = p->ctx;
	struct rail_list all;

	if (rail_list_load(ctx, &all, e))
		return -1;
	publish_read_rdma(now, out);
	out->missing = all.n_dead;
	for (size_t i = 0; i < all.n; i++) {
		struct slices_rail *r = &out->rail[out->n];
		const uint32_t n = all.rail[i].number;

		if (!publish_is_there(ctx, &all.rail[i])) {
			out->missing++;
			continue;
		}
		publish_read_rail(ctx, &all.rail[i], r);
		const uint32_t rate = r->gbps;
		r->gbps = now->gbps[n] = slices_rate(rate, now->seen[n], now->gbps[n]);
		now->seen[n] = rate;
		out->mixed |= r->infiniband != out->rail[0].infiniband;
		out->n++;
	}
	publish_read_leaves(p, now, out);
	slices_group(out, p->groups, p->node);
	return vfs_read(ctx, out, e);
}

/* ---- the API server ---- */

static int publish_list(struct publishing *p, struct json **out, struct err *e)
{
	struct api_request r = { .method = "GET", .verb = "list", .resource = &api_slices };
	char query[384]; /* the name of a node has up to 253 characters */

	(void)snprintf(query, sizeof(query),
		       "fieldSelector=spec.driver%%3D" CLAIM_DRIVER "%%2Cspec.nodeName%%3D%s",
		       p->place->node);
	r.query = query;
	return api_call(p->api, &r, out, e);
}

/* The slices have the Node as their owner, and go with it. Without the right they stay. */
static void publish_find_node(struct publishing *p)
{
	const struct api_request r = API_GET(&api_nodes, NULL, p->place->node);
	auto_json struct json *node = NULL;
	struct jobs_published *now = p->now;
	struct err why;

	if (*now->node_uid)
		return;
	if (api_call(p->api, &r, &node, &why) == 0)
		(void)snprintf(now->node_uid, sizeof(now->node_uid), "%s",
			       json_text(json_get(node, "metadata"), "uid"));
	else
		(void)snprintf(now->note, sizeof(now->note), "the slices get no owner: %.200s",
			       why.msg);
}

/* The i-th slice. answer NULL: store it. Else show what would be stored. */
static int publish_write(struct publishing *p, const struct slices_pool *pool, size_t i,
			 struct json **answer, struct err *e)
{
	auto_free char *name = slices_name(pool->node, i);
	const struct json *old = name ? slices_find(p->items, name) : NULL;
	const char *version = old ? json_text(json_get(old, "metadata"), "resourceVersion") : NULL;
	auto_json struct json *body = name ? slices_object(pool, i, version) : NULL;
	const struct api_request r = { .method = old ? "PUT" : "POST",
				       .verb = old ? "update" : "create",
				       .resource = &api_slices,
				       .name = old ? name : NULL,
				       .query = answer ? "dryRun=All" : NULL,
				       .body = body };

	if (!body)
		return err_nomem(e);
	return api_call(p->api, &r, answer, e);
}

/* By a write that stores nothing. The first slice has a device of each kind. */
static int publish_try(struct publishing *p, const struct slices_facts *f, struct err *e)
{
	struct slices_facts wanted = *f;
	auto_json struct json *devices = NULL, *answer = NULL;

	wanted.shared = wanted.counted = wanted.tainted = wanted.rail[0].down = true;
	devices = slices_devices(&wanted);
	if (!devices)
		return err_nomem(e);
	const struct slices_pool pool = { p->place->node, NULL, devices, NULL,
					  slices_generation(p->items) + 1 };

	if (publish_write(p, &pool, 0, &answer, e))
		return -1;
	p->now->sharing = slices_shared(answer) ? FEATURE_ON : FEATURE_OFF;
	if (f->n_vfs)
		p->now->counting =
			slices_has_list(answer, "consumesCounters") ? FEATURE_ON : FEATURE_OFF;
	p->now->tainting = slices_has_list(answer, "taints") ? FEATURE_ON : FEATURE_OFF;
	return 0;
}

/* Those behind the last one, and those of another form. */
static int publish_remove_others(struct publishing *p, const struct slices_pool *pool,
				 struct err *e)
{
	json_each (item, p->items) {
		const char *name = json_text(json_get(item, "metadata"), "name");
		const struct api_request r = {
			.method = "DELETE", .verb = "delete", .resource = &api_slices, .name = name
		};
		bool is_ours = false;
		struct err why;

		for (size_t i = 0; i < slices_count(pool) && !is_ours; i++) {
			auto_free char *one = slices_name(pool->node, i);

			if (!one)
				return err_nomem(e);
			is_ours = strcmp(one, name) == 0;
		}
		if (is_ours)
			continue;
		if (api_call(p->api, &r, NULL, &why) && why.code != ERR_NOTFOUND)
			return err_pass(e, &why);
		p->now->writes++;
	}
	return 0;
}

static int publish_all(struct publishing *p, struct slices_facts *f, struct err *e)
{
	auto_json struct json *list = NULL, *devices = NULL, *counters = NULL;

	if (api_open(p->place->kube, NULL, &p->api, e) || publish_list(p, &list, e))
		return -1;
	p->items = json_get(list, "items");
	if (((f->n && p->now->sharing == FEATURE_UNKNOWN) ||
	     (f->n_vfs && p->now->counting == FEATURE_UNKNOWN)) &&
	    publish_try(p, f, e))
		return -1;
	f->shared = p->now->sharing == FEATURE_ON;
	f->counted = p->now->counting == FEATURE_ON;
	f->tainted = p->now->tainting == FEATURE_ON;
	devices = slices_devices(f);
	counters = slices_counters(f);
	if (!devices || !counters)
		return err_nomem(e);
	struct slices_pool pool = { p->place->node, NULL, devices, counters,
				    slices_generation(p->items) + 1 };

	if (slices_stand(p->items, &pool))
		return 0;
	publish_find_node(p);
	pool.node_uid = *p->now->node_uid ? p->now->node_uid : NULL;
	for (size_t i = 0; i < slices_count(&pool); i++) {
		if (publish_write(p, &pool, i, NULL, e))
			return -1;
		p->now->writes++;
	}
	return publish_remove_others(p, &pool, e);
}

static uint64_t publish_hash(const struct slices_facts *f)
{
	struct slices_facts plain = *f;
	auto_json struct json *devices = NULL;
	auto_free char *text = NULL;

	plain.shared = plain.counted = plain.tainted = true;
	devices = slices_devices(&plain);
	text = devices ? json_print(devices, false) : NULL;
	return text ? hash_add_text(HASH_START, text) : 0;
}

/* The health of the devices that are published now, behind what the next publication needs. */
static int publish_answer(const struct jobs_place *p, const struct jobs_published *now,
			  struct slices_facts *f)
{
	auto_json struct json *devices = NULL;
	auto_free uint8_t *health = NULL, *answer = NULL;
	struct proto_bytes bytes;
	struct err e;

	f->shared = now->sharing == FEATURE_ON;
	f->counted = now->counting == FEATURE_ON;
	f->tainted = true;
	devices = slices_devices(f);
	bytes = dra_health(devices, p->node, (int64_t)time(NULL));
	health = bytes.data;
	answer = devices && health ? malloc(sizeof(*now) + bytes.len) : NULL;
	if (!answer) {
		(void)err_nomem(&e);
		return slow_say(&e, NULL, 0);
	}
	memcpy(answer, now, sizeof(*now));
	memcpy(answer + sizeof(*now), health, bytes.len);
	return slow_say(NULL, answer, sizeof(*now) + bytes.len);
}

int job_publish(const struct jobs_place *p, const struct jobs_published *last, bool look)
{
	struct jobs_published now = *last;
	struct publishing x = { p, &now, NULL, NULL };
	auto_slices_facts struct slices_facts facts = { .n = 0 };
	struct err e;
	int rc;

	now.writes = 0;
	now.note[0] = '\0';
	job_restore(p, now.note, sizeof(now.note));
	rc = publish_facts(p, &now, &facts, &e);
	if (rc == 0) {
		now.devices = publish_hash(&facts);
		if (look || now.devices != last->devices)
			rc = publish_all(&x, &facts, &e);
	}
	api_close(x.api);
	if (rc && *now.note)
		log_warn(&p->ctx->log, "claims: %s", now.note);
	return rc ? slow_say(&e, NULL, 0) : publish_answer(p, &now, &facts);
}
