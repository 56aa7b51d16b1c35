/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit.h: one line of JSON for each allocation, release and refusal.
 *
 *	{"time":"2026-11-21T10:00:00.123456Z","verb":"allocate","by":"ADD","address":"10.1.0.5",
 *	 "pool":"rail0","owner":{"network":"n","container":"c","ifname":"net1","namespace":"ns",
 *	 "pod":"p"},"result":"ok"}
 *
 * Each line is one write to a file opened for appending, so lines of several processes never mix,
 *and a log rotated by renaming goes on in a new file.
 */
#ifndef RAILHEAD_IPAM_LEASE_AUDIT_H
#define RAILHEAD_IPAM_LEASE_AUDIT_H

#include "ipam/lease/lease.h"

/*
 * audit_write - append journal (as ipam_run made it) to path, created with mode 0600. ERR_IO, and
 * nothing written, when path is something else than a file of such lines.
 */
int audit_write(const struct ctx *ctx, const char *path, const struct json *journal,
		struct err *e) must_check;

/* A refusal: who asked for what, and why not. */
struct refusal {
	const char *by, *address, *pool; /* "" when there is none */
	const struct owner *owner;
	const struct err *why;
};
/* audit_refusal_line - the journal (array) of one refusal, for audit_write(). NULL: no memory. */
struct json *audit_refusal_line(const struct refusal *r);

/* audit_time - RFC 3339, UTC, microseconds. Pure. */
#define AUDIT_TIME_LEN 32
char *audit_time(int64_t ns, char out[AUDIT_TIME_LEN]);

#endif
