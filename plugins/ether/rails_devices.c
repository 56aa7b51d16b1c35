/* SPDX-License-Identifier: Apache-2.0 */
/* rails_devices.c: the VFs that a call gives, and which of them belongs to which rail. */
#include <string.h>

#include "plugins/ether/rails_priv.h"
#include "lib/sys/site.h"
#include "topo/kubelet/pod_gpus.h"

#define KUBELET_MS   5000 /* for the kubelet to say which devices the pod has */
#define RESOURCE_KEY "resourceName"

static int rails_devices_add_device(struct rails_devices *d, const char *text, struct err *e)
{
	struct pci_addr addr;
	char one[PCI_STR_LEN];

	if (pci_parse(text, &addr))
		return err_set(e, ERR_CONFIG, 0,
			       "%s: \"%.64s\" is not a PCI address such as 0000:3b:02.5", d->source,
			       text);
	pci_format(addr, one);
	for (size_t i = 0; i < d->n; i++)
		if (strcmp(d->id[i], one) == 0)
			return err_set(e, ERR_CONFIG, 0, "%s: %s is given twice", d->source, one);
	if (d->n == RAIL_LIST_MAX)
		return err_set(e, ERR_CONFIG, 0, "%s: has more than %d devices", d->source,
			       RAIL_LIST_MAX);
	memcpy(d->id[d->n++], one, sizeof(one));
	return 0;
}

static int rails_devices_add_list(struct rails_devices *d, const struct json *list, struct err *e)
{
	char shown[JSON_SHOW_LEN];

	if (json_type(list) != JSON_ARRAY)
		return err_set(e, ERR_DECODE, 0, "%s: must be an array of PCI addresses, got %s",
			       d->source, json_show(list, shown));
	json_each (item, list) {
		if (!json_str(item))
			return err_set(e, ERR_DECODE, 0, "%s: must have strings, got %s", d->source,
				       json_show(item, shown));
		if (rails_devices_add_device(d, json_str(item), e))
			return -1;
	}
	return 0;
}

static int rails_devices_add_single(struct rails_devices *d, const char *text, const char *source,
				    struct err *e)
{
	if (d->n || !text || !*text)
		return 0;
	d->source = source;
	return rails_devices_add_device(d, text, e);
}

int rails_devices_read(const struct attach *a, const struct rails_conf *c,
		       struct rails_devices *out, struct err *e)
{
	const struct cni_conf *conf = &a->call->conf;
	const struct {
		const char *name;
		const struct json *list;
	} lists[] = {
		{ "deviceIDs", c->device_ids },
		{ "runtimeConfig.deviceIDs", json_get(conf->runtime, "deviceIDs") },
		{ "args.cni.deviceIDs", json_get(conf->args_cni, "deviceIDs") },
	};
	struct rails_devices d = { .n = 0 };

	for (size_t i = 0; i < ARRAY_SIZE(lists) && !d.n; i++) {
		d.source = lists[i].name;
		if (lists[i].list && rails_devices_add_list(&d, lists[i].list, e))
			return -1;
	}
	/* Multus gives one device, the first of the resource. */
	if (!c->resource_name && (rails_devices_add_single(&d, c->device_id, "deviceID", e) ||
				  rails_devices_add_single(&d, c->pci_bus_id, "pciBusID", e) ||
				  rails_devices_add_single(&d, json_text(conf->runtime, "deviceID"),
							   "runtimeConfig.deviceID", e)))
		return -1;
	if (d.n && c->resource)
		return err_set(e, ERR_CONFIG, 0,
			       "%s and resource exclude each other: one names the VFs, the other "
			       "lets the plugin choose",
			       d.source);
	*out = d;
	return 0;
}

/* ---- the kubelet ---- */

static bool is_function(const char *owner, const char *id, bool claimed)
{
	struct pci_addr ignored;

	(void)owner;
	return !claimed && pci_parse(id, &ignored) == 0;
}

static int ask_kubelet(const struct attach *a, const char *resource, struct rails_devices *d,
		       struct err *e)
{
	const struct cni_pod pod = cni_args_pod(a->call->env.args);
	const struct pod_query query = { { pod.ns, pod.name }, is_function };
	auto_pod_devices struct pod_devices devices = { .n = 0 };
	auto_site struct site site = { .tree = NULL };

	if (!*pod.name)
		return err_set(e, ERR_CONFIG, 0, "CNI_ARGS has no K8S_POD_NAME");
	if (site_load(&a->call->ctx, &site, e))
		return -1;
	const struct kubelet_at kubelet = { .socket = site.pod_resources,
					    .until = ctx_mono_ms() + KUBELET_MS };
	if (pod_devices_ask(&kubelet, &query, &devices, e))
		return -1;
	d->source = RESOURCE_KEY;
	for (size_t i = 0; i < devices.n; i++)
		if (strcmp(devices.device[i].owner, resource) == 0 &&
		    rails_devices_add_device(d, devices.device[i].id, e))
			return -1;
	if (d->n)
		return 0;
	err_set(e, ERR_CONFIG, 0,
		"the kubelet gave the pod %s/%s no device of it that is a PCI "
		"function",
		pod.ns, pod.name);
	return err_hint(e,
			"request the resource in a container of the pod, as many as it has rails");
}

int rails_devices_find(const struct attach *a, const struct rails_conf *c,
		       struct rails_devices *out, struct err *e)
{
	if (rails_devices_read(a, c, out, e))
		return -1;
	if (a->call->env.cmd == CNI_STATUS)
		out->n = 0;
	if (out->n || !c->resource_name || a->call->env.cmd == CNI_STATUS)
		return 0;
	return ask_kubelet(a, c->resource_name, out, e)
		       ? err_wrap(e, RESOURCE_KEY ": \"%.128s\"", c->resource_name)
		       : 0;
}

/* ---- rails ---- */

int rails_devices_pf(const struct ctx *ctx, const char *ifname, char pf[PCI_STR_LEN], struct err *e)
{
	if (pci_of_netdev(ctx->sysfs, ifname, pf, e) == 0)
		return 0;
	if (e->code != ERR_NOTFOUND)
		return -1;
	e->code = ERR_CONFIG;
	return err_hint(e, "kinds \"sriov\" and \"ib-sriov\" need rails that are cards "
			   "with VFs");
}

int rails_devices_take(const struct ctx *ctx, struct rails_devices *d, const char *pf_ifname,
		       char out[PCI_STR_LEN], struct err *e)
{
	char pf[PCI_STR_LEN], of[PCI_STR_LEN];

	*out = '\0';
	if (rails_devices_pf(ctx, pf_ifname, pf, e))
		return -1;
	for (size_t i = 0; i < d->n && !*out; i++) {
		if (pci_physfn(ctx->sysfs, d->id[i], of, e)) {
			if (e->code == ERR_NOTFOUND)
				e->code = ERR_CONFIG;
			return err_wrap(e, "%s", d->source);
		}
		if (d->taken[i] || strcmp(of, pf) != 0)
			continue;
		d->taken[i] = true;
		memcpy(out, d->id[i], PCI_STR_LEN);
	}
	return 0;
}

int rails_devices_all_taken(const struct rails_devices *d, struct err *e)
{
	for (size_t i = 0; i < d->n; i++)
		if (!d->taken[i])
			return err_set(e, ERR_CONFIG, 0,
				       "%s: %s is a VF of no rail that is asked for, or of one "
				       "that has another VF",
				       d->source, d->id[i]);
	return 0;
}
