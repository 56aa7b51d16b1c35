/* SPDX-License-Identifier: Apache-2.0 */
/* rail_look.h: one look at all rails of this node, and at those that an earlier look saw. */
#ifndef RAILHEAD_RAILHEADD_WATCH_RAIL_LOOK_H
#define RAILHEAD_RAILHEADD_WATCH_RAIL_LOOK_H

#include "lib/json/json.h"

struct rail_qos;

/* The machine of a look. */
struct rail_look_from {
	const char *sysfs; /* the folder that represents /sys */
	bool shared; /* RDMA devices are in mode shared: those of pods are visible here, too */
	const struct rail_qos *qos; /* borrowed; NULL: settings of cards are not compared */
};

/*
 * rail_look - known is rail_table_known(). *out is a look as rail_table.h describes it, owned by
 * the caller. A port of a representor is not a rail. A known rail that is not seen is
 * dropped if a bond has its function, or if its device has other ports. One whose GUID is seen at
 * another address is seen. Else it has the finding
 * "device": warn if its function is gone, if it is now that of another known rail, or if its driver
 * has no RDMA device. It is unknown if a
 * pod may have the device, or if a driver for virtual machines has the function. ERR_NOMEM, and the
 * errors of topo_read_sysfs().
 */
int rail_look(const struct rail_look_from *from, const struct json *known, struct json **out,
	      struct err *e) must_check;

/*
 * rail_look_main - for a child: known is rail_table_known(), standard output gets the look, or
 * {"error": text}, and a line break. Returns the exit status.
 */
int rail_look_main(const struct json *known);

#endif
