/* SPDX-License-Identifier: Apache-2.0 */
/* worker.c: reads one case a line, runs it, answers with its verdict. Lives in a sandbox. */
#include "conformance/faults/worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "conformance/harness/snapshot.h"

#define SETTLE_PART 10 /* of the limit */

/* ---- recovering ---- */

static bool repair(struct world *w, struct text *why)
{
	char cmd[300];
	(void)w;

	(void)snprintf(cmd, sizeof(cmd), "%s/railctl attachments repair", w->bin);
	int rc = run_quiet(cmd);
	if (rc)
		text_add(why, "railctl attachments repair: exit status %d\n", WEXITSTATUS(rc));
	return rc == 0;
}

/*
 * DEL could not note in the record that it deletes, nor release the address. For a repair this
 * looks like a pod that removed its interface, or one of several: only an operator or the next DEL
 * may go on. So it is with an ADD that cannot print its result, and can write no more when it takes
 * all back. Of several faults of a DEL, one may be the record's.
 */
static bool is_left_alone(struct world *w, const struct fault *f)
{
	static const char *const list[] = { "railctl", "attachments", "list", "--json", NULL };
	auto_text now = { .p = NULL };

	bool record_fails =
		strcmp(f->call, "write") == 0 || (f->cmd == DEL && strpbrk(f->what, "+/"));

	if ((f->cmd != DEL && f->cmd != ADD) || !record_fails)
		return false;
	railctl(w, list, &now);
	return strstr(now.p, "\"state\": \"interface-gone\"") ||
	       strstr(now.p, "\"state\": \"partly-gone\"");
}

/* By what the kernel and the IPAM say, as the runtime may not have got a result to CHECK with. */
static bool is_whole(struct world *w, struct text *why)
{
	if (w->fixture->chained)
		return call_ok(w, &(struct call){ .cmd = CHECK }, why);

	static const char *const parts[] = {
		"\"state\": \"healthy\"",          "pod p0 address net1 10.77.0.",
		"pod p0 address %s fd00:77::",     "pod p0 route 10.9.0.0/16 dev net1",
		"pod p0 route fd00:9::/64 dev %s", "\"address\": \"10.77.0.",
		"\"address\": \"fd00:77::",
	};
	static const char *const list[] = { "railctl", "attachments", "list", "--json", NULL };
	const char *v6_ifname = w->fixture->v6_ifname ? w->fixture->v6_ifname : "net1";
	auto_text now = { .p = NULL };

	snapshot(w, &now);
	railctl(w, list, &now);
	for (size_t i = 0; i < COUNT(parts); i++) {
		const char *mark = strstr(parts[i], "%s");
		char part[64];

		(void)snprintf(part, sizeof(part), "%.*s%s%s",
			       (int)(mark ? mark - parts[i] : (ptrdiff_t)strlen(parts[i])),
			       parts[i], mark ? v6_ifname : "", mark ? mark + 2 : "");
		if (!strstr(now.p, part)) {
			text_add(why, "repair leaves half of it; missing: %s\n", part);
			return false;
		}
	}
	return true;
}

/* Do what a runtime does next. attached: the call succeeded, so only a DEL may remove it. */
bool recover(struct world *w, const struct fault *f, bool attached, struct text *why)
{
	struct call del = { .cmd = DEL, .target = f->target };
	struct call gc = { .cmd = GC, .target = f->target };
	struct call add = { .cmd = ADD, .target = f->target };
	auto_outcome o = { .out = NULL };

	if (strcmp(f->recovery, "gc") == 0)
		return call_ok(w, &gc, why);
	if (strcmp(f->recovery, "repair") == 0 && !attached && f->target != ALONE) {
		auto_text refused = { .p = NULL };

		if (!repair(w, &refused)) {
			if (is_left_alone(w, f))
				return call_ok(w, &del, why);
			text_add(why, "%s", refused.p);
			return false;
		}
		/* An ADD that was killed at its very end is done: then it is whole, not in between.
		 */
		if (f->cmd == ADD)
			return is_clean(w, "", NULL) || (is_whole(w, why) && call_ok(w, &del, why));
	}
	if (strcmp(f->recovery, "add") == 0 && !attached) {
		call_run(w, &add, &o);
		if (!call_judge(&add, &o, false, why))
			return false;
	}
	if (strcmp(f->recovery, "del-nons") == 0)
		del.no_netns = true;
	return call_ok(w, &del, why);
}

