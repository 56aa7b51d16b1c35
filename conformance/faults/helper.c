/* SPDX-License-Identifier: Apache-2.0 */
/* helper.c: start a worker in a sandbox of its own, talk to it through two pipes, and end it. */
#include "conformance/faults/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/faults/fixture.h"

static void become_worker(const struct options *o, const int to[2], const int from[2])
{
	char self[512], limit[16], crowd[16];
	const char *argv[16];
	size_t n = 0;
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (len < 0 || dup2(to[0], 0) < 0 || dup2(from[1], 1) < 0)
		_exit(2);
	self[len] = '\0';
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	argv[n++] = o->sandbox;
	if (fixture_of(o->plugin)->is_hosts)
		argv[n++] = "--host-net";
	argv[n++] = self;
	argv[n++] = "--worker";
	(void)snprintf(limit, sizeof(limit), "%u", o->limit);
	argv[n++] = "--limit";
	argv[n++] = limit;
	(void)snprintf(crowd, sizeof(crowd), "%u", o->crowd);
	argv[n++] = "--crowd";
	argv[n++] = crowd;
	argv[n++] = "--plugin";
	argv[n++] = o->plugin;
	if (o->lane) {
		argv[n++] = "--lane";
		argv[n++] = o->lane;
	}
	argv[n++] = o->bin;
	argv[n] = NULL;
	(void)execv(o->sandbox, (char **)argv);
	_exit(2);
}

void helper_start(const struct options *o, struct helper *h)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
		die("pipe: %s", strerror(errno));
	h->pid = fork();
	if (h->pid < 0)
		die("fork: %s", strerror(errno));
	if (h->pid == 0)
		become_worker(o, to, from);
	(void)close(to[0]);
	(void)close(from[1]);
	h->to = fdopen(to[1], "we");
	h->from = fdopen(from[0], "re");
	h->busy = false;
	if (!h->to || !h->from)
		die("out of memory");
	(void)setvbuf(h->from, NULL, _IONBF, 0);
}

void helper_end(struct helper *h)
{
	(void)fclose(h->to);
	(void)fclose(h->from);
	(void)waitpid(h->pid, NULL, 0);
	h->pid = 0;
}
