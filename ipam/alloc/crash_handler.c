/* SPDX-License-Identifier: Apache-2.0 */
/* crash_handler.c: prepares the texts for a crash, and the signal handler that prints them. */
#include "ipam/alloc/crash_handler.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lib/json/json.h"

#define WHAT "is damaged: reading it crashed the program"
#define LATE "cannot be written: the write does not end"
#define ADVICE                                                                                     \
	"move the directory away and restart the pods that hold addresses; "                       \
	"pools must be added again with `railctl ipam pool add`"
#define LATE_ADVICE "nothing was changed; check the disk"

/* The text for SIGALRM, and the text for the other signals. */
struct crash_texts {
	const char *damaged, *late;
};

/* A signal handler gets no argument, so these are global. They are set once. */
static struct crash_texts handler_texts;
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

/* Takes over the texts, which live as long as the process. */
static int install(int fd, struct crash_texts texts, struct err *e)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGABRT, SIGALRM };
	const struct sigaction action = { .sa_handler = give_up };

	if (!texts.damaged || !texts.late)
		return err_nomem(e);
	handler_texts = texts;
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
	return 0; /* the sanitizer reports the signal itself */
#endif
	const struct crash_texts texts = { make_json(WHAT, ADVICE, dir),
					   make_json(LATE, LATE_ADVICE, dir) };

	return install(STDOUT_FILENO, texts, e);
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
	const struct crash_texts texts = { make_line(program, WHAT "; " ADVICE, dir),
					   make_line(program, LATE "; " LATE_ADVICE, dir) };

	return install(STDERR_FILENO, texts, e);
}
