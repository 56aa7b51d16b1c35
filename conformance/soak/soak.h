/* SPDX-License-Identifier: Apache-2.0 */
/* soak.h: what the files of the soak test have in common. */
#ifndef CONFORMANCE_SOAK_SOAK_H
#define CONFORMANCE_SOAK_SOAK_H

#include "conformance/harness/text.h"
#include "conformance/soak/call.h"

enum { MAX_PODS = 256, MAX_LEFT = 1024, MAX_POINTS = 64 };

/* ---- place.c: network namespaces ---- */

/* place_has - does its namespace have the interface, and all its addresses? */
bool place_has(const struct attachment *a);
/* place_has_link - does its namespace have the interface? */
bool place_has_link(const struct attachment *a);
/* place_links - how many links of the host there are besides lo. */
int place_links(void);

/* ---- count.c ---- */

struct counts {
	long fds, files_run, files_lib, store, links, netns, leases, resting;
	long available, slab, namespaces; /* MiB, MiB, objects of the kernel's; -1: unreadable */
};
/* count_files - everything below dir; bytes: of the files. */
long count_files(const char *dir, long *bytes);
long count_fds(void);
void count_memory(struct counts *c);

/* ---- cycle.c, rest.c, table.c ---- */

enum phase { FREE, ADDING, UP, DUE, DELETING };
struct pod {
	enum phase phase; /* DUE: a DEL is the next thing to happen */
	struct attachment a;
	struct call call;
	struct plan plan;
	int dels;           /* still to be made */
	bool without_netns; /* DEL gets an empty CNI_NETNS */
	bool spared;        /* DEL is not killed again */
};

struct latencies {
	uint32_t *us[2]; /* ADD, DEL: runs without a kill since the last point */
	long n[2];
};

struct row {
	long cycle;
	uint32_t p50[2], p99[2];
	long rss;
	int inherited, holds;
	struct counts c;
};

struct soak {
	const char *bindir, *plugin, *work;
	struct text conf;          /* the configuration */
	struct text world;         /* how it is when nothing lives */
	long cycles, begun, limit; /* limit: begin no more cycles than that */
	int parallel, n_pods, running, kill_permille;
	int heal_s;   /* an agent repairs, within so many seconds; 0: GC does */
	bool healing; /* what is left is no leak yet */
	uint64_t seed, state;
	double usual[N_COMMANDS]; /* duration of a run */
	bool may_end;
	struct pod pods[MAX_PODS];
	struct attachment left[MAX_LEFT]; /* to GC */
	int n_left;
	struct latencies lat;
	struct row rows[MAX_POINTS];
	int n_rows;
	long killed, duplicates, failed, leaked, gcs, forgotten, changed, healed;
	int64_t longest_heal; /* us */
	int64_t began, told;
};

/* complain - count a failure and say it, the first ones. */
void complain(struct soak *s, const struct call *c, const char *what, const struct attachment *a);
/* cycle_step - let a pod do what comes next; false: it has nothing to do now. */
bool cycle_step(struct soak *s, struct pod *p);
/* cycle_look - take note of the runs that ended, and let the blows fall that are due. */
void cycle_look(struct soak *s);
/* cycle_wait - the same, when something of that happens. */
void cycle_wait(struct soak *s);
/* quiet - nothing runs: GC, then compare what is there with what must be there. */
void quiet(struct soak *s);
/* rest - nothing lives: all must be gone. Measures a row. */
void rest(struct soak *s);
void table_print(const struct soak *s);
/* judge - a line for each thing that must hold; returns how many do not. */
int judge(const struct soak *s);

#endif
