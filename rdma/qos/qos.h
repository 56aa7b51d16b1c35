/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qos.h: quality of service of a PF for RDMA, read and set.
 *
 * The drivers in the kernel have trust, priorities, queues, buffers and PFC (data center bridging,
 * lib/device/dcb.h) and the time of pause storms (ethtool). Linux's own mlx5 has congestion
 * notifications in debugfs. ECN and the traffic class are in files of NVIDIA's drivers; their class
 * rules every queue pair that the kernel makes ready (lib/rdma/traffic_class.h). That of RDMA CM,
 * in configfs, is only a default.
 */
#ifndef RAILHEAD_RDMA_QOS_QOS_H
#define RAILHEAD_RDMA_QOS_QOS_H

#include "lib/base/ctx.h"
#include "rdma/qos/profile.h"

/* ---- a PF in the kernel ---- */

struct qos_port {
	char netdev[IFNAME_LEN];
	char pci[PCI_STR_LEN];   /* "": no PCI device */
	char rdma[PCI_RDMA_LEN]; /* its RDMA device; "": none */
	uint32_t rdma_port;
};

/*
 * qos_find - the PF called pf: an interface of this namespace, or a PCI address. ERR_NOTFOUND:
 * there is none. ERR_CONFIG: it is a VF, or no such name.
 */
int qos_find(const struct ctx *ctx, const char *pf, struct qos_port *out, struct err *e) must_check;

#define QOS_WHY_LEN 160

/*
 * qos_cnp_read - from debugfs, where Linux's own mlx5 driver has them for root (cc_params, in
 * drivers/infiniband/hw/mlx5/cong.c of Linux 6.12). Needs sysfs and pci. The only error is
 * ERR_NOMEM. qos_cnp_read_raw - the numbers of the files, whatever the mode. qos_cnp_write - write
 * the numbers that are set, and select the mode in which the priority counts. qos_cnp_restore - try
 * to write all that were read. ERR_KERNEL: no such file, or the driver refuses.
 */
struct qos_cnp_raw {
	int dscp, priority, mode; /* QOS_UNSET: it cannot be read */
};
int qos_cnp_read(const char *sysfs, const char *pci, struct qos_cnp *out, struct err *e) must_check;
int qos_cnp_read_raw(const char *sysfs, const char *pci, struct qos_cnp_raw *out,
		     struct err *e) must_check;
int qos_cnp_write(const char *sysfs, const char *pci, const struct qos_cnp *want,
		  struct err *e) must_check;
int qos_cnp_restore(const char *sysfs, const char *pci, const struct qos_cnp_raw *was,
		    struct err *e) must_check;

struct qos_state {
	unsigned known;               /* QOS_BIT of each setting that could be read */
	unsigned can;                 /* of QOS_TC and QOS_CM: there is a place for it */
	bool tc_unset;                /* it was read that QOS_TC has no value */
	char why[QOS_N][QOS_WHY_LEN]; /* the reason why a setting is not known */
	struct dcb_info dcb;
	bool trust_dscp;
	uint8_t pfc;
	uint16_t storm;
	uint8_t ecn_np, ecn_rp; /* notification point, reaction point */
	uint8_t tc, cm;
	struct qos_cnp cnp;
};

/* qos_read - read the settings of a PF. The only error is ERR_NOMEM. */
int qos_read(const struct ctx *ctx, struct nl *nl, const struct qos_port *p, struct qos_state *out,
	     struct err *e) must_check;

/*
 * qos_profile_of - what a card is set to, as far as a profile can say it. A DSCP value with more
 * than one priority has the highest of them.
 */
struct qos_profile qos_profile_of(const struct qos_state *s);
/*
 * qos_differing - QOS_BIT of each wanted setting that the card does not have, or that is not known.
 * Cards round the sizes of buffers: less than 4 KiB are no difference. Any time is "auto". QOS_TC
 * and QOS_CM differ only where there is a place for them. qos_wanted - QOS_BIT of the settings that
 * are compared.
 */
unsigned qos_differing(const struct qos_state *s, const struct qos_profile *want);
unsigned qos_wanted(const struct qos_profile *want);
/* qos_state_text - the value of one setting of a card, or "unknown" with the reason. Returns out.
 */
char *qos_state_text(enum qos_setting what, const struct qos_state *s, char out[QOS_TEXT_LEN]);

/*
 * qos_set - set the PF as wanted; *changed: QOS_BIT of each setting that was different before, or
 * after an earlier step: a driver may change the buffers with PFC. A setting that the PF does not
 * have is refused before any change. After a later failure all changes are undone.
 */
struct qos_work {
	const struct ctx *ctx;
	struct nl *nl;
	const struct qos_port *port;
};
int qos_set(const struct qos_work *w, const struct qos_profile *want, unsigned *changed,
	    struct err *e) must_check;

/* ---- paths, for the files qos_*.c ---- */

#define QOS_PATH_LEN 192
/*
 * Paths relative to sysfs; each function returns out. qos_ecn_path - the switch of ECN for a
 * priority; side: "roce_np" or "roce_rp".
 */
char *qos_ecn_path(const struct qos_port *p, const char *side, unsigned priority,
		   char out[QOS_PATH_LEN]);
#define QOS_CM_DIR "kernel/config/rdma_cm"
/* qos_cm_path - the folder of the RDMA device in configfs, followed by tail. Returns out. */
char *qos_cm_path(const struct qos_port *p, const char *tail, char out[QOS_PATH_LEN]);

#endif
