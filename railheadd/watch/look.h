/* SPDX-License-Identifier: Apache-2.0 */
/*
 * look.h: a look is a JSON document that a child prints, or {"error": text}. A watch looks again
 * and again.
 */
#ifndef RAILHEAD_RAILHEADD_WATCH_LOOK_H
#define RAILHEAD_RAILHEADD_WATCH_LOOK_H

#include "lib/base/ctx.h"
#include "lib/json/json.h"
#include "railheadd/watch/child.h"

/* look_print - in the child: print the look; NULL: why there is none. Returns the exit status. */
int look_print(const struct json *look, const struct err *why);

/*
 * look_read - in the loop, at the end of the child: the look, owned by the caller. ERR_IO: it was
 * late, printed too much or nothing, or it printed an error. ERR_DECODE.
 */
struct look_end {
	const char *what; /* that it looks at, in the plural: "rails" */
	enum child_end how;
	const char *text; /* as child_conf.done has it */
	size_t len;
	int deadline_ms; /* of the child */
};
int look_read(const struct look_end *end, struct json **out, struct err *e) must_check;

/*
 * look_note_error - log the error of a look, unless it is that of the look before. A msg of "": it
 * had none. said keeps the msg.
 */
#define LOOK_SAID_LEN sizeof(((struct err *)0)->msg)
void look_note_error(const struct log *log, const char *topic, const struct err *e,
		     char said[LOOK_SAID_LEN]);

/* Everything is borrowed. */
struct looks_conf {
	struct event_base *base;
	const struct ctx *ctx;
	const char *topic;           /* of the log: "rails" */
	const char *what;            /* as look_end.what */
	int64_t every;               /* ms between two looks */
	int deadline_ms;             /* of a look */
	int (*run)(const void *arg); /* in the child: prints the look, and returns look_print() */
	/* A look without an error. It may make looks.next less. An error that it leaves in e is
	 * noted, whatever it returns; -1: the look does not count. */
	int (*take)(void *arg, const struct json *look, struct err *e);
	void (*ended)(void *arg); /* after each look, also one that failed; NULL: nothing */
	void *arg;
};

struct looks {
	struct looks_conf conf;
	struct timer *timer;
	struct child *child;
	int64_t next;             /* ms until the next look */
	uint64_t n;               /* without an error */
	char said[LOOK_SAID_LEN]; /* the error of the last look; "": none */
};

/* looks_begin - the first look begins with the loop; looks_end() is due after an error, too. */
int looks_begin(struct looks *l, const struct looks_conf *conf, struct err *e) must_check;
void looks_end(struct looks *l);

/* looks_add_status - add "error", if there is one, and "looks" to o. */
int looks_add_status(const struct looks *l, struct json *o) must_check;

#endif
