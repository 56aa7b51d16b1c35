/* SPDX-License-Identifier: Apache-2.0 */
/* tcp.h: the TCP connections of a network namespace, and what they carried (inet_diag). */
#ifndef RAILHEAD_LIB_NET_TCP_H
#define RAILHEAD_LIB_NET_TCP_H

#include "lib/base/ip.h"
#include "lib/net/nl.h"

#define TCP_FLOWS_MAX 65536 /* of one namespace */

struct tcp_flow {
	struct ip local, remote; /* IPv4 in an IPv6 socket is IPv4 */
	uint64_t cookie;         /* never comes again within a boot */
	uint64_t sent, received; /* bytes: acknowledged by the other end, and arrived from it */
};

struct netns;
/* nl_tcp_open_in - a socket for nl_tcp_list, of ns; the calling thread is in host afterwards. Free
 * with nl_release(). */
int nl_tcp_open_in(const struct netns *ns, const struct netns *host, struct nl **out,
		   struct err *e) must_check;

/*
 * nl_tcp_list - call fn for each established connection. Return non-zero from fn to stop: this is
 * not an error. ERR_KERNEL: this kernel has no inet_diag (errnum ENOENT), or does not count bytes
 * (EOPNOTSUPP, before Linux 4.1). ERR_NOMEM also beyond TCP_FLOWS_MAX.
 */
typedef int (*tcp_flow_fn)(const struct tcp_flow *f, void *arg);
int nl_tcp_list(struct nl *nl, tcp_flow_fn fn, void *arg, struct err *e) must_check;

#endif
