/* SPDX-License-Identifier: Apache-2.0 */
/* read.c: finds a PF and reads its settings from netlink, sysfs and configfs. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/device/ethtool.h"
#include "lib/device/sysfs.h"
#include "lib/rdma/traffic_class.h"
#include "rdma/qos/qos.h"

/* ---- which ---- */

static int refuse_vf(const struct ctx *ctx, const char *addr, struct err *e)
{
	char pf[PCI_STR_LEN];
	struct err why;

	if (pci_physfn(ctx->sysfs, addr, pf, &why))
		return why.code == ERR_NOMEM ? err_nomem(e) : 0;
	return err_set(e, ERR_CONFIG, 0, "is a VF: this is set on its PF %s", pf);
}

static int read_find_rdma(const struct ctx *ctx, struct qos_port *p, struct err *e)
{
	char path[QOS_PATH_LEN];
	struct err why;
	uint64_t n = 0;

	if (!*p->pci)
		return 0;
	if (pci_rdma_device(ctx->sysfs, p->pci, p->rdma, &why))
		return why.code == ERR_NOMEM ? err_nomem(e) : 0;
	(void)snprintf(path, sizeof(path), "class/net/%s/dev_port", p->netdev);
	if (sysfs_read_u64(ctx->sysfs, path, &n, &why)) {
		if (why.code == ERR_NOMEM)
			return err_nomem(e);
		n = 0;
	}
	p->rdma_port = n > 254 ? 1 : (uint32_t)n + 1;
	return 0;
}

/* Each port has settings of its own, so the address of a function with two ports names neither. */
static int find_by_address(const struct ctx *ctx, struct qos_port *p, struct err *e)
{
	char second[IFNAME_LEN];
	struct err why;

	if (refuse_vf(ctx, p->pci, e) || pci_pf_netdev(ctx->sysfs, p->pci, p->netdev, e))
		return -1;
	if (pci_pf_netdev_second(ctx->sysfs, p->pci, second, &why))
		return why.code == ERR_NOMEM ? err_nomem(e) : 0;
	err_set(e, ERR_CONFIG, 0, "has the ports %s and %s", p->netdev, second);
	return err_hint(e, "name one of these interfaces");
}

static int read_find_pf(const struct ctx *ctx, const char *pf, struct qos_port *p, struct err *e)
{
	char path[QOS_PATH_LEN];
	struct pci_addr a;
	struct err why;
	uint64_t n;

	if (pci_parse(pf, &a) == 0) {
		pci_format(a, p->pci);
		return find_by_address(ctx, p, e);
	}
	if (ifname_problem(pf))
		return err_set(e, ERR_CONFIG, 0, "is neither an interface nor a PCI address");
	(void)snprintf(p->netdev, sizeof(p->netdev), "%s", pf);
	(void)snprintf(path, sizeof(path), "class/net/%s/ifindex", pf);
	if (sysfs_read_u64(ctx->sysfs, path, &n, &why))
		return why.code == ERR_NOMEM
			       ? err_nomem(e)
			       : err_set(e, ERR_NOTFOUND, 0, "there is no such interface here");
	if (pci_of_netdev(ctx->sysfs, pf, p->pci, &why)) {
		*p->pci = '\0';
		return why.code == ERR_NOMEM ? err_nomem(e) : 0;
	}
	return refuse_vf(ctx, p->pci, e);
}

int qos_find(const struct ctx *ctx, const char *pf, struct qos_port *out, struct err *e)
{
	struct qos_port p = { .rdma_port = 1 };

	if (read_find_pf(ctx, pf, &p, e) || read_find_rdma(ctx, &p, e))
		return err_wrap(e, "PF \"%.64s\"", pf);
	*out = p;
	return 0;
}

/* ---- where ---- */

char *qos_ecn_path(const struct qos_port *p, const char *side, unsigned priority,
		   char out[QOS_PATH_LEN])
{
	(void)snprintf(out, QOS_PATH_LEN, "class/net/%s/ecn/%s/enable/%u", p->netdev, side,
		       priority);
	return out;
}

