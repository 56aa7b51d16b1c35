/* SPDX-License-Identifier: Apache-2.0 */
/* conf_own.c: our own form of a file of resources: railhead-resources.d(5). */
#include <stdio.h>
#include <string.h>

#include "lib/base/parse.h"
#include "railheadd/devices/conf.h"
#include "railheadd/devices/rail_network.h"

#define SLOT_LABEL_MAX 20 /* with "-16383" it is the name of a slot */

struct own_file {
	const struct json *resources;
	uint32_t interval;
};

static const struct json_field file_fields[] = {
	{ "resources", J_ARRAY, J_AT(struct own_file, resources), .flags = J_REQUIRED },
	{ "interval", J_U32, J_AT(struct own_file, interval), .min = 1,
	  .max = RESOURCES_INTERVAL_MAX },
	{ 0 },
};

struct own_resource {
	const char *name;
	const struct json *select;
	uint32_t share;
	bool rdma, vhost, numa, settings;
	int link_down, nodes, memlock;
	const struct json *network, *variables;
};

static const struct json_field resource_fields[] = {
	{ "name", J_STRING, J_AT(struct own_resource, name), .flags = J_REQUIRED },
	{ "select", J_ANY, J_AT(struct own_resource, select) },
	{ "share", J_U32, J_AT(struct own_resource, share), .min = 1, .max = RESOURCE_IDS_MAX },
	{ "rdma", J_BOOL, J_AT(struct own_resource, rdma) },
	{ "vhostNet", J_BOOL, J_AT(struct own_resource, vhost) },
	{ "numa", J_BOOL, J_AT(struct own_resource, numa) },
	{ "linkDown", J_ENUM, J_AT(struct own_resource, link_down), .names = conf_link_down },
	{ "deviceNodes", J_ENUM, J_AT(struct own_resource, nodes), .names = conf_node_ways },
	{ "network", J_OBJECT, J_AT(struct own_resource, network) },
	{ "settings", J_BOOL, J_AT(struct own_resource, settings) },
	{ "variables", J_ARRAY, J_AT(struct own_resource, variables) },
	{ "memlock", J_ENUM, J_AT(struct own_resource, memlock), .names = rail_network_memlock },
	{ 0 },
};

static const struct select_key keys[] = {
	{ "pf", SELECT_PF_ANY },           { "address", SELECT_ADDRESS },
	{ "vendor", SELECT_VENDOR },       { "device", SELECT_DEVICE },
	{ "driver", SELECT_DRIVER },       { "acpiIndex", SELECT_ACPI },
	{ "interface", SELECT_INTERFACE }, { "linkType", SELECT_LINK },
	{ "pkey", SELECT_PKEY },           { "rdmaDevice", SELECT_RDMA_NAME },
	{ NULL, SELECT_PROPERTIES },
};

static int conf_own_refuse_unknown(const struct json *n, const char *where, struct err *e)
{
	json_each (member, n) {
		const struct select_key *k = keys;

		while (k->key && strcmp(k->key, json_key(member)) != 0)
			k++;
		if (!k->key)
			return err_set(e, ERR_CONFIG, 0, "%s: the key \"%.64s\" is not known",
				       where, json_key(member));
	}
	return 0;
}

static int conf_own_add_selector(struct resource_conf *r, const struct own_resource *own,
				 const struct json *n, const char *where, struct err *e)
{
	struct device_selector *s;

	if (json_type(n) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "%s: must be an object, got %s", where,
			       json_type_name(n));
	if (!json_len(n))
		return err_set(e, ERR_CONFIG, 0,
			       "%s: names no property, such as \"pf\" or \"vendor\"", where);
	if (conf_own_refuse_unknown(n, where, e) || !(s = conf_selector(r, e)) ||
	    conf_select(s, keys, n, where, e))
		return -1;
	s->rdma = own->rdma || own->share;
	s->vhost = own->vhost;
	return 0;
}

static int add_selectors(struct resource_conf *r, const struct own_resource *own, const char *where,
			 struct err *e)
{
	char place[CONF_WHERE_LEN];
	size_t i = 0;

	if (json_type(own->select) != JSON_ARRAY) {
		(void)snprintf(place, sizeof(place), "%s.select", where);
		return conf_own_add_selector(r, own, own->select, place, e);
	}
	json_each (n, own->select) {
		(void)snprintf(place, sizeof(place), "%s.select[%zu]", where, i++);
		if (conf_own_add_selector(r, own, n, place, e))
			return -1;
	}
	return i ? 0 : err_set(e, ERR_CONFIG, 0, "%s.select: the list is empty", where);
}

/* ---- slots ---- */

static const char *label_of(const char *name)
{
	const char *slash = strchr(name, '/');

	return slash ? slash + 1 : name;
}

