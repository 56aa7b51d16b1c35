/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf.h: the "ipam" section of a network configuration. Pure.
 *
 * Three ways to say where addresses come from, of which a configuration uses one: host-local's keys
 * (subnet, rangeStart, rangeEnd, gateway, ranges, runtimeConfig.ipRanges), whereabouts' (range,
 * range_start, range_end, exclude, ipRanges, gateway, network_name, enable_overlapping_ranges), or
 * named pools (pool, pools). Acceptance and refusal of the first two follow those plugins
 * (host-local 1.9: pkg range.go and range_set.go; whereabouts: pkg/config/config.go).
 */
#ifndef RAILHEAD_IPAM_CONF_CONF_H
#define RAILHEAD_IPAM_CONF_CONF_H

#include "cni/protocol/conf.h"
#include "ipam/conf/source.h"

/* Everything is borrowed from the configuration's tree, except the sources. */
struct ipam_conf {
	struct source_sets fixed; /* owned; of host-local's and whereabouts' keys */
	const char *pools[SOURCE_SETS_MAX];
	size_t n_pools;
	bool whereabouts;          /* fixed is of whereabouts' keys */
	const char *data_dir;      /* absolute; NULL: the default store */
	const char *audit_log;     /* absolute, ends in ".log"; NULL: none */
	const char *resolv_conf;   /* NULL: none */
	const struct json *dns;    /* object; NULL: none */
	const struct json *routes; /* array, checked; NULL: none */
	const struct json
		*addresses;    /* array of {address, gateway}, checked: given to every pod; NULL */
	bool status_when_full; /* STATUS fails when no address is left */
};

/* ipam_conf_decode - ERR_CONFIG or ERR_DECODE naming key and value. Clear with ipam_conf_clear().
 */
int ipam_conf_decode(const struct cni_conf *conf, struct ipam_conf *out, struct err *e) must_check;
void ipam_conf_clear(struct ipam_conf *c);
#define auto_ipam_conf auto_clean(ipam_conf_clear)

/*
 * ipam_conf_paths - only data_dir and audit_log, for deletions: they need no ranges, and what is
 * wrong in the rest is not their business (CNI-051, CNI-089). A bad path reads as absent.
 */
void ipam_conf_paths(const struct cni_conf *conf, struct ipam_conf *out);

/* One of conf->addresses, which ipam_conf_decode has checked. */
struct ipam_extra {
	struct ip_prefix address;
	struct ip gateway; /* family IP_NONE: none */
};
int ipam_conf_extra(const struct json *n, const char *where, struct ipam_extra *out,
		    struct err *e) must_check;

#endif
