/* SPDX-License-Identifier: Apache-2.0 */
/* diff.h: one generated configuration, the answers of two IPAM programs to it, and what differs. */
#ifndef CONFORMANCE_DIFFERENTIAL_DIFF_H
#define CONFORMANCE_DIFFERENTIAL_DIFF_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

struct random {
	uint64_t state;
};

/* random_of - the stream of one case: each can be made again alone. */
struct random random_of(uint64_t seed, unsigned number);
unsigned below(struct random *r, unsigned n); /* 0..n-1 */
bool chance(struct random *r, unsigned percent);

struct generated {
	char *conf;     /* text, owned */
	char args[160]; /* CNI_ARGS; "": none */
};

/* generate - case `number`; the network's name is made of it, so that cases do not meet. */
void generate(struct random *r, unsigned number, struct generated *out);

struct answer {
	bool ok;
	cJSON *tree;    /* the result, or the error object; NULL: neither */
	char msg[1024]; /* of the error object, with its details */
};

/* ask - run a program's command for container id. Killed after ten seconds, which is not an answer.
 */
void ask(const char *program, const char *cmd, const char *id, const struct generated *g,
	 struct answer *out);
void answer_clear(struct answer *a);

/* differ - NULL when ours and theirs say the same; else what differs, malloced. */
char *differ(const struct answer *ours, const struct answer *theirs);

/*
 * reason_for - the number of a listed reason why a difference is meant to be; -1: there is none.
 * reason_text - NULL behind the last one.
 */
int reason_for(const char *difference, const struct answer *theirs);
const char *reason_text(int number);

#endif
