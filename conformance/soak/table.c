/* SPDX-License-Identifier: Apache-2.0 */
/* table.c: the figures, as Markdown, and the verdicts. */
#include "conformance/soak/soak.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static double ms(uint32_t us)
{
	return us / 1000.0;
}

static void line(const char *what, long first, long last)
{
	printf("| %s | %ld | %ld |\n", what, first, last);
}

static void side_by_side(const struct row *a, const struct row *b)
{
	static const char *const cmd[] = { "ADD", "DEL" };

	printf("| | start | end |\n| --- | --- | --- |\n");
	for (int v = 0; v < 2; v++) {
		printf("| %s, median, ms | %.2f | %.2f |\n", cmd[v], ms(a->p50[v]), ms(b->p50[v]));
		printf("| %s, 99th percentile, ms | %.2f | %.2f |\n", cmd[v], ms(a->p99[v]),
		       ms(b->p99[v]));
	}
	line("peak memory of a process of ADD or DEL, KiB", a->rss, b->rss);
	line("descriptors that a process inherits, besides 0, 1 and 2", a->inherited, b->inherited);
	line("descriptors that a process holds at its end, besides those", a->holds, b->holds);
	line("descriptors of the driver", a->c.fds, b->c.fds);
	line("MemAvailable of the machine, MiB", a->c.available, b->c.available);
	line("slabs of the kernel, MiB", a->c.slab, b->c.slab);
	line("network namespaces in the kernel's slab", a->c.namespaces, b->c.namespaces);
	line("bytes below /var/lib/railhead", a->c.store, b->c.store);
	line("addresses leased", a->c.leases, b->c.leases);
	line("addresses at rest", a->c.resting, b->c.resting);
	line("files and folders below /run/railhead", a->c.files_run, b->c.files_run);
	line("files and folders below /var/lib/railhead", a->c.files_lib, b->c.files_lib);
	line("links on the host", a->c.links, b->c.links);
	line("named network namespaces", a->c.netns, b->c.netns);
}

static void series(const struct soak *s)
{
	printf("\n| cycle | ADD p50, p99, ms | DEL p50, p99, ms | KiB | fds | MemAvailable, slab, "
	       "MiB "
	       "| store, bytes | files | leases |\n| --- | --- | --- | --- | --- | --- | --- | --- "
	       "| "
	       "--- |\n");
	for (int i = 0; i < s->n_rows; i++) {
		const struct row *r = &s->rows[i];

		printf("| %ld | %.2f, %.2f | %.2f, %.2f | %ld | %ld | %ld, %ld | %ld | %ld, %ld | "
		       "%ld "
		       "|\n",
		       r->cycle, ms(r->p50[0]), ms(r->p99[0]), ms(r->p50[1]), ms(r->p99[1]), r->rss,
		       r->c.fds, r->c.available, r->c.slab, r->c.store, r->c.files_run,
		       r->c.files_lib, r->c.leases);
	}
	printf("\n");
}

void table_print(const struct soak *s)
{
	side_by_side(&s->rows[0], &s->rows[s->n_rows - 1]);
	series(s);
}

/* ---- verdicts ---- */

struct verdicts {
	int passed, failed;
};

static void verdict(struct verdicts *v, bool ok, const char *what, long got)
{
	int n = ok ? ++v->passed + v->failed : v->passed + ++v->failed;

	printf("%s %d - soak: %s", ok ? "ok" : "not ok", n, what);
	printf(ok ? "\n" : " (%ld)\n", got);
}

/* How much the largest of all rows is above the first. */
static long growth(const struct soak *s, size_t offset)
{
	long first = 0, most = 0;

	for (int i = 0; i < s->n_rows; i++) {
		long x;

		memcpy(&x, (const char *)&s->rows[i].c + offset, sizeof(x));
		first = i ? first : x;
		most = x > most ? x : most;
	}
	return most - first;
}

#define GROWTH(s, member) growth(s, offsetof(struct counts, member))

static void judge_growth(const struct soak *s, struct verdicts *v)
{
	int inherited = 0, holds = 0;

	for (int i = 0; i < s->n_rows; i++) {
		inherited += s->rows[i].inherited;
		holds += s->rows[i].holds;
	}
	verdict(v, inherited == 0, "a plugin and its IPAM inherit no descriptor", inherited);
	verdict(v, holds == 0, "they hold none at their end", holds);
	verdict(v, GROWTH(s, fds) == 0, "the driver's descriptors do not grow", GROWTH(s, fds));
	verdict(v, GROWTH(s, files_run) == 0, "files below /run/railhead do not grow",
		GROWTH(s, files_run));
	verdict(v, GROWTH(s, files_lib) == 0, "files below /var/lib/railhead do not grow",
		GROWTH(s, files_lib));
	/* Pages that were freed are used again, but how many are free at the worst is chance. */
	verdict(v, GROWTH(s, store) <= s->rows[0].c.store / 4, "the store does not grow",
		GROWTH(s, store));
	verdict(v, GROWTH(s, links) == 0, "links on the host do not grow", GROWTH(s, links));
	verdict(v, GROWTH(s, netns) == 0, "network namespaces do not grow", GROWTH(s, netns));
}

int judge(const struct soak *s)
{
	struct verdicts v = { 0, 0 };

	verdict(&v, s->begun == s->cycles, "all cycles were run", s->begun);
	verdict(&v, s->killed > 0 || s->kill_permille == 0, "runs were killed", s->killed);
	verdict(&v, s->failed == 0, "every run that was let live did its work", s->failed);
	verdict(&v, s->duplicates == 0, "no two live attachments held one address", s->duplicates);
	verdict(&v, s->leaked == 0,
		s->heal_s ? "the agent left no lease, interface or record in its time"
			  : "no lease, interface or record was left after GC",
		s->leaked);
	judge_growth(s, &v);
	verdict(&v, s->changed == 0, "with nothing alive, the world is always the same",
		s->changed);
	printf("\n%d passed, %d failed, 0 skipped\n", v.passed, v.failed);
	if (s->heal_s)
		printf("soak: the agent healed %ld times untouched, in %.1f s at most (allowed: %d "
		       "s)\n",
		       s->healed, (double)s->longest_heal / 1e6, s->heal_s);
	printf("soak: %ld cycles, %ld killed, %ld leaked, %ld duplicates, %ld failed\n", s->begun,
	       s->killed, s->leaked, s->duplicates, s->failed);
	return v.failed;
}
