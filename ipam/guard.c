/* SPDX-License-Identifier: Apache-2.0 */
#include "ipam/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lib/json.h"

/* A signal handler is handed nothing of ours: the one global of this program. Set once, then read.
 */
static const char *guard_text;
static size_t guard_len;

static void give_up(int sig)
{
	(void)sig;
	(void)!write(STDOUT_FILENO, guard_text, guard_len);
	_exit(1);
}

static char *make_text(const char *dir)
{
	auto_json struct json *o = json_new_object();
	auto_free char *msg = NULL;

	if (asprintf(&msg, "the store in %s is damaged: reading it faulted", dir) < 0) {
		msg = NULL;
		return NULL;
	}
	if (!o || json_add_int(o, "code", ERR_STORE) || json_add_str(o, "msg", msg) ||
	    json_add_str(o, "details",
			 "move the directory away and restart the pods that hold addresses; "
			 "pools must be added again with `railctl ipam pool add`"))
		return NULL;
	return json_print(o, false);
}

int guard_arm(const char *dir, struct err *e)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGABRT };
	const struct sigaction action = { .sa_handler = give_up };

#ifdef __SANITIZE_ADDRESS__
	return 0; /* the sanitizer wants to see the fault itself */
#endif
	guard_text = make_text(dir); /* lives as long as the process */
	if (!guard_text)
		return err_nomem(e);
	guard_len = strlen(guard_text);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		if (sigaction(signals[i], &action, NULL))
			return err_set(e, ERR_IO, errno, "set a signal handler");
	}
	return 0;
}
