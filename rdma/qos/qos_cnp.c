/* SPDX-License-Identifier: Apache-2.0 */
/* qos_cnp.c: reads and writes DSCP and priority of congestion notifications in debugfs. */
#include <stdio.h>

#include "lib/pci/sysfs.h"
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

int qos_cnp_read(const char *sysfs, const char *pci, struct qos_cnp *out, struct err *e)
{
	struct qos_cnp c = { QOS_UNSET, QOS_UNSET };
	int mode = QOS_UNSET;
	const struct cnp_param params[] = { { "np_cnp_dscp", 63, &c.dscp },
					    { "np_cnp_prio", 7, &c.priority },
					    { "np_cnp_prio_mode", 1, &mode } };

	for (size_t i = 0; *pci && i < ARRAY_SIZE(params); i++)
		if (read_param(sysfs, pci, &params[i], e))
			return -1;
	/* In mode 0 the driver's number is the priority. */
	if (mode != 0)
		c.priority = QOS_UNSET;
	*out = c;
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

int qos_cnp_write(const char *sysfs, const char *pci, const struct qos_cnp *want, struct err *e)
{
	int rc = write_param(sysfs, pci, "np_cnp_dscp", want->dscp, e);
	struct err more;

	return write_param(sysfs, pci, "np_cnp_prio", want->priority, rc ? &more : e) || rc ? -1
											    : 0;
}
