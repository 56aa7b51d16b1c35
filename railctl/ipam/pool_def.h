/* SPDX-License-Identifier: Apache-2.0 */
/* pool_def.h: the options of `pool add` and `pool set` as the JSON that the store holds. Pure. */
#ifndef RAILHEAD_RAILCTL_IPAM_POOL_DEF_H
#define RAILHEAD_RAILCTL_IPAM_POOL_DEF_H

#include "lib/json/json.h"
#include "lib/cli/opt.h"

extern const struct opt pool_add_opts[], pool_set_opts[];

/*
 * pool_def_apply - change def, an object, as the options say. Keys without an option stay; a list
 * replaces the whole old list; --no-X removes X. ERR_CONFIG for a value that is not a number, for a
 * key both given and removed, and for a quota given twice. It does not check addresses.
 */
int pool_def_apply(const struct opts *o, struct json *def, struct err *e) must_check;

/* pool_def_given - true if any option that changes a definition is set. */
bool pool_def_given(const struct opts *o);

#endif
