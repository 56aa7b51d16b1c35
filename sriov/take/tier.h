/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tier.h: bandwidth tiers: one word in a configuration that stands for rates, VLAN priority and
 * traffic class.
 *
 * The file is read by ADD and STATUS alone. What a tier stood for then is kept in the attachment's
 * record, so that CHECK and DEL do not depend on a file that may have changed since.
 */
#ifndef RAILHEAD_SRIOV_TAKE_TIER_H
#define RAILHEAD_SRIOV_TAKE_TIER_H

#include "lib/json/json.h"

#define TIER_FILE     "/etc/railhead/tiers.json"
#define TIER_MAX      64 /* tiers in a file */
#define TIER_NAME_LEN 64
#define TIER_UNTOLD   (-1)

struct tier {
	char name[TIER_NAME_LEN];
	/* TIER_UNTOLD where it says nothing. */
	int64_t min_rate, max_rate; /* Mbit/s; 0: no limit */
	int64_t qos;                /* VLAN priority */
	int64_t traffic_class;      /* for NCCL_IB_TC; nothing is set in the kernel */
};

/*
 * tier_decode - the tier called name in the text of a file, all of which must be right. Pure.
 * ERR_CONFIG when there is none: the message names those that there are.
 */
int tier_decode(const char *text, size_t len, const char *name, struct tier *out,
		struct err *e) must_check;

/* tier_load - the same of the file at path; it must be root's, see fs_read_trusted_at. */
int tier_load(const char *path, const char *name, struct tier *out, struct err *e) must_check;

/*
 * tier_to_json, tier_from_json - as the record of an attachment keeps it. NULL: no memory. n NULL,
 * or no tier: ERR_NOTFOUND.
 */
struct json *tier_to_json(const struct tier *t);
int tier_from_json(const struct json *n, struct tier *out, struct err *e) must_check;

#endif
