/* SPDX-License-Identifier: Apache-2.0 */
/* qos_set.c: sets all settings of a profile, or none: each step has its inverse on the undo stack.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/pci/sysfs.h"
#include "lib/rdma/traffic_class.h"
#include "lib/base/undo.h"
#include "rdma/qos/qos.h"

/* A change in progress. */
struct qos_change {
	const struct qos_work *w;
	const struct qos_profile *want;
	struct qos_state was;
	uint8_t rules[DCB_DSCP]; /* that were added, or removed */
	bool made_folder;
	unsigned changed;
};

/* Read the settings again. A driver may accept a value and not use it. */
static int verify_change(const struct qos_change *t, enum qos_setting what, struct err *e)
{
	const struct qos_port *p = t->w->port;
	struct dcb_info is;

	if (nl_dcb_get(t->w->nl, p->netdev, &is, e))
		return -1;
	if (what == QOS_PFC ? is.pfc == t->want->pfc : (is.dscp_rules > 0) == t->want->trust_dscp)
		return 0;
	return err_set(e, ERR_STATE, 0,
		       "%s of %s: the driver said yes, but it is not so afterwards", qos_name(what),
		       p->netdev);
}

/* ---- priority flow control ---- */

static int pfc_back(void *arg, struct err *e)
{
	const struct qos_change *t = arg;

	return nl_dcb_set_pfc(t->w->nl, t->w->port->netdev, &t->was.dcb, t->was.pfc, e);
}

static int set_pfc(struct qos_change *t, struct undo *u, struct err *e)
{
	if (t->was.pfc == t->want->pfc)
		return 0;
	undo_push(u, pfc_back, t, "put priority flow control back");
	t->changed |= QOS_BIT(QOS_PFC);
	return nl_dcb_set_pfc(t->w->nl, t->w->port->netdev, &t->was.dcb, t->want->pfc, e) ||
			       verify_change(t, QOS_PFC, e)
		       ? -1
		       : 0;
}

/* ---- trust ---- */

static int rules_off(void *arg, struct err *e)
{
	const struct qos_change *t = arg;

	return nl_dcb_del_dscp(t->w->nl, t->w->port->netdev, t->rules, e);
}

static int rules_on(void *arg, struct err *e)
{
	const struct qos_change *t = arg;

	return nl_dcb_add_dscp(t->w->nl, t->w->port->netdev, t->rules, e);
}

/*
 * The kernel has no switch for this. A driver trusts DSCP if DSCP values have priorities (mlx5:
 * drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c). Here the eight values of each class
 * selector (RFC 2474) get the priority of its number, as a NIC has it from the factory.
 */
static int set_trust(struct qos_change *t, struct undo *u, struct err *e)
{
	bool dscp = t->want->trust_dscp;

	if (t->was.trust_dscp == dscp)
		return 0;
	for (unsigned i = 0; i < DCB_DSCP; i++)
		t->rules[i] = dscp ? (uint8_t)(1u << (i / 8)) : t->was.dcb.dscp[i];
	undo_push(u, dscp ? rules_off : rules_on, t, "put trust back");
	t->changed |= QOS_BIT(QOS_TRUST);
	return (dscp ? rules_on : rules_off)(t, e) || verify_change(t, QOS_TRUST, e) ? -1 : 0;
}

/* ---- ECN ---- */

static int write_side(const struct qos_change *t, const char *side, uint8_t from, uint8_t to,
		      struct err *e)
{
	char path[QOS_PATH_LEN];

	for (unsigned i = 0; i < DCB_PRIORITIES; i++) {
		if (!((from ^ to) >> i & 1))
			continue;
		if (sysfs_write(t->w->ctx->sysfs, qos_ecn_path(t->w->port, side, i, path),
				to >> i & 1 ? "1" : "0", e))
			return -1;
	}
	return 0;
}

