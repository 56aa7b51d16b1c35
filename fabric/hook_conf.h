/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook_conf.h: the program, the configuration and the input of a hook that railhead ships.
 */
#ifndef RAILHEAD_FABRIC_HOOK_CONF_H
#define RAILHEAD_FABRIC_HOOK_CONF_H

#include "fabric/message.h"
#include "lib/cli/cmd.h"

/* A configuration: its keys, the struct that they fill, and what owns its texts. */
struct hook_conf {
	const struct json_field *keys;
	void *out;
	struct json **tree; /* set also after a failure; the caller frees it */
};

/*
 * hook_conf_load - decode a file that only root can have written. An unknown key is an error. With
 * optional an absent file is as an empty one.
 */
int hook_conf_load(const char *path, bool optional, const struct hook_conf *c,
		   struct err *e) must_check;

/* hook_secret_load - the first line of a file that no user but root may read. Freed by the caller.
 */
int hook_secret_load(const char *path, char **out, struct err *e) must_check;

/* hook_message_read - from standard input; clear it afterwards. */
int hook_message_read(struct sm_message *out, struct err *e) must_check;

/* hook_main - the program of a hook: cmd_main() with the options that all hooks have. */
int hook_main(const struct cmd *root, char **argv);

#endif
