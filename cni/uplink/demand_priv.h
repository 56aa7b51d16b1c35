/* SPDX-License-Identifier: Apache-2.0 */
/* demand_priv.h: what the files of cni/uplink share among themselves. */
#ifndef RAILHEAD_CNI_UPLINK_DEMAND_PRIV_H
#define RAILHEAD_CNI_UPLINK_DEMAND_PRIV_H

#include "cni/uplink/demand.h"

#define DEMAND_ALIAS "railhead: a master on demand"

/* ---- demand_name.c: pure ---- */

const char *demand_kind_name(enum demand_kind kind); /* "vlan" */

/*
 * demand_name_vlan - "eth1.120"; of a longer name "rh", 8 digits of its hash, and ".120".
 * demand_name_bond - "rhbond" and 8 digits of the hash of its members' names, in any order.
 */
void demand_name_vlan(const char *lower, uint32_t id, char out[IFNAME_LEN]);
void demand_name_bond(const struct demand_link *bond, char out[IFNAME_LEN]);

/* ---- demand_rules.c: pure ---- */

/* The facts by which a link on record may go, or not. */
struct demand_view {
	bool same_boot, same_netns;
	bool present; /* there is a link of that number */
	bool ours;    /* demand_is_ours() */
	bool used;    /* by something of which the file knows nothing */
	size_t users;
};

enum demand_fate {
	DEMAND_KEEP,   /* needed, or it cannot be seen that it is not */
	DEMAND_REMOVE, /* the link, and then its file */
	DEMAND_FORGET, /* the file: the link is gone, or belongs to another program by now */
};

enum demand_fate demand_judge(const struct demand_view *v);

/*
 * demand_is_ours - the link has the number and the kind on record, and our alias. While it is being
 * made it may have none yet. A program that changes the alias takes the link over.
 */
bool demand_is_ours(const struct demand_state *s, const struct link_info *link);

/*
 * demand_describe_lower - an interface as it is now. demand_is_lower - it has the number of the one
 * on record, and is not another one that got this number. demand_came_back - the same card under a
 * new number: name and permanent MAC are equal, and both must be known.
 */
void demand_describe_lower(const struct link_info *link, struct demand_lower *out);
bool demand_is_lower(const struct demand_lower *was, const struct link_info *link);
bool demand_came_back(const struct demand_lower *was, const struct demand_lower *now);
/* demand_is_lost - by number or name, the member's interface (NULL: none) is not in the bond. */
bool demand_is_lost(const struct demand_lower *was, int bond, const struct link_info *numbered,
		    const struct link_info *named, enum demand_lost_why *why);

/* The facts about an interface that shall become the member of a bond. */
struct demand_joiner {
	const struct link_info *link;
	bool has_address, has_default_route, has_route; /* but link-local ones */
	char upper[IFNAME_LEN]; /* an interface that stands on it; "": none */
};
/* demand_may_join - ERR_BUSY says why it would cut off the node, or another user. */
int demand_may_join(const struct demand_joiner *j, struct err *e) must_check;

/*
 * demand_agrees - whether a link is what is asked for. members: of a bond, the numbers of those
 * that it has now. ERR_CONFIG names the difference.
 */
struct demand_members {
	int ifindex[2 * DEMAND_MEMBERS_MAX];
	size_t n;
};
bool demand_has_member(const struct demand_members *m, int ifindex);
int demand_agrees(const struct link_info *is, const struct demand_members *members,
		  const struct demand_link *want, struct err *e) must_check;

/* ---- demand_plan.c: looks, changes nothing ---- */

/* The links to make or to use, in this order: the bond, the VLAN. */
struct demand_plan {
	struct demand_link link[2];
	struct link_info is[2]; /* what is there, or what would be made */
	bool there[2], mine[2];
	bool making[2];        /* an ADD makes it at this moment, or was killed while it did */
	struct link_info twin; /* a bond with members that are asked for; number 0: none */
	bool twin_lacks;       /* the others are in no bond */
	bool back[DEMAND_MEMBERS_MAX]; /* members whose driver was loaded again */
	size_t n;
};
int demand_make_plan(struct master_place *p, const struct demand_conf *c, struct demand_plan *out,
		     struct err *e) must_check;
/* demand_find_made - the link of s: 1: there, and ours; 0: not. */
int demand_find_made(struct nl *nl, const struct demand_state *s, struct link_info *out,
		     struct err *e) must_check;

/* ---- demand_use.c ---- */

/*
 * demand_used - 1: something stands on the link, wherever it is, or has an address on it or a route
 * by it; why says what. 0: nothing does. It makes and deletes a macvlan, for an answer of the
 * kernel that counts all namespaces, and waits so long for a namespace that ends. demand_upper -
 * the first interface of this namespace that stands on it; "": none.
 * demand_hold - demand_used(), but after 0 the macvlan is still there: the kernel refuses any other
 * interface of a pod on the link, until demand_release() or until the link is deleted.
 * demand_release_all - the macvlans of calls that were killed while they asked: the interface below
 * would drop what it receives, and take no pod. The caller has the lock of the masters, so no
 * process asks. 1: there was one.
 */
int demand_hold(struct nl *nl, const struct link_info *link, int wait_ms, char why[64],
		struct err *e) must_check;
int demand_release(struct nl *nl, int ifindex, struct err *e) must_check;
int demand_release_all(struct nl *nl, struct err *e) must_check;
int demand_used(struct nl *nl, const struct link_info *link, int wait_ms, char why[64],
		struct err *e) must_check;
int demand_upper(struct nl *nl, int ifindex, char out[IFNAME_LEN], struct err *e) must_check;

/* demand_route - a route leaves by the link. Those to link-local addresses do not count. */
enum demand_route { DEMAND_NO_ROUTE, DEMAND_ROUTE, DEMAND_DEFAULT_ROUTE };
int demand_route(struct nl *nl, int ifindex, enum demand_route *out, struct err *e) must_check;

/* ---- demand_join.c ---- */

/*
 * demand_check_joiner - demand_may_join() by what the kernel says. demand_check_free - the same of
 * other namespaces, with the question of demand_used(). demand_join - changes the kernel; the
 * member is down before and up afterwards.
 */
int demand_check_joiner(struct nl *nl, const struct link_info *link, struct err *e) must_check;
int demand_check_free(struct nl *nl, int ifindex, struct err *e) must_check;
int demand_join(struct nl *nl, const struct demand_lower *x, int bond, struct err *e) must_check;

/*
 * demand_follow - members of a bond that came back get their new numbers in bond->lower. join: they
 * join it again, unless another bond or bridge has them; else demand_release() for those that have
 * not. 1: a number is new. ERR_BUSY: one of them has another user by now.
 */
int demand_follow(struct nl *nl, struct demand_link *bond, bool join, struct err *e) must_check;

/* ---- demand_make.c: changes the kernel ---- */

/* demand_make - the link, its alias, its members, up; it takes no router advertisement. proc:
 * "/proc" of the caller's network namespace. demand_unmake - the inverse, from wherever
 * demand_make() had got to. fresh: no ADD that uses it has succeeded.
 * demand_note_members - changes nothing but *bond: which of its members are to be up after it. */
int demand_make(struct nl *nl, const char *proc, const struct demand_link *l,
		struct err *e) must_check;
int demand_unmake(struct nl *nl, const struct demand_state *s, bool fresh,
		  struct err *e) must_check;
int demand_note_members(struct nl *nl, struct demand_link *bond, struct err *e) must_check;

#endif
