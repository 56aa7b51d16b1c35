/* SPDX-License-Identifier: Apache-2.0 */
/* look.c: both ends of a look. */
#include "railheadd/watch/look.h"

#include <stdio.h>
#include <string.h>

int look_print(const struct json *look, const struct err *why)
{
	auto_json struct json *error = look ? NULL : json_new_object();

	/* The agent logs an error, because it knows which one it has logged. */
	if (!look && (!error || json_add_str(error, "error", why->msg)))
		return 1;
	auto_free char *text = json_print(look ? look : error, false);
	return text && puts(text) >= 0 && fflush(stdout) == 0 ? 0 : 1;
}

int look_read(const struct look_end *end, struct json **out, struct err *e)
{
	auto_json struct json *look = NULL;

	if (end->how == CHILD_LATE)
		return err_set(e, ERR_IO, 0, "the %s were not read within %d ms", end->what,
			       end->deadline_ms);
	if (end->how == CHILD_TOO_MUCH)
		return err_set(e, ERR_IO, 0, "the look has more than 1 MiB");
	if (!end->len)
		return err_set(e, ERR_IO, 0, "the child that reads the %s has failed", end->what);
	if (json_parse(end->text, end->len, end->what, &look, e))
		return -1;
	if (json_str(json_get(look, "error")))
		return err_set(e, ERR_IO, 0, "%s", json_text(look, "error"));
	*out = TAKE_PTR(look);
	return 0;
}

void look_note_error(const struct log *log, const char *topic, const struct err *e,
		     char said[LOOK_SAID_LEN])
{
	if (*e->msg && strcmp(e->msg, said) != 0)
		log_error(log, "%s: %s%s%s", topic, e->msg, *e->detail ? ": " : "", e->detail);
	(void)snprintf(said, LOOK_SAID_LEN, "%s", e->msg);
}
