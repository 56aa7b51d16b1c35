/* SPDX-License-Identifier: Apache-2.0 */
/* taken.c: the VF in the record of an attachment: written and read. */
#include "sriov/claim/taken.h"

#include <string.h>

#include "cni/record/part.h"

struct json *sriov_device(const struct vf_place *p, const char *devinfo, const struct tier *tier)
{
	auto_json struct json *o = json_new_object();

	if (!o || json_add_str(o, "vf", p->vf) || json_add_str(o, "pf", p->pf) ||
	    json_add_int(o, "index", p->index) || json_add_int(o, "life", (int64_t)p->life) ||
	    (*p->name && json_add_str(o, "name", p->name)) ||
	    json_add_str(o, "deviceInfo", devinfo) ||
	    (tier && json_put(o, "tier", tier_to_json(tier))))
		return NULL;
	return TAKE_PTR(o);
}

int sriov_device_tier(const struct json *device, struct tier *out, struct err *e)
{
	return tier_from_json(json_get(device, "tier"), out, e);
}

const char *sriov_device_info(const struct json *device)
{
	const char *path = json_str(json_get(device, "deviceInfo"));

	return path && *path == '/' ? path : NULL;
}

const char *sriov_device_vf(const struct record *r)
{
	return json_str(json_get(r->device, "vf"));
}

struct taken_scan {
	char boot[CTX_BOOT_ID_LEN + 1];
	record_fn fn;
	void *arg;
};

static int visit_parts(const struct record *r, void *arg)
{
	const struct taken_scan *s = arg;
	struct record part;
	int stop = 0;

	if (!r->tree || r->name_mismatch || strcmp(r->boot, s->boot) != 0)
		return 0;
	for (size_t i = 0; !stop && i < record_parts(r); i++) {
		record_part(r, i, &part);
		stop = sriov_device_vf(&part) ? s->fn(&part, s->arg) : 0;
	}
	return stop;
}

int taken_each(const struct ctx *ctx, record_fn fn, void *arg, struct err *e)
{
	struct taken_scan s = { .fn = fn, .arg = arg };

	return ctx_boot_id(ctx, s.boot, e) || record_each(ctx, NULL, visit_parts, &s, e) ? -1 : 0;
}
