/* SPDX-License-Identifier: Apache-2.0 */
/* parent.c: hands the cases to the workers, and counts. */
#include "conformance/faults/faults.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conformance/faults/helper.h"
#include "conformance/faults/sample.h"

#define WORKERS    16
#define PROGRESS_S 5
/* Runs of a case that does not reach its fault: the number of system calls may depend on time. */
#define TRIES 3

struct score {
	unsigned runs, survived, needed, unreached, absent;
};

struct run {
	const struct options *o;
	struct cases cases;
	struct helper helper[WORKERS];
	size_t next;
	unsigned done, survived;
	struct score score[8];
	bool has_kind;
	time_t said;
};

/* ---- planning ---- */

static void plan(struct run *r)
{
	struct helper *h = &r->helper[0];
	char line[256];

	(void)fputs("plan\n", h->to);
	(void)fflush(h->to);
	while (fgets(line, sizeof(line), h->from) && *line != '.') {
		line[strcspn(line, "\n")] = '\0';
		cases_add(&r->cases, line);
	}
	if (*line != '.')
		die("the planning ended early");
	r->has_kind = strcmp(line, ".\n") == 0;
	if (r->o->sample)
		cases_sample(&r->cases, r->o->sample, r->o->seed, r->o->plugin);
}

/* ---- counting ---- */

static struct score *score_of(struct run *r, size_t at)
{
	struct fault f;

	if (!fault_parse(r->cases.list[at], r->o->plugin, &f))
		return &r->score[0];
	const char *class = fault_class(&f);
	for (size_t i = 0; i < fault_n_classes; i++) {
		if (fault_classes[i] == class)
			return &r->score[i];
	}
	return &r->score[0];
}

static void count(struct run *r, size_t at, const char *word, bool needed)
{
	struct score *s = score_of(r, at);

	if (strcmp(word, "unreached") == 0) {
		s->unreached++;
		return;
	}
	if (strcmp(word, "absent") == 0) {
		s->absent++;
		return;
	}
	r->done++;
	s->runs++;
	s->needed += needed;
	if (strcmp(word, "survived") != 0)
		return;
	r->survived++;
	s->survived++;
}

static void tell_failure(const struct run *r, size_t at, const char *evidence)
{
	(void)printf("not ok - %s\n%s  # again: conformance/faults/run.sh %s --plugin %s --only "
		     "'%s'\n",
		     r->cases.list[at], evidence, r->o->bin, r->o->plugin, r->cases.list[at]);
	(void)fflush(stdout);
}

static void hand_over(const struct run *r, struct helper *h)
{
	(void)fprintf(h->to, "%s\n", r->cases.list[h->at]);
	(void)fflush(h->to);
	h->tries++;
}

static void take_answer(struct run *r, struct helper *h)
{
	auto_text evidence = { .p = NULL };
	char line[8192] = "", word[16] = "leaked";
	bool needed;
	bool whole = false;

	text_add(&evidence, "%s", "");
	if (fgets(line, sizeof(line), h->from))
		(void)sscanf(line, "%15s", word);
	needed = strchr(line, '1') != NULL;
	while (fgets(line, sizeof(line), h->from)) {
		whole = strcmp(line, ".\n") == 0;
		if (whole)
			break;
		text_add(&evidence, "  # %s", line);
	}
	if (whole && strcmp(word, "unreached") == 0 && h->tries < TRIES) {
		hand_over(r, h);
		return;
	}
	h->busy = false;
	if (!whole) {
		(void)strcpy(word, "leaked");
		text_add(&evidence, "  # the worker died\n");
	}
	count(r, h->at, word, needed);
	if (strcmp(word, "leaked") == 0)
		tell_failure(r, h->at, evidence.p);
	else if (r->o->only)
		(void)printf("%s - %s\n", word, r->cases.list[h->at]);
	if (!whole) {
		helper_end(h);
		helper_start(r->o, h);
	}
}

/* ---- the run ---- */

static void progress(struct run *r, bool last)
{
	bool terminal = isatty(1);
	time_t now = time(NULL);

	if (r->o->only || (!last && now < r->said + (terminal ? 1 : PROGRESS_S)))
		return;
	r->said = now;
	(void)printf("faults: %u of %zu, %u survived%s", r->done, r->cases.n, r->survived,
		     terminal && !last ? "\r" : "\n");
	(void)fflush(stdout);
}

static bool hand_out(struct run *r)
{
	bool busy = false;

	for (unsigned i = 0; i < r->o->workers; i++) {
		struct helper *h = &r->helper[i];
		if (!h->busy && r->next < r->cases.n) {
			h->at = r->next++;
			h->busy = true;
			h->tries = 0;
			hand_over(r, h);
		}
		busy = busy || h->busy;
	}
	return busy;
}

static void run_all(struct run *r)
{
	struct pollfd p[WORKERS];

	while (hand_out(r)) {
		for (unsigned i = 0; i < r->o->workers; i++)
			p[i] = (struct pollfd){ .fd = r->helper[i].busy ? fileno(r->helper[i].from)
									: -1,
						.events = POLLIN };
		(void)poll(p, r->o->workers, 1000);
		for (unsigned i = 0; i < r->o->workers; i++) {
			if (p[i].revents)
				take_answer(r, &r->helper[i]);
		}
		progress(r, false);
	}
	progress(r, true);
}

/* The table of docs/faults.md. */
static void table(const struct run *r)
{
	(void)printf("\n| %s: fault | runs | survived | of ADDs, left something for DEL | not "
		     "reached |\n"
		     "| --- | ---: | ---: | ---: | ---: |\n",
		     r->o->plugin);
	for (size_t i = 0; i < fault_n_classes; i++) {
		const struct score *s = &r->score[i];
		(void)printf("| %s | %u | %u | %u | %u |\n", fault_classes[i], s->runs, s->survived,
			     s->needed, s->unreached);
	}
	(void)printf("\n");
}

/*
 * A fault that is planned but not met proves nothing. A few are not, where processes run at once:
 * one in fifty, and one more, as a sample may be smaller.
 */
static bool enough_reached(const struct run *r)
{
	unsigned unreached = 0;

	for (size_t i = 0; i < fault_n_classes; i++)
		unreached += r->score[i].unreached;
	if (unreached * 50 <= r->done + 50 && unreached <= r->done)
		return true;
	(void)printf("%u planned faults were not reached\n", unreached);
	return false;
}

static int finish(const struct run *r)
{
	if (r->o->only && !r->done) {
		(void)printf("not reached, or not here\n");
		return 1;
	}
	table(r);
	if (!r->has_kind && !r->o->only)
		(void)printf("%s: not here: this kernel has no %s links; what could be run, was\n",
			     r->o->plugin, r->o->plugin);
	bool good = enough_reached(r);
	(void)printf("faults survived: %u of %u\n", r->survived, r->done);
	return good && r->done && r->survived == r->done ? 0 : 1;
}

int parent_main(const struct options *o)
{
	static struct run r;

	r = (struct run){ .o = o, .said = time(NULL) };
	if (o->workers > WORKERS)
		die("at most %d workers", WORKERS);
	(void)signal(SIGPIPE, SIG_IGN);
	for (unsigned i = 0; i < o->workers; i++)
		helper_start(o, &r.helper[i]);
	if (o->only)
		cases_add(&r.cases, o->only);
	else
		plan(&r);
	if (o->list) {
		for (size_t i = 0; i < r.cases.n; i++)
			(void)puts(r.cases.list[i]);
		return 0;
	}
	run_all(&r);
	for (unsigned i = 0; i < o->workers; i++)
		helper_end(&r.helper[i]);
	return finish(&r);
}
