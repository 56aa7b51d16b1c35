/* SPDX-License-Identifier: Apache-2.0 */
/* link.h: network interfaces: look up one, create, change, delete. */
#ifndef RAILHEAD_LIB_NET_LINK_H
#define RAILHEAD_LIB_NET_LINK_H

#include "lib/base/hw_addr.h"
#include "lib/base/parse.h"
#include "lib/net/link_data.h"
#include "lib/net/nl.h"

struct netns;

#define PARENT_DEV_LEN   32
#define LINK_ALTNAME_LEN 128 /* ALTIFNAMSIZ: 127 bytes and NUL */
#define LINK_ALIAS_LEN   256 /* IFALIASZ: 255 bytes and NUL */

struct link_info {
	int ifindex;
	int lower_ifindex; /* IFLA_LINK, 0 if none; counts in the namespace of the lower device */
	int upper_ifindex; /* IFLA_MASTER: the bond, bridge or VRF that it is a port of; 0: none */
	int lower_nsid; /* that namespace, see nl_link_nsid(); -1: the same, or it has no number */
	char name[IFNAME_LEN];
	char kind[IFNAME_LEN]; /* "macvlan", "veth", "" for hardware */
	uint32_t mtu;
	uint32_t flags;              /* IFF_* */
	uint32_t carrier_downs;      /* how often it has lost its carrier (Linux 4.16) */
	uint16_t type;               /* ARPHRD_*: what is on the wire, see link_is_ethernet() */
	struct hw_addr addr;         /* IFLA_ADDRESS */
	struct hw_addr broadcast;    /* IFLA_BROADCAST */
	struct hw_addr perm_addr;    /* the one it was made with (IFLA_PERM_ADDRESS, Linux 5.6) */
	char parent[PARENT_DEV_LEN]; /* device it belongs to (IFLA_PARENT_DEV_NAME, Linux 5.14): the
					PCI address of hardware; "" otherwise */
	char port[IFNAME_LEN];       /* IFLA_PHYS_PORT_NAME, "p0", "pf0vf1"; "" if none or longer */
	union link_data data;        /* members that the kernel did not report: LINK_DATA_UNKNOWN */
	char alias[LINK_ALIAS_LEN];  /* IFLA_IFALIAS; "": none. It stays when the link moves */
};

/* link_is_ethernet - frames and ARP of Ethernet, with addresses of 6 bytes; IPoIB is not. */
bool link_is_ethernet(const struct link_info *link);

/* link_is_ipoib - IP over InfiniBand: its ARP has addresses of 20 bytes (RFC 4391 section 9). */
bool link_is_ipoib(const struct link_info *link);

struct link_spec {
	const char *kind; /* one of those in union link_data */
	const char *name;
	int lower_ifindex;
	int ifindex; /* of the new link, see nl_link_choose_ifindex(); 0: the kernel's choice */
	const struct netns *target; /* NULL: the socket's own namespace */
	uint32_t mtu;               /* 0: the kernel's choice */
	struct hw_addr addr;        /* none: the kernel's choice */
	union link_data data;
};

/*
 * nl_link_by_name, nl_link_by_index - get one interface; errnum ENODEV: there is none.
 * nl_link_by_name does not match alternative names (altname). nl_link_by_any_name does, as the
 * kernel does: for a device that a person named, and to check whether a name is taken.
 */
int nl_link_by_name(struct nl *nl, const char *name, struct link_info *out,
		    struct err *e) must_check;
int nl_link_by_any_name(struct nl *nl, const char *name, struct link_info *out,
			struct err *e) must_check;
int nl_link_by_index(struct nl *nl, int ifindex, struct link_info *out, struct err *e) must_check;

/*
 * nl_link_each - call fn for each interface of a kind (NULL: of any), in the order of the kernel.
 * Return non-zero from fn to stop the scan; this is not an error. fn may use nl.
 */
typedef int (*link_fn)(const struct link_info *link, void *arg);
int nl_link_each(struct nl *nl, const char *kind, link_fn fn, void *arg, struct err *e) must_check;

/* nl_link_nsid - the number by which the socket's namespace knows another one; -1: it has none. */
int nl_link_nsid(struct nl *nl, const struct netns *ns, int *out, struct err *e) must_check;

