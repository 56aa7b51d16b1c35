/* SPDX-License-Identifier: Apache-2.0 */
/* job_rank.c: one rank of a job: it joins, and runs the tests that rank 0 asks for. */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "rdma/probe/job.h"

#define AGAIN_MS   500
#define CONNECT_MS 3000
#define TESTS_MAX  (2 * JOB_RAILS)
#define SILENT_MS  300000 /* rank 0 says something within this time, or it is gone */

/* A test that a child runs. */
struct child {
	pid_t pid;
	int fd; /* -1: free */
	uint32_t id;
	const struct job_own_rail *rail;
};

struct rank {
	const struct job_conf *conf;
	const struct ctx *ctx;
	struct job_own own;
	struct job_link link;
	struct child children[TESTS_MAX];
	struct job_msg msg;
};

/* ---- joining ---- */

/* The name of a headless service may come late, or change: it is resolved before each try. */
static int resolve(const char *text, struct peer *out, struct err *e)
{
	const char *colon = strrchr(text, ':');
	bool bare = colon && strchr(text, ':') != colon; /* an IPv6 address without a port */
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
	char name[NI_MAXHOST];
	int rc;

	if (peer_parse(text, PEERS_PORT, out, e) == 0)
		return 0;
	*e = (struct err){ 0 };
	(void)snprintf(name, sizeof(name), "%.*s",
		       (int)(colon && !bare ? colon - text : (ptrdiff_t)strlen(text)), text);
	rc = getaddrinfo(name, colon && !bare ? colon + 1 : NULL, &hints, &found);
	if (rc)
		return err_set(e, ERR_AGAIN, 0, "cannot resolve %.128s: %s", name,
			       gai_strerror(rc));
	const struct sockaddr_in *v4 = (const void *)found->ai_addr;
	const struct sockaddr_in6 *v6 = (const void *)found->ai_addr;
	bool four = found->ai_family == AF_INET;
	rc = ip_from_bytes(four ? (const uint8_t *)&v4->sin_addr : v6->sin6_addr.s6_addr,
			   four ? 4 : 16, &out->addr);
	out->port = ntohs(four ? v4->sin_port : v6->sin6_port);
	if (!out->port)
		out->port = PEERS_PORT;
	freeaddrinfo(found);
	return rc ? err_set(e, ERR_AGAIN, 0, "%.128s has no usable address", name) : 0;
}

static int connect_root(struct rank *r, struct err *e)
{
	int64_t end = ctx_mono_ms() + r->conf->gather_ms;
	struct tcp tcp = TCP_NONE;

	for (;;) {
		struct tcp_to to = { .from = r->conf->conf->bind,
				     .timeout_ms = CONNECT_MS,
				     .server = "rdma-probe job --rank 0" };
		struct err last = { 0 };
		if (resolve(r->conf->rank0, &to.peer, &last) == 0 &&
		    tcp_connect(&to, &tcp, &last) == 0)
			break;
		if (ctx_mono_ms() + AGAIN_MS > end)
			return err_pass(e, &last);
		(void)poll(NULL, 0, AGAIN_MS);
	}
	return job_link_open(&r->link, tcp.fd, false, r->conf->secret, e) ||
			       job_link_send(&r->link, &r->own.join, e)
		       ? err_wrap(e, "rank 0 at %.128s", r->conf->rank0)
		       : 0;
}

/* ---- tests ---- */

static struct child *find_child(struct rank *r, uint32_t id)
{
	for (size_t i = 0; i < TESTS_MAX; i++) {
		if (r->children[i].fd >= 0 && r->children[i].id == id)
			return &r->children[i];
	}
	return NULL;
}

static void end_child(struct child *c)
{
	if (c->fd < 0)
		return;
	(void)kill(c->pid, SIGKILL);
	(void)waitpid(c->pid, NULL, 0);
	(void)close(c->fd);
	c->fd = -1;
}

static int say_failed(struct rank *r, uint32_t id, const char *why, struct err *e)
{
	r->msg = (struct job_msg){ .type = JOB_RESULT, .id = id, .outcome = JUDGE_A_FAILED };
	(void)snprintf(r->msg.text, sizeof(r->msg.text), "%s", why);
	return job_link_send(&r->link, &r->msg, e);
}

static const struct job_own_rail *find_rail(const struct rank *r, const char *interface,
					    const char **problem)
{
	*problem = "this rank has no such rail";
	for (size_t i = 0; i < r->own.join.n_rails; i++) {
		const struct job_rail *rail = &r->own.join.rails[i];
		if (strcmp(rail->interface, interface) != 0)
			continue;
		*problem = rail->problem;
		return *rail->problem ? NULL : &r->own.rails[i];
	}
	return NULL;
}

