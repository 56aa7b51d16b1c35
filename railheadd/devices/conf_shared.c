/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf_shared.c: the configuration of Mellanox/k8s-rdma-shared-dev-plugin.
 *
 * Facts from its pkg/types/types.go and pkg/resources/resources_manager.go (v1.5.3). An absent
 * prefix is "rdma". The key devices is an older way to write selectors.ifNames; exactly one of the
 * two must be there. It looks again every 60 seconds, and with 0 never.
 */
#include <stdio.h>

#include "railheadd/devices/conf.h"

#define PREFIX           "rdma"
#define DEFAULT_INTERVAL 60

static const struct json_field file_fields[] = {
	{ "configList", J_ARRAY, J_AT(struct conf_upstream, list) },
	{ "periodicUpdateInterval", J_U32, J_AT(struct conf_upstream, interval) },
	CONF_UPSTREAM_KEYS,
	{ 0 },
};

struct shared_resource {
	const char *name, *prefix;
	uint32_t copies;
	const struct json *devices, *selectors;
};

static const struct json_field resource_fields[] = {
	{ "resourceName", J_STRING, J_AT(struct shared_resource, name), .flags = J_REQUIRED },
	{ "resourcePrefix", J_STRING, J_AT(struct shared_resource, prefix), .flags = J_EMPTY_OK },
	{ "rdmaHcaMax", J_U32, J_AT(struct shared_resource, copies), .max = RESOURCE_IDS_MAX },
	{ "devices", J_ARRAY, J_AT(struct shared_resource, devices) },
	{ "selectors", J_OBJECT, J_AT(struct shared_resource, selectors) },
	{ 0 },
};

static const struct select_key keys[] = {
	{ "vendors", SELECT_VENDOR }, { "deviceIDs", SELECT_DEVICE },
	{ "drivers", SELECT_DRIVER }, { "ifNames", SELECT_INTERFACE },
	{ "linkTypes", SELECT_LINK }, { NULL, SELECT_PROPERTIES },
};

static bool is_empty(const struct device_selector *s)
{
	for (int p = 0; p < SELECT_PROPERTIES; p++) {
		if (s->of[p].n)
			return false;
	}
	return true;
}

static int conf_shared_add_selector(struct resource_conf *r, const struct shared_resource *x,
				    const char *where, struct err *e)
{
	struct device_selector *s = conf_selector(r, e);
	char place[CONF_WHERE_LEN];

	(void)snprintf(place, sizeof(place), "%s.selectors", where);
	if (!s || conf_select(s, keys, x->selectors, place, e))
		return -1;
	s->rdma = true;
	if (!is_empty(s) && json_len(x->devices))
		return err_set(e, ERR_CONFIG, 0,
			       "%s: has \"devices\" and \"selectors\": move the interfaces to "
			       "selectors.ifNames",
			       where);
	(void)snprintf(place, sizeof(place), "%s.devices", where);
	if (device_selector_add(s, SELECT_INTERFACE, x->devices, place, e))
		return -1;
	return is_empty(s) ? err_set(e, ERR_CONFIG, 0,
				     "%s: selects no device: it has neither \"selectors\" nor "
				     "\"devices\"",
				     where)
			   : 0;
}

static int conf_shared_add_resource(struct conf_file *f, const struct json *n, const char *where,
				    struct err *e)
{
	struct shared_resource x = { .prefix = f->prefix };
	char place[CONF_WHERE_LEN], name[512];
	struct resource_conf *r;

	if (json_type(n) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "%s: must be an object, got %s", where,
			       json_type_name(n));
	if (json_decode(n, where, resource_fields, &x, e) || !(r = conf_new(f, e)))
		return -1;
	(void)snprintf(name, sizeof(name), "%.250s/%.250s", x.prefix, x.name);
	(void)snprintf(place, sizeof(place), "%s.resourceName", where);
	r->shared = true;
	r->no_topology = true;
	r->copies = x.copies;
	if (conf_name(f, r, name, place, e) || conf_shared_add_selector(r, &x, where, e) ||
	    conf_ignored(f, n, where, (struct conf_keys){ resource_fields, NULL }, e))
		return -1;
	(void)snprintf(place, sizeof(place), "%s.selectors", where);
	return conf_ignored(f, x.selectors, place, (struct conf_keys){ NULL, keys }, e);
}

int conf_shared(struct conf_file *f, const struct json *tree, struct err *e)
{
	static const struct conf_form form = { "configList",
					       file_fields,
					       { .prefix = PREFIX, .interval = DEFAULT_INTERVAL },
					       conf_shared_add_resource };

	return conf_add_upstream(f, tree, &form, e);
}
