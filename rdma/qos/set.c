/* SPDX-License-Identifier: Apache-2.0 */
/* set.c: sets all settings of a profile, or none: each step has its inverse on the undo stack.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/device/sysfs.h"
#include "lib/rdma/traffic_class.h"
#include "rdma/qos/priv.h"

int qos_no_effect(const struct qos_change *t, enum qos_setting s, struct err *e)
{
	return err_set(e, ERR_STATE, 0,
		       "%s of %s: the driver said yes, but it is not so afterwards", qos_name(s),
		       t->w->port->netdev);
}

/* ---- ECN ---- */

/* All switches are tried; the first error is returned. */
static int write_side(const struct qos_change *t, const char *side, uint8_t from, uint8_t to,
		      struct err *e)
{
	char path[QOS_PATH_LEN];
	struct err more;
	int rc = 0;

	for (unsigned i = 0; i < DCB_PRIORITIES; i++) {
		if (!((from ^ to) >> i & 1))
			continue;
		if (sysfs_write(t->w->ctx->sysfs, qos_ecn_path(t->w->port, side, i, path),
				to >> i & 1 ? "1" : "0", rc ? &more : e))
			rc = -1;
	}
	return rc;
}

/* Undo the priorities that were set so far. */
static int ecn_back(void *arg, struct err *e)
{
	const struct qos_change *t = arg;
	uint8_t np = t->was.ecn_np, rp = t->was.ecn_rp;
	int rc = write_side(t, "roce_np", (uint8_t)~np, np, e);
	struct err more;

	return write_side(t, "roce_rp", (uint8_t)~rp, rp, rc ? &more : e) || rc ? -1 : 0;
}

static int set_ecn(struct qos_change *t, struct undo *u, struct err *e)
{
	uint8_t want = t->want->ecn;

	if (t->was.ecn_np == want && t->was.ecn_rp == want)
		return 0;
	undo_push(u, ecn_back, t, "put ECN back");
	t->changed |= QOS_BIT(QOS_ECN);
	return write_side(t, "roce_np", t->was.ecn_np, want, e) ||
			       write_side(t, "roce_rp", t->was.ecn_rp, want, e)
		       ? -1
		       : 0;
}

/* ---- congestion notifications ---- */

/* A number that could not be read before cannot be put back. */
static int cnp_back(void *arg, struct err *e)
{
	const struct qos_change *t = arg;

	return qos_cnp_restore(t->w->ctx->sysfs, t->w->port->pci, &t->cnp_was, e);
}

static int set_cnp(struct qos_change *t, struct undo *u, struct err *e)
{
	const char *sysfs = t->w->ctx->sysfs, *pci = t->w->port->pci;
	struct qos_state now = t->was;

	if (!(qos_differing(&t->was, t->want) & QOS_BIT(QOS_CNP)))
		return 0;
	if (qos_cnp_read_raw(sysfs, pci, &t->cnp_was, e))
		return -1;
	undo_push(u, cnp_back, t, "put the congestion notifications back");
	t->changed |= QOS_BIT(QOS_CNP);
	if (qos_cnp_write(sysfs, pci, &t->want->cnp, e) || qos_cnp_read(sysfs, pci, &now.cnp, e))
		return -1;
	return qos_differing(&now, t->want) & QOS_BIT(QOS_CNP) ? qos_no_effect(t, QOS_CNP, e) : 0;
}

/* ---- traffic class ---- */

static int write_class(const struct qos_change *t, const char *path, uint8_t tc, struct err *e)
{
	char text[8];

	(void)snprintf(text, sizeof(text), "%u", tc);
	return sysfs_write(t->w->ctx->sysfs, path, text, e);
}

static char *cm_file(const struct qos_change *t, char out[QOS_PATH_LEN])
{
	char tail[48];

	(void)snprintf(tail, sizeof(tail), "/ports/%u/default_roce_tos", t->w->port->rdma_port);
	return qos_cm_path(t->w->port, tail, out);
}

static char *cm_folder(const struct qos_change *t, char out[PATH_MAX])
{
	char path[QOS_PATH_LEN];

	(void)snprintf(out, PATH_MAX, "%s/%s", t->w->ctx->sysfs, qos_cm_path(t->w->port, "", path));
	return out;
}

static int folder_back(void *arg, struct err *e)
{
	char path[PATH_MAX];

	return rmdir(cm_folder(arg, path)) ? err_set(e, ERR_KERNEL, errno, "remove %s", path) : 0;
}

static int cm_back(void *arg, struct err *e)
{
	const struct qos_change *t = arg;
	char path[QOS_PATH_LEN];

	return write_class(t, cm_file(t, path), t->was.cm, e);
}

