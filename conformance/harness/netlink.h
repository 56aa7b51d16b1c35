/* SPDX-License-Identifier: Apache-2.0 */
/* netlink.h: links, addresses, routes and other objects of a network namespace as lines of text. */
#ifndef CONFORMANCE_HARNESS_NETLINK_H
#define CONFORMANCE_HARNESS_NETLINK_H

#include <stdbool.h>

#include "conformance/harness/text.h"

struct netlink_scope {
	const char *prefix; /* of each line: the namespace's name */
	/* Leave out what the kernel changes in its own time: carrier, IPv6 link-local addresses and
	 * their routes, and the table of local routes of IPv6. */
	bool settling;
	bool rdma; /* RDMA devices too. Asking loads the kernel's RDMA core where it is absent. */
};

/*
 * Append a line for each object of the current network namespace: "PREFIX KIND NAME: ATTRIBUTES".
 * Objects are links with their VFs, addresses, routes, rules, permanent neighbours, qdiscs that a
 * program made, and RDMA devices. Indices, counters and times are omitted. A request that fails
 * ends the program.
 */
void netlink_lines(const struct netlink_scope *s, struct text *out);

#endif
