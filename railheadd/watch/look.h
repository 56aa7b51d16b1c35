/* SPDX-License-Identifier: Apache-2.0 */
/* look.h: a look is a JSON document that a child prints, or {"error": text}. */
#ifndef RAILHEAD_RAILHEADD_WATCH_LOOK_H
#define RAILHEAD_RAILHEADD_WATCH_LOOK_H

#include "lib/base/log.h"
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

#endif
