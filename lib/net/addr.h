/* SPDX-License-Identifier: Apache-2.0 */
/* addr.h: addresses and routes of one interface, and the way of a packet. */
#ifndef RAILHEAD_LIB_NET_ADDR_H
#define RAILHEAD_LIB_NET_ADDR_H

#include "lib/base/ip.h"
#include "lib/net/nl.h"

/* Tables of the kernel itself are 253 to 255. */
#define ROUTE_TABLE_OWN_FIRST 253
#define ROUTE_TABLE_MAIN      254
#define ROUTE_TABLE_OWN_LAST  255

/* ROUTE_OTHER: of groups and broadcasts. */
enum route_kind {
	ROUTE_UNICAST,
	ROUTE_BLACKHOLE,
	ROUTE_UNREACHABLE,
	ROUTE_PROHIBIT,
	ROUTE_THROW,
	ROUTE_OTHER
};
/* route_kind_name - as `ip route` writes it: "blackhole"; "other". */
const char *route_kind_name(enum route_kind k);

/* Who made a route: the kernel or a person; DHCP or router advertisements; a daemon for BGP, OSPF
 * and their like. */
enum route_maker { ROUTE_BY_HAND, ROUTE_DYNAMIC, ROUTE_BY_ROUTING };

struct route_spec {
	struct ip_prefix dst; /* len 0: the default route */
	struct ip
		gw; /* family IP_NONE: directly on the link; may be of the other family (RTA_VIA) */
	struct ip src; /* the address of senders that bind none; IP_NONE: the kernel's choice */
	int ifindex;
	uint32_t mtu, advmss, priority; /* 0: not given */
	uint32_t table;                 /* 0: main */
	int scope;            /* -1: the kernel's usual: link without gateway (v4), else universe */
	bool onlink;          /* the gateway need not be covered by an address */
	enum route_kind kind; /* read: of nl_route_list_all() and nl_route_get() */
	enum route_maker maker; /* read */
};

/* nl_addr_add - IPv4 gets its broadcast address (not for /31, /32). nodad: IFA_F_NODAD (IPv6). */
int nl_addr_add(struct nl *nl, int ifindex, struct ip_prefix addr, bool nodad,
		struct err *e) must_check;

/* nl_addr_list and nl_route_list call it for each item. Return non-zero to stop: not an error. */
struct addr_info {
	int ifindex;
	struct ip_prefix addr;
	bool tentative, dadfailed;
	/* By the kernel itself: link-local, temporary, or by router advertisement (5.18). */
	bool given;
	bool limited; /* it has a lifetime: by DHCP, or by router advertisement */
};
typedef int (*addr_fn)(const struct addr_info *a, void *arg);
typedef int (*route_fn)(const struct route_spec *r, void *arg);

/* nl_addr_list - addresses of one interface, filtered by the kernel; ifindex 0: of all. */
int nl_addr_list(struct nl *nl, int ifindex, addr_fn fn, void *arg, struct err *e) must_check;

/*
 * nl_route_add - the same route again is EEXIST. One with the destination and metric of another,
 * but another gateway or interface, is taken: IPv4 puts it before that one, so that it is used from
 * now on; IPv6 makes one multipath route (ECMP) of those that have gateways.
 */
int nl_route_add(struct nl *nl, const struct route_spec *r, struct err *e) must_check;

/* nl_route_delete - by destination, table, metric and interface. No such route is success. */
int nl_route_delete(struct nl *nl, const struct route_spec *r, struct err *e) must_check;

/* nl_route_list - unicast routes out of one interface, every table but local, filtered by the
 * kernel. */
int nl_route_list(struct nl *nl, int ifindex, route_fn fn, void *arg, struct err *e) must_check;

/* nl_route_list_all - every route but those of the table local, of any kind and interface. One that
 * forbids has ifindex 0, or with IPv6 that of lo. */
int nl_route_list_all(struct nl *nl, route_fn fn, void *arg, struct err *e) must_check;

/*
 * nl_route_default_dev - ifindex of the default route of the lowest metric in the main table, IPv4
 * first, else IPv6. errnum ENODEV when there is none.
 */
int nl_route_default_dev(struct nl *nl, int *ifindex, struct err *e) must_check;

/*
 * nl_route_get - the way that a packet takes, as `ip route get TO from FROM` asks for it. from of
 * family IP_NONE: the sender has chosen no address yet; else it is one of the namespace. *out has
 * the interface, gateway and table of the route. Its mtu is that of the route, or was discovered on
 * the path; 0: none. ERR_KERNEL: there is no way (errnum ENETUNREACH, EHOSTUNREACH), or
 * the namespace does not have the address (EINVAL for IPv4).
 */
int nl_route_get(struct nl *nl, struct ip to, struct ip from, struct route_spec *out,
		 struct err *e) must_check;

/*
 * nl_addr_wait_dad - wait until no IPv6 address of want[] on the interface is tentative: on events,
 * without polling. ERR_BUSY when one failed duplicate address detection, ERR_STATE when one is not,
 * or no longer, on the interface, ERR_AGAIN past the deadline. IPv4 addresses are skipped. The
 * monitor, of NL_WATCH_ADDR6, must be opened in the interface's namespace before the link goes up.
 */
struct nl_monitor;
struct dad_wait {
	int ifindex;
	const struct ip_prefix *want;
	size_t n;
	int timeout_ms;
};
int nl_addr_wait_dad(struct nl *nl, struct nl_monitor *mon, const struct dad_wait *wait,
		     struct err *e) must_check;

/* nl_addr_list_v6 - nl_addr_list, of IPv6 alone. */
int nl_addr_list_v6(struct nl *nl, int ifindex, addr_fn fn, void *arg, struct err *e) must_check;

/*
 * nl_addr_is_own - 1: an interface of the current network namespace has the address, up or down,
 * also in a VRF; or a local route covers it. 0: none has it. The kernel looks it up in a hash, so
 * the number of interfaces and addresses does not matter.
 */
int nl_addr_is_own(struct ip ip, struct err *e) must_check;

#endif
