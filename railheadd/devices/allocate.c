/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocate.c: what a container gets with its devices.
 *
 * Names of variables and the form of PCIDEVICE_..._INFO are those of sriov-network-device-plugin
 * (pkg/devices, pkg/infoprovider), so that images made for it work.
 */
#include "railheadd/devices/allocate.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "lib/base/text.h"
#include "railheadd/devices/files_priv.h"

#define PARTS_MAX 65536

/* One Allocate while it is answered. */
struct answer {
	const struct ctx *ctx;
	const struct resource_request *q;
	const struct resource_conf *conf;
	struct nl *rdma; /* NULL: this kernel has no RDMA */
	struct json *info;
	struct resource_allocation out;
};

static void answer_clear(struct answer *a)
{
	nl_release(a->rdma);
	json_free(a->info);
	resource_allocation_clear(&a->out);
}

static void clear_pairs(struct resource_pair *pair, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(pair[i].name);
		free(pair[i].value);
	}
	free(pair);
}

void resource_allocation_clear(struct resource_allocation *a)
{
	clear_pairs(a->env, a->n_env);
	clear_pairs(a->annotation, a->n_annotations);
	for (size_t i = 0; i < a->n_mounts; i++) {
		free(a->mount[i].container_path);
		free(a->mount[i].host_path);
	}
	for (size_t i = 0; i < a->n_nodes; i++)
		free(a->node[i].path);
	for (size_t i = 0; i < a->n_cdi; i++)
		free(a->cdi[i]);
	free(a->mount);
	free(a->node);
	free(a->cdi);
	*a = (struct resource_allocation){ 0 };
}

/* ---- parts of the answer ---- */

static int add_pair(struct resource_pair **list, size_t *n, const char *name, const char *value,
		    struct err *e)
{
	struct resource_pair p = { strdup(name), value ? strdup(value) : NULL };

	if (!p.name || !p.value || ARRAY_GROW(*list, *n, PARTS_MAX, "variables", e)) {
		free(p.name);
		free(p.value);
		return err_nomem(e);
	}
	(*list)[(*n)++] = p;
	return 0;
}

static int add_cdi(struct answer *a, const char *device, struct err *e)
{
	struct resource_allocation *out = &a->out;
	char kind[RESOURCE_NAME_LEN + 8], name[RESOURCE_NAME_LEN + 8 + RESOURCE_ID_LEN];

	cdi_kind(a->conf->name, kind);
	(void)snprintf(name, sizeof(name), "%s=%s", kind, device);
	if (ARRAY_GROW(out->cdi, out->n_cdi, PARTS_MAX, "CDI devices", e))
		return -1;
	out->cdi[out->n_cdi] = strdup(name);
	if (!out->cdi[out->n_cdi])
		return err_nomem(e);
	out->n_cdi++;
	return 0;
}

/* Of "rwm", upstream's SR-IOV plugin gives "rw", its plugin for shared devices all three. */
static int allocate_add_node(const char *path, void *arg)
{
	struct answer *a = arg;
	struct resource_allocation *out = &a->out;
	struct err ignored;

	for (size_t i = 0; i < out->n_nodes; i++) {
		if (strcmp(out->node[i].path, path) == 0)
			return 0;
	}
	if (ARRAY_GROW(out->node, out->n_nodes, PARTS_MAX, "device nodes", &ignored))
		return -1;
	out->node[out->n_nodes] =
		(struct resource_node){ strdup(path), a->conf->shared ? "rwm" : "rw" };
	if (!out->node[out->n_nodes].path)
		return -1;
	out->n_nodes++;
	return 0;
}

static int add_files(struct answer *a, const char *device, const struct device_files *f, size_t n,
		     struct err *e)
{
	const struct cdi_device c = { a->conf->name, device, f, n };

	if (a->conf->nodes != NODES_LIST && !cdi_has_files(&c))
		return 0;
	if (a->conf->nodes != NODES_LIST)
		return cdi_put(a->ctx, &c, e) || add_cdi(a, device, e) ? -1 : 0;
	for (size_t i = 0; i < n; i++) {
		if (files_each(&f[i], allocate_add_node, a))
			return err_nomem(e);
	}
	return 0;
}

