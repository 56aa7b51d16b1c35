/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf.h: the resources of a configuration file. Pure.
 *
 * A file has one of three forms, told apart by the list that it has: "resources" is our own,
 * "resourceList" is that of k8snetworkplumbingwg/sriov-network-device-plugin, "configList" that of
 * Mellanox/k8s-rdma-shared-dev-plugin. Keys of the other two match in any case, as in Go.
 */
#ifndef RAILHEAD_RAILHEADD_DEVICES_CONF_H
#define RAILHEAD_RAILHEADD_DEVICES_CONF_H

#include "plugins/prepared/prepared.h"
#include "railheadd/devices/resources.h"
#include "railheadd/devices/selector.h"

#define RESOURCES_INTERVAL 30 /* seconds, if no file says otherwise */
#define CONF_WHERE_LEN     128

/* How a container gets files of /dev. */
enum node_way { NODES_LIST, NODES_CDI, NODES_CDI_ANNOTATION };

struct resource_conf {
	char name[RESOURCE_NAME_LEN];     /* with its prefix */
	struct device_selector *selector; /* alternatives; owned. None: every function */
	size_t n_selectors;
	uint32_t copies;     /* of a shared resource; 0: each function is a device */
	bool shared;         /* with copies 0: it has no devices */
	bool no_topology;    /* no hints of NUMA nodes */
	bool link_matters;   /* a device is unhealthy while its port is down */
	bool software;       /* also RDMA devices without a PCI function, if named */
	enum node_way nodes; /* of a device's files */
	struct json *info;   /* additionalInfo; owned; NULL: none */
	/* Copies that are slots: the gate writes the settings of the pod, and may attach rails. */
	struct json *networks; /* of the plugin rails; owned; NULL: no slots; empty: no rails */
	unsigned variables;    /* bits of rail_variables */
	bool memlock;
};

struct resource_set {
	struct resource_conf *conf; /* owned */
	size_t n;
	uint32_t interval; /* seconds; 0: no file asks for one */
	char **warning;    /* owned: sentences for the log */
	size_t n_warnings;
};

/*
 * conf_add - add the resources of one file's tree to s. Keys that are not known are an error in our
 * own form. In the other two they are ignored with a warning, except those of features that
 * railhead does not have, which are an error. ERR_CONFIG, ERR_DECODE, ERR_FIELD with key and value.
 * After a failure s may have some of them. path: of the file, for warnings.
 */
int conf_add(struct resource_set *s, struct json *tree, const char *path, struct err *e) must_check;

/* conf_slot - the slot of a device of a resource with slots, as "rails-3". */
void conf_slot(const struct resource_conf *r, const char *id, char out[PREPARED_SLOT_LEN]);

/* ---- for the three forms ---- */

/* One file while it is decoded. */
struct conf_file {
	struct resource_set *set;
	const char *path;
	const char *prefix; /* for a resource without one */
	int nodes;          /* enum node_way */
	int link_down;      /* 1: a device is unhealthy then */
};

/* conf_own, conf_sriov, conf_shared - add the resources of a file of each form. Errors as conf_add.
 */
int conf_own(struct conf_file *f, const struct json *tree, struct err *e) must_check;
int conf_sriov(struct conf_file *f, const struct json *tree, struct err *e) must_check;
int conf_shared(struct conf_file *f, const struct json *tree, struct err *e) must_check;

/* Values of keys. */
extern const struct json_enum conf_node_ways[], conf_link_down[];

/* Values of a file of another plugin, for all of its resources. */
struct conf_upstream {
	const struct json *list; /* of resources */
	uint32_t interval;
	const char *prefix;
	int nodes, link_down;
};

/* Keys of such a file that are options of the other program, or ours. */
#define CONF_UPSTREAM_KEYS                                                                         \
	{ "resourcePrefix", J_STRING, J_AT(struct conf_upstream, prefix), .flags = J_EMPTY_OK },   \
		{ "deviceNodes", J_ENUM, J_AT(struct conf_upstream, nodes),                        \
		  .names = conf_node_ways },                                                       \
	{                                                                                          \
		"linkDown", J_ENUM, J_AT(struct conf_upstream, link_down), .names = conf_link_down \
	}

/* The form of such a file: its keys, and how one resource of the list is added. */
struct conf_form {
	const char *list; /* key of the list */
	const struct json_field *fields;
	struct conf_upstream usual;
	int (*add)(struct conf_file *f, const struct json *n, const char *where, struct err *e);
};

/* conf_add_upstream - add the resources of a file of this form. */
int conf_add_upstream(struct conf_file *f, const struct json *tree, const struct conf_form *form,
		      struct err *e) must_check;

/*
 * conf_new - room for one more resource, without selectors, as the file has its defaults; it
 * belongs to f->set already. NULL: too many, or ERR_NOMEM.
 */
struct resource_conf *conf_new(struct conf_file *f, struct err *e);
/* conf_selector - one more selector of r. NULL: ERR_NOMEM, or too many. */
struct device_selector *conf_selector(struct resource_conf *r, struct err *e);

/*
 * conf_name - set the name of r. ERR_CONFIG: the kubelet refuses such a name; another resource has
 * it. where: the place of the key.
 */
int conf_name(struct conf_file *f, struct resource_conf *r, const char *name, const char *where,
	      struct err *e) must_check;

/* conf_select - add the lists of n, an object, by a table that ends with a NULL key. */
int conf_select(struct device_selector *s, const struct select_key *keys, const struct json *n,
		const char *where, struct err *e) must_check;

/* conf_interval - seconds between looks that a file asks for. */
void conf_interval(struct resource_set *s, uint32_t seconds);

/* conf_ignored - a warning for each key of n that neither table has; a table may be NULL. */
struct conf_keys {
	const struct json_field *fields;
	const struct select_key *select;
};
int conf_ignored(struct conf_file *f, const struct json *n, const char *where,
		 struct conf_keys known, struct err *e) must_check;

/* ---- devices of a resource ---- */

/*
 * conf_selector_of - the first selector of r that accepts a function, else the first that may;
 * *sure tells which. NULL: none. A resource without selectors has an empty one.
 */
const struct device_selector *conf_selector_of(const struct resource_conf *r,
					       const struct select_subject *f, bool *sure);

#endif
