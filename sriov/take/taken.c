/* SPDX-License-Identifier: Apache-2.0 */
/* taken.c: the VF in the record of an attachment: written and read. */
#include "sriov/take/taken.h"

struct json *sriov_device(const struct vf_place *p, const char *devinfo, const struct tier *tier)
{
	auto_json struct json *o = json_new_object();

	if (!o || json_add_str(o, "vf", p->vf) || json_add_str(o, "pf", p->pf) ||
	    json_add_int(o, "index", p->index) || json_add_str(o, "deviceInfo", devinfo) ||
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