/*
 * nl_link_create - one RTM_NEWLINK, directly in spec->target under its final name.
 * errnum EEXIST: the name is taken there; EOPNOTSUPP: the kernel has no such kind of link.
 * ERR_FIELD: no interface can have that name, or the kernel takes it for a pattern ("eth%d"); or
 * railhead does not know the kind (errnum EOPNOTSUPP). errnum EBUSY, since Linux 6.14 EEXIST:
 * another link has the number that spec asks for.
 */
int nl_link_create(struct nl *nl, const struct link_spec *spec, struct err *e) must_check;

/* nl_link_choose_ifindex - a random number, far above those that the kernel assigns: it can be
 * written down before there is a link of that number. */
int nl_link_choose_ifindex(void);

/*
 * nl_link_compare_data - whether an interface of a kind in union link_data has the data that was
 * asked for. ERR_STATE names the attribute and both values; another kind is ERR_FIELD.
 */
int nl_link_compare_data(const struct link_info *is, const union link_data *want,
			 struct err *e) must_check;

/*
 * nl_link_set_up, _down, _hw_addr, _mtu, _alias, _master - one RTM_SETLINK each. ERR_KERNEL: the
 * kernel refused; the error names the value. errnum ENODEV: there is no such interface. An alias of
 * more than 255 bytes is refused (EINVAL). master 0: the interface leaves its bond or bridge.
 */
int nl_link_set_up(struct nl *nl, int ifindex, struct err *e) must_check;
int nl_link_set_down(struct nl *nl, int ifindex, struct err *e) must_check;
int nl_link_set_hw_addr(struct nl *nl, int ifindex, struct hw_addr addr, struct err *e) must_check;
int nl_link_set_mtu(struct nl *nl, int ifindex, uint32_t mtu, struct err *e) must_check;
int nl_link_set_alias(struct nl *nl, int ifindex, const char *alias, struct err *e) must_check;
int nl_link_set_master(struct nl *nl, int ifindex, int master, struct err *e) must_check;

/*
 * nl_link_move - an existing device into target under a new name, by one RTM_SETLINK: who looks
 * never sees it elsewhere or under another name (only events tell of a step between). Its addresses
 * go, its altnames go with it; it is down afterwards. target may be the namespace it is in: then it
 * is only renamed. errnum EEXIST: the name, or one of its altnames, is taken there; EINVAL: a
 * device that may not move; ENODEV: there is none. A name that no interface can have is ERR_FIELD.
 * After a failure it is in its former namespace. The kernel notices an existing name only after the
 * move. Then the link is moved back, and the caller's thread enters target for a moment.
 */
int nl_link_move(struct nl *nl, int ifindex, const struct netns *target, const char *name,
		 struct err *e) must_check;

/* nl_link_altnames - call fn for each alternative name. Return non-zero from fn to stop: this is
 * not an error. fn may use nl. */
typedef int (*link_altname_fn)(const char *name, void *arg);
int nl_link_altnames(struct nl *nl, int ifindex, link_altname_fn fn, void *arg,
		     struct err *e) must_check;
/*
 * nl_link_altname_add, _del - there already, and gone already, is success. errnum EEXIST: another
 * device of the namespace has that name.
 */
int nl_link_altname_add(struct nl *nl, int ifindex, const char *name, struct err *e) must_check;
int nl_link_altname_del(struct nl *nl, int ifindex, const char *name, struct err *e) must_check;

/*
 * nl_link_listens - call fn for each other address, of stations and groups, whose frames an
 * Ethernet interface accepts. Return non-zero from fn to stop the scan; this is not an error.
 */
typedef int (*link_mac_fn)(const uint8_t mac[MAC_LEN], void *arg);
int nl_link_listens(struct nl *nl, int ifindex, link_mac_fn fn, void *arg,
		    struct err *e) must_check;

/* nl_link_delete - already gone is success. */
int nl_link_delete(struct nl *nl, int ifindex, struct err *e) must_check;

/*
 * nl_link_delete_all - the same for n interfaces of the namespace in one request. The kernel waits
 * once for all of them, about as long as for one. If the kernel refuses one, the others are deleted
 * all the same, and the first error is returned.
 */
int nl_link_delete_all(struct nl *nl, const int *ifindex, size_t n, struct err *e) must_check;

#endif
