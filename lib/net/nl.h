/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nl.h: a route netlink socket bound to one network namespace.
 *
 * Only lib/net and lib/device include netlink headers. Ext-ack and strict checking are on, and
 * interrupted dumps are repeated. ERR_KERNEL: the kernel refused; err.detail has its text,
 * err.errnum its errno. ERR_IO: the request did not reach the kernel, or the answer is unreadable.
 * Links are never dumped. Only lib/device/vf.c sends RTEXT_FILTER_VF, and it skips the statistics:
 * with them, the kernel holds RTNL for most of a second on large NICs.
 */
#ifndef RAILHEAD_LIB_NET_NL_H
#define RAILHEAD_LIB_NET_NL_H

#include "lib/base/err.h"

struct netns;
struct nl;

/* nl_open - in the caller's current network namespace: a socket keeps the one it was born in. */
int nl_open(struct nl **out, struct err *e) must_check;

/* nl_open_in - in ns. The calling thread is in `host` again afterwards. Both are borrowed. */
int nl_open_in(const struct netns *ns, const struct netns *host, struct nl **out,
	       struct err *e) must_check;

/* nl_release - close and free; NULL is fine. (libnl has an nl_close of its own.) */
void nl_release(struct nl *nl);
static inline void nl_releasep(struct nl **nl)
{
	nl_release(*nl);
}
#define auto_nl auto_clean(nl_releasep)

#endif
