/* SPDX-License-Identifier: Apache-2.0 */
/* rest.c: what must hold whenever nothing runs, and when nothing lives. */
#include "conformance/soak/soak.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OUTPUT = 1 << 20, PROBES = 5 };

/* ---- garbage collection ---- */

/* The configuration with the list of attachments that are to stay. */
static void write_gc_conf(const struct soak *s, const char *path)
{
	char text[4096];
	FILE *in = fopen(s->conf, "re"), *out = fopen(path, "we");
	const char *between = "";

	if (!in || !out)
		fail(path);
	size_t n = fread(text, 1, sizeof(text) - 1, in);
	text[n] = '\0';
	char *brace = strrchr(text, '}');
	if (!brace)
		fail(s->conf);
	*brace = '\0';
	fprintf(out, "%s,\"cni.dev/valid-attachments\":[", text);
	for (int i = 0; i < s->n_pods; i++) {
		if (s->pods[i].phase != UP)
			continue;
		fprintf(out, "%s{\"containerID\":\"%s\",\"ifname\":\"" IFNAME "\"}", between,
			s->pods[i].a.container);
		between = ",";
	}
	fprintf(out, "]}");
	fclose(in);
	if (fclose(out))
		fail(path);
}

static void wait_for(struct call *c)
{
	const struct timespec pause = { 0, 100000 };

	for (;;) {
		pid_t pid = waitpid(-1, &c->status, c->due ? WNOHANG : 0);
		if (pid < 0)
			fail("waitpid");
		if (pid == c->pid)
			return;
		if (c->due && c->due <= now_us())
			call_strike(c);
		else if (c->due)
			nanosleep(&pause, NULL);
	}
}

static bool run_gc(struct soak *s, const char *conf, struct blow blow)
{
	struct call c = { .verb = GC, .blow = blow };
	struct env v;

	call_env(&v, GC, s->bindir, NULL);
	c.due = blow.target ? now_us() + (int64_t)(blow.when * s->usual[GC]) : 0;
	call_start(&c, s->plugin, conf, &v);
	wait_for(&c);
	c.ended = now_us();
	bool ok = WIFEXITED(c.status) && WEXITSTATUS(c.status) == 0;
	s->killed += c.hit;
	if (!c.hit)
		s->usual[GC] += ((double)(c.ended - c.began) - s->usual[GC]) / 8;
	if (!ok && !c.hit)
		complain(s, &c, "failed", NULL);
	close(c.out);
	return ok || !c.hit;
}

static void collect(struct soak *s)
{
	const struct blow none = { NOBODY, 0 };
	struct plan p = plan_make(s->seed, -++s->gcs, s->kill_permille * 4);
	char conf[256];

	snprintf(conf, sizeof(conf), "%s/gc.json", s->work);
	write_gc_conf(s, conf);
	for (int i = 0; i < s->n_left; i++)
		s->left[i].n_addresses = 0;
	if (!run_gc(s, conf, p.add))
		(void)run_gc(s, conf, none);
}

/* ---- comparing ---- */

static int railctl(const struct soak *s, const char *const *words, char *out)
{
	char program[512];
	const char *argv[8] = { program };

	snprintf(program, sizeof(program), "%s/railctl", s->bindir);
	for (int i = 0; words[i]; i++)
		argv[i + 1] = words[i];
	return run_program(argv, out, OUTPUT);
}

