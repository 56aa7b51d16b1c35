/* SPDX-License-Identifier: Apache-2.0 */
/* cycle.c: the life of an attachment, as a runtime leads it. */
#include "conformance/soak/soak.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "conformance/harness/netns.h"

static const char *const cmds[] = { "ADD", "DEL", "GC" };

void complain(struct soak *s, const struct call *c, const char *what, const struct attachment *a)
{
	const char *out = c && c->exited.out ? c->exited.out : "";
	const char *err = c && c->exited.err ? c->exited.err : "";

	if (s->failed++ >= 10)
		return;
	fprintf(stderr, "soak: %s %s: %s%s%.1500s%s%.500s\n", c ? cmds[c->cmd] : "",
		a ? a->container : "", what, *out ? ": " : "", out, *err ? ", stderr: " : "", err);
}

/* ---- what comes next ---- */

static void start(struct soak *s, struct pod *p, enum cni_command cmd)
{
	struct attachment told = p->a;
	struct call *c = &p->call;

	c->cmd = cmd;
	c->blow = cmd == ADD ? p->plan.add : p->plan.del;
	if (cmd == DEL && p->spared)
		c->blow.target = NOBODY;
	c->due = c->blow.target ? now_us() + (int64_t)(c->blow.when * s->usual[cmd]) + 1 : 0;
	if (cmd == DEL && p->without_netns)
		told.netns[0] = '\0';
	call_start(c, &(struct order){ s->bindir, s->plugin, s->conf.p, cmd, &told });
	p->phase = cmd == ADD ? ADDING : DELETING;
	s->running++;
}

static void begin(struct soak *s, struct pod *p)
{
	long cycle = s->begun++;

	p->plan = plan_make(s->seed, cycle, s->kill_permille);
	p->spared = p->without_netns = p->a.gone = false;
	p->a.n_addresses = 0;
	snprintf(p->a.container, TEXT, "soak-%ld", cycle);
	if (!*p->a.netns) {
		snprintf(p->a.netns, TEXT, "/run/netns/soak-%ld", cycle);
		netns_make(p->a.netns);
	}
	start(s, p, ADD);
}

static void remove_netns(struct pod *p)
{
	netns_drop(p->a.netns);
	p->a.gone = true;
}

static void leave_to_gc(struct soak *s, struct pod *p)
{
	if (s->n_left == MAX_LEFT)
		fail("too many attachments are left to GC");
	if (p->plan.netns_goes_first && !p->a.gone)
		remove_netns(p);
	s->left[s->n_left++] = p->a;
	s->forgotten++;
	p->a = (struct attachment){ .gone = true };
	p->phase = FREE;
}

static void end(struct soak *s, struct pod *p)
{
	if (p->plan.forget) {
		leave_to_gc(s, p);
		return;
	}
	p->a.n_addresses = 0; /* from now on they may be given to others */
	p->dels = 1;
	if (p->plan.netns_goes_first) {
		remove_netns(p);
		p->without_netns = !p->plan.path_stays;
	}
	start(s, p, DEL);
}

bool cycle_step(struct soak *s, struct pod *p)
{
	switch (p->phase) {
	case FREE:
		if (s->begun == s->limit)
			return false;
		begin(s, p);
		return true;
	case UP:
		if (!s->may_end)
			return false;
		end(s, p);
		return true;
	case DUE:
		start(s, p, DEL);
		return true;
	case ADDING:
	case DELETING:
		break;
	}
	return false;
}

/* ---- what came of it ---- */

static bool holds(const struct attachment *a, const char *address)
{
	for (int i = 0; i < a->n_addresses; i++)
		if (strcmp(a->address[i], address) == 0)
			return true;
	return false;
}

static const struct attachment *holder(const struct soak *s, const char *address)
{
	for (int i = 0; i < s->n_pods; i++)
		if (holds(&s->pods[i].a, address))
			return &s->pods[i].a;
	for (int i = 0; i < s->n_left; i++)
		if (holds(&s->left[i], address))
			return &s->left[i];
	return NULL;
}

