/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function_priv.h: the network functions of this host, each with all that selectors, health and the
 * choice of a device need. For railheadd/devices only.
 */
#ifndef RAILHEAD_RAILHEADD_DEVICES_FUNCTION_PRIV_H
#define RAILHEAD_RAILHEADD_DEVICES_FUNCTION_PRIV_H

#include "lib/base/pkey.h"
#include "lib/device/rdma.h"
#include "railheadd/devices/conf.h"
#include "sriov/choose/inventory.h"
#include "topo/core/machine.h"

#define FUNCTIONS_MAX 65536

/* The user of a function. */
enum function_use {
	FUNCTION_FREE,
	FUNCTION_IN_POD,     /* an attachment of railhead has it */
	FUNCTION_IN_USE,     /* the host, another plugin or an unknown program has it */
	FUNCTION_HAS_ADDRESS /* it only has an address, which an attachment removes */
};

/* Its PCI function, or a software RDMA device, which has no address. */
struct function {
	char addr[PCI_STR_LEN]; /* "": none */
	char vendor[5], device[5], driver[PCI_DRIVER_LEN];
	char acpi[16];              /* its acpi_index; "": none */
	char pf[PCI_STR_LEN];       /* of a VF; else "" */
	char netdev[IFNAME_LEN];    /* "": none on the host */
	char pf_netdev[IFNAME_LEN]; /* its PF has it; of others its own */
	char rdma[PCI_RDMA_LEN];    /* its RDMA device; "": none on the host */
	char pkey[PKEY_STR_LEN];    /* its first partition key; "": not known */
	const char *link;           /* "ether", "infiniband", ""; static */
	uint32_t vf;                /* number of a VF */
	int numa;                   /* -1: not known */
	bool has_verbs;             /* it has an RDMA device in some namespace */
	bool has_vfs;               /* a PF that has VFs now */
	bool has_route;             /* the default route of the host uses its interface */
	bool claimed;               /* the driver of claims offers it, too: a VF of a rail */
	enum function_use use;
	char use_why[VF_WHY_LEN];   /* FUNCTION_IN_USE: a phrase that follows "it" */
	enum topo_tristate link_up; /* of its port, for a VF that of its PF */
	char port[RDMA_NAME_LEN];   /* device or interface whose port that is */
	char bridge[PCI_STR_LEN];   /* see struct resource_device */
	uint32_t gpu_distance;
};

struct functions {
	struct function *f; /* owned; by address, software devices last */
	size_t n;
	bool exclusive;                   /* RDMA is in mode exclusive */
	bool no_vhost;                    /* the host has no /dev/vhost-net */
	char rails_why[RESOURCE_WHY_LEN]; /* why no pod can have rails; "": it can */
};

/*
 * functions_read - read all of this host; the caller clears *out, and is in the host's network
 * namespace. May take seconds. Changes nothing. ERR_NOMEM. ERR_IO, ERR_KERNEL: the machine could
 * not be read, so nothing is known; keep the last look.
 */
int functions_read(const struct ctx *ctx, struct functions *out, struct err *e) must_check;
void functions_clear(struct functions *f);

/* functions_mark_claimed - the node also has the driver of claims: set claimed. */
int functions_mark_claimed(const struct ctx *ctx, struct functions *f, struct err *e) must_check;
#define auto_functions auto_clean(functions_clear)

/* function_is_rdma - it has an RDMA device, here or in a pod. */
static inline bool function_is_rdma(const struct function *f)
{
	return *f->rdma || f->has_verbs;
}

#endif
