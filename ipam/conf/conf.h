/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf.h: the "ipam" section of a network configuration. Pure.
 *
 * A configuration has the keys of one of three forms: host-local's (subnet, rangeStart, rangeEnd,
 * gateway, ranges, runtimeConfig.ipRanges), whereabouts' (range, range_start, range_end, exclude,
 * ipRanges, gateway, network_name, enable_overlapping_ranges), or named pools (pool, pools). The
 * first two accept and refuse the same values as those plugins (host-local 1.9: pkg range.go and
 * range_set.go; whereabouts: pkg/config/config.go).
 */
#ifndef RAILHEAD_IPAM_CONF_CONF_H
#define RAILHEAD_IPAM_CONF_CONF_H

#include "cni/protocol/conf.h"
#include "ipam/conf/source.h"

/* The interface of the host on which the pod's interface is, for matchMaster. */
struct ipam_master {
	const char *name;
	const struct ip_prefix *addrs; /* its addresses with their networks */
	size_t n;
};

/* Everything is borrowed from the configuration's tree, except the sources and the master. */
struct ipam_conf {
	struct source_sets fixed;           /* owned; from host-local's or whereabouts' keys */
	const char *pools[SOURCE_SETS_MAX]; /* names and patterns */
	/* An element of "pools" that is itself a list is a group, from 1 on: one address of each
	 * family comes from each group. 0: pools has no lists. */
	unsigned group[SOURCE_SETS_MAX];
	size_t n_pools;
	const char *guid_pool;            /* the pool of the GUID of InfiniBand; NULL: none */
	bool guids;                       /* the pools have GUIDs: ipam_conf_only_guids() */
	bool match_master;                /* only pools with a subnet that the master is in */
	const struct ipam_master *master; /* for match_master, set by the caller of ADD, borrowed */
	bool whereabouts;                 /* fixed is from whereabouts' keys */
	const char *data_dir;             /* absolute; NULL: the default store */
	const char *audit_log;            /* absolute, ends in ".log"; NULL: none */
	const char *resolv_conf;          /* NULL: none */
	const struct json *dns;           /* object; NULL: none */
	const struct json *routes;        /* array, checked; NULL: none */
	const struct json
		*addresses;    /* array of {address, gateway}, checked: given to every pod; NULL */
	bool status_when_full; /* STATUS fails when no address is left */
};

/*
 * ipam_conf_decode - decode conf->ipam. ERR_CONFIG or ERR_DECODE with key and value.
 * ipam_conf_clear - free what *out owns.
 */
int ipam_conf_decode(const struct cni_conf *conf, struct ipam_conf *out, struct err *e) must_check;
void ipam_conf_clear(struct ipam_conf *c);
#define auto_ipam_conf auto_clean(ipam_conf_clear)

/*
 * ipam_conf_only_guids - make c the configuration of the GUID alone: its only source is guid_pool.
 * ERR_CONFIG: there is none.
 */
int ipam_conf_only_guids(struct ipam_conf *c, struct err *e) must_check;

/*
 * ipam_conf_has_source - c has a source of addresses. ipam_conf_is_guid_only - conf has a guidPool
 * and no source of addresses. An attachment of such a network has no address of its own.
 */
bool ipam_conf_has_source(const struct ipam_conf *c);
bool ipam_conf_is_guid_only(const struct cni_conf *conf);

/*
 * ipam_conf_paths - decode only data_dir and audit_log, for DEL and GC: errors in other keys must
 * not stop them (CNI-051, CNI-089). A malformed path counts as absent.
 */
void ipam_conf_paths(const struct cni_conf *conf, struct ipam_conf *out);

/* ipam_conf_is_pattern - whether an element of pools selects all pools with a name like it. */
bool ipam_conf_is_pattern(const char *name);

/* ipam_conf_extra - decode an element of conf->addresses; `where` names it. ERR_CONFIG, ERR_DECODE.
 */
struct ipam_extra {
	struct ip_prefix address;
	struct ip gateway; /* family IP_NONE: none */
};
int ipam_conf_extra(const struct json *n, const char *where, struct ipam_extra *out,
		    struct err *e) must_check;

#endif
