/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c: differential OURS THEIRS SEED COUNT [ONLY]
 *
 * Gives COUNT generated configurations to two IPAM programs and compares their answers: two ADDs
 * each and the DELs after them. It prints a line for each difference without a listed reason. Then
 * it prints how often each listed reason occurred. ONLY: the number of one case, printed in detail.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/differential/diff.h"

#define WORKERS     2
#define REASONS_MAX 64
#define SHOWN_MAX   40

struct run {
	const char *ours, *theirs;
	uint64_t seed;
	unsigned count;
	bool loud;
};

struct tally {
	unsigned cases, both, neither, unexplained;
	unsigned reasons[REASONS_MAX];
};

/* In one write: the workers share standard output. */
static void show(const struct run *run, unsigned number, const struct generated *g,
		 const char *text)
{
	char *line = NULL;
	int n = asprintf(&line, "not ok - case %u of seed %llu: %s\n  # %s\n  # CNI_ARGS=%s\n",
			 number, (unsigned long long)run->seed, text, g->conf, g->args);

	if (n < 0 || write(STDOUT_FILENO, line, (size_t)n) != n)
		exit(2);
	free(line);
}

/* Both programs, one container. True when both gave the same addresses. */
static bool compare(const struct run *run, unsigned number, const char *id,
		    const struct generated *g, struct tally *t)
{
	struct answer ours, theirs;

	ask(run->ours, "ADD", id, g, &ours);
	ask(run->theirs, "ADD", id, g, &theirs);
	bool both = ours.ok && theirs.ok;
	char *text = differ(&ours, &theirs);
	int reason = text ? reason_for(text, &theirs) : -1;

	t->both += both;
	t->neither += !ours.ok && !theirs.ok;
	if (reason >= 0)
		t->reasons[reason]++;
	if (run->loud)
		(void)printf("%s\nours: %s\ntheirs: %s\n%s\n", g->conf, ours.ok ? "ok" : ours.msg,
			     theirs.ok ? "ok" : theirs.msg, text ? text : "equal");
	else if (text && reason < 0 && t->unexplained++ < SHOWN_MAX)
		show(run, number, g, text);
	both = both && !text;
	free(text);
	answer_clear(&ours);
	answer_clear(&theirs);
	return both;
}

static void del(const struct run *run, const char *id, const struct generated *g)
{
	struct answer a;

	ask(run->ours, "DEL", id, g, &a);
	answer_clear(&a);
	ask(run->theirs, "DEL", id, g, &a);
	answer_clear(&a);
}

static void one_case(const struct run *run, unsigned number, struct tally *t)
{
	struct random r = random_of(run->seed, number);
	struct generated g;
	char first[32], second[32];

	(void)snprintf(first, sizeof(first), "a%u", number);
	(void)snprintf(second, sizeof(second), "b%u", number);
	generate(&r, number, &g);
	t->cases++;
	if (compare(run, number, first, &g, t)) {
		/* the next address, and what a release does to the one after it */
		if (compare(run, number, second, &g, t))
			del(run, second, &g);
		del(run, first, &g);
	}
	free(g.conf);
}

static void add_up(struct tally *sum, const struct tally *t)
{
	sum->cases += t->cases;
	sum->both += t->both;
	sum->neither += t->neither;
	sum->unexplained += t->unexplained;
	for (int i = 0; i < REASONS_MAX; i++)
		sum->reasons[i] += t->reasons[i];
}

/* The pipe has a worker's tally when it is through; one that died leaves none. */
static int start_worker(const struct run *run, unsigned worker)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		exit(2);
	(void)fflush(stdout);
	if (fork() == 0) {
		struct tally t = { 0 };

		for (unsigned i = worker; i < run->count; i += WORKERS)
			one_case(run, i, &t);
		(void)fflush(stdout);
		_exit(write(fds[1], &t, sizeof(t)) != sizeof(t));
	}
	(void)close(fds[1]);
	return fds[0];
}

static int report(const struct tally *t, unsigned count)
{
	unsigned failed = t->unexplained, passed = 0;

	for (int i = 0; reason_text(i); i++) {
		(void)printf("%s - listed, met %u times: %s\n", t->reasons[i] ? "ok" : "not ok",
			     t->reasons[i], reason_text(i));
		failed += t->reasons[i] == 0;
		passed += t->reasons[i] != 0;
	}
	if (t->cases != count) {
		(void)printf("not ok - %u of %u cases were run\n", t->cases, count);
		failed++;
	}
	/* a generator that only makes garbage, or none, compares nothing */
	if (t->both < count / 4 || t->neither < count / 10) {
		(void)printf("not ok - %u answers with addresses, %u refusals\n", t->both,
			     t->neither);
		failed++;
	}
	(void)printf("# %u configurations: %u times both gave addresses, %u times both refused\n",
		     t->cases, t->both, t->neither);
	(void)printf("%u passed, %u failed, 0 skipped\n",
		     passed + t->cases - (failed < t->cases ? failed : 0), failed);
	return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct tally sum = { 0 };
	int fds[WORKERS];

	if (argc < 5) {
		(void)fprintf(stderr, "usage: differential OURS THEIRS SEED COUNT [ONLY]\n");
		return 2;
	}
	struct run run = { argv[1], argv[2], strtoull(argv[3], NULL, 10),
			   (unsigned)strtoul(argv[4], NULL, 10), argc > 5 };
	if (run.loud) {
		one_case(&run, (unsigned)strtoul(argv[5], NULL, 10), &sum);
		return 0;
	}
	for (unsigned i = 0; i < WORKERS; i++)
		fds[i] = start_worker(&run, i);
	for (unsigned i = 0; i < WORKERS; i++) {
		struct tally t;

		if (read(fds[i], &t, sizeof(t)) == sizeof(t))
			add_up(&sum, &t);
		(void)close(fds[i]);
	}
	while (wait(NULL) > 0)
		;
	return report(&sum, run.count);
}
