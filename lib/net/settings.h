/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h: the settings of an interface that a pod can change, except name, MAC, MTU and state.
 *
 * All of it stays with a device that is moved to another network namespace. So a plugin that moves
 * a device reads it before and restores it afterwards. settings_test.c has the whole list of
 * the attributes of a link, with the reason if one is not restored.
 */
#ifndef RAILHEAD_LIB_NET_SETTINGS_H
#define RAILHEAD_LIB_NET_SETTINGS_H

#include "lib/base/hw_addr.h"
#include "lib/net/nl.h"
#include "lib/base/parse.h"

#define LINK_ALIAS_LEN 256 /* IFALIASZ */

/* In the order in which they are set: the size of all segments goes before that of IPv4 alone. */
enum link_number {
	LINK_TXQLEN,
	LINK_GROUP,
	LINK_MODE,
	LINK_GSO_SEGS,
	LINK_GSO_SIZE,
	LINK_GRO_SIZE,
	LINK_GSO_V4_SIZE,
	LINK_GRO_V4_SIZE,
	LINK_NUMBERS
};

/* Ways to attach an XDP program. */
enum link_xdp { LINK_XDP_GENERIC, LINK_XDP_DRIVER, LINK_XDP_HARDWARE, LINK_XDP_MODES };

struct link_settings {
	unsigned flags; /* IFF_*, of those that a user can set, without IFF_UP */
	unsigned has;   /* 1 << enum link_number: those that the kernel tells */
	uint32_t number[LINK_NUMBERS];
	char alias[LINK_ALIAS_LEN];
	struct hw_addr broadcast; /* none: not told */
	bool xdp[LINK_XDP_MODES]; /* a program is attached */
};

/* link_number_name - the word for VF states and logs: "txqlen". */
const char *link_number_name(enum link_number n);

/* nl_settings_get - the settings of an interface, by one RTM_GETLINK. ERR_KERNEL: the kernel
 * refused. */
int nl_settings_get(struct nl *nl, int ifindex, struct link_settings *out,
		    struct err *e) must_check;

/*
 * nl_settings_set - set each setting that differs from `want`. After a refusal it goes on with the
 * others. refused is called for each setting that the kernel refuses, with its name. An XDP program
 * can only be detached.
 */
struct settings_change {
	const struct link_settings *is, *want;
	void (*refused)(const char *what, const struct err *why, void *arg);
	void *arg;
};
void nl_settings_set(struct nl *nl, int ifindex, const struct settings_change *put);

/* settings_changed - the word for a difference after the first n ones; NULL: there are no more.
 * Pure. */
const char *settings_changed(const struct link_settings *is, const struct link_settings *want,
			     size_t n);

#endif
