/* SPDX-License-Identifier: Apache-2.0 */
/* processes.c: what railctl says, and what still runs. */
#include "conformance/faults/world.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "conformance/harness/snapshot.h"

#define END_US 5000000

static void add_lines(char *lines, const char *prefix, struct text *out)
{
	for (char *rest, *l = strtok_r(lines, "\n", &rest); l; l = strtok_r(NULL, "\n", &rest))
		text_add(out, "%s: %s\n", prefix, l);
}

void railctl(const struct world *w, const char *const argv[], struct text *out)
{
	static char *const env[] = { (char *)(uintptr_t)PATH_VARIABLE, NULL };
	auto_exited e;
	char program[256];

	(void)snprintf(program, sizeof(program), "%s/railctl", w->bin);
	command_run(&(struct command){ .program = program, .args = argv + 1, .env = env }, 0, &e);
	add_lines(e.out, argv[2], out);
	add_lines(e.err, argv[2], out);
	if (e.status)
		text_add(out, "railctl %s %s: status %x\n", argv[1], argv[2], (unsigned)e.status);
}

bool processes_end(struct text *why)
{
	static const char *const programs[] = { WORK, NULL };
	const struct timespec wait = { .tv_nsec = 1000000 };
	const int64_t end = now_us() + END_US;
	auto_text left = { .p = NULL };

	do {
		text_free(&left);
		running_lines(programs, &left);
		if (!left.len)
			return true;
		(void)nanosleep(&wait, NULL);
	} while (now_us() < end);
	text_add(why, "still running: %s", left.p);
	return false;
}
