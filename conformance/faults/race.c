/* SPDX-License-Identifier: Apache-2.0 */
/* race.c: several calls at once, for one container, one interface name, one address. */
#include "conformance/faults/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY 50

struct runner {
	char container[16];
	struct call call;
	struct process process;
	struct outcome o;
};

struct race {
	struct world *w;
	unsigned n, round;
	struct runner r[MANY];
	unsigned good; /* calls that succeeded */
	struct text *why;
};

/* Start all calls at the same time, and judge each of them. */
static void go(struct race *race)
{
	for (unsigned i = 0; i < race->n; i++)
		call_start(race->w, &race->r[i].call, &race->r[i].process);
	/* Each round begins with another one. */
	for (unsigned i = 0; i < race->n; i++)
		process_release(&race->r[(i + race->round) % race->n].process);
	for (unsigned i = 0; i < race->n; i++) {
		struct runner *r = &race->r[i];
		r->o = (struct outcome){ .status = 0 };
		call_collect(race->w, &r->process, &r->o);
		(void)call_judge(&r->call, &r->o, false, race->why);
		race->good += r->o.status == 0;
	}
}

static void expect(struct race *race, bool right, const char *what)
{
	auto_text said = { .p = NULL };

	if (right)
		return;
	text_add(race->why, "%u of %u succeeded: %s\n", race->good, race->n, what);
	for (unsigned i = 0; i < race->n && i < 3; i++) {
		call_said(&race->r[i].o, &said);
		text_add(race->why, "one: %s", said.p);
		text_free(&said);
	}
}

/* All runners use pod p0 and container "cid", except where own_pod or own_container is set. */
static void cast(struct race *race, enum cni_command cmd, bool own_container, bool own_pod)
{
	for (unsigned i = 0; i < race->n; i++) {
		struct runner *r = &race->r[i];
		(void)snprintf(r->container, sizeof(r->container), "c%u", i);
		r->call = (struct call){ .cmd = cmd,
					 .pod = own_pod ? i : 0,
					 .any = own_pod,
					 .container = own_container ? r->container : NULL };
	}
}

static void del_all(struct race *race)
{
	for (unsigned i = 0; i < race->n; i++) {
		struct call del = race->r[i].call;
		del.cmd = DEL;
		(void)call_ok(race->w, &del, race->why);
	}
}

static void pods(const struct race *race, bool make)
{
	const struct fixture *g = race->w->fixture;

	for (unsigned i = 1; i < race->n && make; i++)
		pod_make(race->w, i);
	for (unsigned i = 1; i < race->n && !make && g->strip; i++)
		g->strip(i);
	if (!make)
		must("for i in $(seq 1 %u); do ip -n p$i -o link | grep -v ' lo: ' >&2 && exit 1; "
		     "ip netns del p$i || exit; done",
		     race->n - 1);
}

/* ---- the races ---- */

static void one_container(struct race *race)
{
	cast(race, ADD, false, false);
	go(race);
	expect(race, race->good >= 1, "one ADD at least must");
	for (unsigned i = 0; i < race->n; i++) {
		if (race->r[i].o.status == 0)
			world_keep_result(race->w, race->r[i].o.out);
	}
	(void)call_ok(race->w, &(struct call){ .cmd = CHECK }, race->why);
	(void)call_ok(race->w, &(struct call){ .cmd = DEL }, race->why);
}

static void one_name(struct race *race)
{
	cast(race, ADD, true, false);
	go(race);
	expect(race, race->good == 1,
	       "exactly one of the containers in a namespace must get the name");
	/* The losers' DELs first: they must not take what the winner has. */
	for (unsigned i = 0; i < race->n; i++) {
		struct call check = race->r[i].call, del = check;
		check.cmd = CHECK;
		del.cmd = DEL;
		if (race->r[i].o.status)
			(void)call_ok(race->w, &del, race->why);
		else
			world_keep_result(race->w, race->r[i].o.out);
	}
	for (unsigned i = 0; i < race->n; i++) {
		struct call check = race->r[i].call;
		check.cmd = CHECK;
		if (race->r[i].o.status == 0)
			(void)call_ok(race->w, &check, race->why);
	}
	del_all(race);
}

static void one_address(struct race *race)
{
	pods(race, true);
	cast(race, ADD, true, true);
	for (unsigned i = 0; i < race->n; i++)
		race->r[i].call.extra = "\"capabilities\":{\"ips\":true},\"runtimeConfig\":{"
					"\"ips\":[\"10.77.0.5\"]},";
	go(race);
	expect(race, race->good == 1, "one address is for one");
	del_all(race);
	pods(race, false);
}

