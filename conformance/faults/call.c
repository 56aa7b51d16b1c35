/* SPDX-License-Identifier: Apache-2.0 */
/* call.c: one call of a plugin, and what every call promises. */
#include "conformance/faults/world.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "conformance/harness/cni.h"

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

/* prevResult: the result of the plugin before this one; after an ADD, of this one. */
static void previous(const struct world *w, const struct call *c, struct text *out)
{
	bool own = (c->cmd == DEL || c->cmd == CHECK) && w->result && !c->no_prev;

	if (own) {
		text_add(out, ",\"prevResult\":%s", w->result);
	} else if (w->fixture->chained && c->cmd != GC && !c->no_prev) {
		text_add(out, ",\"prevResult\":");
		w->fixture->previous(c->pod, out);
	}
}

/* Where the addresses are from. */
static const char *source_of(const struct fixture *f, enum target target)
{
	if (target == ALONE && f->alone)
		return f->alone;
	return f->ipam ? f->ipam : POOLS;
}

static void configuration(const struct world *w, const struct call *c, struct text *out)
{
	text_add(out, "{%s\"cniVersion\":\"1.1.0\",\"name\":\"testnet\",\"type\":\"%s\",%s",
		 c->extra ? c->extra : "", world_program(w),
		 c->any && w->fixture->any ? w->fixture->any : w->fixture->keys);
	if (!w->fixture->chained)
		text_add(out, ",\"ipam\":{%s\"type\":\"railhead-ipam\",%s}",
			 c->ipam_extra ? c->ipam_extra : "", source_of(w->fixture, c->target));
	previous(w, c, out);
	if (c->cmd == GC)
		text_add(out, ",\"cni.dev/valid-attachments\":[]");
	text_add(out, "}\n");
}

/* ---- the process ---- */

static char **environment(const struct world *w, const struct call *c)
{
	/* The IPAM alone gets what an interface plugin hands it, which says that it is ours. */
	static const char *const caller[] = { "RAILHEAD_CALLER=1", NULL };
	char netns[64];
	struct cni_call e = { .cmd = cmd_names[c->cmd],
			      .path = c->path ? c->path : w->bin,
			      .more = c->target == ALONE ? caller : NULL };

	(void)snprintf(netns, sizeof(netns), "/run/netns/p%u", c->pod);
	if (c->cmd != GC) {
		e.container = c->container ? c->container : "cid";
		e.ifname = "net1";
		e.netns = c->no_netns ? "" : netns;
	}
	return cni_env(&e);
}

void call_start(struct world *w, const struct call *c, struct process *p)
{
	auto_text input = { .p = NULL };
	char program[256];
	char **env = environment(w, c);

	configuration(w, c, &input);
	(void)snprintf(program, sizeof(program), "%s/%s", w->bin,
		       c->program           ? c->program
		       : c->target == ALONE ? "railhead-ipam"
					    : world_program(w));
	process_start(
		&(struct command){
			.program = program, .env = env, .input = input.p, .gated = true },
		p);
	free(env);
}

void call_collect(const struct world *w, struct process *p, struct outcome *out)
{
	struct exited e;
	int status;

	if (reaped_take(p->pid, &status))
		process_collect(p, status, &e);
	else
		process_wait(p, (long)w->o->limit * 1000, &e);
	out->status = e.status;
	out->timed_out |= e.timed_out;
	out->out = e.out;
	out->err = e.err;
}

void call_run(struct world *w, const struct call *c, struct outcome *out)
{
	struct process p;

	*out = (struct outcome){ .status = 0 };
	call_start(w, c, &p);
	process_release(&p);
	call_collect(w, &p, out);
	if (c->cmd == ADD && out->status == 0)
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

static bool fits(const cJSON *doc, enum cni_command cmd, bool good)
{
	const cJSON *code = cJSON_GetObjectItem(doc, "code");
	const cJSON *msg = cJSON_GetObjectItem(doc, "msg");

	if (!good)
		return cJSON_IsNumber(code) && code->valueint > 0 && cJSON_IsString(msg) &&
		       *msg->valuestring;
	return cmd == ADD && cJSON_IsObject(doc) && !code &&
	       cJSON_GetArraySize(cJSON_GetObjectItem(doc, "ips")) == 2;
}

static bool is_answer(const struct call *c, const struct outcome *o, bool mute)
{
	bool good = o->status == 0;

	if (!*o->out)
		return good ? c->cmd != ADD : mute;
	if (good && c->cmd != ADD)
		return false;
	const char *end;
	cJSON *doc = cJSON_ParseWithOpts(o->out, &end, false);
	bool ok = doc && end[strspn(end, " \n\t")] == '\0' && fits(doc, c->cmd, good);

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
	text_add(why, "%s %s: %s", cmd_names[c->cmd], what, said.p);
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
	text_add(why, "%s fails: %s", cmd_names[c->cmd], said.p);
	return false;
}
