/* SPDX-License-Identifier: Apache-2.0 */
#include "ipam/alloc/crash_handler.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lib/json/json.h"

#define WHAT "is damaged: reading it faulted"
#define LATE "cannot be written: the write does not end"
#define ADVICE                                                                                     \
	"move the directory away and restart the pods that hold addresses; "                       \
	"pools must be added again with `railctl ipam pool add`"
#define LATE_ADVICE "nothing was changed; is the disk all right?"

/* What is said for which signal. */
struct words {
	const char *damaged, *late;
};

/* A signal handler is handed nothing of ours: the one global of this program. Set once, then read.
 */
static struct words handler_texts;
static int handler_fd;

static void give_up(int sig)
{
	const char *text = sig == SIGALRM ? handler_texts.late : handler_texts.damaged;

	(void)!write(handler_fd, text, strlen(text));
	_exit(1);
}

static char *make_json(const char *what, const char *advice, const char *dir)
{
	auto_json struct json *o = json_new_object();
	auto_free char *msg = NULL;

	if (asprintf(&msg, "the store in %s %s", dir, what) < 0) {
		msg = NULL;
		return NULL;
	}
	if (!o || json_add_int(o, "code", ERR_STORE) || json_add_str(o, "msg", msg) ||
	    json_add_str(o, "details", advice))
		return NULL;
	return json_print(o, false);
}

/* words: taken over, they live as long as the process */
static int install(int fd, struct words words, struct err *e)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGABRT, SIGALRM };
	const struct sigaction action = { .sa_handler = give_up };

	if (!words.damaged || !words.late)
		return err_nomem(e);
	handler_texts = words;
	handler_fd = fd;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		if (sigaction(signals[i], &action, NULL))
			return err_set(e, ERR_IO, errno, "set a signal handler");
	}
	return 0;
}

int crash_handler_install(const char *dir, struct err *e)
{
#ifdef __SANITIZE_ADDRESS__
	return 0; /* the sanitizer wants to see the fault itself */
#endif
	const struct words words = { make_json(WHAT, ADVICE, dir),
				     make_json(LATE, LATE_ADVICE, dir) };

	return install(STDOUT_FILENO, words, e);
}

static char *make_line(const char *program, const char *what, const char *dir)
{
	char *line;

	if (asprintf(&line, "%s: the store in %s %s\n", program, dir, what) < 0)
		line = NULL;
	return line;
}

int crash_handler_install_text(const char *program, const char *dir, struct err *e)
{
#ifdef __SANITIZE_ADDRESS__
	return 0;
#endif
	const struct words words = { make_line(program, WHAT "; " ADVICE, dir),
				     make_line(program, LATE "; " LATE_ADVICE, dir) };

	return install(STDERR_FILENO, words, e);
}
