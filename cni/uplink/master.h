/* SPDX-License-Identifier: Apache-2.0 */
/*
 * master.h: the key "master": which interface a pod's interface stands on.
 *
 * It names a candidate, or has a list of them, of which the first one that is present is taken. So
 * one configuration serves nodes whose cards have different names.
 */
#ifndef RAILHEAD_CNI_UPLINK_MASTER_H
#define RAILHEAD_CNI_UPLINK_MASTER_H

#include "lib/base/ctx.h"
#include "lib/json/json.h"
#include "lib/net/link.h"
#include "lib/device/pci.h"
#include "topo/read/rail_list.h"

#define MASTER_CANDIDATES_MAX 8

enum master_form {
	MASTER_NAME,      /* of an interface, also an alternative one */
	MASTER_PCI,       /* "0000:0f:00.0", "0f:00.0": the interface of that PF or VF */
	MASTER_RAIL,      /* "rail:3": topo/read/rail_list.h */
	MASTER_MAC,       /* "mac:AA:BB:CC:DD:EE:FF", or 20 octets of IPoIB */
	MASTER_ON_DEMAND, /* {"vlan": ...}, {"bond": ...}: cni/uplink reads and makes it */
};

struct master_candidate {
	enum master_form form;
	const char *text; /* as the configuration has it; borrowed */
	char pci[PCI_STR_LEN];
	uint32_t rail;
	struct hw_addr mac;
};

struct master_conf {
	struct master_candidate candidate[MASTER_CANDIDATES_MAX];
	size_t n;                     /* 0: the key is not given */
	const struct json *on_demand; /* borrowed; the one candidate is of that form. NULL: no */
};

/*
 * master_read_conf - from the network configuration; strings stay borrowed from it. ERR_CONFIG and
 * ERR_DECODE name key and value. master_read_value - a candidate or a list of them under another
 * key; n NULL or "": none. Pure.
 */
int master_read_value(const char *key, const struct json *n, struct master_conf *out,
		      struct err *e) must_check;
int master_read_conf(const struct json *config, struct master_conf *out, struct err *e) must_check;

/* master_parse - one candidate; key is for the error. text stays borrowed. Pure. */
int master_parse(const char *key, const char *text, struct master_candidate *out,
		 struct err *e) must_check;

/* master_of_name - a master that is not text of the configuration: ifname stays borrowed. */
void master_of_name(struct master_conf *c, const char *ifname);

/* master_needs_host - the first candidate that cannot be found in a pod; NULL: there is none. */
const char *master_needs_host(const struct master_conf *c);

/* Where to look. The rails of the node are read for the first candidate that needs them. */
struct master_place {
	const struct ctx *ctx;
	struct nl *nl;
	const char *where; /* "on this host", for errors */
	const char *from;  /* the file that names the interface; NULL: the key does */
	struct rail_list rails;
	bool has_rails;
	bool ports; /* the address of a port means the port, and not its bond */
};

/*
 * master_look - the interface of one candidate. errnum ENODEV: it is not present, and e->msg says
 * why. After any other error it is not known whether it is present.
 */
int master_look(struct master_place *p, const struct master_candidate *c, struct link_info *out,
		struct err *e) must_check;

/*
 * master_find - the first candidate that is present. ERR_CONFIG (errnum ENODEV): none is, and the
 * detail says of each one why.
 */
int master_find(struct master_place *p, const struct master_conf *c, struct link_info *out,
		struct err *e) must_check;

#endif
