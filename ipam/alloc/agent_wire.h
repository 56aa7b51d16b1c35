/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_wire.h: what a client and the node agent send through the agent's socket. Pure.
 *
 * A request is one line of JSON, and so is its answer:
 *
 *	{"version": 1, "call": "need", "args": {"pool": "rail0", "addresses": 1}}
 *	{"version": 1, "result": {}}
 *	{"version": 1, "error": {"code": 101, "message": "...", "detail": "..."}}
 *
 * version is that of the request, as the client chose it. An agent that does not know the version
 * answers with its own newest one and an error, so that the message can name both.
 */
#ifndef RAILHEAD_IPAM_ALLOC_AGENT_WIRE_H
#define RAILHEAD_IPAM_ALLOC_AGENT_WIRE_H

#include "lib/json/json.h"

#define AGENT_SOCKET "agent.sock" /* in the folder of what lives as long as the boot */
#ifndef AGENT_VERSION             /* a test builds programs of another release */
#define AGENT_VERSION 1           /* of the lines; the agent understands AGENT_VERSION_MIN, too */
#endif
#define AGENT_VERSION_MIN 1
#define AGENT_REQUEST_MAX 65536         /* bytes of a line, with its line break */
#define AGENT_ANSWER_MAX  JSON_MAX_SIZE /* the same, of an answer */

struct agent_call {
	const char *call;        /* at most 32 bytes */
	const struct json *args; /* an object; NULL: none */
};

/* agent_wire_request - the line of a request. NULL: no memory. The caller frees it. */
char *agent_wire_request(const struct agent_call *c);

/*
 * agent_wire_read_request - a request without its line break. *out borrows from *tree, which the
 * caller frees. ERR_DECODE, ERR_CONFIG: it is none. ERR_AGAIN: this version is not spoken, as
 * between two programs of an update; the message has both. ERR_VERSION would be that of CNI.
 */
int agent_wire_read_request(const char *line, size_t len, struct json **tree,
			    struct agent_call *out, struct err *e) must_check;

/* agent_wire_result - the line of an answer; result NULL: an empty one. NULL: no memory. */
char *agent_wire_result(const struct json *result);

/*
 * agent_wire_error - the line of an answer that is an error; identity: of a need, as of a result,
 * or NULL. NULL: no memory. agent_wire_identity - what a result or an error says; "": nothing.
 */
char *agent_wire_error(const struct err *e, const char *identity);
void agent_wire_identity(const char *line, size_t len, char *out, size_t size);

/*
 * agent_wire_read_answer - an answer without its line break. *result becomes the object of a
 * result, and the caller frees it. The error of an answer is returned as if it had happened here.
 */
int agent_wire_read_answer(const char *line, size_t len, struct json **result,
			   struct err *e) must_check;

#endif