/* ---- PCIDEVICE_..._INFO ---- */

static int info_rdma(struct json *o, const struct device_files *f)
{
	struct json *rdma = json_add_object(o, "rdma");

	return !rdma || json_add_known(rdma, "uverbs", f->uverbs) ||
			       json_add_known(rdma, "umad", f->umad[0]) ||
			       json_add_known(rdma, "issm", f->issm[0]) ||
			       json_add_known(rdma, "rdma_cm", f->rdma_cm) ||
			       json_add_str(rdma, "rdma_dev", f->rdma)
		       ? -1
		       : 0;
}

static int info_others(struct json *o, const struct device_files *f)
{
	struct json *part;

	if (*f->vfio &&
	    (!(part = json_add_object(o, "vfio")) || json_add_str(part, "mount", VFIO_PATH) ||
	     json_add_str(part, "dev-mount", f->vfio)))
		return -1;
	if (*f->uio && (!(part = json_add_object(o, "uio")) || json_add_str(part, "mount", f->uio)))
		return -1;
	if (f->vhost &&
	    (!(part = json_add_object(o, "vhost")) || json_add_str(part, "net", VHOST_PATH) ||
	     json_add_str(part, "tun", TUN_PATH)))
		return -1;
	return 0;
}

/* A value for this device replaces a value for all devices. */
static int info_extra(struct json *o, const struct json *info, const char *id)
{
	const struct json *const from[] = { json_get(info, "*"), json_get(info, id) };
	struct json *extra = from[0] || from[1] ? json_add_object(o, "extraInfo") : NULL;

	for (size_t i = 0; i < ARRAY_SIZE(from); i++) {
		json_each (member, from[i]) {
			if (!extra)
				return -1;
			json_del(extra, json_key(member));
			if (json_add_copy(extra, json_key(member), member))
				return -1;
		}
	}
	return (from[0] || from[1]) && !extra ? -1 : 0;
}

static int add_info(struct answer *a, const struct resource_device *d, const struct device_files *f)
{
	struct json *o = json_add_object(a->info, d->id), *generic;

	if (!o || !(generic = json_add_object(o, "generic")) ||
	    json_add_str(generic, "deviceID", d->id) || (*f->rdma && info_rdma(o, f)) ||
	    info_others(o, f))
		return -1;
	return a->conf->info ? info_extra(o, a->conf->info, d->id) : 0;
}

/* ---- devices that are functions ---- */

static int allocate_not_ours(const struct answer *a, const char *id, struct err *e)
{
	return err_set(e, ERR_NOTFOUND, 0, "resource %s has no device \"%.64s\"", a->conf->name,
		       id);
}

static int allocate_add_function(struct answer *a, const char *id, struct err *e)
{
	const struct resource_device *d = resource_devices_find(a->q->look, id);
	struct device_files f;

	if (!d)
		return allocate_not_ours(a, id, e);
	if (files_of_function(a->ctx, a->rdma, d, &f, e) ||
	    devinfo_put(a->ctx, a->conf->name, d, &f, e) || add_files(a, d->id, &f, 1, e))
		return -1;
	return add_info(a, d, &f) ? err_nomem(e) : 0;
}

/* As upstream: capitals, "_" for "." and "/"; other characters stay. */
static void env_name(const char *resource, const char *end, char *out, size_t size)
{
	(void)snprintf(out, size, "PCIDEVICE_%s%s", resource, end);
	for (char *p = out; *p; p++) {
		if (*p == '.' || *p == '/')
			*p = '_';
		*p = (char)toupper((unsigned char)*p);
	}
}

