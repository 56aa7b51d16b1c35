/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tier.h: bandwidth tiers. A tier is a name in a configuration for rates, VLAN priority and traffic
 * class; a file defines it.
 *
 * Only ADD and STATUS read the file. ADD keeps the values in the attachment's record, so CHECK and
 * DEL do not depend on a file that may have changed since.
 */
#ifndef RAILHEAD_SRIOV_CLAIM_TIER_H
#define RAILHEAD_SRIOV_CLAIM_TIER_H

#include "lib/json/json.h"

#define TIER_FILE     "/etc/railhead/tiers.json"
#define TIER_MAX      64 /* tiers in a file */
#define TIER_NAME_LEN 64
#define TIER_NOT_SET  (-1)

struct tier {
	char name[TIER_NAME_LEN];
	/* TIER_NOT_SET: the tier has no such value. */
	int64_t min_rate, max_rate; /* Mbit/s; 0: no limit */
	int64_t qos;                /* VLAN priority */
	int64_t traffic_class;      /* for NCCL_IB_TC; nothing is set in the kernel */
};

/*
 * tier_decode - find the tier called name in the text of a file. Every tier in the file must be
 * valid. ERR_CONFIG: a tier is invalid, or there is none of that name; the message lists all. Pure.
 */
int tier_decode(const char *text, size_t len, const char *name, struct tier *out,
		struct err *e) must_check;

/* tier_load - the same for the file at path; root must own it, see fs_read_trusted_at. */
int tier_load(const char *path, const char *name, struct tier *out, struct err *e) must_check;

/*
 * tier_to_json - a tier for the record of an attachment; the caller frees it; NULL: no memory.
 * tier_from_json - the reverse; ERR_NOTFOUND: n is NULL or has no tier. Both pure.
 */
struct json *tier_to_json(const struct tier *t);
int tier_from_json(const struct json *n, struct tier *out, struct err *e) must_check;

#endif
