/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect.h: the rails of one network namespace as they are now, and what is wrong with them.
 *
 * A rail is an interface that a record names, or one with an address from which a rule leads to a
 * table of its own. The snapshot is filled in two steps: inspect_add_record() for each record of
 * the namespace, then inspect_read(). Findings follow from the snapshot alone.
 */
#ifndef RAILHEAD_DIAG_INSPECT_H
#define RAILHEAD_DIAG_INSPECT_H

#include "cni/record/record.h"
#include "lib/cli/finding.h"
#include "lib/net/addr.h"
#include "lib/net/link.h"
#include "lib/net/neigh.h"
#include "lib/net/rule.h"

#define INSPECT_WORD_LEN 204 /* CNI_ID_MAX and NUL */

/* Settings that count for an interface. Of those of IPv4 the larger one of its own and of "all". */
enum inspect_setting {
	INSPECT_IGNORE,   /* arp_ignore */
	INSPECT_ANNOUNCE, /* arp_announce */
	INSPECT_RP_FILTER,
	INSPECT_PROXY,     /* proxy_arp */
	INSPECT_LINKDOWN,  /* ignore_routes_with_linkdown */
	INSPECT_LINKDOWN6, /* the same of IPv6 */
	INSPECT_RA,        /* accept_ra_defrtr of IPv6 */
	INSPECT_SETTINGS
};
/* inspect_setting_name - "arp_ignore", in JSON also "ipv6.accept_ra_defrtr". inspect_setting_path -
 * below /proc/sys/net, with %s for the interface. inspect_setting_has_all - "all" counts, too. */
const char *inspect_setting_name(enum inspect_setting s);
const char *inspect_setting_path(enum inspect_setting s);
bool inspect_setting_has_all(enum inspect_setting s);

struct inspect_rail {
	/* From the record; "" and 0 without one. */
	char network[INSPECT_WORD_LEN], plugin[INSPECT_WORD_LEN];
	char ifname[IFNAME_LEN], master[IFNAME_LEN];
	int ifindex, lower_ifindex;
	uint32_t want_mtu; /* the key "mtu" of the configuration */
	bool in_container; /* the master is in the pod */
	bool has_ipam;     /* so there must be an address */
	struct ip *noted;  /* addresses that must have a rule; owned */
	size_t n_noted;
	struct route_spec *wanted; /* routes that there must be, without ifindex; owned */
	size_t n_wanted;
	struct json *config;        /* of the network; owned; NULL: none */
	char claim[254];            /* of Kubernetes; the caller may set it; "": none */
	uint32_t host_metric;       /* of routes by the veth to the node; 0: there is none */
	char host_veth[IFNAME_LEN]; /* the node's end of it */
	/* From the namespace. */
	struct link_info link;    /* ifindex 0: the interface is not there */
	uint32_t table;           /* 0: the interface has no table of its own */
	uint32_t master_mtu;      /* 0: not known */
	struct inspect_way *node; /* to the master's addresses, if there is such a veth; owned */
	size_t n_node;
	char filter_why[200]; /* the node's end lacks its filter, or cannot be read; "": good */
	bool filter_unread;
	struct addr_info *addr; /* owned; without link-local ones */
	size_t n_addrs;
	struct ip of_node;        /* one of them that the node has, too; family IP_NONE: none */
	struct neigh_info *neigh; /* owned */
	size_t n_neighs;
	int setting[INSPECT_SETTINGS]; /* -1: cannot be read */
	struct hw_addr want_mac;       /* of "macPrefix"; none: not given */
	char drift[200];               /* which setting of the configuration changed; "": none */
};

/* Where a packet from an address of a rail goes. */
enum inspect_aim {
	INSPECT_OWN_GATEWAY,
	INSPECT_PEER,      /* an address of its own network */
	INSPECT_ELSEWHERE, /* another network, to which the rail has a route */
};

struct inspect_way {
	size_t rail;
	struct ip from, to; /* from of family IP_NONE: the sender binds no address */
	enum inspect_aim aim;
	int errnum;              /* not 0: the kernel has no way */
	struct route_spec route; /* the way that the kernel takes */
};

/* An interface of the namespace, for words. */
struct inspect_name {
	int ifindex;
	char name[IFNAME_LEN];
};

struct inspect {
	struct inspect_rail *rail; /* owned, as the arrays below */
	size_t n_rails;
	struct rule_spec *rule; /* in the order of the kernel */
	size_t n_rules;
	struct route_spec *route; /* of every kind and interface */
	size_t n_routes;
	struct inspect_name *name;
	size_t n_names;
	struct inspect_way *way;
	size_t n_ways;
};

/* inspect_add_record - one more rail, from a record of the namespace. Pure. */
int inspect_add_record(struct inspect *s, const struct record *r, struct err *e) must_check;

/*
 * inspect_read - fill the snapshot from the namespace pod. The caller is in host, and is there
 * again afterwards. An interface that disappears during the reading is not there.
 */
struct inspect_from {
	const struct ctx *ctx;
	const struct netns *host, *pod; /* borrowed; may be one and the same */
};
int inspect_read(const struct inspect_from *from, struct inspect *s, struct err *e) must_check;

/* inspect_name_of - "net2", "interface number 7"; s has the text or out is filled. */
#define INSPECT_NAME_LEN 40
const char *inspect_name_of(const struct inspect *s, int ifindex, char out[INSPECT_NAME_LEN]);

void inspect_clear(struct inspect *s);
#define auto_inspect auto_clean(inspect_clear)

/*
 * inspect_check - findings about every rail, with the codes of inspect_code.h. pod: for the
 * subjects, "" for none. fold: addresses of one reason have one finding, for people. Rails without
 * a table of their own have only those that apply. Adds to *out; ERR_NOMEM. Pure.
 */
int inspect_check(const struct inspect *s, const char *pod, bool fold, struct findings *out,
		  struct err *e) must_check;

/* ---- pieces; pure ---- */

/* inspect_find_tables - give each rail the table that the rules of its addresses name and that has
 * a route by it, if its record names none. */
void inspect_find_tables(struct inspect *s);

/* inspect_find_ways - set s->way: from each address of each rail to its gateways, to its networks
 * and parts of them, and to those that its table has routes to. */
int inspect_find_ways(struct inspect *s, struct err *e) must_check;

/* inspect_table_of - the first table to which a rule leads from this address, and that has a route
 * by the interface: others have routes of a tunnel or the like. 0: none. */
uint32_t inspect_table_of(const struct inspect *s, struct ip addr, int ifindex);

/* inspect_is_gateway - the route is by a gateway, and belongs to the rail: to its table or, if it
 * has none, to the main table. */
bool inspect_is_gateway(const struct inspect_rail *r, const struct route_spec *route);

#endif
