/* SPDX-License-Identifier: Apache-2.0 */
/* world.c: links, pods and state of a worker's sandbox. */
#include "conformance/faults/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int run_quiet(const char *cmd)
{
	char line[1024];

	(void)snprintf(line, sizeof(line), "(%s) >" WORK "/shell 2>&1", cmd);
	return system(line); /* NOLINT(cert-env33-c): rare, and the text is ours */
}

void must(const char *fmt, ...)
{
	char cmd[900];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	if (run_quiet(cmd)) {
		(void)!system("cat " WORK "/shell >&2"); /* NOLINT(cert-env33-c) */
		die("this failed: %s", cmd);
	}
}

static ino_t pod_number(unsigned pod)
{
	char path[64];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/run/netns/p%u", pod);
	return stat(path, &st) ? 0 : st.st_ino;
}

/* The kernel gives the numbers of namespaces again, and a runtime no path. */
static ino_t last_number;

/* While an RDMA device goes together with its interface, no namespace can be made. */
void pod_add(unsigned pod)
{
	if (pod_number(pod))
		return;
	must("n=0; until ip netns add p%u; do [ $((n += 1)) -lt 100 ] || exit 1; sleep 0.1; done",
	     pod);
	if (pod_number(pod) == last_number)
		must("cd /run/netns && touch spare && mount --bind p%u spare && umount p%u && "
		     "rm p%u && ip netns add p%u && ip netns del spare",
		     pod, pod, pod, pod);
}

void pod_make(const struct world *w, unsigned pod)
{
	pod_add(pod);
	if (w->fixture->furnish)
		w->fixture->furnish(pod);
}

void pod_drop(unsigned pod)
{
	char cmd[64];

	last_number = pod_number(pod);
	(void)snprintf(cmd, sizeof(cmd), "ip netns del p%u", pod);
	(void)run_quiet(cmd);
}

void world_use_all(struct world *w)
{
	auto_text why = { .p = NULL };
	struct call c[8];
	char names[COUNT(c)][4];

	if (!w->fixture->any)
		return;
	for (unsigned i = 0; i < w->fixture->capacity; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "w%u", i);
		pod_make(w, i);
		c[i] = (struct call){ .cmd = ADD, .pod = i, .container = names[i], .any = true };
		if (!call_ok(w, &c[i], &why))
			die("without any fault: %s", why.p);
	}
	for (unsigned i = 0; i < w->fixture->capacity; i++) {
		c[i].cmd = DEL;
		if (!call_ok(w, &c[i], &why))
			die("without any fault: %s", why.p);
		if (i)
			pod_drop(i);
	}
}

static void warm_up(struct world *w)
{
	auto_text why = { .p = NULL };

	if (w->has_kind)
		world_use_all(w);
	for (int i = 0; i < 2 && !w->has_kind; i++) {
		auto_outcome o = { .out = NULL };
		call_run(w, &(struct call){ .cmd = ADD }, &o);
	}
	for (int i = 0; i < 2 && w->has_kind; i++) {
		if (!call_ok(w, &(struct call){ .cmd = ADD }, &why) ||
		    !call_ok(w, &(struct call){ .cmd = CHECK }, &why) ||
		    !call_ok(w, &(struct call){ .cmd = DEL }, &why))
			die("without any fault: %s", why.p);
	}
	world_keep_result(w, NULL);
}

void world_restore(struct world *w)
{
	bool was_away = w->fixture->restore();

	pod_make(w, 0);
	/* Repair what only an ADD can repair, and allocate the state files of new VFs. */
	if (was_away) {
		world_use_all(w);
		world_keep_result(w, NULL);
	}
}

void world_rebuild(struct world *w)
{
	(void)run_quiet("for n in $(ip netns list | cut -d' ' -f1); do ip netns del $n; done");
	w->fixture->clear();
	(void)run_quiet("umount -R " RUN "; umount -R " STATE "; rm -rf " RUN " " STATE "; "
			"umount /proc/sys/kernel/random/boot_id");
	w->fixture->make();
	pod_make(w, 0);
	w->bin = WORK "/bin";
	warm_up(w);
	text_free(&w->base);
	snapshot(w, &w->base);
}

const char *world_program(const struct world *w)
{
	return w->fixture->program ? w->fixture->program : w->o->plugin;
}

/* Copies, so that whoever builds meanwhile does not pull the programs away. */
void world_open(struct world *w)
{
	const struct options *o = w->o;

	(void)mkdir(WORK "/bin", 0755);
	(void)mkdir(WORK "/lane", 0755);
	w->fixture = fixture_of(o->plugin);
	must("cp %s/%s %s/railhead-ipam %s/railctl " WORK "/bin", o->bin, world_program(w), o->bin,
	     o->bin);
	if (o->lane)
		must("cp %s/%s %s/railhead-ipam %s/railctl " WORK "/lane", o->lane,
		     world_program(w), o->lane, o->lane);
	w->has_kind = w->fixture->probe(o->plugin);
	world_rebuild(w);
}
