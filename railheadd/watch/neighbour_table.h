/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbour_table.h: the interfaces of rails, and what is at the other end of each. Pure.
 *
 * A look is an object:
 *
 *	{"ports": [{"rail", "interface", "bond", "index", "downs", "switch", "guid", "mbps", "mtu",
 *	 "addresses", "by", "hca", "pci", "rdma", "gpus"}], "macs": ["02:00:..."]}
 *
 * A port is the interface of a rail, or a member of the bond that is one: bond. index: its number
 *now. downs: how often it has lost its carrier since it was made. switch: a software switch of this
 * host takes its frames. guid: of an InfiniBand port, which hears no LLDP. mbps: 0: not known.
 * addresses: the first ones of the rail with their prefix lengths, with spaces between. by: who
 * else makes its addresses or routes. hca: its RDMA device, as NCCL_IB_HCA names it: with ":2" for
 * another port than the first. pci: its function. rdma: the mode of the host. gpus: those to which
 * topo_choose() assigns the card, as "railctl topo" counts them, with spaces between. macs: the
 *addresses of this host and of its VFs; a frame that has one was not sent by a switch.
 */
#ifndef RAILHEAD_RAILHEADD_WATCH_NEIGHBOUR_TABLE_H
#define RAILHEAD_RAILHEADD_WATCH_NEIGHBOUR_TABLE_H

#include "fabric/neighbour.h"
#include "lib/base/guid.h"
#include "lib/base/hw_addr.h"
#include "lib/base/ip.h"
#include "lib/base/parse.h"
#include "lib/device/pci.h"
#include "lib/device/rdma.h"
#include "lib/json/json.h"

#define NEIGHBOUR_PORTS_MAX 64
#define NEIGHBOUR_MACS_MAX  8192

/* By DHCP or router advertisements; by a daemon for BGP, OSPF and their like. */
#define NEIGHBOUR_BY_DYNAMIC    "dynamic"
#define NEIGHBOUR_BY_ROUTING    "routing"
#define NEIGHBOUR_BY_LEN        8
#define NEIGHBOUR_ADDRESSES_MAX 3
#define NEIGHBOUR_ADDRESSES_LEN (NEIGHBOUR_ADDRESSES_MAX * PREFIX_STR_LEN)
#define NEIGHBOUR_HCA_LEN       (RDMA_NAME_LEN + 4)
#define NEIGHBOUR_GPUS_LEN      48

/* What the last look has said about a port, for the cluster; "", 0: it is not known, or none. */
struct neighbour_facts {
	char bond[IFNAME_LEN], guid[GUID_STR_LEN];
	uint32_t mbps, mtu;
	char addresses[NEIGHBOUR_ADDRESSES_LEN], by[NEIGHBOUR_BY_LEN];
	char hca[NEIGHBOUR_HCA_LEN], pci[PCI_STR_LEN], rdma[10], gpus[NEIGHBOUR_GPUS_LEN];
};

struct neighbour_port {
	char ifname[IFNAME_LEN];
	uint32_t rail;
	int ifindex;    /* 0: no look has found it since the start */
	bool present;   /* at the last look */
	bool switched;  /* as "switch" */
	uint32_t downs; /* as "downs" */
	struct neighbour_facts facts;
	int64_t silent; /* s since 1970: its last frame, once it is overdue; 0: it is not */
	int64_t told;   /* ms: when the log last had a conflict here; 0: never */
	struct neighbour of;
};

struct neighbour_table {
	struct neighbour_port *port; /* owned; by number of the rail, then by name */
	size_t n;
	uint8_t (*mac)[MAC_LEN]; /* owned; sorted */
	size_t n_macs;
};

/* neighbour_table_clear - free all that t owns. */
void neighbour_table_clear(struct neighbour_table *t);

/*
 * neighbour_table_take - one more look. A port that it does not have stays, with what was heard.
 * ERR_DECODE, ERR_CONFIG: it is not a look. ERR_NOMEM. t is unchanged after an error.
 */
int neighbour_table_take(struct neighbour_table *t, const struct json *look,
			 struct err *e) must_check;

/*
 * neighbour_table_hear - a frame came in by p at the time now, ms. *news: what neighbour_hear()
 * says. 1: it was sent by this host or by one of its VFs, and is not counted. ERR_DECODE: it is not
 * a frame of LLDP.
 */
struct neighbour_data {
	const uint8_t *at;
	size_t size;
	int64_t now;
};
int neighbour_table_hear(const struct neighbour_table *t, struct neighbour_port *p,
			 struct neighbour_data frame, enum neighbour_news *news,
			 struct err *e) must_check;

/* One moment by two clocks: ms of neighbour.h, and seconds since 1970. */
struct neighbour_clock {
	int64_t now, wall;
};

/*
 * neighbour_table_known - what the agent must know after a restart: an array with an object for
 * each neighbour. NULL: no memory. Owned by the caller. neighbour_table_load - add them to an empty
 * table. ERR_DECODE, ERR_CONFIG, ERR_NOMEM: t has none.
 */
struct json *neighbour_table_known(const struct neighbour_table *t, struct neighbour_clock c);
int neighbour_table_load(struct neighbour_table *t, const struct json *known,
			 struct neighbour_clock c, struct err *e) must_check;

/* neighbour_table_add_status - add the array "list" to obj, see railhead-agent.sock(5). -1: no
 * memory. */
int neighbour_table_add_status(const struct neighbour_table *t, int64_t now,
			       struct json *obj) must_check;

/*
 * neighbour_table_rails - an array for the cluster, with an object for each port: "rail" and
 * "interface"; the facts of a look, if they are known; "contested", if another sender was heard,
 * too. After a first frame also "chassis", "port", "portName" and "system". "lastHeard" is when a
 * neighbour that is silent for two TTLs was heard, and stays the same meanwhile. There is no other
 * time, so the array changes only with the fabric. Long texts are cut. An object of more than
 * NEIGHBOUR_RAIL_BYTES lacks some keys, and has "cut". NULL: no memory. Owned by the caller.
 */
#define NEIGHBOUR_TEXT_MAX   63
#define NEIGHBOUR_RAIL_BYTES 400
struct json *neighbour_table_rails(struct neighbour_table *t, struct neighbour_clock c);

#endif
