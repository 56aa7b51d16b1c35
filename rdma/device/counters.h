/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.h: what a port counts of trouble: what it sent again, what came out of order, how often
 * it was told to slow down or to stop, and how often its link went down. Changes nothing.
 *
 * Drivers have names of their own for the same thing, and count from when they were loaded.
 */
#ifndef RAILHEAD_RDMA_DEVICE_COUNTERS_H
#define RAILHEAD_RDMA_DEVICE_COUNTERS_H

#include "lib/base/err.h"
#include "lib/device/dcb.h"

enum port_counter {
	COUNT_RETRY,    /* sent again: no acknowledgement came, or the peer asked for it */
	COUNT_SEQUENCE, /* received out of order */
	COUNT_CNP_SENT, /* packets came marked (ECN), and their sender was told */
	COUNT_CNP_HEARD,
	COUNT_PAUSE_SENT, /* priority flow control, all priorities together */
	COUNT_PAUSE_HEARD,
	COUNT_LINK_DOWN,
	COUNT_N
};

struct port_counters {
	unsigned known; /* bit n: value[n] is told */
	uint64_t value[COUNT_N];
};

/* counters_have - whether value[c] is told. */
static inline bool counters_have(const struct port_counters *p, enum port_counter c)
{
	return p->known >> c & 1;
}

struct counters_of {
	const char *sysfs;  /* of a network namespace in which the device is */
	const char *device; /* name of the RDMA device */
	uint32_t port;
	const char *netdev; /* the port's own interface, "": not seen from there */
};

/* counters_read - what sysfs tells; what is not there is not known. ERR_NOMEM alone is an error. */
int counters_read(const struct counters_of *of, struct port_counters *out,
		  struct err *e) must_check;

/* counters_add_pauses - what the driver tells of its priorities, if it does. Pure. */
void counters_add_pauses(const struct dcb_info *dcb, struct port_counters *out);

/*
 * counters_moved - by how much a counter grew between two readings. One that began anew, as with a
 * driver that is loaded again, has grown by what it shows. Pure.
 */
uint64_t counters_moved(const struct port_counters *first, const struct port_counters *last,
			enum port_counter c);

#endif