/* Make the folder of the device; configfs then makes the files in it. */
static int make_folder(struct qos_change *t, struct undo *u, struct err *e)
{
	char path[PATH_MAX], file[QOS_PATH_LEN], text[32];

	if (mkdir(cm_folder(t, path), 0755))
		return errno == EEXIST ? 0 : err_set(e, ERR_KERNEL, errno, "make %s", path);
	undo_push(u, folder_back, t, "remove the folder of RDMA CM's defaults");
	if (sysfs_read(t->w->ctx->sysfs, cm_file(t, file), text, sizeof(text), e))
		return -1;
	return traffic_class_parse(text, &t->was.cm)
		       ? err_set(e, ERR_KERNEL, EBADMSG, "read %s", file)
		       : 0;
}

static int set_cm(struct qos_change *t, struct undo *u, struct err *e)
{
	char path[QOS_PATH_LEN];

	if (!(t->was.can & QOS_BIT(QOS_CM)))
		return 0;
	if (!(t->was.known & QOS_BIT(QOS_CM)) && make_folder(t, u, e))
		return -1;
	if (t->was.cm == t->want->tc)
		return 0;
	undo_push(u, cm_back, t, "put the traffic class of RDMA CM back");
	t->changed |= QOS_BIT(QOS_CM);
	return write_class(t, cm_file(t, path), t->want->tc, e);
}

/* The last step: a traffic class that was not set before cannot be unset. */
static int set_tc(struct qos_change *t, struct undo *u, struct err *e)
{
	char path[QOS_PATH_LEN];

	(void)u;
	if (!(t->was.can & QOS_BIT(QOS_TC)) ||
	    ((t->was.known & QOS_BIT(QOS_TC)) && t->was.tc == t->want->tc))
		return 0;
	t->changed |= QOS_BIT(QOS_TC);
	return write_class(t, traffic_class_path(t->w->port->rdma, t->w->port->rdma_port, path),
			   t->want->tc, e);
}

/* ---- all of it ---- */

#define BUFFERS (QOS_BIT(QOS_PRIORITY_BUFFERS) | QOS_BIT(QOS_BUFFER_BYTES))

static int check_possible(const struct qos_change *t, struct err *e)
{
	for (unsigned i = 0; i < QOS_TC; i++)
		if ((t->want->has & QOS_BIT(i)) && !(t->was.known & QOS_BIT(i)))
			return err_set(e, ERR_NOTFOUND, EOPNOTSUPP, "%s: %s",
				       qos_name((enum qos_setting)i), t->was.why[i]);
	if (!(t->want->has & QOS_BIT(QOS_TC)) || t->was.can)
		return 0;
	err_set(e, ERR_NOTFOUND, EOPNOTSUPP, "trafficClass: %s, and %s", t->was.why[QOS_TC],
		t->was.why[QOS_CM]);
	return err_hint(e, "programs can choose it themselves: NCCL_IB_TC");
}

/*
 * mlx5 toggles the link when PFC changes, and again when that is undone (mlx5_toggle_port_link()).
 * So the steps that may be refused and need no PFC come first. Buffers come after PFC: until they
 * are set, mlx5 fits them to the priorities with PFC (mlx5e_dcbnl_ieee_setpfc() in en_dcbnl.c of
 * Linux 6.12). Their inverse is pushed before that of PFC, so it runs after it: the driver checks
 * sizes against the priorities with PFC.
 */
static int qos_set_all(struct qos_change *t, struct undo *u, struct err *e)
{
	static const struct {
		enum qos_setting name;
		unsigned of;
		int (*set)(struct qos_change *, struct undo *, struct err *);
	} steps[] = {
		{ QOS_STORM, QOS_BIT(QOS_STORM), qos_set_storm },
		{ QOS_ECN, QOS_BIT(QOS_ECN), set_ecn },
		{ QOS_CNP, QOS_BIT(QOS_CNP), set_cnp },
		{ QOS_TC, QOS_BIT(QOS_TC), set_cm },
		{ QOS_TRUST, QOS_BIT(QOS_TRUST) | QOS_BIT(QOS_DSCP), qos_set_rules },
		{ QOS_PRIORITY_QUEUES, QOS_BIT(QOS_PRIORITY_QUEUES) | QOS_BIT(QOS_QUEUE_BANDWIDTH),
		  qos_set_queues },
		{ QOS_BUFFER_BYTES, BUFFERS, qos_keep_buffers },
		{ QOS_PFC, QOS_BIT(QOS_PFC), qos_set_pfc },
		{ QOS_BUFFER_BYTES, BUFFERS, qos_set_buffers },
		{ QOS_TC, QOS_BIT(QOS_TC), set_tc },
	};

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if ((t->want->has & steps[i].of) && steps[i].set(t, u, e))
			return err_wrap(e, "%s", qos_name(steps[i].name));
	return 0;
}

int qos_set(const struct qos_work *w, const struct qos_profile *want, unsigned *changed,
	    struct err *e)
{
	auto_undo struct undo u = { .log = &w->ctx->log };
	struct qos_change t = { .w = w, .want = want };

	if (qos_read(w->ctx, w->nl, w->port, &t.was, e))
		return -1;
	if (check_possible(&t, e) || qos_set_all(&t, &u, e))
		return err_wrap(e, "%s", w->port->netdev);
	undo_commit(&u);
	*changed = t.changed;
	return 0;
}
