/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric.h: a simulated fabric, which answers the tests of rdma/job/judge.h.
 *
 * Everything is drawn from a seed: size, wiring, models of hosts, noise, and the fault that is
 * planted. The model knows nothing of a judge beyond its data types.
 *
 * A flow gets the lowest of these: both NICs, links and PCIe slots, and its share of the uplinks of
 * both leaves. Each flow has four queue pairs. Without adaptive routing a hash puts each on an
 * uplink, and two on one uplink share it. Uplinks are as fast as the fastest link of a host.
 */
#ifndef RAILHEAD_RDMA_TESTING_FABRIC_H
#define RAILHEAD_RDMA_TESTING_FABRIC_H

#include "rdma/job/judge.h"

enum fabric_layout {
	FABRIC_BY_RAIL, /* a leaf has one rail of its hosts */
	FABRIC_BY_TWO,  /* ... two rails */
	FABRIC_TOR,     /* ... all rails */
	FABRIC_PLANES,  /* ... all even rails, or all odd ones */
	FABRIC_SINGLE,  /* ... all rails of one host */
	FABRIC_LAYOUTS
};

/* A fault has a loss, in percent of the rate; 100 is dead. */
enum fabric_fault {
	FABRIC_CLEAN,
	FABRIC_END,        /* NIC, cable or port of the leaf: out, in or both */
	FABRIC_END_LONE,   /* the same where each leaf has one host */
	FABRIC_END_80,     /* the same, but only in 80 percent of the tests */
	FABRIC_END_50,     /* ... 50 percent */
	FABRIC_TWO_ENDS,   /* the same at two ends, if the first test of both is with each other */
	FABRIC_HOST,       /* all rails of a host */
	FABRIC_LEAF,       /* all ends of a leaf */
	FABRIC_PATH,       /* between two leaves */
	FABRIC_SWITCH,     /* two rails of a host, only while all rails are loaded; never dead */
	FABRIC_EVERYTHING, /* all links; never dead */
	FABRIC_SLOT,       /* a PCIe slot has half or a quarter of its lanes, and says so */
	/* Those that follow have no loss. */
	FABRIC_END_MTU,  /* full packets are lost at an end */
	FABRIC_LEAF_MTU, /* ... at a leaf */
	FABRIC_CLASS,    /* an end has another traffic class */
	FABRIC_GID,      /* ... kind of GID */
	FABRIC_MTU,      /* ... MTU */
	FABRIC_FAILS,    /* a rank fails its tests, from some batch on */
	FABRIC_NO_RANK,
	FABRIC_NO_RAIL,
	FABRIC_UNTESTABLE, /* a card */
	FABRIC_FAULTS
};

/* 0: a fault without a loss */
#define FABRIC_LOSSES                                                                              \
	{                                                                                          \
		0, 5, 10, 25, 50, 75, 100                                                          \
	}
#define FABRIC_N_LOSSES 7

/* What is planted. A place is an end, a rank with JUDGE_EVERY, or a leaf without a rank. */
struct fabric_truth {
	enum fabric_fault fault;
	unsigned loss;   /* percent */
	unsigned chance; /* percent of the tests in which it is active */
	enum judge_way way;
	size_t n_places; /* two leaves of FABRIC_PATH: the way out is from the first to the second
			  */
	struct judge_end places[2];
};

/* Hosts that are alike. */
struct fabric_model {
	double nominal, efficiency;
	double both; /* of the rate while both directions run */
	double all;  /* ... while all rails run */
};

struct fabric_neighbour {                  /* another job on a quarter of the uplinks of a leaf */
	size_t leaf, quarter, from, until; /* batches */
	double share;
};

struct fabric {
	struct judge_facts facts;
	struct fabric_truth truth;
	enum fabric_layout layout;
	size_t hosts_a_leaf, n_leaves, n_uplinks, oversubscription;
	bool adaptive, mixed, unknown_leaves, measures_both;
	bool quiet; /* no noise, neighbours, busy ranks and collisions: for tests of the model */
	double uplink_rate, sigma;
	struct fabric_model models[2];
	size_t n_busy, n_neighbours;
	uint16_t busy[5]; /* ranks with too little CPU now and then */
	struct fabric_neighbour neighbours[3];
	size_t fails_from;        /* batch */
	struct judge_rank *ranks; /* facts.ranks */
	uint16_t *leaf;           /* of each end, also of those that do not know it */
	bool *tested;             /* each end, once it was in a test; of FABRIC_TWO_ENDS only */
	double *quality;          /* of each end, about 1 */
	double *up, *down;        /* loads of n_leaves * n_uplinks, 0 between calls */
	size_t batches, tests;    /* so far */
	uint64_t random;
};

/* fabric_can - does the fault occur with this loss (0: none)? fabric_name - of a fault. */
bool fabric_can(enum fabric_fault fault, unsigned loss);
const char *fabric_name(enum fabric_fault fault);

/* fabric_new - draw a fabric, and plant a fault with its loss. Ends the program without memory. */
struct fabric *fabric_new(uint64_t seed, enum fabric_fault fault, unsigned loss);
void fabric_free(struct fabric **f);
#define auto_fabric auto_clean(fabric_free)

/* fabric_run - results[i] of tests[i], which run at once. */
void fabric_run(struct fabric *f, const struct judge_test *tests, size_t n,
		struct judge_result *results);

/* fabric_rate - of one flow without noise, alone in the fabric; 0: dead. */
double fabric_rate(const struct fabric *f, const struct judge_test *t, bool from_b);

/* Each place that is planted is one of the first three; the two leaves of a path are one place. */
struct fabric_score {
	unsigned named;     /* a fitting cause, and at most two ends or the leaf */
	unsigned undecided; /* JUDGE_UNDECIDED or JUDGE_WHOLE, or a fitting cause with more ends */
	unsigned missed;
	unsigned alarms; /* findings that hold nothing faulty */
	unsigned notes;  /* the same as JUDGE_NOISY or JUDGE_UNDECIDED without `fails` */
};

/* fabric_score - what the findings are worth. */
struct fabric_score fabric_score(const struct fabric *f, const struct judge_finding *findings,
				 size_t n);

/* fabric_is_alarm - is it one of `alarms`? *note: it is one of `notes`. */
bool fabric_is_alarm(const struct fabric *f, const struct judge_finding *finding, bool *note);

#endif