/* Undo the priorities that were set so far. */
static int ecn_back(void *arg, struct err *e)
{
	const struct qos_change *t = arg;
	uint8_t np = t->was.ecn_np, rp = t->was.ecn_rp;

	return write_side(t, "roce_np", (uint8_t)~np, np, e) ||
			       write_side(t, "roce_rp", (uint8_t)~rp, rp, e)
		       ? -1
		       : 0;
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

	if (!(t->was.known & QOS_BIT(QOS_CM)) && make_folder(t, u, e))
		return -1;
	if (t->was.cm == t->want->tc)
		return 0;
	undo_push(u, cm_back, t, "put the traffic class of RDMA CM back");
	t->changed |= QOS_BIT(QOS_CM);
	return write_class(t, cm_file(t, path), t->want->tc, e);
}

static bool has_cm(const struct qos_change *t)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/" QOS_CM_DIR, t->w->ctx->sysfs);
	return *t->w->port->rdma && access(path, F_OK) == 0;
}

static bool has_tc(const struct qos_change *t)
{
	char path[PATH_MAX], file[QOS_PATH_LEN];

	(void)snprintf(path, sizeof(path), "%s/%s", t->w->ctx->sysfs,
		       traffic_class_path(t->w->port->rdma, t->w->port->rdma_port, file));
	return *t->w->port->rdma && access(path, F_OK) == 0;
}

/* The last step: a traffic class that was not set before cannot be unset. */
static int set_tc(struct qos_change *t, struct undo *u, struct err *e)
{
	char path[QOS_PATH_LEN];

	if (has_cm(t) && set_cm(t, u, e))
		return -1;
	if (!has_tc(t) || ((t->was.known & QOS_BIT(QOS_TC)) && t->was.tc == t->want->tc))
		return 0;
	t->changed |= QOS_BIT(QOS_TC);
	return write_class(t, traffic_class_path(t->w->port->rdma, t->w->port->rdma_port, path),
			   t->want->tc, e);
}

/* ---- all of it ---- */

static int check_possible(const struct qos_change *t, struct err *e)
{
	static const enum qos_setting readable[] = { QOS_TRUST, QOS_PFC, QOS_ECN };

	for (size_t i = 0; i < ARRAY_SIZE(readable); i++) {
		enum qos_setting s = readable[i];

		if ((t->want->has & QOS_BIT(s)) && !(t->was.known & QOS_BIT(s)))
			return err_set(e, ERR_NOTFOUND, EOPNOTSUPP, "%s: %s", qos_name(s),
				       t->was.why[s]);
	}
	if (!(t->want->has & QOS_BIT(QOS_TC)) || has_tc(t) || has_cm(t))
		return 0;
	err_set(e, ERR_NOTFOUND, EOPNOTSUPP, "trafficClass: %s, and %s", t->was.why[QOS_TC],
		t->was.why[QOS_CM]);
	return err_hint(e, "programs can choose it themselves: NCCL_IB_TC");
}

static int set_all(struct qos_change *t, struct undo *u, struct err *e)
{
	static int (*const set[])(struct qos_change *, struct undo *, struct err *) = {
		[QOS_TRUST] = set_trust, [QOS_PFC] = set_pfc, [QOS_ECN] = set_ecn, [QOS_TC] = set_tc
	};

	for (unsigned i = 0; i < ARRAY_SIZE(set); i++) {
		if ((t->want->has & QOS_BIT(i)) && set[i](t, u, e))
			return err_wrap(e, "%s", qos_name((enum qos_setting)i));
	}
	return 0;
}

int qos_set(const struct qos_work *w, const struct qos_profile *want, unsigned *changed,
	    struct err *e)
{
	auto_undo struct undo u = { .log = &w->ctx->log };
	struct qos_change t = { .w = w, .want = want };

	if (qos_read(w->ctx, w->nl, w->port, &t.was, e))
		return -1;
	if (check_possible(&t, e) || set_all(&t, &u, e))
		return err_wrap(e, "%s", w->port->netdev);
	undo_commit(&u);
	*changed = t.changed;
	return 0;
}
