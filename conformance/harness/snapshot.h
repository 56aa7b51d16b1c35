/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.h: all that a plugin could leave behind or change, as lines of text, and what differs
 * between two of them.
 *
 * A line is "WHOSE KIND NAME: ATTRIBUTES". Of the own network namespace ("host") and of each in
 * /run/netns ("pod NAME"): links, VFs, addresses, routes, rules, permanent neighbours, qdiscs and
 * sysctls. Besides: files, mounts, running programs. Indices, counters and times are left out.
 */
#ifndef CONFORMANCE_HARNESS_SNAPSHOT_H
#define CONFORMANCE_HARNESS_SNAPSHOT_H

#include <stdbool.h>

#include "conformance/harness/text.h"

/* All lists end with NULL; NULL is an empty one. Patterns are as in files.h. */
struct snapshot_scope {
	const char *const *roots;    /* folders whose files count */
	const char *const *ignore;   /* patterns of files and sysctls that do not count */
	const char *const *opaque;   /* patterns of files whose contents do not count */
	const char *const *programs; /* folders, or programs: what runs from there counts */
	bool folders;                /* folders count, not only files */
	bool settling;               /* see netlink.h: the links of this world are not at rest */
	bool rdma;                   /* RDMA devices, too */
};

/* Append the lines. The caller may add lines of its own. */
void snapshot_take(const struct snapshot_scope *s, struct text *out);
/*
 * Append to diff, a line each, what is in one and not in the other: "left behind: LINE", "missing:
 * LINE", and "changed: WHOSE KIND NAME: ATTRIBUTES -> ATTRIBUTES". The order of lines does not
 * count. At most 16 lines, of which three are about sysctls. false: they are the same.
 */
bool snapshot_differs(const struct text *before, const struct text *now, struct text *diff);

/* Append "process PID PROGRAM" for each process of those folders or programs but the own one. */
void running_lines(const char *const *programs, struct text *out);

#endif