/* Is the state as before? If not, append the differences to why. */
bool is_clean(struct world *w, const char *when, struct text *why)
{
	auto_text now = { .p = NULL };
	auto_text diff = { .p = NULL };

	snapshot(w, &now);
	if (!snapshot_differs(&w->base, &now, &diff))
		return true;
	if (why)
		text_add(why, "%s:\n%s", when, diff.p);
	return false;
}

/* An address must not be free for others while an interface carries it. */
static bool address_is_kept(const struct text *now, struct text *why)
{
	if (!strstr(now->p, "pod p0 address net1 10.77.0.") ||
	    strstr(now->p, "\"address\": \"10.77.0."))
		return true;
	text_add(why, "the interface still has an address that is no longer leased\n");
	return false;
}

/* The kernel takes namespaces apart, and carriers come up, in its own time. */
static bool is_clean_soon(struct world *w, const char *when, struct text *why)
{
	const struct timespec wait = { .tv_nsec = 50000000 };

	for (time_t end = time(NULL) + w->o->limit / SETTLE_PART; time(NULL) < end;) {
		if (is_clean(w, when, NULL))
			return true;
		(void)nanosleep(&wait, NULL);
	}
	return is_clean(w, when, why);
}

bool whole_cycle(struct world *w, enum target target, struct text *why)
{
	static const enum cni_command cmds[] = { ADD, CHECK, DEL };

	for (size_t i = 0; i < COUNT(cmds); i++) {
		const struct call c = { .cmd = cmds[i], .target = target };
		if (!call_ok(w, &c, why)) {
			text_add(why, "(in the ADD, CHECK, DEL that follow)\n");
			return false;
		}
	}
	return true;
}

/* ---- a fault at one system call ---- */

static bool set_up_injection(struct world *w, const struct fault *f, struct inject *in)
{
	char name[sizeof(f->what)];
	const char *rest = f->what + strcspn(f->what, "+/");

	(void)snprintf(name, sizeof(name), "%.*s", (int)(rest - f->what), f->what);
	*in = (struct inject){ .role = f->target == CHILD,
			       .nr = call_number(f->call),
			       .nth = f->nth,
			       .errnum = errno_number(name),
			       .forever = *rest == '+',
			       .second = *rest == '/' ? (unsigned)strtoul(rest + 1, NULL, 10) : 0 };
	if (*f->what == '@') {
		in->how = STOP;
		return in->nr >= 0 && action_find(w, f->what, in);
	}
	in->how = strcmp(f->what, "KILL") == 0 ? SLAY : FAIL;
	return in->nr >= 0 && (in->how == SLAY || in->errnum);
}

/* The C library itself gives up on a program that it cannot even start: 127, in its own words. */
static bool started_badly(const struct fault *f, const struct inject *in, const struct outcome *o)
{
	bool failed = strcmp(f->call, "mprotect") == 0 || in->second_nr == call_number("mprotect");

	return failed && WIFEXITED(o->status) && WEXITSTATUS(o->status) == 127;
}

static bool judge_success(struct world *w, const struct fault *f, const struct inject *in,
			  struct judgement *j)
{
	const struct call check = { .cmd = CHECK, .target = f->target };

	if (f->cmd == ADD || f->cmd == CHECK)
		return in->how == STOP || call_ok(w, &check, &j->evidence);
	/* A call that gets ENOENT may believe it. */
	return in->how == STOP || in->errnum == ENOENT ||
	       is_clean(w, "the call reported success, but", &j->evidence);
}

static bool judge_call(struct world *w, const struct fault *f, const struct inject *in,
		       struct outcome *o, struct judgement *j)
{
	const struct call c = { .cmd = f->cmd, .target = f->target };

	if (in->how == SLAY && f->target != CHILD) {
		/* At once, as a runtime would: what the IPAM is still about must not matter. */
		if (strcmp(f->recovery, "del") != 0)
			j->needed_recovery = f->cmd == ADD && !is_clean(w, "", NULL);
		return true;
	}
	bool mute = in->has_stdout || started_badly(f, in, o);
	if (!call_judge(&c, o, mute, &j->evidence))
		return false;
	if (o->status == 0 && f->cmd == ADD)
		world_keep_result(w, o->out);
	if (o->status == 0)
		return judge_success(w, f, in, j);
	auto_text now = { .p = NULL };
	auto_text diff = { .p = NULL };
	snapshot(w, &now);
	j->needed_recovery = f->cmd == ADD && snapshot_differs(&w->base, &now, &diff);
	return f->target == ALONE || in->how == STOP || w->fixture->chained ||
	       address_is_kept(&now, &j->evidence);
}

/* The runtime's DEL, while the fault lasts: it may fail, but it ends, and frees no address in use.
 */
