/* SPDX-License-Identifier: Apache-2.0 */
/* rest.c: what must hold whenever nothing runs, and when nothing lives. */
#include "conformance/soak/soak.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "conformance/harness/netns.h"
#include "conformance/harness/snapshot.h"
#include "conformance/harness/watch.h"

enum { PROBES = 5 };

/* ---- garbage collection ---- */

/* The configuration with the list of attachments that are to stay. */
static void add_gc_conf(const struct soak *s, struct text *out)
{
	const char *brace = strrchr(s->conf.p, '}'), *between = "";

	if (!brace)
		die("the configuration is not an object");
	text_add(out, "%.*s,\"cni.dev/valid-attachments\":[", (int)(brace - s->conf.p), s->conf.p);
	for (int i = 0; i < s->n_pods; i++) {
		if (s->pods[i].phase != UP)
			continue;
		text_add(out, "%s{\"containerID\":\"%s\",\"ifname\":\"" IFNAME "\"}", between,
			 s->pods[i].a.container);
		between = ",";
	}
	text_add(out, "]}");
}

static void wait_for(struct call *c)
{
	const struct timespec pause = { 0, 100000 };
	int status;

	for (;;) {
		pid_t pid = waitpid(-1, &status, c->due ? WNOHANG : 0);
		if (pid < 0)
			fail("waitpid");
		if (pid == c->process.pid)
			break;
		if (c->due && c->due <= now_us())
			call_strike(c);
		else if (c->due)
			nanosleep(&pause, NULL);
	}
	call_ended(c, status);
}

static bool run_gc(struct soak *s, const char *conf, struct blow blow)
{
	struct call c = { .cmd = GC, .blow = blow };

	c.due = blow.target ? now_us() + (int64_t)(blow.when * s->usual[GC]) : 0;
	call_start(&c, &(struct order){ s->bindir, s->plugin, conf, GC, NULL });
	wait_for(&c);
	bool ok = exited_well(&c.exited);
	s->killed += c.hit;
	if (!c.hit)
		s->usual[GC] += ((double)c.exited.us - s->usual[GC]) / 8;
	if (!ok && !c.hit)
		complain(s, &c, "failed", NULL);
	call_free(&c);
	return ok || !c.hit;
}

/* ---- comparing ---- */

/* The output of railctl, owned by the caller. A failure of railctl is reported. */
static char *railctl(struct soak *s, const char *const *words)
{
	char program[512];
	const char *argv[8] = { program };
	struct exited e;

	(void)snprintf(program, sizeof(program), "%s/railctl", s->bindir);
	for (int i = 0; words[i]; i++)
		argv[i + 1] = words[i];
	program_run(NULL, argv, &e);
	if (!exited_well(&e)) {
		fprintf(stderr, "soak: railctl %s %s: %.1000s%.1000s\n", words[0], words[1], e.out,
			e.err);
		complain(s, NULL, "railctl failed, or found something", NULL);
	}
	free(e.err);
	return e.out;
}

static long leaked(const struct soak *s, const char *what, const char *name)
{
	if (!s->healing)
		fprintf(stderr, "soak: leaked: %s %s\n", what, name);
	return 1;
}

static bool is_wanted(const struct soak *s, const char *address, int len)
{
	for (int i = 0; i < s->n_pods; i++)
		for (int k = 0; k < s->pods[i].a.n_addresses; k++) {
			const char *x = s->pods[i].a.address[k];
			if ((int)strlen(x) == len && strncmp(x, address, (size_t)len) == 0)
				return true;
		}
	return false;
}

