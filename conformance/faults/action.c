/* SPDX-License-Identifier: Apache-2.0 */
/* action.c: what happens to the world while a plugin is stopped in the middle of its work. */
#include "conformance/faults/worker.h"

#include <string.h>

/* A call that was started by an action, and runs beside the stopped one. */
static struct {
	struct call call;
	struct process process;
	bool running;
} beside;

static void master_goes(void *arg)
{
	const struct world *w = arg;

	w->fixture->lose();
}

static void netns_goes(void *w)
{
	(void)w;
	pod_drop(0);
}

static void master_moves(void *arg)
{
	const struct world *w = arg;

	w->fixture->move();
}

static void begin(struct world *w, enum cni_command cmd)
{
	beside.call = (struct call){ .cmd = cmd };
	call_start(w, &beside.call, &beside.process);
	process_release(&beside.process);
	beside.running = true;
}

static void del_begins(void *w)
{
	begin(w, DEL);
}

static void gc_begins(void *w)
{
	begin(w, GC);
}

static const struct {
	const char *name;
	void (*act)(void *w);
	unsigned cmds; /* 1 << command: of which it is a fault */
} actions[] = {
	{ "@master-gone", master_goes, 1 << ADD | 1 << DEL | 1 << CHECK },
	{ "@netns-gone", netns_goes, 1 << ADD | 1 << DEL | 1 << CHECK | 1 << GC },
	{ "@master-moved", master_moves, 1 << ADD | 1 << DEL },
	{ "@del", del_begins, 1 << ADD | 1 << DEL | 1 << GC },
	{ "@gc", gc_begins, 1 << ADD | 1 << DEL },
};

bool action_find(struct world *w, const char *name, struct inject *in)
{
	for (size_t i = 0; i < COUNT(actions); i++) {
		if (strcmp(actions[i].name, name) == 0) {
			in->act = actions[i].act;
			in->arg = w;
			return true;
		}
	}
	return false;
}

const char *action_name(size_t i, enum cni_command cmd)
{
	if (i >= COUNT(actions))
		return NULL;
	return actions[i].cmds & (1U << cmd) ? actions[i].name : "";
}

void action_end(struct world *w, struct text *why)
{
	auto_outcome o = { .out = NULL };
	auto_text said = { .p = NULL };

	if (!beside.running)
		return;
	beside.running = false;
	call_collect(w, &beside.process, &o);
	if (call_judge(&beside.call, &o, false, why) && o.status) {
		call_said(&o, &said);
		text_add(why, "%s beside it fails: %s", cmd_names[beside.call.cmd], said.p);
	}
}