static int start_test(struct rank *r, struct err *e)
{
	const char *problem;
	const struct job_own_rail *rail = find_rail(r, r->msg.interface, &problem);
	struct child *c = NULL;
	int ends[2];

	for (size_t i = 0; i < TESTS_MAX && !c; i++)
		c = r->children[i].fd < 0 ? &r->children[i] : NULL;
	if (!rail || !c)
		return say_failed(r, r->msg.id, rail ? "too many tests at once" : problem, e);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return say_failed(r, r->msg.id, "no socket for the test", e);
	pid_t parent = getpid(), pid = fork();
	if (pid == 0) {
		(void)close(ends[0]);
		(void)close(r->link.fd);
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			job_flow(r->conf->conf, rail, &r->msg, ends[1]);
		_exit(0);
	}
	(void)close(ends[1]);
	if (pid < 0) {
		(void)close(ends[0]);
		return say_failed(r, r->msg.id, "no process for the test", e);
	}
	*c = (struct child){ pid, ends[0], r->msg.id, rail };
	return 0;
}

/* A message of a child, which goes on to rank 0; or its end without a result. */
static int from_child(struct rank *r, struct child *c, struct err *e)
{
	uint32_t id = c->id;

	if (recv(c->fd, &r->msg, sizeof(r->msg), 0) != (ssize_t)sizeof(r->msg)) {
		end_child(c);
		return say_failed(r, id, "the process of the test ended early", e);
	}
	if (r->msg.type == JOB_RESULT) {
		job_counted(r->ctx, c->rail, r->msg.counted);
		end_child(c);
	}
	return job_link_send(&r->link, &r->msg, e);
}

static int from_root(struct rank *r, bool *ended, struct err *e)
{
	struct child *c;

	switch (r->msg.type) {
	case JOB_PREPARE:
		return start_test(r, e);
	case JOB_GO:
		c = find_child(r, r->msg.id);
		if (c && send(c->fd, &r->msg, sizeof(r->msg), MSG_NOSIGNAL) < 0)
			end_child(c);
		return 0;
	case JOB_STOP:
		c = find_child(r, r->msg.id);
		if (c)
			end_child(c);
		return 0;
	case JOB_END:
		*ended = true;
		return 0;
	case JOB_JOIN:
	case JOB_READY:
	case JOB_RESULT:
		break;
	}
	return err_set(e, ERR_DECODE, 0, "rank 0 sent a message of a rank");
}

static int rank_step(struct rank *r, bool *ended, struct err *e)
{
	struct pollfd p[TESTS_MAX + 1] = { { .fd = r->link.fd, .events = POLLIN } };
	int rc;

	for (size_t i = 0; i < TESTS_MAX; i++)
		p[i + 1] = (struct pollfd){ .fd = r->children[i].fd, .events = POLLIN };
	if (poll(p, TESTS_MAX + 1, SILENT_MS) == 0)
		return err_set(e, ERR_AGAIN, 0, "rank 0 was silent for %d s", SILENT_MS / 1000);
	for (size_t i = 0; i < TESTS_MAX; i++) {
		if (p[i + 1].revents && from_child(r, &r->children[i], e))
			return -1;
	}
	while (!*ended && (rc = job_link_read(&r->link, &r->msg, e)) != 0) {
		if (rc < 0 || from_root(r, ended, e))
			return -1;
	}
	return 0;
}

int job_rank_run(const struct job_conf *c, const struct ctx *ctx, struct job_msg *end,
		 struct err *e)
{
	auto_free struct rank *r = calloc(1, sizeof(*r));
	struct job_cuda cuda;
	bool ended = false;
	pid_t holder = 0;
	int rc;

	if (!r)
		return err_nomem(e);
	r->conf = c;
	r->ctx = ctx;
	r->link.fd = -1;
	for (size_t i = 0; i < TESTS_MAX; i++)
		r->children[i].fd = -1;
	if (job_facts(ctx, c->conf, &r->own, e))
		return -1;
	if (c->memory != JOB_MEMORY_HOST)
		holder = job_memory_get(job_cuda_load(&cuda) ? &cuda : NULL, ctx, &r->own,
					c->memory == JOB_MEMORY_CUDA);
	if (c->node)
		(void)snprintf(r->own.join.node, JOB_NAME, "%s", c->node);
	r->own.join.rank = c->rank;
	r->own.join.ranks = c->ranks;
	rc = connect_root(r, e);
	while (!rc && !ended)
		rc = rank_step(r, &ended, e);
	for (size_t i = 0; i < TESTS_MAX; i++)
		end_child(&r->children[i]);
	if (holder && kill(holder, SIGKILL) == 0)
		(void)waitpid(holder, NULL, 0);
	job_link_close(&r->link);
	*end = r->msg;
	return rc;
}