static long compare_leases(struct soak *s)
{
	static const char *const words[] = { "ipam", "lease", "list", "--json", NULL };
	static const char key[] = "\"address\": \"";
	long found = 0, wanted = 0, lost = 0;
	char *text = railctl(s, words);

	for (const char *at = text; (at = strstr(at, key)) != NULL; found++) {
		char name[TEXT];

		at += strlen(key);
		int len = (int)strcspn(at, "\"");
		snprintf(name, sizeof(name), "%.*s", len, at);
		if (!is_wanted(s, at, len))
			lost += leaked(s, "lease", name);
	}
	for (int i = 0; i < s->n_pods; i++)
		wanted += s->pods[i].a.n_addresses;
	if (found - lost < wanted)
		complain(s, NULL, "a live address is not leased", NULL);
	free(text);
	return lost;
}

static long count_text(const char *text, const char *what)
{
	long n = 0;

	for (; (text = strstr(text, what)) != NULL; text += strlen(what))
		n++;
	return n;
}

static long compare_records(struct soak *s)
{
	static const char *const words[] = { "attachments", "list", "--json", NULL };
	char *text = railctl(s, words);
	long up = 0;

	for (int i = 0; i < s->n_pods; i++)
		up += s->pods[i].phase == UP;
	long records = count_text(text, "\"container\": \"");
	if (count_text(text, "\"state\": \"healthy\"") < up)
		complain(s, NULL, "a live attachment has no healthy record", NULL);
	for (long i = up; i < records; i++)
		(void)leaked(s, "record", "(of an attachment that was removed)");
	free(text);
	return records > up ? records - up : 0;
}

static long compare_links(struct soak *s)
{
	long lost = 0;

	for (int i = 0; i < s->n_pods; i++) {
		const struct pod *p = &s->pods[i];
		if (p->phase == UP && !place_has(&p->a))
			complain(s, NULL, "a live attachment lost its interface", &p->a);
		if (p->phase == FREE && *p->a.netns && place_has_link(&p->a))
			lost += leaked(s, "interface of", p->a.container);
	}
	for (int i = 0; i < s->n_left; i++) {
		const struct attachment *a = &s->left[i];
		if (a->gone)
			continue;
		if (place_has_link(a))
			lost += leaked(s, "interface of", a->container);
		netns_drop(a->netns);
	}
	s->n_left = 0;
	return lost;
}

/* ---- what nobody holds any more goes away ---- */

static void forget_left(struct soak *s)
{
	for (int i = 0; i < s->n_left; i++)
		s->left[i].n_addresses = 0;
}

static void collect(struct soak *s)
{
	const struct blow none = { NOBODY, 0 };
	struct plan p = plan_make(s->seed, -++s->gcs, s->kill_permille * 4);
	auto_text conf = { .p = NULL };

	add_gc_conf(s, &conf);
	if (!run_gc(s, conf.p, p.add))
		(void)run_gc(s, conf.p, none);
}

/* The agent repairs what is proved gone, so the namespaces of all that is left to it end. */
static void end_left(struct soak *s)
{
	for (int i = 0; i < s->n_left; i++) {
		if (!s->left[i].gone)
			netns_drop(s->left[i].netns);
		s->left[i].gone = true;
	}
}

/* No GC is called: the agent has heal_s seconds. */
static void wait_for_agent(struct soak *s)
{
	const struct timespec pause = { 0, 100000000 };
	int64_t began = now_us(), took = 0;

	end_left(s);
	s->healing = true;
	while (compare_leases(s) + compare_records(s) && took < s->heal_s * INT64_C(1000000)) {
		nanosleep(&pause, NULL);
		took = now_us() - began;
	}
	s->healing = false;
	s->healed++;
	s->longest_heal = took > s->longest_heal ? took : s->longest_heal;
}

void quiet(struct soak *s)
{
	forget_left(s);
	if (s->heal_s)
		wait_for_agent(s);
	else
		collect(s);
	long lost = compare_leases(s) + compare_records(s) + compare_links(s);
	/* What one sweep could not collect may be there at the next one, too: count it once. */
	if (lost > s->leaked)
		s->leaked = lost;
}

/* ---- nothing lives ---- */

