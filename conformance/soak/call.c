/* SPDX-License-Identifier: Apache-2.0 */
/* call.c: one run of a plugin: started, killed, looked at. */
#include "conformance/soak/call.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/harness/cni.h"
#include "conformance/harness/text.h"
#include "conformance/harness/watch.h"

void fail(const char *what)
{
	die("%s: %s", what, strerror(errno));
}

static char **environment(const struct order *o)
{
	static const char *const names[] = { "ADD", "DEL", "GC" };
	struct cni_call c = { .cmd = names[o->cmd], .path = o->bindir };

	if (o->a) {
		c.container = o->a->container;
		c.netns = o->a->netns;
		c.ifname = IFNAME;
	}
	return cni_env(&c);
}

void call_start(struct call *c, const struct order *o)
{
	char **env = environment(o);

	c->hit = false;
	c->exited = (struct exited){ .status = -1 };
	process_start(&(struct command){ .program = o->program, .env = env, .input = o->conf },
		      &c->process);
	free(env);
}

void call_ended(struct call *c, int status)
{
	process_collect(&c->process, status, &c->exited);
}

void call_free(struct call *c)
{
	exited_free(&c->exited);
}

bool call_watch(const struct order *o, struct watched *w)
{
	char **env = environment(o);
	auto_exited e;

	command_watch(&(struct command){ .program = o->program, .env = env, .input = o->conf }, w,
		      &e);
	free(env);
	return exited_well(&e);
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
	pid_t ipam = c->blow.target == PLUGIN ? 0 : child_of(c->process.pid);

	if (c->blow.target == IPAM && !ipam) {
		c->due = now_us() + 200;
		return;
	}
	c->due = 0;
	/* Not short-circuited: both. The plugin first, or it would have time to answer. */
	if (c->blow.target != IPAM)
		c->hit = kill_one(c->process.pid);
	if (ipam)
		c->hit |= kill_one(ipam);
}
