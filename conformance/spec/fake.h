/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake.h: the program as a plugin that does what it is told. It is one when a file NAME.base lies
 *beside the program NAME: "pool" (a right IPAM), "meta" (a right chained plugin), or the path of a
 *plugin to run. NAME.rules changes what that does; one rule a line:
 *
 *	VERBS[?CONDITION[&CONDITION...]]:ACTION [ACTION...]
 *
 * VERBS: "ADD", "ADD,DEL", "*", or "-" for no verb. Values are written NAME=VALUE without blanks.
 * Conditions and actions are the tables in fake_rules.c. NAME.log and NAME.VERB.stdin and .env hold
 * what it was called with.
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
	const char *verb;
	char **argv;
	char *input; /* stdin, NULL: not read */
	size_t input_len;
	cJSON *conf; /* stdin as JSON, or NULL */
	bool conf_changed, mute, done, again, read_input;
	char *out;
	int rc;
};

bool fake_is_one(char *self, size_t size);
int fake_main(char *self, char **argv);
/* fake_rules.c */
void fake_before(struct fake *f, char *rules);
void fake_after(struct fake *f, char *rules);
/* fake_pool.c */
void fake_pool(struct fake *f);
void fake_meta(struct fake *f);
void fake_error(struct fake *f, int code, const char *msg);

#endif