static void del_meanwhile(struct world *w, const struct fault *f, const struct inject *first,
			  struct judgement *j)
{
	const struct call del = { .cmd = DEL, .target = f->target };
	struct inject in = *first;
	auto_outcome o = { .out = NULL };
	auto_text now = { .p = NULL };

	in.nth = 1;
	in.has_stdout = false;
	trace_run(w, &del, &in, NULL, &o);
	(void)call_judge(&del, &o, in.has_stdout || started_badly(f, &in, &o), &j->evidence);
	snapshot(w, &now);
	if (f->target != ALONE && !w->fixture->chained)
		(void)address_is_kept(&now, &j->evidence);
}

static void run_injected(struct world *w, const struct fault *f, struct judgement *j)
{
	const struct call add = { .cmd = ADD, .target = f->target };
	const struct call c = { .cmd = f->cmd, .target = f->target };
	auto_outcome o = { .out = NULL };
	struct inject in;

	if (!set_up_injection(w, f, &in)) {
		text_add(&j->evidence, "no such system call, errno or action\n");
		return;
	}
	world_keep_result(w, NULL);
	if (f->cmd != ADD && !call_ok(w, &add, &j->evidence))
		return;
	trace_run(w, &c, &in, NULL, &o);
	if (!o.reached) {
		j->verdict = NOT_REACHED;
		(void)call_ok(w, &(struct call){ .cmd = DEL, .target = f->target }, &j->evidence);
		return;
	}
	bool good = judge_call(w, f, &in, &o, j);
	bool attached = o.status == 0 && (f->cmd == ADD || f->cmd == CHECK);
	action_end(w, &j->evidence);
	if (in.forever)
		del_meanwhile(w, f, &in, j);
	bool recovered = recover(w, f, attached, &j->evidence);
	if ((!recovered || !good) && in.second_errnum)
		text_add(&j->evidence, "the second fault: %s %s\n", call_name(in.second_nr),
			 strerrorname_np(in.second_errnum));
	if (!recovered || !good) {
		auto_text said = { .p = NULL };
		call_said(&o, &said);
		text_add(&j->evidence, "the spoiled %s: %s", cmd_names[f->cmd], said.p);
	}
}

/* ---- a case ---- */

static void run_case(struct world *w, const struct fault *f, struct judgement *j)
{
	bool lane = strcmp(f->call, "malloc") == 0 || strcmp(f->call, "clock") == 0;

	*j = (struct judgement){ .verdict = SURVIVED };
	if (lane && !w->o->lane) {
		j->verdict = NOT_HERE;
		return;
	}
	w->bin = lane ? WORK "/lane" : WORK "/bin";
	if (strcmp(f->call, "scene") == 0 || strcmp(f->call, "clock") == 0)
		scene_run(w, f, j);
	else if (strcmp(f->call, "race") == 0)
		race_run(w, f, j);
	else
		run_injected(w, f, j);
	w->bin = WORK "/bin";
	if (j->verdict == NOT_HERE)
		return;
	(void)processes_end(&j->evidence);
	world_restore(w);
	/* The kernel takes long to remove a link, so only every fourth cycle is a whole one. The
	 * next case begins with an ADD, too. */
	static unsigned turn;
	bool alone = !w->fixture->chained && (f->target == ALONE || turn++ % 4);
	enum target next = alone ? ALONE : PLUGIN;
	if (is_clean_soon(w, "left behind", &j->evidence) && w->has_kind &&
	    whole_cycle(w, next, &j->evidence))
		(void)is_clean_soon(w, "left behind after ADD, CHECK, DEL that followed",
				    &j->evidence);
	if (j->evidence.len)
		j->verdict = LEAKED;
}

static void answer(struct judgement *j)
{
	static const char *const words[] = { "survived", "leaked", "unreached", "absent" };

	(void)printf("%s %d\n%s.\n", words[j->verdict], j->needed_recovery,
		     j->evidence.p ? j->evidence.p : "");
	(void)fflush(stdout);
	text_free(&j->evidence);
}

int worker_main(const struct options *o)
{
	struct world w = { .o = o };
	bool spoilt = false;
	char line[200];

	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	world_open(&w);
	while (fgets(line, sizeof(line), stdin)) {
		struct judgement j = { .verdict = LEAKED };
		struct fault f;

		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, "plan") == 0) {
			plan_print(&w);
			continue;
		}
		if (spoilt)
			world_rebuild(&w);
		if (fault_parse(line, o->plugin, &f))
			run_case(&w, &f, &j);
		else
			text_add(&j.evidence, "not a case: %s\n", line);
		spoilt = j.verdict == LEAKED;
		answer(&j);
	}
	return 0;
}
