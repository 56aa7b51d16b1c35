/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_labels.c: reads and writes the labels, one transaction each. */
#include "ipam/lease/cluster_labels.h"

#include "ipam/conf/labels.h"
#include "ipam/lease/label_db.h"

struct label_job {
	const struct json *put;
	struct json *got;
};

static int get_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct label_job *job = arg;

	json_free(TAKE_PTR(job->got));
	return label_db_load(l, &job->got, e);
}

int cluster_labels_get(struct ipam *m, struct json **out, struct err *e)
{
	struct label_job arg = { .got = NULL };
	struct ipam_job job = { STORE_READ, "LABELS", get_in_txn, &arg, NULL };

	return ipam_read(m, &job, &arg.got, out, e);
}

static int cluster_labels_put_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	const struct label_job *job = arg;

	return label_db_put(l, job->put, e);
}

/* True: they are as they should be. A damaged record is written again. */
static bool cluster_labels_is_same(struct ipam *m, const struct json *labels)
{
	auto_json struct json *now = NULL;
	struct err ignored;

	return cluster_labels_get(m, &now, &ignored) == 0 && json_same(now, labels);
}

int cluster_labels_put(struct ipam *m, const struct json *labels, struct err *e)
{
	struct label_job arg = { .put = labels };
	struct ipam_job job = { STORE_WRITE, "LABELS", cluster_labels_put_in_txn, &arg, NULL };

	if (labels_check(labels, "labels", e))
		return -1;
	return cluster_labels_is_same(m, labels) ? 0 : ipam_run(m, &job, e);
}
