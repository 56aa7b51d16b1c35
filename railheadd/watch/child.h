/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h: runs a function in a child, and reads its output in the loop of the agent.
 *
 * After the deadline, or if it prints too much, the child is killed and its output dropped. A child
 * that closes its output is killed, too, because it has said all. A child that cannot even be
 * killed (it hangs in the kernel) is not waited for, and until it ends no other one is started.
 */
#ifndef RAILHEAD_RAILHEADD_WATCH_CHILD_H
#define RAILHEAD_RAILHEADD_WATCH_CHILD_H

#include "lib/base/err.h"

struct event_base;
struct child;

enum child_end {
	CHILD_ENDED,    /* it closed its output, and has ended */
	CHILD_LATE,     /* the deadline passed; text is NULL */
	CHILD_TOO_MUCH, /* the output exceeds text_max; text is NULL */
};

/* Everything is borrowed. */
struct child_conf {
	struct event_base *base;
	const char *path;            /* a name for errors */
	int (*run)(const void *arg); /* see exec_req */
	int deadline_ms;
	size_t text_max; /* of what take leaves */
	/* NULL, or called when output has come, with all that it left before. It returns how many
	 * bytes it takes, and done gets the rest. It must call no function of the child. */
	size_t (*take)(void *arg, const char *text, size_t len);
	/* Called once for each start, from the loop. text is the output, len bytes without a NUL,
	 * valid until done returns. A new start is possible if how is CHILD_ENDED. child_free() is
	 * fine within; text is gone then. */
	void (*done)(void *arg, enum child_end how, const char *text, size_t len);
	/* NULL, or called when a child has ended that was killed. child_free() is fine within. */
	void (*gone)(void *arg);
	void *arg;
};

/* child_new - no child runs yet. child_free - kill it; nothing is called any more; NULL is
 * fine. */
int child_new(const struct child_conf *conf, struct child **out, struct err *e) must_check;
void child_free(struct child *c);

/* child_runs - true from the start to the end; child_is_late - it is killed and not gone. */
bool child_runs(const struct child *c);
bool child_is_late(const struct child *c);

/* child_start - the child has a copy of all memory as it is now. The caller has seen that none
 * runs. */
int child_start(struct child *c, struct err *e) must_check;

#endif
