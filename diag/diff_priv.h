/* SPDX-License-Identifier: Apache-2.0 */
/* diff_priv.h: what the files of diag share. */
#ifndef RAILHEAD_DIAG_DIFF_PRIV_H
#define RAILHEAD_DIAG_DIFF_PRIV_H

#include "diag/diff.h"

#define DIFF_LABEL_LEN 64
#define DIFF_TEXT_LEN  256

/* A device of both machines; NULL: only the other machine has it. */
struct diff_pair {
	const struct json *expected, *found;
	char label[DIFF_LABEL_LEN]; /* "GPU 3", "mlx5_0"; of the first machine that has it */
};

struct diff_pairs {
	struct diff_pair *item; /* owned */
	size_t n;
	bool any_address; /* an address is on both machines */
};

struct diff {
	struct diff_pairs gpu, hca;
	enum topo_diff_what what;
	struct findings *out;
};

/* ---- diff_pair.c ---- */

enum diff_kind { DIFF_GPU, DIFF_HCA };
/* diff_pair - fill *out with the devices of two lists. ERR_EXHAUSTED, ERR_NOMEM. */
int diff_pair(const struct json *expected, const struct json *found, enum diff_kind kind,
	      struct diff_pairs *out, struct err *e) must_check;
/* diff_is_fused - whether the second machine has that HCA as a part of one such as
 * "mlx5_0+mlx5_1": NCCL 2.21 to 2.23 writes fused ports so. */
bool diff_is_fused(const struct diff_pairs *p, const char *name);
/* diff_find - the pair whose device on one machine has this text as `key`; NULL: none. */
const struct diff_pair *diff_find(const struct diff_pairs *p, bool found, const char *key,
				  const char *text);

/* ---- diff_rows.c ---- */

/* diff_add - add a finding with "expected A, found B", where NULL is "none". */
struct finding *diff_add(struct diff *d, const char *id, enum finding_state state,
			 const char *expected, const char *found);
/* diff_gpu, diff_hca - compare the values of a device that both machines have. diff_gpu_nccl - only
 * NCCL's choice. */
void diff_gpu(struct diff *d, const struct diff_pair *p);
void diff_gpu_nccl(struct diff *d, const struct diff_pair *p);
void diff_hca(struct diff *d, const struct diff_pair *p);
/* diff_machine - compare the values of the whole documents. */
void diff_machine(struct diff *d, const struct json *expected, const struct json *found);

/* ---- diff_checks.c ---- */

/* diff_checks - compare the findings of both documents. ERR_NOMEM, also if there are too many. */
int diff_checks(struct diff *d, const struct json *expected, const struct json *found,
		struct err *e) must_check;

#endif
