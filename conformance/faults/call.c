/* SPDX-License-Identifier: Apache-2.0 */
/* call.c: one call of a plugin, and what every call promises. */
#include "conformance/faults/world.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define REAPED 256

/* ---- ends of children that somebody else waited for ---- */

static struct {
	pid_t pid;
	int status;
} reaped[REAPED];
static size_t reaped_next;

void reaped_note(pid_t pid, int status)
{
	reaped[reaped_next % REAPED].pid = pid;
	reaped[reaped_next++ % REAPED].status = status;
}

static bool reaped_take(pid_t pid, int *status)
{
	for (size_t i = 0; i < REAPED; i++) {
		if (reaped[i].pid == pid) {
			reaped[i].pid = 0;
			*status = reaped[i].status;
			return true;
		}
	}
	return false;
}

/* ---- input ---- */

#define POOLS                                                                                      \
	"\"ranges\":[[{\"subnet\":\"10.77.0.0/28\"}],[{\"subnet\":\"fd00:77::/124\"}]],"           \
	"\"routes\":[{\"dst\":\"10.9.0.0/16\"},{\"dst\":\"fd00:9::/64\"}]"

/* What the plugin before it said, which the runtime hands to each of the list; then what it said.
 */
static void previous(const struct world *w, const struct call *c, struct text *out)
{
	bool own = (c->verb == DEL || c->verb == CHECK) && w->result && !c->no_prev;

	if (own) {
		text_add(out, ",\"prevResult\":%s", w->result);
	} else if (w->ground->chained && c->verb != GC && !c->no_prev) {
		text_add(out, ",\"prevResult\":");
		w->ground->previous(c->pod, out);
	}
}

static void configuration(const struct world *w, const struct call *c, struct text *out)
{
	text_add(out, "{%s\"cniVersion\":\"1.1.0\",\"name\":\"testnet\",\"type\":\"%s\",%s",
		 c->extra ? c->extra : "", world_program(w),
		 c->any && w->ground->any ? w->ground->any : w->ground->keys);
	if (!w->ground->chained)
		text_add(out, ",\"ipam\":{%s\"type\":\"railhead-ipam\"," POOLS "}",
			 c->ipam_extra ? c->ipam_extra : "");
	previous(w, c, out);
	if (c->verb == GC)
		text_add(out, ",\"cni.dev/valid-attachments\":[]");
	text_add(out, "}\n");
}

static int memory(const char *text)
{
	int fd = memfd_create("faults", MFD_CLOEXEC);
	size_t len = text ? strlen(text) : 0;

	if (fd < 0 || (len && write(fd, text, len) != (ssize_t)len) || lseek(fd, 0, SEEK_SET))
		die("memfd: %s", strerror(errno));
	return fd;
}

/* ---- the process ---- */

#define VARIABLES 8
struct environment {
	char text[VARIABLES][256];
	char *list[VARIABLES + 1];
};

static void environment(const struct world *w, const struct call *c, struct environment *e)
{
	size_t n = 0;
	const char *path = c->path ? c->path : w->bin;

	(void)snprintf(e->text[n++], 256, "CNI_COMMAND=%s", verb_names[c->verb]);
	(void)snprintf(e->text[n++], 256, "CNI_PATH=%s", path);
	(void)snprintf(e->text[n++], 256, "PATH=/usr/sbin:/usr/bin:/sbin:/bin");
	if (c->verb != GC) {
		(void)snprintf(e->text[n++], 256, "CNI_CONTAINERID=%s",
			       c->container ? c->container : "cid");
		(void)snprintf(e->text[n++], 256, "CNI_IFNAME=net1");
		if (c->no_netns)
			(void)snprintf(e->text[n++], 256, "CNI_NETNS=");
		else
			(void)snprintf(e->text[n++], 256, "CNI_NETNS=/run/netns/p%u", c->pod);
	}
	for (size_t i = 0; i < n; i++)
		e->list[i] = e->text[i];
	e->list[n] = NULL;
}

static void become(const char *program, char **env, const int fds[3], int gate)
{
	char *argv[] = { (char *)program, NULL };
	char byte;

	for (int i = 0; i < 3; i++) {
		if (dup2(fds[i], i) < 0)
			_exit(126);
	}
	if (read(gate, &byte, 1) == 1)
		(void)execve(program, argv, env);
	_exit(126);
}

void call_start(struct world *w, const struct call *c, struct started *s)
{
	auto_text input = { .p = NULL };
	struct environment env;
	char program[256];
	int gate[2];

	configuration(w, c, &input);
	environment(w, c, &env);
	(void)snprintf(program, sizeof(program), "%s/%s", w->bin,
		       c->program           ? c->program
		       : c->target == ALONE ? "railhead-ipam"
					    : world_program(w));
	int in = memory(input.p);
	s->out = memory(NULL);
	s->err = memory(NULL);
	if (pipe2(gate, O_CLOEXEC))
		die("pipe: %s", strerror(errno));
	s->pid = fork();
	if (s->pid < 0)
		die("fork: %s", strerror(errno));
	if (s->pid == 0)
		become(program, env.list, (const int[]){ in, s->out, s->err }, gate[0]);
	(void)close(in);
	(void)close(gate[0]);
	s->gate = gate[1];
}

