/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c: watch a clean run of each command, and derive every case from what it did. */
#include "conformance/faults/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const recoveries[] = { "del", "gc", "add", "del-nons", "repair" };

struct plan {
	struct world *w;
	enum cni_command cmd;
	enum target target;
	unsigned turn; /* recoveries take turns */
};

static void print_case(const struct plan *p, const char *call, const char *what, unsigned nth,
		       const char *recovery)
{
	struct fault f = { .cmd = p->cmd, .target = p->target, .nth = nth };
	char line[200];

	(void)snprintf(f.call, sizeof(f.call), "%s", call);
	(void)snprintf(f.what, sizeof(f.what), "%s", what);
	(void)snprintf(f.recovery, sizeof(f.recovery), "%s", recovery);
	fault_print(&f, p->w->o->plugin, line, sizeof(line));
	(void)puts(line);
}

/* After CHECK there is an attachment, which only DEL and GC remove; the IPAM alone has no records.
 */
static const char *next_recovery(struct plan *p)
{
	size_t n = p->cmd == CHECK || p->cmd == GC ? 2 : p->target == ALONE ? 4 : 5;

	return recoveries[p->turn++ % n];
}

/* Opening for reading needs no room and no writable disk; creating does not miss the file. */
static bool is_plausible(const struct step *s, const char *e)
{
	if (strcmp(call_name(s->nr), "openat") != 0)
		return true;
	if (strcmp(e, "EROFS") == 0 || strcmp(e, "ENOSPC") == 0)
		return s->writes;
	return strcmp(e, "ENOENT") != 0 || !s->writes;
}

static void plan_errnos(struct plan *p, const struct step *s)
{
	char all[128], *save;

	(void)snprintf(all, sizeof(all), "%s", call_errnos(s->nr));
	for (char *e = strtok_r(all, " ", &save); e; e = strtok_r(NULL, " ", &save)) {
		if (!is_plausible(s, e))
			continue;
		/* "Not there" is an answer: who believed it has no record left for the others. */
		print_case(p, call_name(s->nr), e, s->nth,
			   strcmp(e, "ENOENT") == 0 ? "del" : next_recovery(p));
	}
}

/* From the 1st, 2nd, 4th, 8th ... call on: what a call does then it does again and again. */
static void plan_forever(struct plan *p, const struct step *s)
{
	char all[128], what[32], *save;

	if (s->nth & (s->nth - 1))
		return;
	(void)snprintf(all, sizeof(all), "%s", call_errnos(s->nr));
	for (char *e = strtok_r(all, " ", &save); e; e = strtok_r(NULL, " ", &save)) {
		if (strcmp(e, "ENOENT") == 0 || !is_plausible(s, e))
			continue;
		(void)snprintf(what, sizeof(what), "%s+", e);
		print_case(p, call_name(s->nr), what, s->nth, next_recovery(p));
	}
}

/* Two: the second within what is done about the first. Errno and distance take turns. */
static void plan_two(struct plan *p, const struct step *s)
{
	char all[128], what[32], *save;
	unsigned n = 0;

	(void)snprintf(all, sizeof(all), "%s", call_errnos(s->nr));
	for (char *e = strtok_r(all, " ", &save); e; e = strtok_r(NULL, " ", &save)) {
		if (strcmp(e, "ENOENT") == 0 || !is_plausible(s, e) || n++ % 3 != s->nth % 3)
			continue;
		(void)snprintf(what, sizeof(what), "%s/%u", e, 1 + (s->nth + n) % 12);
		print_case(p, call_name(s->nr), what, s->nth, next_recovery(p));
	}
}

static void plan_kills(struct plan *p, const struct step *s)
{
	static const char *const each[] = { "del", "gc", "add", "repair" };
	size_t n = p->cmd == CHECK ? 1 : p->cmd == GC ? 2 : p->target == ALONE ? 3 : 4;

	for (size_t i = 0; i < n; i++)
		print_case(p, call_name(s->nr), "KILL", s->nth, each[i]);
}