char *qos_cm_path(const struct qos_port *p, const char *tail, char out[QOS_PATH_LEN])
{
	(void)snprintf(out, QOS_PATH_LEN, QOS_CM_DIR "/%s%s", p->rdma, tail);
	return out;
}

/* ---- what it is ---- */

printf_like(3, 4) static void note_unknown(struct qos_state *s, enum qos_setting what,
					   const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(s->why[what], QOS_WHY_LEN, fmt, ap);
	va_end(ap);
}

/* The settings that come with one answer of the driver, or why they do not. */
static const struct {
	enum qos_setting what;
	size_t has; /* a bool of struct dcb_info */
	const char *absent;
} dcb_parts[] = {
	{ QOS_TRUST, offsetof(struct dcb_info, has_app),
	  "its driver tells no priorities of DSCP values" },
	{ QOS_DSCP, offsetof(struct dcb_info, has_app),
	  "its driver tells no priorities of DSCP values" },
	{ QOS_PRIORITY_QUEUES, offsetof(struct dcb_info, has_ets), "its driver tells no queues" },
	{ QOS_QUEUE_BANDWIDTH, offsetof(struct dcb_info, has_ets), "its driver tells no queues" },
	{ QOS_PRIORITY_BUFFERS, offsetof(struct dcb_info, has_buffers),
	  "its driver tells no buffers" },
	{ QOS_BUFFER_BYTES, offsetof(struct dcb_info, has_buffers), "its driver tells no buffers" },
	{ QOS_PFC, offsetof(struct dcb_info, has_pfc), "its driver has no priority flow control" },
};

static int qos_read_dcb(const struct qos_work *w, struct qos_state *s, struct err *e)
{
	const char *all = NULL;
	struct err why;

	if (nl_dcb_get(w->nl, w->port->netdev, &s->dcb, &why)) {
		if (why.code == ERR_NOMEM)
			return err_nomem(e);
		all = why.errnum == EOPNOTSUPP ? "its driver has no data center bridging" : why.msg;
	}
	for (size_t i = 0; i < ARRAY_SIZE(dcb_parts); i++) {
		enum qos_setting what = dcb_parts[i].what;
		bool has = !all && *(const bool *)((const char *)&s->dcb + dcb_parts[i].has);

		if (has)
			s->known |= QOS_BIT(what);
		else
			note_unknown(s, what, "%s", all ? all : dcb_parts[i].absent);
	}
	s->trust_dscp = s->dcb.dscp_rules > 0;
	s->pfc = s->dcb.pfc;
	return 0;
}

static void read_storm(const struct qos_work *w, struct qos_state *s)
{
	struct err why;

	if (ethtool_get_storm(w->port->netdev, &s->storm, &why) == 0)
		s->known |= QOS_BIT(QOS_STORM);
	else
		note_unknown(s, QOS_STORM, "%s",
			     why.errnum == EOPNOTSUPP ? "its driver has no such time" : why.msg);
}

static int read_cnp(const struct qos_work *w, struct qos_state *s, struct err *e)
{
	if (qos_cnp_read(w->ctx->sysfs, w->port->pci, &s->cnp, e))
		return -1;
	if (s->cnp.dscp >= 0 || s->cnp.priority >= 0)
		s->known |= QOS_BIT(QOS_CNP);
	else
		note_unknown(s, QOS_CNP,
			     "no cc_params in debugfs, where Linux's own mlx5 driver has them for "
			     "root; other cards need the tool of their vendor");
	return 0;
}

/* Fails at the first priority that cannot be read. */
static int read_side(const struct qos_work *w, const char *side, uint8_t *out, struct err *e)
{
	char path[QOS_PATH_LEN];
	uint64_t on;

	for (unsigned i = 0; i < DCB_PRIORITIES; i++) {
		if (sysfs_read_u64(w->ctx->sysfs, qos_ecn_path(w->port, side, i, path), &on, e))
			return -1;
		*out |= (uint8_t)(on ? 1u << i : 0);
	}
	return 0;
}

