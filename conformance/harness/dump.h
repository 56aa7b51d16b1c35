/* SPDX-License-Identifier: Apache-2.0 */
/* dump.h: netlink dumps, message by message. */
#ifndef CONFORMANCE_HARNESS_DUMP_H
#define CONFORMANCE_HARNESS_DUMP_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "conformance/harness/text.h"

/* Attributes still to be read. */
struct attrs {
	const struct rtattr *a;
	size_t left;
};

/* The attributes of a message behind a header of that size. */
struct attrs attrs_of(const struct nlmsghdr *h, size_t header);
/* Those inside an attribute. */
struct attrs attrs_in(const struct rtattr *a);
/* The next attribute, NULL: there is none. */
const struct rtattr *attrs_next(struct attrs *rest);
unsigned attr_type(const struct rtattr *a);
size_t attr_len(const struct rtattr *a);

typedef void (*dump_fn)(const struct nlmsghdr *h, void *arg, struct text *out);
struct dump_request {
	int protocol; /* NETLINK_ROUTE, ... */
	unsigned short type;
	const void *body; /* header of the family and attributes */
	size_t len;
};

/*
 * Ask for a dump and call show(message, arg, out) for each message. A dump that the kernel calls
 * inconsistent is made again, and what was added to out is taken back. A protocol or question that
 * the kernel does not know has no answer; any other error ends the program.
 */
void netlink_dump(const struct dump_request *r, dump_fn show, void *arg, struct text *out);

#endif