static uint32_t quantile(uint32_t *v, long n, int percent)
{
	return n ? v[(n - 1) * percent / 100] : 0;
}

static int compare(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void take_latencies(struct soak *s, struct row *r)
{
	for (int v = 0; v < 2; v++) {
		long n = s->lat.n[v] < s->cycles ? s->lat.n[v] : s->cycles;

		qsort(s->lat.us[v], (size_t)n, sizeof(uint32_t), compare);
		r->p50[v] = quantile(s->lat.us[v], n, 50);
		r->p99[v] = quantile(s->lat.us[v], n, 99);
		s->lat.n[v] = 0;
	}
}

static void probe(struct soak *s, struct row *r)
{
	struct attachment a = { .netns = "/run/netns/probe" };

	netns_make(a.netns);
	for (int i = 0; i < 2 * PROBES; i++) {
		snprintf(a.container, TEXT, "probe-%d-%d", s->n_rows, i / 2);
		const struct order o = { s->bindir, s->plugin, s->conf.p, i % 2 ? DEL : ADD, &a };
		struct watched t;
		if (!call_watch(&o, &t))
			complain(s, NULL, "failed while it was looked at", &a);
		r->rss = t.largest > r->rss ? t.largest : r->rss;
		r->inherited = t.inherited > r->inherited ? t.inherited : r->inherited;
		r->holds = t.holds > r->holds ? t.holds : r->holds;
	}
	netns_drop(a.netns);
}

static void count_all(struct soak *s, struct counts *c)
{
	static const char *const verify[] = { "ipam", "verify", NULL };
	static const char *const usage[] = { "ipam", "usage", "--json", NULL };
	long ignored;

	free(railctl(s, verify));
	char *text = railctl(s, usage);
	c->leases = c->resting = 0;
	for (const char *at = text; (at = strstr(at, "\"used\": ")) != NULL; at++)
		c->leases += strtol(at + strlen("\"used\": "), NULL, 10);
	for (const char *at = text; (at = strstr(at, "\"resting\": ")) != NULL; at++)
		c->resting += strtol(at + strlen("\"resting\": "), NULL, 10);
	free(text);
	c->fds = count_fds();
	c->files_run = count_files("/run/railhead", &ignored);
	c->files_lib = count_files("/var/lib/railhead", &c->store);
	c->netns = count_files("/run/netns", &ignored);
	c->links = place_links();
	count_memory(c);
}

/* The world at rest is the one of the first time. The store's own files are railctl's matter. */
static void compare_world(struct soak *s)
{
	static const char *const roots[] = { "/run", "/var/lib", NULL };
	static const char *const opaque[] = { "*/ipam/*", NULL };
	const char *const ignore[] = { s->work, NULL }, *const programs[] = { s->bindir, NULL };
	const struct snapshot_scope scope = { .roots = roots,
					      .ignore = ignore,
					      .opaque = opaque,
					      .programs = programs,
					      .folders = true };
	auto_text now = { .p = NULL };
	auto_text diff = { .p = NULL };

	snapshot_take(&scope, &now);
	if (!s->world.p) {
		s->world = now;
		now = (struct text){ .p = NULL };
	} else if (snapshot_differs(&s->world, &now, &diff)) {
		s->changed++;
		fprintf(stderr, "soak: the world is not as before:\n%s", diff.p);
	}
}

void rest(struct soak *s)
{
	struct row *r = &s->rows[s->n_rows];

	quiet(s);
	for (int i = 0; i < s->n_pods; i++) {
		struct attachment *a = &s->pods[i].a;
		if (*a->netns)
			netns_drop(a->netns);
		*a = (struct attachment){ .gone = true };
	}
	if (s->n_rows == MAX_POINTS)
		fail("too many points");
	*r = (struct row){ .cycle = s->begun };
	take_latencies(s, r);
	probe(s, r);
	count_all(s, &r->c);
	compare_world(s);
	s->n_rows++;
}
