/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h: count address announcements on the other end of the master. */
#ifndef CONFORMANCE_SPEC_WIRE_H
#define CONFORMANCE_SPEC_WIRE_H

#include <stdbool.h>

/* Listen on that interface, the other end of the master. Before the ADD. */
int wire_open(const char *wire);
/* Of what came since: gratuitous ARP requests for this address, or unsolicited neighbour
 * advertisements. */
int wire_count(int fd, const char *address);

#endif
