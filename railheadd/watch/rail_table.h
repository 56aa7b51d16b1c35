/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rail_table.h: the rails of this node, and what the looks found about each. Pure.
 *
 * A look is an array with an object for each rail:
 *
 *	{"pci", "guid", "device", "port", "rate", "bond", "dropped", "findings": [{"check", "state",
 *	 "value", "reason", "remedy"}]}
 *
 * guid is the node GUID of its function, absent if not known: PCI addresses change with other
 * cards and with the firmware. No two ports of a look with the same number have one GUID. rate is
 *in Mbit/s, 0: not known. bond: two functions have one device, and the kernel's rate is that of one
 *of them. dropped: why a known rail is none any more; it has no findings. Of several findings of
 *one check, the worst counts.
 */
#ifndef RAILHEAD_RAILHEADD_WATCH_RAIL_TABLE_H
#define RAILHEAD_RAILHEADD_WATCH_RAIL_TABLE_H

#include "lib/base/guid.h"
#include "lib/cli/finding.h"
#include "lib/device/rdma.h"
#include "lib/json/json.h"
#include "lib/device/pci.h"

#define RAILS_MAX 1024
/* So many looks in a row must agree before people hear of a change: a driver that is loaded again,
 * or a cable that is plugged, is not news. */
#define RAIL_LOOKS 2

enum rail_check {
	RAIL_DEVICE, /* card and RDMA device are there */
	RAIL_PORT,   /* the port is ACTIVE */
	RAIL_LINK,   /* the PCIe links up to the root run as fast as both ends can */
	RAIL_RATE,   /* the port is as fast as it was before */
	RAIL_QOS,    /* the card is set as a file of qos.d says */
};
#define RAIL_CHECKS 5

/* The result of one check of a rail. Zeroed: no look had one. */
struct rail_result {
	enum finding_state state; /* at the last look */
	bool bad;                 /* at the last look that was not unknown */
	unsigned looks;           /* how many of these agreed, at most RAIL_LOOKS */
	bool logged, told;        /* what the log, and what the Events said: it is bad */
	bool held;                /* the limits of the Events hold this change back */
	char value[192], reason[192], remedy[256];
};

struct rail {
	char pci[PCI_STR_LEN]; /* at the last look */
	struct guid guid;      /* GUID_ZERO: not known */
	char device[RDMA_NAME_LEN];
	uint32_t port;
	uint32_t rate;      /* Mbit/s, at the last look if the port was ACTIVE; else 0 */
	uint32_t best;      /* Mbit/s: the highest one that two looks in a row had */
	bool was_active;    /* two looks in a row have found the port ACTIVE */
	char inactive[192]; /* a port that never was ACTIVE: its state; "": it is, or was */
	bool dropped;       /* it is not a rail any more, and people may have to hear of it */
	struct rail_result result[RAIL_CHECKS];
};

struct rail_table {
	struct rail *rail; /* owned */
	size_t n;
};

/* rail_table_clear - free all that t owns. */
void rail_table_clear(struct rail_table *t);

/* rail_check_name - "device", "port", "link", "rate", "qos". */
const char *rail_check_name(enum rail_check c);

/*
 * rail_table_take - one more look. except: names of devices and PCI addresses of rails that are
 * ignored; NULL ends them. ERR_DECODE, ERR_CONFIG: it is not a look. ERR_NOMEM. After an error, t
 * has the looks before and a part of this one.
 *
 * A rail is identified by its GUID and its port. Without a GUID its PCI address identifies it. If
 * its GUID is new, and the card at its address is gone, the rail is that of the old card.
 *
 * A port that never was ACTIVE may have no cable, so it is not bad. A rail that is dropped has no
 * bad check any more; rail_table_prune() removes it when log and Events say so, too.
 */
int rail_table_take(struct rail_table *t, const struct json *look, const char *const *except,
		    struct err *e) must_check;
void rail_table_prune(struct rail_table *t);

/* rail_is_settled - enough looks agreed about bad. */
bool rail_is_settled(const struct rail_result *x);

/*
 * rail_table_known - what the next look, and the agent after a restart, must know: an array of
 * {"device", "port", "pci", "guid", "best", "active", "told": [checks]}. NULL: no memory. Owned by
 * the caller. rail_table_load - add them to an empty table, all or none. ERR_DECODE, ERR_CONFIG,
 * ERR_FIELD, ERR_NOMEM.
 */
struct json *rail_table_known(const struct rail_table *t);
int rail_table_load(struct rail_table *t, const struct json *known, struct err *e) must_check;

/* rail_table_add_status - add the array "list" to obj, see railhead-agent.sock(5). -1: no memory.
 */
int rail_table_add_status(const struct rail_table *t, struct json *obj) must_check;

#endif
