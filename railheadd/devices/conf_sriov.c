/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf_sriov.c: the configuration of k8snetworkplumbingwg/sriov-network-device-plugin.
 *
 * Facts from its pkg/types/types.go, pkg/netdevice/netDeviceProvider.go and
 * pkg/resources/deviceSelectors.go: all kinds of selectors must match, one of the selectors in a
 * list; a device belongs to the first resource; empty lists select nothing specially. Two of its
 * program's options are keys here, beside resourceList, where it ignores them.
 */
#include <stdio.h>

#include "railheadd/devices/conf.h"

#define PREFIX "intel.com" /* its option --resource-prefix, if absent */

static const struct json_field file_fields[] = {
	{ "resourceList", J_ARRAY, J_AT(struct conf_upstream, list) },
	{ "interval", J_U32, J_AT(struct conf_upstream, interval), .min = 1,
	  .max = RESOURCES_INTERVAL_MAX },
	CONF_UPSTREAM_KEYS,
	{ 0 },
};

enum device_type { TYPE_NET };

static const struct json_enum device_types[] = { { "netDevice", TYPE_NET }, { NULL, 0 } };

struct sriov_resource {
	const char *name, *prefix;
	int type;
	bool no_topology;
	const struct json *selectors, *info;
};

static const struct json_field resource_fields[] = {
	{ "resourceName", J_STRING, J_AT(struct sriov_resource, name), .flags = J_REQUIRED },
	{ "resourcePrefix", J_STRING, J_AT(struct sriov_resource, prefix), .flags = J_EMPTY_OK },
	{ "deviceType", J_ENUM, J_AT(struct sriov_resource, type), .flags = J_EMPTY_OK,
	  .names = device_types },
	{ "excludeTopology", J_BOOL, J_AT(struct sriov_resource, no_topology) },
	{ "selectors", J_ANY, J_AT(struct sriov_resource, selectors) },
	{ "additionalInfo", J_OBJECT, J_AT(struct sriov_resource, info) },
	{ 0 },
};

static const struct select_key keys[] = {
	{ "vendors", SELECT_VENDOR },      { "devices", SELECT_DEVICE },
	{ "drivers", SELECT_DRIVER },      { "pciAddresses", SELECT_ADDRESS },
	{ "acpiIndexes", SELECT_ACPI },    { "pfNames", SELECT_PF },
	{ "rootDevices", SELECT_PF_ADDR }, { "linkTypes", SELECT_LINK },
	{ "pKeys", SELECT_PKEY },          { NULL, SELECT_PROPERTIES },
};

static const struct json_field flag_fields[] = {
	{ "isRdma", J_BOOL, J_AT(struct device_selector, rdma) },
	{ "needVhostNet", J_BOOL, J_AT(struct device_selector, vhost) },
	{ 0 },
};

/* Selectors that railhead does not have. */
static const struct {
	const char *key, *what;
} refused[] = {
	{ "ddpProfiles", "DDP profiles" },
	{ "vdpaType", "vDPA devices" },
	{ "auxTypes", "auxiliary devices of subfunctions" },
};

static bool conf_sriov_is_empty(const struct json *n)
{
	const char *text = json_str(n);

	return !n || (text && !*text) || (json_type(n) == JSON_ARRAY && !json_len(n));
}

static int conf_sriov_refuse(const struct json *n, const char *where, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		const struct json *value = json_get(n, refused[i].key);
		char shown[JSON_SHOW_LEN];

		if (conf_sriov_is_empty(value))
			continue;
		err_set(e, ERR_FIELD, 0, "%s.%s: %s: %s are not supported", where, refused[i].key,
			json_show(value, shown), refused[i].what);
		return err_hint(e, "remove the key, or leave this resource to "
				   "sriov-network-device-plugin under another name");
	}
	return 0;
}

static int conf_sriov_add_selector(struct conf_file *f, struct resource_conf *r,
				   const struct json *n, const char *where, struct err *e)
{
	struct device_selector *s;

	if (json_type(n) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "%s: must be an object, got %s", where,
			       json_type_name(n));
	if (conf_sriov_refuse(n, where, e) || !(s = conf_selector(r, e)) ||
	    json_decode(n, where, flag_fields, s, e) || conf_select(s, keys, n, where, e))
		return -1;
	return conf_ignored(f, n, where, (struct conf_keys){ flag_fields, keys }, e);
}

static int conf_sriov_add_selectors(struct conf_file *f, struct resource_conf *r,
				    const struct json *n, const char *where, struct err *e)
{
	char place[CONF_WHERE_LEN];
	size_t i = 0;

	if (json_type(n) != JSON_ARRAY) {
		(void)snprintf(place, sizeof(place), "%s.selectors", where);
		return n ? conf_sriov_add_selector(f, r, n, place, e) : 0;
	}
	json_each (one, n) {
		(void)snprintf(place, sizeof(place), "%s.selectors[%zu]", where, i++);
		if (conf_sriov_add_selector(f, r, one, place, e))
			return -1;
	}
	return 0;
}

/* additionalInfo: by PCI address, or "*", an object of texts. */
static int check_info(const struct json *info, const char *where, struct err *e)
{
	json_each (device, info) {
		if (json_type(device) != JSON_OBJECT)
			return err_set(e, ERR_DECODE, 0,
				       "%s.additionalInfo.%.64s: must be an object, got %s", where,
				       json_key(device), json_type_name(device));
		json_each (value, device) {
			if (!json_str(value))
				return err_set(e, ERR_DECODE, 0,
					       "%s.additionalInfo.%.64s.%.64s: must be a string, "
					       "got %s",
					       where, json_key(device), json_key(value),
					       json_type_name(value));
		}
	}
	return 0;
}

static int conf_sriov_decode(const struct json *n, const char *where, struct sriov_resource *x,
			     struct err *e)
{
	if (json_type(n) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "%s: must be an object, got %s", where,
			       json_type_name(n));
	if (json_decode(n, where, resource_fields, x, e)) {
		if (e->code == ERR_FIELD)
			err_hint(e, "railhead serves network functions; leave accelerators and "
				    "subfunctions to sriov-network-device-plugin");
		return -1;
	}
	return check_info(x->info, where, e);
}

static int conf_sriov_add_resource(struct conf_file *f, const struct json *n, const char *where,
				   struct err *e)
{
	struct sriov_resource x = { .prefix = f->prefix };
	char place[CONF_WHERE_LEN], name[512];
	struct resource_conf *r;

	if (conf_sriov_decode(n, where, &x, e) || !(r = conf_new(f, e)))
		return -1;
	(void)snprintf(name, sizeof(name), "%.250s/%.250s", x.prefix, x.name);
	(void)snprintf(place, sizeof(place), "%s.resourceName", where);
	r->no_topology = x.no_topology;
	if (x.info && !(r->info = json_dup(x.info)))
		return err_nomem(e);
	if (conf_name(f, r, name, place, e) ||
	    conf_sriov_add_selectors(f, r, x.selectors, where, e))
		return -1;
	return conf_ignored(f, n, where, (struct conf_keys){ resource_fields, NULL }, e);
}

int conf_sriov(struct conf_file *f, const struct json *tree, struct err *e)
{
	static const struct conf_form form = {
		"resourceList", file_fields, { .prefix = PREFIX }, conf_sriov_add_resource
	};

	return conf_add_upstream(f, tree, &form, e);
}
