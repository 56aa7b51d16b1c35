/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ib_links.h: the switch and the port at the other end of each InfiniBand port, by what
 * ibnetdiscover(8) has printed. Pure.
 *
 * Of its file only the lines of switches count that lead to an adapter, or to another switch:
 *
 *	Switch 41 "S-b8599f0300f9cba2" # "MF0;leaf-1:MQM8700/U1" enhanced port 0 lid 5 lmc 0
 *	[1] "H-043f720300abcdee"[1](43f720300abcdef) # "gpu-1 mlx5_0" lid 10 4xHDR
 */
#ifndef RAILHEAD_FABRIC_IB_LINKS_H
#define RAILHEAD_FABRIC_IB_LINKS_H

#include "fabric/intent.h"
#include "lib/base/guid.h"

#define IB_LINKS_MAX 262144
#define IB_NAME_MAX  64 /* with NUL; a longer description is cut */

struct ib_link {
	struct guid adapter;         /* of its port */
	char leaf[GUID_STR_LEN];     /* the GUID of the switch */
	char leaf_name[IB_NAME_MAX]; /* by its description: "leaf-1"; or as leaf */
	char port[4];                /* of the switch: "1" to "255" */
};

struct ib_links {
	struct ib_link *link; /* owned; by adapter */
	size_t n;
	struct intent trunks; /* owned: the links between switches; node and leaf are their GUIDs */
};

/*
 * ib_links_read - ERR_DECODE, ERR_CONFIG: the line, and what is wrong with it; an adapter's port
 * that has two links; no link at all. ERR_NOMEM. ib_links_clear - free all that l owns.
 */
int ib_links_read(const char *text, size_t len, struct ib_links *out, struct err *e) must_check;
void ib_links_clear(struct ib_links *l);
#define auto_ib_links auto_clean(ib_links_clear)

/* ib_links_find - the link of an adapter's port; NULL: the file has none. */
const struct ib_link *ib_links_find(const struct ib_links *l, struct guid adapter);

#endif
