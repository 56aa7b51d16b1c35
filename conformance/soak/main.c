/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c: many attachments come and go, some of their runs killed at random moments.
 *
 *	soak BINDIR CONF WORK CYCLES SEED KILL-PERMILLE [HEAL-SECONDS]
 *
 * With HEAL-SECONDS no GC is called: an agent must have repaired everything by then.
 * Runs in a sandbox whose network namespace is the host: the master of CONF is there, and its
 * pools.
 */
#include "conformance/soak/soak.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { PARALLEL = 32, PODS = 96, SWEEP = 250, EVERY = 5000, WINDOW = 1000, TELL = 5000000 };

static void tell(struct soak *s)
{
	int64_t now = now_us();
	int live = 0;

	if (now - s->told < TELL)
		return;
	s->told = now;
	for (int i = 0; i < s->n_pods; i++)
		live += s->pods[i].phase == UP;
	fprintf(stderr,
		"soak: %ld of %ld cycles, %.0f a second; %d live, %ld killed, %ld left to GC, %ld "
		"leaked, "
		"%ld duplicates, %ld failed\n",
		s->begun, s->cycles, (double)s->begun * 1e6 / (double)(now - s->began), live,
		s->killed, s->forgotten, s->leaked, s->duplicates, s->failed);
}

/* Some pod that has something to do does it; false when none has. */
static bool step_any(struct soak *s)
{
	int first = (int)(plan_random(&s->state) % (uint64_t)s->n_pods);

	for (int i = 0; i < s->n_pods; i++)
		if (cycle_step(s, &s->pods[(first + i) % s->n_pods]))
			return true;
	return false;
}

/* Until limit cycles have begun; then the runs on the way end, and the live ones too if ending. */
static void run_to(struct soak *s, long limit, bool ending)
{
	s->limit = limit;
	for (;;) {
		s->may_end = ending || s->begun < limit;
		while (s->running < s->parallel && step_any(s))
			cycle_look(s);
		if (s->running == 0)
			return;
		cycle_wait(s);
		tell(s);
	}
}

/* The next cycle at which everything ends and is counted. */
static long next_point(const struct soak *s)
{
	long window = s->cycles / 3 < WINDOW ? s->cycles / 3 : WINDOW;
	const long points[] = { window, (s->begun / EVERY + 1) * EVERY, s->cycles - window,
				s->cycles };
	long next = s->cycles;

	for (size_t i = 0; i < sizeof(points) / sizeof(*points); i++)
		if (points[i] > s->begun && points[i] < next)
			next = points[i];
	return next;
}

static void run(struct soak *s)
{
	while (s->begun < s->cycles) {
		long point = next_point(s);

		while (s->begun < point) {
			run_to(s, s->begun + SWEEP < point ? s->begun + SWEEP : point, false);
			quiet(s);
		}
		run_to(s, point, true);
		rest(s);
	}
}

static void prepare(struct soak *s)
{
	sigset_t set;

	/* Descriptors of our caller must not be counted as the plugins' descriptors. */
	if (close_range(3, ~0U, 0))
		fail("close_range");
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL) || prctl(PR_SET_CHILD_SUBREAPER, 1))
		fail("prepare");
	for (int v = 0; v < 2; v++) {
		/* A cycle may need more than one DEL. The last ones count then. */
		s->lat.us[v] = calloc((size_t)s->cycles, sizeof(uint32_t));
		if (!s->lat.us[v])
			fail("memory");
	}
	for (int v = 0; v < N_COMMANDS; v++)
		s->usual[v] = 20000;
	for (int i = 0; i < s->n_pods; i++)
		s->pods[i].a.gone = true;
	s->state = s->seed;
	s->began = s->told = now_us();
}

static void read_conf(struct soak *s, const char *path)
{
	FILE *f = fopen(path, "re");
	char line[4096];

	while (f && fgets(line, sizeof(line), f))
		text_add(&s->conf, "%s", line);
	if (!f || fclose(f) || !s->conf.p)
		fail(path);
}

static long number(const char *text, long most)
{
	char *end;

	errno = 0;
	long n = strtol(text, &end, 10);
	if (errno || *end || n < 0 || n > most) {
		fprintf(stderr, "soak: not a number between 0 and %ld: %s\n", most, text);
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	static struct soak s = { .parallel = PARALLEL, .n_pods = PODS };
	static char plugin[512];

	if (argc != 7 && argc != 8) {
		fprintf(stderr,
			"usage: soak BINDIR CONF WORK CYCLES SEED KILL-PERMILLE [HEAL-SECONDS]\n");
		return 2;
	}
	s.bindir = argv[1];
	read_conf(&s, argv[2]);
	s.work = argv[3];
	s.cycles = number(argv[4], 10000000);
	s.seed = (uint64_t)number(argv[5], INT64_MAX);
	s.kill_permille = (int)number(argv[6], 250);
	s.heal_s = argc == 8 ? (int)number(argv[7], 600) : 0;
	snprintf(plugin, sizeof(plugin), "%s/macvlan", s.bindir);
	s.plugin = plugin;
	prepare(&s);
	run(&s);
	table_print(&s);
	return judge(&s) ? 1 : 0;
}
