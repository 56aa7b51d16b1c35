/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuning.h: settings of the pod's interface: sysctl variables and numbers of the link.
 *
 * Nothing here needs an inverse of its own. An interface that was made ends with its settings. The
 * kernel creates sysctl variables again when an interface changes its namespace. The state of a VF
 * has its other settings from before the attachment (sriov/vf/baseline.h).
 */
#ifndef RAILHEAD_CNI_ENGINE_TUNING_H
#define RAILHEAD_CNI_ENGINE_TUNING_H

#include "cni/protocol/result.h"
#include "lib/net/settings.h"
#include "lib/sys/netns.h"

#define TUNING_SYSCTLS_MAX 32
#define TUNING_VALUE_LEN   64  /* of a variable, with NUL */
#define TUNING_PATH_LEN    160 /* below /proc, with NUL */

#define TUNING_MAC_PREFIX_LEN 2

/* Borrowed from the configuration. The key is as a person writes it, with IFNAME. */
struct tuning_sysctl {
	const char *key, *value;
};

struct tuning_conf {
	struct tuning_sysctl sysctl[TUNING_SYSCTLS_MAX];
	size_t n_sysctls;
	unsigned has; /* 1 << enum link_number */
	uint32_t number[LINK_NUMBERS];
	uint32_t rx_ring, tx_ring; /* descriptors; 0: unchanged */
	bool has_mac_prefix;
	uint8_t mac_prefix[TUNING_MAC_PREFIX_LEN];
};

/*
 * tuning_read_conf - the keys "sysctl", "txQueueLen", "macPrefix", "gso", "gro" and "rings" of a
 * network configuration. ERR_CONFIG and ERR_DECODE name key and value. *out borrows from config.
 * Pure.
 */
int tuning_read_conf(const struct json *config, struct tuning_conf *out, struct err *e) must_check;

/* tuning_is_given - whether a key is there for which the pod must have an interface. Pure. */
bool tuning_is_given(const struct tuning_conf *c);

/* tuning_refuse_v6 - ERR_CONFIG if c turns IPv6 off; for an interface that gets an address of it.
 * Pure. */
int tuning_refuse_v6(const struct tuning_conf *c, struct err *e) must_check;

/*
 * tuning_mac - macPrefix and the four bytes of the first IPv4 address of r. If r has only IPv6, the
 * last four bytes of its first address. interface: only addresses of that interface of r and those
 * of none; -1: of all. ERR_CONFIG: there is no address. Pure.
 */
int tuning_mac(const struct tuning_conf *c, const struct cni_result *r, int interface,
	       struct hw_addr *out, struct err *e) must_check;

/*
 * tuning_path - the file below /proc of net.FAMILY.conf.IFNAME.NAME or net.FAMILY.neigh.IFNAME.NAME
 * for an interface. -1: the key is none of these, or no interface can have that name. Pure.
 */
int tuning_path(const char *key, const char *ifname, char out[TUNING_PATH_LEN]) must_check;

/* The interface, and where it is. The caller is in the namespace host. */
struct tuning_place {
	const struct netns *host, *pod;
	struct nl *pod_nl;
	const char *proc, *ifname;
	int ifindex;
};

/*
 * tuning_apply - give the interface all settings of c; for an interface that is down. The calling
 * thread is in the host's namespace when it returns, also after a failure. Errors name the key.
 */
int tuning_apply(const struct tuning_conf *c, const struct tuning_place *at,
		 struct err *e) must_check;

/* tuning_set_sysctls - only the sysctl variables, in the namespace that the caller is in. */
int tuning_set_sysctls(const struct tuning_conf *c, const char *proc, const char *ifname,
		       struct err *e) must_check;

/* tuning_check - ERR_STATE names the first setting that differs. Namespaces as tuning_apply(). */
int tuning_check(const struct tuning_conf *c, const struct tuning_place *at,
		 struct err *e) must_check;

#endif
