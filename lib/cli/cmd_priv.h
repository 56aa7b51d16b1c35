/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_priv.h: what cmd.c, cmd_guess.c and cmd_help.c need of each other. */
#ifndef RAILHEAD_LIB_CLI_CMD_PRIV_H
#define RAILHEAD_LIB_CLI_CMD_PRIV_H

#include "lib/cli/cmd.h"

/*
 * cmd_resolve - the command that n words name, below the root of the program; sets r->cmd and
 * r->path. Unknown words are a usage error that suggests the nearest command.
 */
int cmd_resolve(struct cmd_run *r, const char *const *words, size_t n, struct err *e) must_check;

/*
 * cmd_guess - the hint for a word that is not a command of r->cmd: the alias of that word, the
 * nearest command there, or the commands of that name elsewhere in the program. Returns -1.
 */
int cmd_guess(const struct cmd_run *r, const char *word, struct err *e);

/* cmd_help_show - print the help of r->cmd, as text or JSON. ERR_NOMEM. */
int cmd_help_show(const struct cmd_run *r, struct err *e) must_check;

#endif