static int allocate_add_env(struct answer *a, struct err *e)
{
	struct resource_allocation *out = &a->out;
	auto_text struct text ids = { 0 };
	auto_free char *info = json_print(a->info, false);
	char name[RESOURCE_NAME_LEN + 24];

	for (size_t i = 0; i < a->q->n; i++)
		text_addf(&ids, "%s%s", i ? "," : "", a->q->id[i]);
	auto_free char *list = text_take(&ids);
	if (!info || !list)
		return err_nomem(e);
	env_name(a->conf->name, "", name, sizeof(name));
	if (add_pair(&out->env, &out->n_env, name, list, e))
		return -1;
	env_name(a->conf->name, "_INFO", name, sizeof(name));
	return add_pair(&out->env, &out->n_env, name, info, e);
}

static int add_functions(struct answer *a, struct err *e)
{
	a->info = json_new_object();
	if (!a->info)
		return err_nomem(e);
	for (size_t i = 0; i < a->q->n; i++) {
		if (allocate_add_function(a, a->q->id[i], e))
			return -1;
	}
	return allocate_add_env(a, e);
}

/* ---- copies ---- */

static int allocate_add_shared(struct answer *a, struct err *e)
{
	const struct resource_devices *look = a->q->look;
	auto_free struct device_files *f = calloc(look->n_hcas + 1, sizeof(*f));

	if (!f)
		return err_nomem(e);
	for (size_t i = 0; i < a->q->n; i++) {
		if (!resource_devices_find(look, a->q->id[i]))
			return allocate_not_ours(a, a->q->id[i], e);
	}
	for (size_t i = 0; i < look->n_hcas; i++) {
		if (files_of_hca(a->ctx, a->rdma, &look->hca[i], &f[i], e))
			return -1;
	}
	if (add_files(a, CDI_ALL, f, look->n_hcas, e))
		return -1;
	return a->conf->networks && a->q->n ? add_cdi(a, a->q->id[0], e) : 0;
}

/* ---- slots ---- */

/* Its CDI file is there already: it does not depend on the pod. */
static int allocate_add_slot(struct answer *a, struct err *e)
{
	if (a->q->n > 1)
		return err_set(e, ERR_CONFIG, 0,
			       "a container asks for %zu, and 1 is all that it can have", a->q->n);
	if (a->q->n && !resource_devices_find(a->q->look, a->q->id[0]))
		return allocate_not_ours(a, a->q->id[0], e);
	return a->q->n ? add_cdi(a, a->q->id[0], e) : 0;
}

/* ---- the whole answer ---- */

/* Runtimes before 1.28 of the kubelet read the names from an annotation. */
static int allocate_annotate(struct answer *a, struct err *e)
{
	struct resource_allocation *out = &a->out;
	auto_text struct text names = { 0 };
	char key[RESOURCE_NAME_LEN + 24], kind[RESOURCE_NAME_LEN + 8];

	if (a->conf->nodes != NODES_CDI_ANNOTATION)
		return 0;
	cdi_kind(a->conf->name, kind);
	*strchr(kind, '/') = '_';
	(void)snprintf(key, sizeof(key), "cdi.k8s.io/%s", kind);
	for (size_t i = 0; i < out->n_cdi; i++) {
		text_addf(&names, "%s%s", i ? "," : "", out->cdi[i]);
		free(out->cdi[i]);
	}
	out->n_cdi = 0;
	auto_free char *value = text_take(&names);
	return add_pair(&out->annotation, &out->n_annotations, key, value, e);
}

int resources_allocate(const struct ctx *ctx, const struct resource_request *r,
		       struct resource_allocation *out, struct err *e)
{
	auto_clean(answer_clear) struct answer a = { .ctx = ctx,
						     .q = r,
						     .conf = &r->set->conf[r->resource] };

	if (files_open_rdma(&a.rdma, e) ||
	    (a.conf->networks && !a.conf->n_selectors ? allocate_add_slot(&a, e)
	     : a.conf->shared                         ? allocate_add_shared(&a, e)
						      : add_functions(&a, e)) ||
	    allocate_annotate(&a, e))
		return err_wrap(e, "resource %s", a.conf->name);
	*out = a.out;
	a.out = (struct resource_allocation){ 0 };
	return 0;
}