void call_go(struct started *s)
{
	if (write(s->gate, "", 1) != 1)
		die("gate: %s", strerror(errno));
	(void)close(s->gate);
}

static char *contents(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *p = malloc((size_t)size + 1);

	if (!p || pread(fd, p, (size_t)size, 0) != size)
		die("memfd: %s", strerror(errno));
	p[size] = '\0';
	(void)close(fd);
	return p;
}

static void on_alarm(int sig)
{
	(void)sig;
}

static int wait_for(pid_t pid, unsigned limit, bool *timed_out)
{
	const struct sigaction sa = { .sa_handler = on_alarm };
	int status;

	if (reaped_take(pid, &status))
		return status;
	(void)sigaction(SIGALRM, &sa, NULL);
	(void)alarm(limit);
	while (waitpid(pid, &status, 0) != pid) {
		if (errno != EINTR)
			die("waitpid: %s", strerror(errno));
		*timed_out = true;
		(void)kill(pid, SIGKILL);
	}
	(void)alarm(0);
	return status;
}

void call_collect(const struct world *w, struct started *s, struct outcome *out)
{
	out->status = wait_for(s->pid, w->o->limit, &out->timed_out);
	out->out = contents(s->out);
	out->err = contents(s->err);
}

void call_run(struct world *w, const struct call *c, struct outcome *out)
{
	struct started s;

	*out = (struct outcome){ .status = 0 };
	call_start(w, c, &s);
	call_go(&s);
	call_collect(w, &s, out);
	if (c->verb == ADD && out->status == 0)
		world_keep_result(w, out->out);
}

void world_keep_result(struct world *w, const char *text)
{
	free(w->result);
	w->result = text ? strdup(text) : NULL;
}

void outcome_free(struct outcome *o)
{
	free(o->out);
	free(o->err);
}

/* ---- judging ---- */

void call_said(const struct outcome *o, struct text *out)
{
	if (o->timed_out)
		text_add(out, "no end in time");
	else if (WIFSIGNALED(o->status))
		text_add(out, "signal %d", WTERMSIG(o->status));
	else
		text_add(out, "exit %d", WEXITSTATUS(o->status));
	text_add(out, ", stdout '%.300s', stderr '%.300s'\n", o->out, o->err);
	for (size_t i = 0; i + 1 < out->len; i++) {
		if (out->p[i] == '\n' || out->p[i] == '\t')
			out->p[i] = ' ';
	}
}

static bool fits(const cJSON *doc, enum verb verb, bool good)
{
	const cJSON *code = cJSON_GetObjectItem(doc, "code");
	const cJSON *msg = cJSON_GetObjectItem(doc, "msg");

	if (!good)
		return cJSON_IsNumber(code) && code->valueint > 0 && cJSON_IsString(msg) &&
		       *msg->valuestring;
	return verb == ADD && cJSON_IsObject(doc) && !code &&
	       cJSON_GetArraySize(cJSON_GetObjectItem(doc, "ips")) == 2;
}

static bool is_answer(const struct call *c, const struct outcome *o, bool mute)
{
	bool good = o->status == 0;

	if (!*o->out)
		return good ? c->verb != ADD : mute;
	if (good && c->verb != ADD)
		return false;
	const char *end;
	cJSON *doc = cJSON_ParseWithOpts(o->out, &end, false);
	bool ok = doc && end[strspn(end, " \n\t")] == '\0' && fits(doc, c->verb, good);

	cJSON_Delete(doc);
	return ok || (mute && !good);
}

bool call_judge(const struct call *c, const struct outcome *o, bool mute, struct text *why)
{
	auto_text said = { .p = NULL };
	const char *what = NULL;

	if (o->timed_out)
		what = "does not end";
	else if (!WIFEXITED(o->status))
		what = "ended by a signal";
	else if (o->child_crash)
		what = "its child was ended by a signal";
	else if (!is_answer(c, o, mute))
		what = "neither a result with exit 0 nor one error object";
	if (!what)
		return true;
	call_said(o, &said);
	text_add(why, "%s %s: %s", verb_names[c->verb], what, said.p);
	return false;
}

bool call_ok(struct world *w, const struct call *c, struct text *why)
{
	auto_outcome o;
	auto_text said = { .p = NULL };

	call_run(w, c, &o);
	if (!call_judge(c, &o, false, why))
		return false;
	if (o.status == 0)
		return true;
	call_said(&o, &said);
	text_add(why, "%s fails: %s", verb_names[c->verb], said.p);
	return false;
}
