/* SPDX-License-Identifier: Apache-2.0 */
/* io.c: memory files and pipes for the standard input, output and error of a run. */
#include "conformance/harness/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conformance/harness/exec.h"

enum { SLOW_PIECES = 20, SLOW_PAUSE_US = 2000 };

int io_memory(const char *content, size_t len)
{
	int fd = memfd_create("run", MFD_CLOEXEC);

	if (fd < 0 || (len && write(fd, content, len) != (ssize_t)len) || lseek(fd, 0, SEEK_SET))
		die("memory file: %s", strerror(errno));
	return fd;
}

void io_pipe(int fds[2])
{
	if (pipe2(fds, O_CLOEXEC))
		die("pipe: %s", strerror(errno));
}

static size_t input_length(const struct command *c)
{
	if (c->input_len)
		return c->input_len;
	return c->input ? strlen(c->input) : 0;
}

static void feed(const struct command *c, int to)
{
	size_t len = input_length(c);

	for (size_t done = 0; done < len;) {
		size_t piece = len / SLOW_PIECES + 1;
		if (piece > len - done)
			piece = len - done;
		ssize_t n = write(to, c->input + done, piece);
		if (n < 0)
			break;
		done += (size_t)n;
		(void)usleep(SLOW_PAUSE_US);
	}
}

/* A process that feeds the program piece by piece, or holds the pipe open without a word. */
static pid_t start_writer(const struct command *c, const int fds[2])
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid)
		return pid;
	exec_die_with_parent();
	(void)close(fds[0]);
	if (c->input_kind == INPUT_HELD)
		(void)pause();
	feed(c, fds[1]);
	_exit(0);
}

int io_open_input(const struct command *c, pid_t *writer)
{
	int fds[2], fd;

	switch (c->input_kind) {
	case INPUT_TEXT:
		return io_memory(c->input, input_length(c));
	case INPUT_CLOSED:
		return -1;
	case INPUT_DIRECTORY:
		fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			die("/: %s", strerror(errno));
		return fd;
	case INPUT_HELD:
	case INPUT_SLOW:
		io_pipe(fds);
		*writer = start_writer(c, fds);
		(void)close(fds[1]);
		return fds[0];
	}
	return -1;
}

int io_open_output(const struct command *c)
{
	int fds[2];

	if (!c->broken_stdout)
		return io_memory(NULL, 0);
	io_pipe(fds);
	(void)close(fds[0]);
	return fds[1];
}

char *io_read_back(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *p = calloc(1, size > 0 ? (size_t)size + 1 : 1);

	if (!p)
		die("out of memory");
	/* A broken pipe has no size and nothing to read. */
	if (size > 0 && pread(fd, p, (size_t)size, 0) != size)
		*p = '\0';
	return p;
}
