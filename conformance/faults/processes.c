/* SPDX-License-Identifier: Apache-2.0 */
/* processes.c: what railctl says, and what still runs. */
#include "conformance/faults/world.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define END_MS 5000

static void add_lines(int fd, const char *prefix, struct text *out)
{
	char line[512];
	FILE *f = fdopen(fd, "re");

	while (f && fgets(line, sizeof(line), f))
		text_add(out, "%s: %.*s\n", prefix, (int)strcspn(line, "\n"), line);
	if (f)
		(void)fclose(f);
}

void railctl(const struct world *w, char *const argv[], struct text *out)
{
	char program[256];
	int fds[2], status;

	(void)snprintf(program, sizeof(program), "%s/railctl", w->bin);
	if (pipe2(fds, O_CLOEXEC))
		die("pipe: %s", strerror(errno));
	pid_t pid = fork();
	if (pid == 0) {
		if (dup2(fds[1], 1) >= 0 && dup2(fds[1], 2) >= 0)
			(void)execv(program, argv);
		_exit(126);
	}
	(void)close(fds[1]);
	add_lines(fds[0], argv[2], out);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("railctl: %s", strerror(errno));
	if (status)
		text_add(out, "railctl %s %s: status %x\n", argv[1], argv[2], (unsigned)status);
}

static void running(const char *programs, struct text *out)
{
	DIR *d = opendir("/proc");

	for (const struct dirent *x; d && (x = readdir(d));) {
		char path[300], exe[256];
		(void)snprintf(path, sizeof(path), "/proc/%s/exe", x->d_name);
		ssize_t n = readlink(path, exe, sizeof(exe) - 1);
		exe[n > 0 ? n : 0] = '\0';
		if (n > 0 && strncmp(exe, programs, strlen(programs)) == 0)
			text_add(out, "process %s %s\n", x->d_name, exe);
	}
	if (d)
		(void)closedir(d);
}

static int64_t mono_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

bool processes_end(struct text *why)
{
	const struct timespec wait = { .tv_nsec = 1000000 };
	const int64_t end = mono_ms() + END_MS;
	auto_text left = { .p = NULL };

	do {
		text_free(&left);
		running(WORK "/", &left);
		if (!left.len)
			return true;
		(void)nanosleep(&wait, NULL);
	} while (mono_ms() < end);
	text_add(why, "still running: %s", left.p);
	return false;
}
