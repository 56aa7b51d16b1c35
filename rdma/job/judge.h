/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.h: which ranks of a job measure with which, and what follows from their figures. Pure.
 *
 * The judge is a loop: judge_next() says which tests may run at once, the caller runs them and
 * hands their results to judge_results(). When there is no next batch, judge_findings() has the
 * verdict.
 *
 * First it compares what the ranks said of themselves (class, GID, MTU, rates). Then it looks
 * whether each end reaches others: its own leaf, and each pair of leaves. Then it measures rates,
 * one rail at a time: two rounds for all ends, and more for those that were slow, always with other
 * partners. Then all rails of a rank at once, and last more rounds for those that are still in
 * doubt.
 *
 * An end is slow if it was below JUDGE_LOW of the usual rate of its model, with two partners at
 * least. Chance must not explain that: the share of low results among other ends says how probable
 * one is.
 */
#ifndef RAILHEAD_RDMA_JOB_JUDGE_H
#define RAILHEAD_RDMA_JOB_JUDGE_H

#include "lib/base/err.h"

#define JUDGE_RANKS 1024u
#define JUDGE_RAILS 16u
#define JUDGE_LOW   0.9        /* of the baseline: below it a result is low */
#define JUDGE_NONE  UINT16_MAX /* no leaf known, no rank */
#define JUDGE_EVERY UINT8_MAX  /* every rail */

/* ---- what the ranks say of themselves ---- */

/* A rail of a rank. Numbers without a unit are names: equal means alike. */
struct judge_rail {
	bool present;     /* else the rank lacks this rail */
	bool untestable;  /* this kind of card cannot make the queue pairs of the test */
	uint16_t leaf;    /* JUDGE_NONE: not known */
	uint16_t model;   /* of the host, the card and its PCIe slot together */
	uint16_t gid;     /* kind of the GID: RoCE v1, v2 with IPv4, ... */
	uint16_t tclass;  /* traffic class, or service level on InfiniBand */
	uint32_t mtu;     /* bytes, of the port */
	uint64_t nominal; /* bytes a second: the lower of link and PCIe slot; 0: not known */
	bool pcie_low;    /* the slot runs below what card and slot can do */
};

struct judge_rank {
	bool here; /* else it did not come */
	struct judge_rail rails[JUDGE_RAILS];
};

struct judge_facts {
	size_t n_ranks, n_rails; /* 1 to JUDGE_RANKS, 1 to JUDGE_RAILS */
	const struct judge_rank *ranks;
	bool reach_only; /* no rates: the rails are in use */
	uint64_t seed;   /* of the random choices: equal seeds give equal tests */
};

/* ---- tests ---- */

enum judge_kind {
	JUDGE_REACH, /* a small message both ways, then large ones of full packets */
	JUDGE_LOAD,  /* rates of one rail */
	JUDGE_ALL, /* rates while all rails of both ranks are loaded: n_rails tests of one batch */
};

struct judge_test {
	enum judge_kind kind;
	uint16_t a, b; /* ranks, a != b */
	uint8_t rail;
};

enum judge_outcome {
	JUDGE_DONE,
	JUDGE_NO_SMALL, /* nothing came through */
	JUDGE_NO_LARGE, /* small messages came through, full packets did not */
	JUDGE_A_FAILED, /* rank a could not run the test: device, memory, it ended, it was silent */
	JUDGE_B_FAILED,
};

/* Bytes a second; only for JUDGE_LOAD and JUDGE_ALL with JUDGE_DONE. */
struct judge_result {
	enum judge_outcome outcome;
	double ab, ba;           /* one direction after the other */
	double both_ab, both_ba; /* both at once; 0: not measured */
	bool noisy;              /* a rank had too little CPU meanwhile: its rates say nothing */
};

/* ---- the verdict ---- */

enum judge_cause {
	JUDGE_CLASS,     /* another traffic class than most */
	JUDGE_GID,       /* another kind of GID */
	JUDGE_MTU,       /* another MTU of the port */
	JUDGE_RATE,      /* a lower rate of link or slot than others of its kind */
	JUDGE_PCIE,      /* the slot runs below what it can do */
	JUDGE_LACKS,     /* a rail that most ranks have */
	JUDGE_BROKEN,    /* the rank could not run its tests */
	JUDGE_UNREACHED, /* nothing comes through */
	JUDGE_SMALL_MTU, /* full packets do not come through */
	JUDGE_SLOW,      /* rates */
	JUDGE_SLOW_ALL,  /* slow only while all rails are loaded */
	JUDGE_WHOLE,     /* the median itself is below nominal: all are slow */
	JUDGE_NOISY,     /* too little CPU: no verdict on rates */
	JUDGE_UNDECIDED, /* low more than once, but chance would explain it */
	JUDGE_UNTESTED,  /* no test was possible: the rank did not come, or the card cannot */
	JUDGE_CAUSES
};

struct judge_end {
	uint16_t rank; /* JUDGE_NONE: all ranks of the leaf; without a leaf, all of the job */
	uint8_t rail;  /* JUDGE_EVERY: all rails of the rank */
	uint16_t leaf; /* to which the end is connected; JUDGE_NONE: not known, or several */
};

#define JUDGE_ENDS 4u
enum judge_way { JUDGE_OUT = 1, JUDGE_IN = 2, JUDGE_BOTH = 3 };

struct judge_finding {
	enum judge_cause cause;
	bool fails; /* else a warning */
	/* One of these is at fault, which cannot be separated further; usually one end. Two leaves:
	 * the way between them. */
	struct judge_end ends[JUDGE_ENDS];
	size_t n_ends;
	enum judge_way way;            /* of rates: seen from the end */
	double measured, expected;     /* bytes a second, or 0 */
	unsigned low, tests;           /* low results of all results of this end */
	uint16_t partners[JUDGE_ENDS]; /* with which it was seen, JUDGE_NONE behind the last */
};

struct judge;

/* judge_new - facts are copied. judge_free() frees *out. ERR_NOMEM; ERR_CONFIG: sizes. */
int judge_new(const struct judge_facts *facts, struct judge **out, struct err *e) must_check;
void judge_free(struct judge **j);
#define auto_judge auto_clean(judge_free)

/*
 * judge_next - the tests of the next batch, which run at once; *n is 0 when all is done. The array
 * is the judge's, and lasts until judge_results(). A rank has at most one
 * JUDGE_LOAD in a batch. It has at most one test of the other kinds for each rail.
 */
int judge_next(struct judge *j, const struct judge_test **tests, size_t *n,
	       struct err *e) must_check;

/* judge_results - results[i] of tests[i] of the last judge_next(). */
int judge_results(struct judge *j, const struct judge_result *results, struct err *e) must_check;

/* judge_findings - the verdict so far; the array is the judge's, until the next call. */
int judge_findings(struct judge *j, const struct judge_finding **out, size_t *n,
		   struct err *e) must_check;

#endif
