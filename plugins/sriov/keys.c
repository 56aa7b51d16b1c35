/* SPDX-License-Identifier: Apache-2.0 */
/* keys.c: checks the keys that name a VF, or a resource to choose one from. Pure. */
#include "plugins/sriov/vf_attach.h"

const struct json_enum vf_attach_link_states[] = {
	{ "auto", VF_LINK_AUTO },
	{ "enable", VF_LINK_ENABLE },
	{ "disable", VF_LINK_DISABLE },
	{ "", VF_LINK_NOT_GIVEN },
	{ 0 },
};

void vf_attach_want_link_state(int given, struct vf_info *want)
{
	if (given == VF_LINK_NOT_GIVEN)
		return;
	want->has |= VF_LINK_STATE;
	want->link_state = (enum vf_link_state)given;
}

struct resource_text {
	const struct json *pf;
	uint32_t count;
};

static int keys_add_pf(const struct json *n, struct vf_resource *r, struct err *e)
{
	const char *name = json_str(n);
	struct pci_addr addr;
	char shown[JSON_SHOW_LEN];

	if (!name || (pci_parse(name, &addr) && ifname_problem(name)))
		return err_set(e, ERR_CONFIG, 0,
			       "resource.pf: %s is neither an interface name nor a PCI address",
			       json_show(n, shown));
	if (r->n == VF_PFS_MAX)
		return err_set(e, ERR_CONFIG, 0, "resource.pf: more than %d PFs", VF_PFS_MAX);
	r->pf[r->n++] = name;
	return 0;
}

int vf_resource_decode(const struct json *n, struct vf_resource *out, struct err *e)
{
	static const struct json_field fields[] = {
		{ "pf", J_ARRAY, J_AT(struct resource_text, pf), .flags = J_REQUIRED },
		/* One ADD attaches one interface. A pod with two interfaces has two attachments. */
		{ "count", J_U32, J_AT(struct resource_text, count), .min = 1, .max = 1 },
		{ 0 },
	};
	struct resource_text t = { .count = 1 };
	struct vf_resource r = { 0 };

	if (json_decode(n, "resource", fields, &t, e))
		return -1;
	json_each (it, t.pf) {
		if (keys_add_pf(it, &r, e))
			return -1;
	}
	if (r.n == 0)
		return err_set(e, ERR_CONFIG, 0, "resource.pf: is empty; name at least one PF");
	*out = r;
	return 0;
}

/*
 * Multus puts the device into two keys and into runtimeConfig. The first one that is set counts.
 * *device NULL: none is set.
 */
static int device_given(const struct attach *a, const struct vf_attach *v, const char **key,
			const char **device, struct err *e)
{
	const struct json *runtime = json_get(a->call->conf.runtime, "deviceID");
	const char *const given[] = { v->device_id, v->pci_bus_id, json_str(runtime) };
	static const char *const keys[] = { "deviceID", "pciBusID", "runtimeConfig.deviceID" };
	char shown[JSON_SHOW_LEN];

	*device = NULL;
	if (runtime && json_type(runtime) != JSON_STRING)
		return err_set(e, ERR_DECODE, 0, "runtimeConfig.deviceID: must be a string, got %s",
			       json_show(runtime, shown));
	for (size_t i = 0; i < ARRAY_SIZE(given) && !*device; i++) {
		if (given[i] && *given[i]) {
			*device = given[i];
			*key = keys[i];
		}
	}
	return 0;
}

static int check_device(const struct attach *a, struct vf_attach *v, struct err *e)
{
	const char *key = "", *device;
	struct vf_resource ignored;
	struct pci_addr addr;

	if (device_given(a, v, &key, &device, e))
		return -1;
	/* With near, the resource says what the device could be compared with. */
	if (device && v->resource && !v->near)
		return err_set(e, ERR_CONFIG, 0,
			       "%s: \"%.64s\" and resource exclude each other: one names the VF, "
			       "the other lets the plugin choose",
			       key, device);
	if (v->resource && vf_resource_decode(v->resource, &ignored, e))
		return -1;
	if (!device)
		return 0;
	if (pci_parse(device, &addr))
		return err_set(e, ERR_CONFIG, 0,
			       "%s: \"%.64s\" is not a PCI address such as 0000:3b:02.5", key,
			       device);
	pci_format(addr, v->vf);
	return 0;
}

static int check_near(struct vf_attach *v, struct err *e)
{
	const char *text = json_str(v->near);
	struct near_gpus ignored;

	if (text && !*text)
		v->near = NULL;
	if (!v->near && v->near_only) {
		err_set(e, ERR_CONFIG, 0,
			"nearOnly: needs near, which says what the VF is near to");
		return err_hint(e, "give near, or remove nearOnly");
	}
	if (!v->near)
		return 0;
	if (near_decode(v->near, &ignored, e))
		return -1;
	if (v->resource)
		return 0;
	err_set(e, ERR_CONFIG, 0, "near: needs a resource, because it chooses among its free VFs");
	return err_hint(e, "give resource, or remove near: deviceID names one VF already");
}

int vf_attach_check_keys(const struct attach *a, struct vf_attach *v, struct err *e)
{
	return check_near(v, e) || check_device(a, v, e) ? -1 : 0;
}
