/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_priv.h: the kinds of links, and what IFLA_INFO_DATA holds for each of them.
 *
 * A new kind is one entry in the table of link_kind.c and one member of union link_data.
 */
#ifndef RAILHEAD_LIB_NET_LINK_PRIV_H
#define RAILHEAD_LIB_NET_LINK_PRIV_H

#include "lib/net/link.h"

struct link_kind;
struct nl_req;
struct nlattr;

/* link_kind_find - by the name that the kernel gives it (IFLA_INFO_KIND); NULL: not in the table.
 */
const struct link_kind *link_kind_find(const char *name);

/* link_kind_require - the same, or ERR_FIELD (EOPNOTSUPP) with the kinds that there are. */
int link_kind_require(const char *name, const struct link_kind **out, struct err *e) must_check;

/* link_kind_put - append IFLA_LINKINFO: the kind and its attributes. */
void link_kind_put(struct nl_req *rq, const struct link_kind *kind, const union link_data *data);

/*
 * link_kind_parse - data is IFLA_INFO_DATA. An attribute that is missing leaves its member alone.
 * -1: one is shorter than its type.
 */
int link_kind_parse(const struct link_kind *kind, const struct nlattr *data,
		    union link_data *out) must_check;

#endif
