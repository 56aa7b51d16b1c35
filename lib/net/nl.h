/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nl.h: a route netlink socket bound to one network namespace.
 *
 * Only lib/net/nl*.c includes netlink headers. Ext-ack and strict checking are on; interrupted
 * dumps are repeated; what the kernel says goes to err.detail and its errno to err.errnum
 * (ERR_KERNEL). A request that did not reach it, or whose answer could not be read, is ERR_IO.
 * Links are never dumped, and no request carries RTEXT_FILTER_VF: a reply then holds statistics of
 * every VF and RTNL is held for most of a second on large NICs.
 */
#ifndef RAILHEAD_LIB_NET_NL_H
#define RAILHEAD_LIB_NET_NL_H

#include "lib/base/err.h"

struct netns;
struct nl;

/* nl_open - in the caller's current network namespace: a socket keeps the one it was born in. */
int nl_open(struct nl **out, struct err *e) must_check;

/* nl_open_in - in ns; the caller is back in `home` afterwards (both borrowed). */
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
