/* SPDX-License-Identifier: Apache-2.0 */
/* cnp.c: reads and writes DSCP and priority of congestion notifications in debugfs. */
#include <stdio.h>

#include "lib/device/sysfs.h"
#include "rdma/qos/qos.h"

struct cnp_param {
	const char *name;
	uint64_t max;
	int *out; /* -1: it cannot be read, or is larger */
};

static char *cnp_path(const char *pci, const char *name, char out[QOS_PATH_LEN])
{
	(void)snprintf(out, QOS_PATH_LEN, "kernel/debug/mlx5/%s/cc_params/%s", pci, name);
	return out;
}

static int read_param(const char *sysfs, const char *pci, const struct cnp_param *p, struct err *e)
{
	char path[QOS_PATH_LEN];
	struct err why;
	uint64_t n = 0;

	*p->out = QOS_UNSET;
	if (sysfs_read_u64(sysfs, cnp_path(pci, p->name, path), &n, &why))
		return why.code == ERR_NOMEM ? err_nomem(e) : 0;
	if (n <= p->max)
		*p->out = (int)n;
	return 0;
}

int qos_cnp_read_raw(const char *sysfs, const char *pci, struct qos_cnp_raw *out, struct err *e)
{
	struct qos_cnp_raw c = { QOS_UNSET, QOS_UNSET, QOS_UNSET };
	const struct cnp_param params[] = { { "np_cnp_dscp", 63, &c.dscp },
					    { "np_cnp_prio", 7, &c.priority },
					    { "np_cnp_prio_mode", 1, &c.mode } };

	for (size_t i = 0; *pci && i < ARRAY_SIZE(params); i++)
		if (read_param(sysfs, pci, &params[i], e))
			return -1;
	*out = c;
	return 0;
}

int qos_cnp_read(const char *sysfs, const char *pci, struct qos_cnp *out, struct err *e)
{
	struct qos_cnp_raw c;

	if (qos_cnp_read_raw(sysfs, pci, &c, e))
		return -1;
	/* In mode 0 the driver's number is the priority. */
	*out = (struct qos_cnp){ c.dscp, c.mode == 0 ? c.priority : QOS_UNSET };
	return 0;
}

static int write_param(const char *sysfs, const char *pci, const char *name, int value,
		       struct err *e)
{
	char path[QOS_PATH_LEN], text[12];

	if (value < 0)
		return 0;
	(void)snprintf(text, sizeof(text), "%d", value);
	return sysfs_write(sysfs, cnp_path(pci, name, path), text, e);
}

/*
 * The mode comes first: the driver has one attribute for mode and priority, so that a mode alone
 * may end the priority (mlx5_ib_set_cc_param_mask_val()).
 */
int qos_cnp_write(const char *sysfs, const char *pci, const struct qos_cnp *want, struct err *e)
{
	struct qos_cnp_raw is;

	if (qos_cnp_read_raw(sysfs, pci, &is, e) ||
	    (want->priority >= 0 && is.mode > 0 &&
	     write_param(sysfs, pci, "np_cnp_prio_mode", 0, e)))
		return -1;
	return write_param(sysfs, pci, "np_cnp_dscp", want->dscp, e) ||
			       write_param(sysfs, pci, "np_cnp_prio", want->priority, e)
		       ? -1
		       : 0;
}

int qos_cnp_restore(const char *sysfs, const char *pci, const struct qos_cnp_raw *was,
		    struct err *e)
{
	const struct {
		const char *name;
		int value;
	} params[] = { { "np_cnp_dscp", was->dscp },
		       { "np_cnp_prio", was->priority },
		       /* Mode 0 comes with the priority. */
		       { "np_cnp_prio_mode", was->mode > 0 ? was->mode : QOS_UNSET } };
	struct err more;
	int rc = 0;

	for (size_t i = 0; i < ARRAY_SIZE(params); i++)
		if (write_param(sysfs, pci, params[i].name, params[i].value, rc ? &more : e))
			rc = -1;
	return rc;
}
