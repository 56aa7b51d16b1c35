/* SPDX-License-Identifier: Apache-2.0 */
/* monitor.h: waiting, on events, for what becomes of one interface. */
#ifndef RAILHEAD_LIB_NET_MONITOR_H
#define RAILHEAD_LIB_NET_MONITOR_H

#include "lib/net/nl.h"

enum nl_watch { NL_WATCH_LINKS, NL_WATCH_ADDR6 };

/*
 * nl_monitor_open - events about the interfaces, or the IPv6 addresses, of the caller's network
 * namespace. Open it first, look then, and wait only when what was looked for is not so.
 */
struct nl_monitor;
int nl_monitor_open(enum nl_watch what, struct nl_monitor **out, struct err *e) must_check;

/*
 * nl_monitor_next - 1: something about the interface may have changed, look again; 0: the deadline
 * (of ctx_mono_ms()) has passed. Dropped events count as one.
 * ERR_KERNEL.
 */
int nl_monitor_next(struct nl_monitor *mon, int ifindex, int64_t deadline_ms,
		    struct err *e) must_check;

void nl_monitor_close(struct nl_monitor *mon); /* NULL is fine */
static inline void nl_monitor_closep(struct nl_monitor **mon)
{
	nl_monitor_close(*mon);
}
#define auto_nl_monitor auto_clean(nl_monitor_closep)

/* nl_link_carrier - 1: the interface is up and has carrier, 0: not, -1: it could not be asked. */
int nl_link_carrier(struct nl *nl, int ifindex, struct err *e) must_check;

/*
 * nl_link_rose_with_carrier - 1: an interface that was set up just now had carrier in that moment,
 * as the event of it says; 0: it had none, or there is no such event. Nothing is waited for. mon:
 * of NL_WATCH_LINKS, open since before.
 */
int nl_link_rose_with_carrier(struct nl_monitor *mon, int ifindex, struct err *e) must_check;

/*
 * nl_link_wait_carrier - 1: it has carrier, and what is sent goes out (which begins a moment after
 * that: until then the kernel drops it); 0: not before the deadline. mon: of NL_WATCH_LINKS, in the
 * namespace of nl. ERR_KERNEL; errnum ENODEV: the interface is gone.
 */
int nl_link_wait_carrier(struct nl *nl, struct nl_monitor *mon, int ifindex, int64_t deadline_ms,
			 struct err *e) must_check;

#endif