static bool is_repeated(const struct race *race, const char *address)
{
	unsigned found = 0;

	for (unsigned i = 0; i < race->n; i++)
		found += race->r[i].o.status == 0 && strstr(race->r[i].o.out, address);
	return found > 1;
}

static void last_addresses(struct race *race)
{
	char address[32];
	unsigned cap = race->w->fixture->capacity < race->n ? race->w->fixture->capacity : race->n;

	pods(race, true);
	cast(race, ADD, true, true);
	go(race);
	expect(race, race->good == cap, "as many as there is room for must");
	for (unsigned i = 0; i < 16; i++) {
		(void)snprintf(address, sizeof(address), "\"10.77.0.%u/28\"", i);
		expect(race, !is_repeated(race, address), "an address was given twice");
		(void)snprintf(address, sizeof(address), "\"mac\": \"02:00:00:00:01:%02x\"", i);
		expect(race, !is_repeated(race, address), "a VF was given twice");
		(void)snprintf(address, sizeof(address), ":02:00:00:00:00:00:02:%02x\"", i);
		expect(race, !is_repeated(race, address), "a GUID was given twice");
	}
	del_all(race);
	pods(race, false);
}

/*
 * On a slow machine the wait for the lock of the attachment ends before its turn comes. Such a DEL
 * says so and has changed nothing. A runtime calls it again.
 */
static void repeat_late(struct race *race, struct runner *r)
{
	if (r->o.status == 0 || !r->o.out || !strstr(r->o.out, "another process works on"))
		return;
	race->good += call_ok(race->w, &r->call, race->why);
	r->o.status = 0;
}

static void add_and_del(struct race *race)
{
	cast(race, ADD, false, false);
	for (unsigned i = 0; i < race->n; i += 2)
		race->r[i].call.cmd = DEL;
	go(race);
	for (unsigned i = 0; i < race->n; i += 2) {
		repeat_late(race, &race->r[i]);
		expect(race, race->r[i].o.status == 0, "every DEL must");
	}
	(void)call_ok(race->w, &(struct call){ .cmd = DEL }, race->why);
}

static void dels(struct race *race)
{
	(void)call_ok(race->w, &(struct call){ .cmd = ADD }, race->why);
	cast(race, DEL, false, false);
	go(race);
	for (unsigned i = 0; i < race->n; i++)
		repeat_late(race, &race->r[i]);
	expect(race, race->good == race->n, "every DEL must");
}

/* A runtime serialises these; one that does not may lose attachments, but nothing may stay. */
static void gc_beside_adds(struct race *race)
{
	pods(race, true);
	cast(race, ADD, true, true);
	for (unsigned i = 0; i < race->n; i += 5)
		race->r[i].call.cmd = GC;
	go(race);
	for (unsigned i = 0; i < race->n; i += 5)
		expect(race, race->r[i].o.status == 0, "every GC must");
	del_all(race);
	pods(race, false);
}

static const struct {
	const char *name;
	void (*run)(struct race *race);
	unsigned n, rounds;
} races[] = {
	{ "one-container-2", one_container, 2, 60 },
	{ "one-container-50", one_container, 50, 6 },
	{ "one-name-2", one_name, 2, 60 },
	{ "one-name-50", one_name, 50, 6 },
	{ "one-address-2", one_address, 2, 40 },
	{ "one-address-50", one_address, 50, 6 },
	{ "last-addresses-50", last_addresses, 50, 6 },
	{ "add-del-2", add_and_del, 2, 80 },
	{ "add-del-50", add_and_del, 50, 6 },
	{ "dels-2", dels, 2, 40 },
	{ "dels-50", dels, 50, 6 },
	{ "gc-adds-10", gc_beside_adds, 10, 20 },
	{ "gc-adds-50", gc_beside_adds, 50, 6 },
};

const char *race_name(size_t i, unsigned *rounds)
{
	if (i >= COUNT(races))
		return NULL;
	*rounds = races[i].rounds;
	return races[i].name;
}

void race_run(struct world *w, const struct fault *f, struct judgement *j)
{
	for (size_t i = 0; i < COUNT(races); i++) {
		if (strcmp(races[i].name, f->what) != 0)
			continue;
		struct race *race = calloc(1, sizeof(*race));
		if (!race)
			die("out of memory");
		*race = (struct race){ .w = w,
				       .n = races[i].n < w->o->crowd ? races[i].n : w->o->crowd,
				       .round = f->nth,
				       .why = &j->evidence };
		world_keep_result(w, NULL);
		races[i].run(race);
		for (unsigned n = 0; n < race->n; n++)
			outcome_free(&race->r[n].o);
		free(race);
		return;
	}
	text_add(&j->evidence, "no such race: %s\n", f->what);
}