static long leaked(const char *what, const char *name)
{
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

static long compare_leases(struct soak *s, char *text)
{
	static const char *const words[] = { "ipam", "lease", "list", "--json", NULL };
	static const char key[] = "\"address\": \"";
	long found = 0, wanted = 0, lost = 0;

	if (railctl(s, words, text))
		complain(s, NULL, "railctl ipam lease list failed", NULL);
	for (const char *at = text; (at = strstr(at, key)) != NULL; found++) {
		char name[TEXT];

		at += strlen(key);
		int len = (int)strcspn(at, "\"");
		snprintf(name, sizeof(name), "%.*s", len, at);
		if (!is_wanted(s, at, len))
			lost += leaked("lease", name);
	}
	for (int i = 0; i < s->n_pods; i++)
		wanted += s->pods[i].a.n_addresses;
	if (found - lost < wanted)
		complain(s, NULL, "a live address is not leased", NULL);
	return lost;
}

static long count_text(const char *text, const char *what)
{
	long n = 0;

	for (; (text = strstr(text, what)) != NULL; text += strlen(what))
		n++;
	return n;
}

static long compare_records(struct soak *s, char *text)
{
	static const char *const words[] = { "attachments", "list", "--json", NULL };
	long up = 0;

	if (railctl(s, words, text))
		complain(s, NULL, "railctl attachments list failed", NULL);
	for (int i = 0; i < s->n_pods; i++)
		up += s->pods[i].phase == UP;
	long records = count_text(text, "\"container\": \"");
	if (count_text(text, "\"state\": \"healthy\"") < up)
		complain(s, NULL, "a live attachment has no healthy record", NULL);
	for (long i = up; i < records; i++)
		(void)leaked("record", "(of an attachment that was removed)");
	return records > up ? records - up : 0;
}

static long compare_links(struct soak *s)
{
	const struct attachment bare = { .n_addresses = 0 };
	long lost = 0;

	for (int i = 0; i < s->n_pods; i++) {
		const struct pod *p = &s->pods[i];
		if (p->phase == UP && !place_has(p->a.netns, s->home, &p->a))
			complain(s, NULL, "a live attachment lost its interface", &p->a);
		if (p->phase == FREE && *p->a.netns && place_has(p->a.netns, s->home, &bare))
			lost += leaked("interface of", p->a.container);
	}
	for (int i = 0; i < s->n_left; i++) {
		const struct attachment *a = &s->left[i];
		if (a->gone)
			continue;
		if (place_has(a->netns, s->home, &bare))
			lost += leaked("interface of", a->container);
		place_drop(a->netns);
	}
	s->n_left = 0;
	return lost;
}

void quiet(struct soak *s)
{
	char *text = malloc(OUTPUT);

	if (!text)
		fail("memory");
	collect(s);
	long lost = compare_leases(s, text) + compare_records(s, text) + compare_links(s);
	/* What one sweep could not collect may be there at the next one, too: count it once. */
	if (lost > s->leaked)
		s->leaked = lost;
	free(text);
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
	struct env v;

	place_make(a.netns, s->home);
	for (int i = 0; i < 2 * PROBES; i++) {
		snprintf(a.container, TEXT, "probe-%d-%d", s->n_rows, i / 2);
		call_env(&v, i % 2 ? DEL : ADD, s->bindir, &a);
		struct traced t = trace_run(s->plugin, s->conf, &v);
		if (!WIFEXITED(t.status) || WEXITSTATUS(t.status) != 0)
			complain(s, NULL, "failed while it was looked at", &a);
		r->rss = t.rss > r->rss ? t.rss : r->rss;
		r->inherited = t.inherited > r->inherited ? t.inherited : r->inherited;
		r->holds = t.holds > r->holds ? t.holds : r->holds;
	}
	place_drop(a.netns);
}

static void count_all(struct soak *s, struct counts *c)
{
	static const char *const verify[] = { "ipam", "verify", NULL };
	static const char *const usage[] = { "ipam", "usage", "--json", NULL };
	long ignored;
	char *text = malloc(OUTPUT);

	if (!text)
		fail("memory");
	if (railctl(s, verify, text)) {
		fprintf(stderr, "soak: %.1000s\n", text);
		complain(s, NULL, "railctl ipam verify found something", NULL);
	}
	if (railctl(s, usage, text))
		complain(s, NULL, "railctl ipam usage failed", NULL);
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
	c->links = place_links(NULL, s->home);
	count_memory(c);
}

void rest(struct soak *s)
{
	struct row *r = &s->rows[s->n_rows];

	quiet(s);
	for (int i = 0; i < s->n_pods; i++) {
		struct attachment *a = &s->pods[i].a;
		if (*a->netns)
			place_drop(a->netns);
		*a = (struct attachment){ .gone = true };
	}
	if (s->n_rows == MAX_POINTS)
		fail("too many points");
	*r = (struct row){ .cycle = s->begun };
	take_latencies(s, r);
	probe(s, r);
	count_all(s, &r->c);
	s->n_rows++;
}
