/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.h: the counters of a port that show trouble: retries, packets out of order, congestion,
 * pauses, and losses of the link. Only reads.
 *
 * Each driver has its own names for the same event, and counts from the time it was loaded.
 */
#ifndef RAILHEAD_RDMA_DEVICE_COUNTERS_H
#define RAILHEAD_RDMA_DEVICE_COUNTERS_H

#include "lib/base/err.h"
#include "lib/device/dcb.h"

enum port_counter {
	COUNT_RETRY,      /* sent again: no acknowledgement came, or the peer requested it */
	COUNT_SEQUENCE,   /* received out of order */
	COUNT_CNP_SENT,   /* packets came with an ECN mark, and a CNP went to their sender */
	COUNT_CNP_HEARD,  /* a CNP came: a receiver asks this port to slow down */
	COUNT_PAUSE_SENT, /* priority flow control, all priorities together */
	COUNT_PAUSE_HEARD,
	COUNT_LINK_DOWN,
	COUNT_LINK_ERROR, /* bits or packets that came broken: cable, transceiver or port */
	COUNT_N
};

struct port_counters {
	unsigned known; /* bit n: value[n] is known */
	uint64_t value[COUNT_N];
};

/* counters_have - true if value[c] is known. */
static inline bool counters_have(const struct port_counters *p, enum port_counter c)
{
	return p->known >> c & 1;
}

/* counters_are_seen - false if sysfs shows the interface at most, as a pod in mode shared sees it.
 */
static inline bool counters_are_seen(const struct port_counters *p)
{
	return p->known & ~(1u << COUNT_LINK_DOWN);
}

struct counters_of {
	const char *sysfs;  /* sysfs of a network namespace that has the device */
	const char *device; /* name of the RDMA device */
	uint32_t port;
	const char *netdev; /* the port's own interface; "": not visible in that namespace */
};

/* counters_read - read sysfs. A missing file leaves its counter unknown. The only error: ERR_NOMEM.
 */
int counters_read(const struct counters_of *of, struct port_counters *out,
		  struct err *e) must_check;

/* counters_add_pauses - set the pause counters from DCB, if the driver reports them there. Pure. */
void counters_add_pauses(const struct dcb_info *dcb, struct port_counters *out);

/*
 * counters_moved - by how much a counter grew between two readings. If it is smaller now, the
 * driver was loaded again, and its value is the growth. Pure.
 */
uint64_t counters_moved(const struct port_counters *first, const struct port_counters *last,
			enum port_counter c);

#endif
