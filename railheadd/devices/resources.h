/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resources.h: the resources of a device plugin: their configuration and their devices. preferred.h
 * chooses devices, allocate.h says what a container gets with them. Nothing here speaks with the
 * kubelet.
 *
 * A look is resources_load(), functions_read() in a child, since drivers may be slow, and
 * functions_assign(). Call resource_preferred() and resources_allocate() when the kubelet asks.
 * There are no globals.
 */
#ifndef RAILHEAD_RAILHEADD_DEVICES_RESOURCES_H
#define RAILHEAD_RAILHEADD_DEVICES_RESOURCES_H

#include "lib/base/ctx.h"
#include "lib/device/pci.h"

#define RESOURCES_DIR          "resources.d" /* in ctx->etc_dir */
#define RESOURCES_MAX          64            /* of all files together */
#define RESOURCES_INTERVAL_MAX 3600
#define RESOURCE_NAME_LEN      128 /* "example.com/rail0" and NUL */
#define RESOURCE_ID_LEN        64  /* the kubelet takes 63 bytes */
#define RESOURCE_WHY_LEN       192
#define RESOURCE_NUMA_MAX      8
#define RESOURCE_IDS_MAX       16384 /* devices of one resource */
#define RESOURCE_COPIES_MAX    65536 /* of all shared resources together */

/* ---- configuration ---- */

struct resource_set; /* opaque, immutable: any number of threads may read it */

/*
 * resources_load - read all files *.json of dir in the order of their names; hidden ones are
 * skipped. dir NULL: RESOURCES_DIR. A missing folder, or none of its files, makes a set of 0
 * resources. One bad file fails the whole, because a device belongs to the first resource that
 * selects it: without one resource, another would get its devices. The caller then keeps the set
 * it has. The message names file, key and value. ERR_CONFIG, ERR_DECODE, ERR_FIELD; ERR_FORBIDDEN:
 * not root alone may write a file; ERR_IO.
 * resource_set_free - free a set; NULL is fine.
 */
int resources_load(const struct ctx *ctx, const char *dir, struct resource_set **out,
		   struct err *e) must_check;
void resource_set_free(struct resource_set *s);
static inline void resource_set_freep(struct resource_set **s)
{
	resource_set_free(*s);
}
#define auto_resource_set auto_clean(resource_set_freep)

/* resource_count - how many there are. resource_name - "example.com/rail0", as pods request it. */
size_t resource_count(const struct resource_set *s);
const char *resource_name(const struct resource_set *s, size_t i);
/* resources_interval - seconds between looks: the smallest that a file asks for, from 1 to
 * RESOURCES_INTERVAL_MAX. */
uint32_t resources_interval(const struct resource_set *s);

/* resource_set_has_rails - some resource has slots of rails. */
bool resource_set_has_rails(const struct resource_set *s);

/* resource_set_same - whether the same devices have the same files. Pure. */
bool resource_set_same(const struct resource_set *a, const struct resource_set *b);

/* ---- devices ---- */

struct resource_device {
	char id[RESOURCE_ID_LEN]; /* a PCI address, or the number of a copy of a shared resource */
	bool healthy;
	char why[RESOURCE_WHY_LEN]; /* if not healthy: the reason, a phrase; else "" */
	int numa[RESOURCE_NUMA_MAX];
	size_t n_numa; /* 0: no hint for the topology manager */
	bool busy;     /* not healthy only because it is in use: healthy if a pod was given it */
	bool attached; /* healthy although an attachment of railhead has it */
	/* For preferred.h and allocate.h only. "": not known, or a copy. */
	char pf[PCI_STR_LEN];     /* of a VF; else its own address */
	char bridge[PCI_STR_LEN]; /* the switch above it, or its root port */
	uint32_t gpu_distance;    /* to the nearest GPU; smaller is nearer */
	bool rdma, vhost;         /* the container gets files of its RDMA device, of vhost-net */
};

/* An HCA of a shared resource. */
struct resource_hca {
	char addr[PCI_STR_LEN];  /* "": a software device */
	char name[PCI_RDMA_LEN]; /* of its RDMA device */
};

/* The devices of one resource, in a fixed order. */
struct resource_devices {
	struct resource_device *device; /* owned */
	size_t n;
	/* Behind them: functions that pods have, of which it is not known whether they belong to
	 * the resource. The kubelet is not told of them: see resource_devices_keep(). */
	size_t n_maybe;
	struct resource_hca *hca; /* whose files each copy has; owned; NULL: not shared */
	size_t n_hcas;
};

struct resource_look {
	struct resource_devices *of; /* of[i] belongs to resource number i of the set; owned */
	size_t n;
	char **note; /* owned: sentences for the log, for example why a function was left out */
	size_t n_notes;
};

void resource_look_clear(struct resource_look *l);
#define auto_resource_look auto_clean(resource_look_clear)

/* resource_devices_find - the device of this id; NULL: none. Quick for copies. Pure. */
const struct resource_device *resource_devices_find(const struct resource_devices *d,
						    const char *id);

/*
 * resource_devices_keep - tell which ids pods may have, from Allocate or from the kubelet's list of
 * pods. One of the functions that may belong to d becomes a device. Another id that d lacks is
 * added as an unhealthy device without a NUMA node. A device that is busy becomes healthy, since
 * its user may be that pod. An id that no kubelet can have given (empty, too long) is ignored.
 * Pure.
 */
int resource_devices_keep(struct resource_devices *d, const char *const *id, size_t n,
			  struct err *e) must_check;

/*
 * resource_devices_outside - after resource_devices_keep() with all ids that pods have: an attached
 * device that was not among them becomes unhealthy. Its attachment got it without the kubelet,
 * which must not give it to another pod. Pure.
 */
void resource_devices_outside(struct resource_devices *d);

/* resource_devices_same - whether the kubelet would see no difference: ids, health, NUMA. Pure. */
bool resource_devices_same(const struct resource_devices *a, const struct resource_devices *b);

#endif