void conf_slot(const struct resource_conf *r, const char *id, char out[PREPARED_SLOT_LEN])
{
	(void)snprintf(out, PREPARED_SLOT_LEN, "%.*s-%.5s", SLOT_LABEL_MAX, label_of(r->name), id);
}

/* Names of slots are made of it, and those of CDI devices. */
static int check_label(const struct conf_file *f, const struct resource_conf *r, struct err *e)
{
	const char *label = label_of(r->name);

	if (!id_valid(label) || strchr(label, '.') || strlen(label) > SLOT_LABEL_MAX)
		return err_set(
			e, ERR_CONFIG, 0,
			"%s: with \"network\" or \"settings\" the part behind \"/\" has at most "
			"%d bytes, and no \".\"",
			r->name, SLOT_LABEL_MAX);
	for (size_t i = 0; i < f->set->n; i++) {
		const struct resource_conf *x = &f->set->conf[i];

		if (x != r && x->networks && strcmp(label_of(x->name), label) == 0)
			return err_set(e, ERR_CONFIG, 0,
				       "%s: %s has slots of this name already: rename one of them",
				       r->name, x->name);
	}
	return 0;
}

/* A slot is all rails of the node: docs/decisions/2026-11-29-slots.md. */
static int check_network(const struct json *network, struct err *e)
{
	const char *kind = json_text(network, "kind");

	if (json_get(network, "rails")) {
		err_set(e, ERR_CONFIG, 0,
			"network.rails: such a resource is all rails of the node");
		return err_hint(e, "some of them are a device class of claims, or a network of "
				   "Multus with this key");
	}
	if (strcmp(kind, "sriov") != 0 && strcmp(kind, "ib-sriov") != 0)
		return 0;
	err_set(e, ERR_CONFIG, 0, "network.kind: \"%s\": such a resource has no VFs", kind);
	return err_hint(e, "VFs are a device class of claims, or a resource with \"select\" and a "
			   "network of Multus with resourceName");
}

static int add_slots(struct conf_file *f, struct resource_conf *r, const struct own_resource *own,
		     struct err *e)
{
	if (!own->share || (own->network && own->select))
		return err_set(e, ERR_CONFIG, 0,
			       own->share ? "%s: has \"network\" and \"select\""
					  : "%s: has no \"share\": how many pods have it at a time",
			       r->name);
	if (rail_network_texts(own->variables, "variables", e) ||
	    rail_network_variables(own->variables, &r->variables, e) ||
	    (own->network &&
	     (check_network(own->network, e) || rail_network_keys(own->network, e) ||
	      rail_network_kind(own->network, false, e))))
		return err_wrap(e, "%s", r->name);
	r->memlock = own->memlock;
	r->networks = json_new_array();
	if (!r->networks ||
	    (own->network && rail_network_print(r->networks, own->network, UINT64_MAX)))
		return err_nomem(e);
	return check_label(f, r, e);
}

static int conf_own_add_resource(struct conf_file *f, const struct json *n, const char *where,
				 struct err *e)
{
	struct own_resource own = { .numa = true, .link_down = 1, .nodes = NODES_LIST };
	char place[CONF_WHERE_LEN];
	struct resource_conf *r;

	if (json_type(n) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "%s: must be an object, got %s", where,
			       json_type_name(n));
	if (json_decode_known(n, where, resource_fields, &own, e) || !(r = conf_new(f, e)))
		return -1;
	r->copies = own.share;
	r->shared = r->software = own.share != 0;
	r->no_topology = !own.numa;
	r->link_matters = own.link_down;
	r->nodes = own.network && own.nodes == NODES_LIST ? NODES_CDI : (enum node_way)own.nodes;
	(void)snprintf(place, sizeof(place), "%s.name", where);
	if (conf_name(f, r, own.name, place, e))
		return -1;
	if (own.network || own.settings) {
		if (add_slots(f, r, &own, e))
			return -1;
	} else if (own.variables || own.memlock) {
		return err_set(e, ERR_CONFIG, 0, "%s: \"%s\" needs \"network\" or \"settings\"",
			       where, own.variables ? "variables" : "memlock");
	} else if (!own.select) {
		return err_set(e, ERR_CONFIG, 0, "%s: has neither \"select\" nor \"network\"",
			       where);
	}
	return own.select ? add_selectors(r, &own, where, e) : 0;
}

int conf_own(struct conf_file *f, const struct json *tree, struct err *e)
{
	struct own_file file = { 0 };
	char where[32];
	size_t i = 0;

	if (json_decode_known(tree, "", file_fields, &file, e))
		return -1;
	json_each (n, file.resources) {
		(void)snprintf(where, sizeof(where), "resources[%zu]", i++);
		if (conf_own_add_resource(f, n, where, e))
			return -1;
	}
	conf_interval(f->set, file.interval);
	return 0;
}
