/* SPDX-License-Identifier: Apache-2.0 */
/* neighbour_look.h: one look at the interfaces of this node's rails, see neighbour_table.h. */
#ifndef RAILHEAD_RAILHEADD_WATCH_NEIGHBOUR_LOOK_H
#define RAILHEAD_RAILHEADD_WATCH_NEIGHBOUR_LOOK_H

#include "lib/base/ctx.h"
#include "lib/json/json.h"

struct nl;

/*
 * neighbour_look - *out is a look, owned by the caller. A rail of InfiniBand has no neighbour that
 * sends frames, and is not in it. The errors of rail_list_load(), and of netlink.
 */
int neighbour_look(const struct ctx *ctx, struct nl *nl, struct json **out,
		   struct err *e) must_check;

/* neighbour_look_main - for a child: standard output gets the look, or {"error": text}, and a line
 * break. Returns the exit status. */
int neighbour_look_main(const struct ctx *ctx);

#endif
