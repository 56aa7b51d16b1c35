/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.h: the objects of a selection, as they are and as they change: a list, then a watch.
 *
 * A watch that the store ended in order goes on where it ended. After any other end the objects are
 * listed again: a store that was away may have been restored, and its revisions say nothing then.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_FOLLOW_H
#define RAILHEAD_RAILHEADD_POOLS_FOLLOW_H

#include "cluster/store/cluster_store.h"

struct event_base;

struct follow_fns {
	/* begun - a list begins; what an earlier one brought and did not end is void. */
	void (*begun)(void *arg);
	/* item - an object of a list. listed - the list is complete: what was not in it is gone. */
	void (*item)(void *arg, const struct cluster_object *object);
	void (*listed)(void *arg);
	/* changed - as of a watch. */
	void (*changed)(void *arg, const struct cluster_object *object, bool gone);
	/* contact - NULL: the store answers; else why it does not. */
	void (*contact)(void *arg, const struct err *why);
	/* refused - the store answers, and refuses the list or the watch. */
	void (*refused)(void *arg, const struct err *why);
	/* random - for pauses: all nodes of a cluster begin again at the same time. */
	uint64_t (*random)(void *arg);
};

struct follow;

/* All borrowed. */
struct follow_conf {
	struct event_base *base;
	struct cluster_store *store;
	const struct cluster_selector *which;
	const struct follow_fns *fns;
	void *arg;
};

/*
 * follow_new - begin. Changes are reported from the loop. follow_free - end; nothing more is
 * reported. NULL is fine.
 */
int follow_new(const struct follow_conf *conf, struct follow **out, struct err *e) must_check;
/* follow_again - list the objects again, soon; also from one of fns. */
void follow_again(struct follow *f);
void follow_free(struct follow *f);

#endif
