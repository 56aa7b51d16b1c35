/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit.h: the audit log: one line of JSON for each allocation, release and refusal.
 *
 *	{"time":"2026-11-21T10:00:00.123456Z","verb":"allocate","by":"ADD","address":"10.1.0.5",
 *	 "pool":"rail0","owner":{"network":"n","container":"c","ifname":"net1","namespace":"ns",
 *	 "pod":"p"},"result":"ok"}
 *
 * Each line is one write to a file opened for appending, so lines of several processes never mix.
 * After a rotation by rename the next write creates a new file.
 */
#ifndef RAILHEAD_IPAM_LEASE_AUDIT_H
#define RAILHEAD_IPAM_LEASE_AUDIT_H

#include "ipam/lease/lease.h"

/*
 * audit_write - append the lines of journal, an array from ipam_run or audit_refusal_line, to path.
 * The file is created with mode 0600. ERR_IO: path exists and is not an audit log, or a write
 * failed.
 */
int audit_write(const struct ctx *ctx, const char *path, const struct json *journal,
		struct err *e) must_check;

/* A refused request. */
struct refusal {
	const char *by, *address, *pool; /* command, requested address, source; "": none */
	const struct owner *owner;
	const struct err *why;
};
/* audit_refusal_line - a journal with one refusal; the caller frees it. NULL: no memory. */
struct json *audit_refusal_line(const struct refusal *r);

/* audit_time - ns since 1970 as RFC 3339 text, UTC, with microseconds; returns out. Pure. */
#define AUDIT_TIME_LEN 32
char *audit_time(int64_t ns, char out[AUDIT_TIME_LEN]);

#endif
