/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checked.h: pods of RoCE and the findings of the doctor about them. For test programs only.
 *
 * Each function fails the test on error.
 */
#ifndef RAILHEAD_DIAG_TESTING_CHECKED_H
#define RAILHEAD_DIAG_TESTING_CHECKED_H

#include "diag/doctor.h"

/* A pod and the probe data about it. All is right until a test changes it. */
struct checked {
	struct rdma_inventory v;
	struct rails rails;
	struct probe_data data;
	struct findings found;
};

void checked_clear(struct checked *p);
#define auto_checked auto_clean(checked_clear)

/*
 * checked_vf - a pod with one VF, net1 on mlx5_1, in mode exclusive. checked_macvlan - net1 is
 * macvlan on mlx5_0, whose table a neighbour was in first.
 */
void checked_vf(struct checked *p);
void checked_macvlan(struct checked *p, enum rdma_mode mode);

/*
 * checked_find_rails - call it after the inventory was changed, and before the data are: it makes
 * good data. checked_set_var - the process has this variable and no other; "": none.
 */
void checked_find_rails(struct checked *p);
void checked_set_var(struct probe_data *f, const char *line);

/* checked_run - run the doctor. Each finding must have the texts of its state. */
void checked_run(struct checked *p);

/*
 * checked_look - the finding, borrowed; NULL: there is none. checked_finds - what is "check state"
 * or "check subject state": that finding is there, and one of its texts has part.
 */
const struct finding *checked_look(const struct checked *p, const char *check, const char *subject);
void checked_finds(const struct checked *p, const char *what, const char *part);

#endif
