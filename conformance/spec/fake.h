/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake.h: cni-conformance as a plugin that follows rules. The program NAME is such a plugin if the
 * file NAME.base exists beside it: "pool" (a correct IPAM), "meta" (a correct chained plugin), or
 * the path of a plugin to run. The file NAME.rules changes its behaviour, with one rule a line:
 *
 *	COMMANDS[?CONDITION[&CONDITION...]]:ACTION [ACTION...]
 *
 * COMMANDS is "ADD", "ADD,DEL", "*", or "-" for no command. Values are written NAME=VALUE without
 * blanks. fake_rules.c has the tables of conditions and actions. The plugin writes its calls to
 * NAME.log, and their input and environment to NAME.COMMAND.stdin and NAME.COMMAND.env.
 */
#ifndef CONFORMANCE_SPEC_FAKE_H
#define CONFORMANCE_SPEC_FAKE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct fake {
	char self[512];
	pid_t pid;
	const char *cmd;
	char **argv;
	char *input; /* stdin, NULL: not read */
	size_t input_len;
	cJSON *conf; /* stdin as JSON, or NULL */
	bool conf_changed, mute, done, again, read_input;
	char *out;
	int rc;
};

/* fake_is_one - is this program a fake plugin? self: its path, size bytes. */
bool fake_is_one(char *self, size_t size);
/* fake_main - run as the fake plugin; returns the exit status. */
int fake_main(char *self, char **argv);
/* fake_rules.c: apply the rules before the base runs, and after it. */
void fake_before(struct fake *f, char *rules);
void fake_after(struct fake *f, char *rules);
/* fake_pool.c: the two built-in bases, and an error object as the answer. */
void fake_pool(struct fake *f);
void fake_meta(struct fake *f);
void fake_error(struct fake *f, int code, const char *msg);

#endif
