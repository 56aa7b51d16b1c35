/* SPDX-License-Identifier: Apache-2.0 */
#include "ipam/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lib/json.h"

#define WHAT "the store in %s is damaged: reading it faulted"
#define ADVICE                                                                                     \
	"move the directory away and restart the pods that hold addresses; "                       \
	"pools must be added again with `railctl ipam pool add`"

/* A signal handler is handed nothing of ours: the one global of this program. Set once, then read.
 */
static const char *guard_text;
static size_t guard_len;
static int guard_fd;

static void give_up(int sig)
{
	(void)sig;
	(void)!write(guard_fd, guard_text, guard_len);
	_exit(1);
}

static char *make_json(const char *dir)
{
	auto_json struct json *o = json_new_object();
	auto_free char *msg = NULL;

	if (asprintf(&msg, WHAT, dir) < 0) {
		msg = NULL;
		return NULL;
	}
	if (!o || json_add_int(o, "code", ERR_STORE) || json_add_str(o, "msg", msg) ||
	    json_add_str(o, "details", ADVICE))
		return NULL;
	return json_print(o, false);
}

/* text: taken over, it lives as long as the process */
static int arm(int fd, const char *text, struct err *e)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGABRT };
	const struct sigaction action = { .sa_handler = give_up };

	if (!text)
		return err_nomem(e);
	guard_text = text;
	guard_len = strlen(text);
	guard_fd = fd;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		if (sigaction(signals[i], &action, NULL))
			return err_set(e, ERR_IO, errno, "set a signal handler");
	}
	return 0;
}

int guard_arm(const char *dir, struct err *e)
{
#ifdef __SANITIZE_ADDRESS__
	return 0; /* the sanitizer wants to see the fault itself */
#endif
	return arm(STDOUT_FILENO, make_json(dir), e);
}

int guard_arm_line(const char *program, const char *dir, struct err *e)
{
	char *line;

#ifdef __SANITIZE_ADDRESS__
	return 0;
#endif
	if (asprintf(&line, "%s: " WHAT "; " ADVICE "\n", program, dir) < 0)
		line = NULL;
	return arm(STDERR_FILENO, line, e);
}