/* Where the world can change under a call's feet: before it looks, and before it acts. */
static bool is_moment(const char *call)
{
	static const char *const moments[] = { "openat",   "sendto",  "recvfrom", "setns",
					       "mkdirat",  "linkat",  "unlinkat", "clone",
					       "poll",     "wait4",   "socket",   "statfs",
					       "sendmsg",  "recvmsg", "bind",     "exit_group",
					       "renameat", "write" };

	for (size_t i = 0; i < COUNT(moments); i++) {
		if (strcmp(call, moments[i]) == 0)
			return true;
	}
	return false;
}

static void plan_actions(struct plan *p, const struct step *s)
{
	const char *name;

	if (p->target != PLUGIN || !is_moment(call_name(s->nr)))
		return;
	for (size_t i = 0; (name = action_name(i, p->cmd)); i++) {
		if (*name)
			print_case(p, call_name(s->nr), name, s->nth, i % 2 ? "gc" : "del");
	}
}

static void watch(struct plan *p, struct steps *steps)
{
	struct call c = { .cmd = p->cmd, .target = p->target == ALONE ? ALONE : PLUGIN };
	struct inject in = { .how = LET_GO, .nr = -1 };
	auto_text why = { .p = NULL };
	auto_outcome o = { .out = NULL };

	world_keep_result(p->w, NULL);
	if (c.cmd != ADD && !call_ok(p->w, &(struct call){ .target = c.target }, &why))
		die("plan: %s", why.p);
	trace_run(p->w, &c, &in, steps, &o);
	if (!call_judge(&c, &o, false, &why) || o.status)
		die("plan: a clean %s fails: %s", cmd_names[c.cmd], o.out);
	if (!call_ok(p->w, &(struct call){ .cmd = DEL, .target = c.target }, &why))
		die("plan: %s", why.p);
}

static void plan_step(struct plan *p, const struct step *s, bool lane)
{
	if (s->role != (p->target == CHILD))
		return;
	if (!call_name(s->nr))
		die("system call %ld is not in calls.c", s->nr);
	if (lane) {
		if (s->nr == CALL_MALLOC)
			plan_errnos(p, s);
		return;
	}
	plan_errnos(p, s);
	plan_forever(p, s);
	plan_two(p, s);
	plan_kills(p, s);
	plan_actions(p, s);
}

static void plan_calls(struct world *w, bool lane)
{
	w->bin = lane ? WORK "/lane" : WORK "/bin";
	for (int target = PLUGIN; target <= (w->fixture->chained ? PLUGIN : ALONE); target++) {
		for (int cmd = ADD; cmd <= GC; cmd++) {
			struct plan p = { .w = w,
					  .cmd = (enum cni_command)cmd,
					  .target = (enum target)target };
			struct steps steps = { .n = 0 };
			watch(&p, &steps);
			for (size_t i = 0; i < steps.n; i++)
				plan_step(&p, &steps.list[i], lane);
			free(steps.list);
		}
	}
	w->bin = WORK "/bin";
}

void plan_print(struct world *w)
{
	struct plan p = { .w = w };
	const char *name;
	unsigned rounds;

	if (w->has_kind) {
		plan_calls(w, false);
		if (w->o->lane)
			plan_calls(w, true);
		for (size_t i = 0; (name = race_name(i, &rounds)); i++) {
			for (unsigned r = 1; fixture_suits(w->fixture, name) && r <= rounds; r++)
				print_case(&p, "race", name, r, "del");
		}
	}
	for (size_t i = 0; (name = scene_name(i, &p.cmd, &p.target)); i++) {
		bool clock = strncmp(name, "clock-", 6) == 0;
		if (!fixture_suits(w->fixture, name) || (p.target == ALONE && w->fixture->chained))
			continue;
		if (w->has_kind || strcmp(name, "no-module") == 0)
			print_case(&p, clock ? "clock" : "scene", name, 1, "del");
	}
	(void)puts(w->has_kind ? "." : ". absent");
	(void)fflush(stdout);
}