static void take_addresses(struct soak *s, struct pod *p, const char *text)
{
	struct attachment *a = &p->a;
	char found[ADDRESSES][TEXT];
	int n = 0;

	for (const char *at = text; n < ADDRESSES && (at = strstr(at, "\"address\"")) != NULL;
	     n++) {
		at += strlen("\"address\"");
		at += strspn(at, " \t\n:\"");
		snprintf(found[n], TEXT, "%.*s", (int)strcspn(at, "\"/"), at);
		const struct attachment *other = holder(s, found[n]);
		if (other) {
			s->duplicates++;
			fprintf(stderr, "soak: %s was given to %s and %s\n", found[n],
				other->container, a->container);
		}
	}
	memcpy(a->address, found, sizeof(found));
	a->n_addresses = n;
	if (n < ADDRESSES)
		complain(s, &p->call, "the result lacks an address", a);
	else if (!place_has(a))
		complain(s, &p->call, "the interface or its address is not there", a);
}

/* A run was killed: what a runtime does then. */
static void retry(struct soak *s, struct pod *p, enum retry_mode how)
{
	if (how == LEAVE_TO_GC) {
		leave_to_gc(s, p);
		return;
	}
	p->without_netns = how == DEL_WITHOUT_NETNS;
	p->dels = how == DEL_TWICE ? 2 : 1;
	p->phase = DUE;
}

static bool has_link(const struct pod *p)
{
	return !p->a.gone && place_has_link(&p->a);
}

/* Failed because of a kill, by its own words or without any. */
static void check_refusal(struct soak *s, struct pod *p)
{
	if (!WIFEXITED(p->call.exited.status))
		return;
	if (!strstr(p->call.exited.out, "\"code\""))
		complain(s, &p->call, "failed without an error object", &p->a);
	if (p->call.cmd == ADD && has_link(p))
		complain(s, &p->call, "failed, but left its interface", &p->a);
}

static void added(struct soak *s, struct pod *p, bool succeeded)
{
	if (succeeded) {
		p->phase = UP;
		take_addresses(s, p, p->call.exited.out);
		return;
	}
	if (p->call.hit)
		check_refusal(s, p);
	else
		complain(s, &p->call, "failed", &p->a);
	retry(s, p, p->plan.after_add);
}

static void finish(struct pod *p)
{
	p->phase = FREE;
	if (p->plan.renew && !p->a.gone)
		remove_netns(p);
	if (p->a.gone)
		p->a.netns[0] = '\0';
}

static void deleted(struct soak *s, struct pod *p, bool succeeded)
{
	if (!succeeded && p->call.hit) {
		check_refusal(s, p);
		p->spared = true;
		retry(s, p, p->plan.after_del);
		return;
	}
	if (!succeeded)
		complain(s, &p->call, "failed", &p->a);
	else if (has_link(p))
		complain(s, &p->call, "succeeded, but left the interface", &p->a);
	if (--p->dels > 0)
		p->phase = DUE;
	else
		finish(p);
}

static void keep_latency(struct soak *s, const struct call *c)
{
	double us = (double)c->exited.us;

	s->usual[c->cmd] += (us - s->usual[c->cmd]) / 32;
	s->lat.us[c->cmd][s->lat.n[c->cmd]++ % s->cycles] = (uint32_t)us;
}

/* The pod's run is over. */
static void ended(struct soak *s, struct pod *p)
{
	struct call *c = &p->call;
	bool succeeded = exited_well(&c->exited);

	s->running--;
	if (c->hit)
		s->killed++;
	else
		keep_latency(s, c);
	if (c->cmd == ADD)
		added(s, p, succeeded);
	else
		deleted(s, p, succeeded);
	call_free(c);
}

/* ---- waiting ---- */

static void reap(struct soak *s)
{
	int status;
	pid_t pid;

	/* Orphans of killed plugins are ours, too. */
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (int i = 0; i < s->n_pods; i++)
			if (s->pods[i].call.process.pid == pid) {
				call_ended(&s->pods[i].call, status);
				ended(s, &s->pods[i]);
				break;
			}
}

/* Those whose time has come; returns when the next one's comes, a second from now at most. */
static int64_t strike(struct soak *s)
{
	int64_t now = now_us(), next = now + 1000000;

	for (int i = 0; i < s->n_pods; i++) {
		struct call *c = &s->pods[i].call;
		if (c->process.pid && c->due && c->due <= now)
			call_strike(c);
		if (c->process.pid && c->due && c->due < next)
			next = c->due;
	}
	return next;
}

void cycle_look(struct soak *s)
{
	(void)strike(s);
	reap(s);
}

void cycle_wait(struct soak *s)
{
	int64_t us = strike(s) - now_us();
	struct timespec t = { us > 0 ? us / 1000000 : 0, us > 0 ? us % 1000000 * 1000 : 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	(void)sigtimedwait(&set, NULL, &t);
	cycle_look(s);
}
