/* SPDX-License-Identifier: Apache-2.0 */
/* ask.c: one call of a program, as a runtime makes it. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/differential/diff.h"

#define ANSWER_MAX 65536
#define LIMIT_MS   10000

struct pipes {
	int in[2], out[2];
};

static void become(const char *program, const char *verb, const char *id, const struct generated *g,
		   const struct pipes *p)
{
	char command[32], container[64], args[200];
	char *const env[] = { command,
			      container,
			      "CNI_NETNS=/run/netns/none",
			      "CNI_IFNAME=net1",
			      "CNI_PATH=/usr/lib/cni",
			      args,
			      NULL };
	char *const argv[] = { (char *)(uintptr_t)program, NULL };
	int null = open("/dev/null", O_WRONLY);

	(void)snprintf(command, sizeof(command), "CNI_COMMAND=%s", verb);
	(void)snprintf(container, sizeof(container), "CNI_CONTAINERID=%s", id);
	(void)snprintf(args, sizeof(args), "CNI_ARGS=%s", g->args);
	(void)dup2(p->in[0], STDIN_FILENO);
	(void)dup2(p->out[1], STDOUT_FILENO);
	(void)dup2(null, STDERR_FILENO);
	for (int fd = 3; fd < 64; fd++)
		(void)close(fd);
	(void)execve(program, argv, env);
	_exit(127);
}

/* Until its end, or until the limit: -1 then. */
static ssize_t read_all(int fd, char *buf, size_t size)
{
	size_t len = 0;

	while (len < size) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		if (poll(&p, 1, LIMIT_MS) != 1)
			return -1;
		ssize_t n = read(fd, buf + len, size - len);
		if (n <= 0)
			return n < 0 ? -1 : (ssize_t)len;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

static void judge(struct answer *out, const char *text, int status)
{
	const cJSON *msg, *details;

	out->tree = cJSON_Parse(text);
	out->ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	if (out->ok)
		return;
	msg = cJSON_GetObjectItemCaseSensitive(out->tree, "msg");
	details = cJSON_GetObjectItemCaseSensitive(out->tree, "details");
	if (cJSON_IsString(msg))
		(void)snprintf(out->msg, sizeof(out->msg), "%s %s", msg->valuestring,
			       cJSON_IsString(details) ? details->valuestring : "");
	else
		(void)snprintf(out->msg, sizeof(out->msg), "no error object, status %x: %.200s",
			       (unsigned)status, text);
}

void ask(const char *program, const char *verb, const char *id, const struct generated *g,
	 struct answer *out)
{
	char *text = calloc(1, ANSWER_MAX + 1);
	struct pipes p;
	int status = 0;

	*out = (struct answer){ .ok = false };
	if (!text || pipe(p.in) || pipe(p.out)) {
		perror("differential");
		exit(2);
	}
	pid_t pid = fork();
	if (pid == 0)
		become(program, verb, id, g, &p);
	(void)close(p.in[0]);
	(void)close(p.out[1]);
	/* a pipe holds more than any configuration here */
	(void)!write(p.in[1], g->conf, strlen(g->conf));
	(void)close(p.in[1]);
	if (read_all(p.out[0], text, ANSWER_MAX) < 0)
		(void)kill(pid, SIGKILL);
	(void)close(p.out[0]);
	(void)waitpid(pid, &status, 0);
	judge(out, text, status);
	free(text);
}

void answer_clear(struct answer *a)
{
	cJSON_Delete(a->tree);
	*a = (struct answer){ .ok = false };
}
