/* SPDX-License-Identifier: Apache-2.0 */
/* call.c: one run of a plugin: started, killed, looked at. */
#include "conformance/soak/call.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void fail(const char *what)
{
	fprintf(stderr, "soak: %s: %s\n", what, strerror(errno));
	exit(2);
}

void call_env(struct env *v, enum verb verb, const char *bindir, const struct attachment *a)
{
	static const char *const names[] = { "ADD", "DEL", "GC" };
	size_t n = 0;

	snprintf(v->text[0], sizeof(v->text[0]), "CNI_COMMAND=%s", names[verb]);
	snprintf(v->text[1], sizeof(v->text[1]), "CNI_PATH=%s", bindir);
	if (a) {
		snprintf(v->text[2], sizeof(v->text[2]), "CNI_CONTAINERID=%s", a->container);
		snprintf(v->text[3], sizeof(v->text[3]), "CNI_NETNS=%s", a->netns);
		snprintf(v->text[4], sizeof(v->text[4]), "CNI_IFNAME=" IFNAME);
	}
	for (; n < (a ? 5 : 2); n++)
		v->p[n] = v->text[n];
	v->p[n++] = (char *)(uintptr_t) "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
	v->p[n] = NULL;
}

/*
 * fork() and not vfork(): the driver must not wait for a turn of each of its many children. Signals
 * are blocked in the driver, which waits for them.
 */
static pid_t spawn(const char *const *argv, char *const *envp, int in, int out)
{
	sigset_t none;
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (pid > 0)
		return pid;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(null, 2) < 0)
		_exit(126);
	execve(argv[0], (char *const *)(uintptr_t)argv, envp);
	_exit(127);
}

void call_start(struct call *c, const char *program, const char *conf, struct env *v)
{
	const char *const argv[] = { program, NULL };
	int in = open(conf, O_RDONLY | O_CLOEXEC);

	c->out = memfd_create("stdout", MFD_CLOEXEC);
	if (in < 0 || c->out < 0)
		fail(conf);
	c->hit = false;
	c->began = now_us();
	c->pid = spawn(argv, v->p, in, c->out);
	close(in);
}

void call_output(const struct call *c, char *buf, size_t size)
{
	ssize_t n = pread(c->out, buf, size - 1, 0);

	buf[n > 0 ? n : 0] = '\0';
}

/* ---- killing ---- */

static size_t read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* 0: it has no child now. */
static pid_t child_of(pid_t pid)
{
	char path[64], text[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	return read_file(path, text, sizeof(text)) ? (pid_t)strtol(text, NULL, 10) : 0;
}

static bool is_alive(pid_t pid)
{
	char path[64], text[512];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (!read_file(path, text, sizeof(text)))
		return false;
	const char *at = strrchr(text, ')');
	return at && at[1] == ' ' && at[2] != 'Z' && at[2] != 'X';
}

static bool kill_one(pid_t pid)
{
	return pid > 0 && is_alive(pid) && kill(pid, SIGKILL) == 0;
}

void call_strike(struct call *c)
{
	pid_t ipam = c->blow.target == PLUGIN ? 0 : child_of(c->pid);

	if (c->blow.target == IPAM && !ipam) {
		c->due = now_us() + 200;
		return;
	}
	c->due = 0;
	/* Not short-circuited: both. The plugin first, or it would have time to answer. */
	if (c->blow.target != IPAM)
		c->hit = kill_one(c->pid);
	if (ipam)
		c->hit |= kill_one(ipam);
}

/* ---- commands ---- */

int run_program(const char *const *argv, char *buf, size_t size)
{
	static char *const env[] = { (char *)(uintptr_t) "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
				     NULL };
	struct call c = { .out = memfd_create("stdout", MFD_CLOEXEC) };
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC), status;

	if (in < 0 || c.out < 0)
		fail(argv[0]);
	pid_t pid = spawn(argv, env, in, c.out);
	if (waitpid(pid, &status, 0) != pid)
		fail("waitpid");
	call_output(&c, buf, size);
	close(in);
	close(c.out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
