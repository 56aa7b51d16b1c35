/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h: what a hook reads from standard input, railhead-sm.d(5). Pure.
 */
#ifndef RAILHEAD_FABRIC_MESSAGE_H
#define RAILHEAD_FABRIC_MESSAGE_H

#include "fabric/membership.h"
#include "lib/json/json.h"

#define SM_MESSAGE_VERSION 1
#define SM_MESSAGE_GUIDS   64

enum sm_action { SM_ADD, SM_REMOVE };

struct sm_message {
	enum sm_action action;
	uint16_t pkey; /* with PKEY_FULL_MEMBER: full membership */
	struct guid guid[SM_MESSAGE_GUIDS];
	size_t n;
	const char *node;  /* "": not known */
	struct sm_who who; /* borrowed from tree; NULL: not known */
	struct json *tree;
};

/* sm_message_print - one document without a line break; the caller frees it. NULL: no memory. */
char *sm_message_print(enum sm_action a, const struct sm_member *m, const char *node);

/*
 * sm_message_parse - ERR_DECODE, ERR_CONFIG or ERR_FIELD for one that is not a message. Unknown
 * keys are ignored. Clear out afterwards.
 */
int sm_message_parse(const char *text, size_t len, struct sm_message *out,
		     struct err *e) must_check;
void sm_message_clear(struct sm_message *m);
#define auto_sm_message auto_clean(sm_message_clear)

/* The members of an object for an attachment. */
extern const struct json_field sm_who_fields[];

#endif