static int read_ecn(const struct qos_work *w, struct qos_state *s, struct err *e)
{
	struct err why;

	if (read_side(w, "roce_np", &s->ecn_np, &why) == 0 &&
	    read_side(w, "roce_rp", &s->ecn_rp, &why) == 0) {
		s->known |= QOS_BIT(QOS_ECN);
		return 0;
	}
	if (why.code == ERR_NOMEM)
		return err_nomem(e);
	if (why.errnum == ENOENT)
		note_unknown(s, QOS_ECN,
			     "its driver has no folder ecn; NVIDIA's own (DOCA-OFED) has");
	else
		note_unknown(s, QOS_ECN, "%s", why.msg);
	return 0;
}

/* The traffic class in a file. absent: the reason to report if there is no such file. */
static int qos_read_class(const struct qos_work *w, struct qos_state *s, enum qos_setting what,
			  uint8_t *out, struct err *e)
{
	static const char *const absent[QOS_N] = {
		[QOS_TC] = "its driver has no tc/1/traffic_class; NVIDIA's own (DOCA-OFED) has",
		[QOS_CM] = ("not asked for: that would make a folder in /sys/" QOS_CM_DIR),
	};
	char path[QOS_PATH_LEN], text[128];
	struct err why;

	*out = 0;
	if (!*w->port->rdma) {
		note_unknown(s, what, "it has no RDMA device");
		return 0;
	}
	if (what == QOS_TC)
		traffic_class_path(w->port->rdma, w->port->rdma_port, path);
	else
		(void)snprintf(path, sizeof(path), QOS_CM_DIR "/%s/ports/%u/default_roce_tos",
			       w->port->rdma, w->port->rdma_port);
	if (sysfs_read(w->ctx->sysfs, path, text, sizeof(text), &why) == 0) {
		if (traffic_class_parse(text, out) == 0)
			s->known |= QOS_BIT(what);
		else
			note_unknown(s, what, "none is set");
		s->tc_unset |= what == QOS_TC && !(s->known & QOS_BIT(what));
		s->can |= QOS_BIT(what);
		return 0;
	}
	if (why.errnum != ENOENT)
		s->can |= QOS_BIT(what);
	if (why.code == ERR_NOMEM)
		return err_nomem(e);
	note_unknown(s, what, "%s", why.errnum == ENOENT ? absent[what] : why.msg);
	return 0;
}

/* configfs has no folders for devices before the module is loaded. */
static void refine_cm(const struct ctx *ctx, struct qos_state *s)
{
	char path[QOS_PATH_LEN];

	(void)snprintf(path, sizeof(path), "%s/" QOS_CM_DIR, ctx->sysfs);
	if (access(path, F_OK) == 0)
		s->can |= QOS_BIT(QOS_CM);
	else if (!(s->known & QOS_BIT(QOS_CM)))
		note_unknown(s, QOS_CM,
			     "there is no /sys/" QOS_CM_DIR
			     ": rdma_cm is not loaded, or configfs not "
			     "mounted");
}

int qos_read(const struct ctx *ctx, struct nl *nl, const struct qos_port *p, struct qos_state *out,
	     struct err *e)
{
	const struct qos_work w = { ctx, nl, p };
	struct qos_state s = { .known = 0 };

	if (qos_read_dcb(&w, &s, e) || read_ecn(&w, &s, e) ||
	    qos_read_class(&w, &s, QOS_TC, &s.tc, e) || qos_read_class(&w, &s, QOS_CM, &s.cm, e) ||
	    read_cnp(&w, &s, e))
		return -1;
	read_storm(&w, &s);
	if (*p->rdma)
		refine_cm(ctx, &s);
	*out = s;
	return 0;
}
