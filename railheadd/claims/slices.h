/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices.h: the rails of a node as ResourceSlices (resource.k8s.io/v1). Pure.
 *
 * Each rail is a device, "rail3", and so is the set of all rails, "rails". Many claims share a
 * device by its capacity "slots", of which each takes one. An API server without this feature gets
 * several devices of each kind instead, "rail3-0", "rail3-1". So does everyone of the set of a
 * group, "rails-a-0", because the scheduler takes the first device that fits: with slots it would
 * fill the first group before it takes another one.
 *
 * VFs are devices of one claim: "rail3-vf5", and the set "set5", which is VF 5 of each rail. They
 * consume the same shared counters, so no VF is given twice. So does "rails-a-vf5", VF 5 of the
 * rails of a group. An API server without counters gets the sets only.
 */
#ifndef RAILHEAD_RAILHEADD_CLAIMS_SLICES_H
#define RAILHEAD_RAILHEADD_CLAIMS_SLICES_H

#include "lib/device/pci.h"
#include "lib/json/json.h"
#include "railheadd/conf/agent_conf.h"
#include "topo/read/rail_list.h"

#define SLICES_SLOTS    64 /* claims of a device */
#define SLICES_COPIES   16 /* devices of each kind, where they cannot be shared; of each group */
#define SLICES_DEVICES  64 /* of one slice: a device with a taint or counters allows no more */
#define SLICES_TEXT     65 /* of an attribute, with NUL */
#define SLICES_COUNTERS 8  /* sets of counters of one slice, which then has no devices */

/* A rail. "" and 0: not known. */
struct slices_rail {
	uint32_t number;
	const char *group; /* borrowed; NULL: none */
	char ifname[IFNAME_LEN];
	char pci[PCI_STR_LEN], root[PCI_ROOT_LEN], hca[PCI_RDMA_LEN];
	int numa; /* -1: not known */
	uint32_t gbps;
	bool down;                                 /* its link has no carrier */
	bool infiniband;                           /* else of Ethernet */
	char leaf[SLICES_TEXT], port[SLICES_TEXT]; /* at the other end of its cable */
};

/* A VF that a claim can have. hca "": not known. */
struct slices_vf {
	size_t rail;    /* its place in the list of rails */
	uint32_t index; /* its number at the PF */
	char pci[PCI_STR_LEN], hca[PCI_RDMA_LEN];
};

/* A group whose rails are all here, and of one link layer. */
struct slices_group {
	const char *name; /* borrowed */
	uint64_t rails;
	bool infiniband;
};

struct slices_facts {
	struct slices_rail rail[RAIL_LIST_MAX];
	size_t n;
	struct slices_group group[AGENT_CONF_GROUPS]; /* in the order of publication */
	size_t n_groups;
	struct slices_vf *vf; /* owned; in the order of rails */
	size_t n_vfs;
	size_t missing;   /* rails of the node without an interface now */
	bool mixed;       /* there are rails of Ethernet and of InfiniBand: no set of all rails */
	const char *rdma; /* rdma_mode_name(); NULL: the kernel has no RDMA */
	bool shared;      /* the API server has devices with several allocations */
	bool counted;     /* and shared counters */
	bool tainted; /* and taints: of a rail without carrier, and of a set that lacks a rail */
};

/* slices_facts_clear - free what f owns. */
void slices_facts_clear(struct slices_facts *f);
#define auto_slices_facts auto_clean(slices_facts_clear)

/*
 * slices_group - give rails their groups, and put them into the order of groups. Each node begins
 * with another group, by its name, so that small jobs are not all in the first one. Rails without a
 * group come last. A group is offered if all of its rails are here, and of one link layer. Before
 * VFs are read.
 */
void slices_group(struct slices_facts *f, const struct agent_conf_groups *groups, const char *node);

/*
 * slices_rate - the gbps to publish: now, before and published are those of this look, of the last
 * one and of the slices; 0: not known. A new rate counts when two looks have seen it, and without a
 * link the old one stays: all slices of a node are written together. Pure.
 */
uint32_t slices_rate(uint32_t now, uint32_t before, uint32_t published);

/* slices_devices - a list of all devices; owned by the caller. NULL: no memory. slices_counters -
 * the same for the sets of counters that they consume. */
struct json *slices_devices(const struct slices_facts *f);
struct json *slices_counters(const struct slices_facts *f);

/* The pool of a node. */
struct slices_pool {
	const char *node;
	const char *node_uid; /* NULL: not known: the slices have no owner */
	const struct json *devices, *counters;
	int64_t generation;
};

/* slices_count - how many slices it has: those of devices, then those of counters. */
size_t slices_count(const struct slices_pool *p);

/* slices_name - of the i-th slice; NULL: no memory. The caller frees it. */
char *slices_name(const char *node, size_t i);

/* slices_object - the i-th slice; version: of the object that it replaces, NULL: none. The caller
 * frees it; NULL: no memory. */
struct json *slices_object(const struct slices_pool *p, size_t i, const char *version);

/*
 * slices_stand - the slices that the API server has are those of p, whatever their generation. A
 * member that the API server has in addition is fine. slices_generation - the highest of them.
 */
bool slices_stand(const struct json *items, const struct slices_pool *p);
int64_t slices_generation(const struct json *items);

/* slices_find - the item with this name, or NULL. */
const struct json *slices_find(const struct json *items, const char *name);

/* slices_shared, slices_has_list - an answer of the API server has kept the shared devices of a
 * slice, or a list of its devices: "consumesCounters", "taints". */
bool slices_shared(const struct json *slice);
bool slices_has_list(const struct json *slice, const char *list);

#endif
