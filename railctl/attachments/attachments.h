/* SPDX-License-Identifier: Apache-2.0 */
/* attachments.h: what the files of `railctl attachments` share. */
#ifndef RAILHEAD_RAILCTL_ATTACHMENTS_ATTACHMENTS_H
#define RAILHEAD_RAILCTL_ATTACHMENTS_ATTACHMENTS_H

#include "cni/uplink/demand.h"
#include "cni/protocol/env.h"
#include "cni/engine/repair.h"
#include "lib/cli/cmd.h"
#include "plugins/prepared/prepared.h"

extern const struct cmd cmd_attachments, cmd_attachments_repair;

/* attachments_add_json - add to o the members that all commands show of an attachment. */
int attachments_add_json(struct json *o, const struct record *r, const struct repair_view *v,
			 struct err *e) must_check;

/*
 * attachments_find - complete key->container, which may be the beginning of an id. It then points
 * to the buffer `container`. It is an error if no record below ctx->run_dir matches, or more than
 * one.
 */
int attachments_find(struct cmd_run *r, const struct ctx *ctx, struct record_key *key,
		     char container[CNI_ID_MAX + 1], struct err *e) must_check;

/* attachments_network - value of --network, NULL for all. A name that is not valid is a usage
 * error. */
int attachments_network(struct cmd_run *r, const char **out, struct err *e) must_check;

/* attachments_claim - the name of the ResourceClaim that it is of. Returns out, "" for none. */
const char *attachments_claim(const struct ctx *ctx, const struct record *r,
			      char out[PREPARED_NAME_LEN]);

/*
 * masters_show_lost - the members that the bond of a record's master has lost, a line each.
 * masters_list_lost - those of all bonds. masters_add_lost - as "lostMembers" of o, if there are
 * any.
 */
void masters_show_lost(const struct out *o, const struct demand_losses *all, const char *master);
void masters_list_lost(const struct out *o, const struct demand_losses *all);
int masters_add_lost(struct json *o, const struct demand_losses *all, const char *master,
		     struct err *e) must_check;

#endif
