/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dcb.h: data center bridging of an interface: priority flow control, and whether priorities
 * follow DSCP. Only a PF has these settings: a VF, or an interface on top of another, has none.
 */
#ifndef RAILHEAD_LIB_DEVICE_DCB_H
#define RAILHEAD_LIB_DEVICE_DCB_H

#include "lib/net/nl.h"

#define DCB_PRIORITIES 8
#define DCB_DSCP       64
#define DCB_ETS_LEN    59 /* struct ieee_ets of linux/dcbnl.h */

/* How a queue is served (IEEE 802.1Qaz): before those of lower numbers, or by its percentage. */
enum dcb_tsa { DCB_TSA_STRICT = 0, DCB_TSA_ETS = 2, DCB_TSA_VENDOR = 255 };

struct dcb_info {
	bool has_pfc;
	uint8_t pfc;              /* bit n: priority n does not drop but pauses */
	uint8_t pfc_cap, pfc_mbc; /* what else a request must repeat */
	uint16_t pfc_delay;
	bool has_pauses; /* the driver counts what it sends and receives of them, by priority */
	uint64_t pauses_sent[DCB_PRIORITIES], pauses_heard[DCB_PRIORITIES];
	bool has_app;
	unsigned dscp_rules;    /* how many DSCP values have a priority of their own; with mlx5, any
				   at all means that DSCP is trusted */
	uint8_t dscp[DCB_DSCP]; /* bit n: that DSCP value has priority n */
	bool has_ets;
	uint8_t prio_tc[DCB_PRIORITIES];   /* which of the NIC's queues a priority uses */
	uint8_t queue_bw[DCB_PRIORITIES];  /* percent, of queues that share */
	uint8_t queue_tsa[DCB_PRIORITIES]; /* enum dcb_tsa, or another value of the driver */
	uint8_t ets[DCB_ETS_LEN];          /* the kernel's struct, for nl_dcb_set_ets() */
	bool has_buffers;
	uint8_t prio_buffer[DCB_PRIORITIES];
	uint32_t buffer[DCB_PRIORITIES]; /* bytes */
	bool has_dcbx;
	bool dcbx_host; /* false: the firmware negotiates with the switch, and may change all */
};

/*
 * nl_dcb_get - ERR_NOTFOUND: errnum EOPNOTSUPP when the driver (or the kernel) has no DCB, ENODEV
 * when there is no such interface.
 */
int nl_dcb_get(struct nl *nl, const char *ifname, struct dcb_info *out, struct err *e) must_check;

/*
 * nl_dcb_set_pfc - set which priorities pause: bit n of pfc for priority n. was: the answer of
 * nl_dcb_get(). ERR_KERNEL has the driver's errno. A driver that cannot do it may return success:
 * read the setting again to be sure.
 */
int nl_dcb_set_pfc(struct nl *nl, const char *ifname, const struct dcb_info *was, uint8_t pfc,
		   struct err *e) must_check;
/*
 * nl_dcb_set_ets - set prio_tc, queue_bw and queue_tsa of want, an answer of nl_dcb_get() with
 * these changed. nl_dcb_set_buffers - the same for prio_buffer and buffer. Errors as above; without
 * the driver's support nothing happens, and that is success.
 */
int nl_dcb_set_ets(struct nl *nl, const char *ifname, const struct dcb_info *want,
		   struct err *e) must_check;
int nl_dcb_set_buffers(struct nl *nl, const char *ifname, const struct dcb_info *want,
		       struct err *e) must_check;
/*
 * nl_dcb_add_dscp, nl_dcb_del_dscp - add or delete the rules, which have the form of dcb_info.dscp.
 * Errors as above; a part of the rules may have been changed.
 */
int nl_dcb_add_dscp(struct nl *nl, const char *ifname, const uint8_t rules[DCB_DSCP],
		    struct err *e) must_check;
int nl_dcb_del_dscp(struct nl *nl, const char *ifname, const uint8_t rules[DCB_DSCP],
		    struct err *e) must_check;

#endif
