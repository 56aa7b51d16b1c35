/* SPDX-License-Identifier: Apache-2.0 */
/* master.h: the interface of the host on which the pod's interface is, for "matchMaster". */
#ifndef RAILHEAD_PLUGINS_IPAM_MASTER_H
#define RAILHEAD_PLUGINS_IPAM_MASTER_H

#include "cni/protocol/plugin.h"
#include "ipam/alloc/alloc.h"
#include "lib/base/parse.h"

struct master {
	char name[IFNAME_LEN];
	struct ip_prefix *addrs; /* owned */
	size_t n;
	struct ipam_master view; /* of the members above */
};

/*
 * master_load - find the master and read its addresses, in the namespace of the caller. A plugin of
 * railhead names the master in DELEGATE_MASTER. For another plugin these are tried, in this order:
 * its keys master and deviceID (the PF of a VF), then the interface of the default route.
 * master_clear() frees *out. ERR_CONFIG: there is none on the host, or it has no address.
 */
int master_load(const struct cni_call *call, struct master *out, struct err *e) must_check;
void master_clear(struct master *m);
#define auto_master auto_clean(master_clear)

#endif
