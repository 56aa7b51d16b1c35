/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qos.h: quality of service of a PF for RDMA: trust in DSCP, priorities with PFC, priorities with
 * ECN, and the traffic class.
 *
 * The drivers in the kernel have the first two (data center bridging). ECN and the traffic class
 * are in files of NVIDIA's drivers; their class rules every queue pair that the kernel makes ready
 * (lib/rdma/traffic_class.h). That of RDMA CM, in configfs, is only a default.
 */
#ifndef RAILHEAD_RDMA_QOS_QOS_H
#define RAILHEAD_RDMA_QOS_QOS_H

#include "lib/base/ctx.h"
#include "lib/json/json.h"
#include "lib/device/dcb.h"
#include "lib/pci/pci.h"

enum qos_setting { QOS_TRUST, QOS_PFC, QOS_ECN, QOS_TC, QOS_CM, QOS_N };
#define QOS_BIT(setting) (1u << (setting))

/* qos_name - "trust", "pfc", "ecn", "trafficClass", "cmTrafficClass". */
const char *qos_name(enum qos_setting s);

/* The wanted settings. Settings that are not in `has` do not change. QOS_TC also sets QOS_CM. */
struct qos_profile {
	unsigned has; /* QOS_BIT of TRUST, PFC, ECN, TC */
	bool trust_dscp;
	uint8_t pfc, ecn; /* bit n: priority n */
	uint8_t tc;
};

/* ---- qos_conf.c: pure ---- */

/* qos_priorities - the bits of "3", "3,5" or "none"; -1 for any other text. */
int qos_priorities(const char *text, uint8_t *out) must_check;
#define QOS_LIST_LEN 16
/* qos_list - the text for such bits: "3,5", "none". Returns out. */
char *qos_list(uint8_t priorities, char out[QOS_LIST_LEN]);

/* A file of /etc/railhead/qos.d. */
struct qos_file {
	char pf[PCI_STR_LEN]; /* interface or PCI address */
	struct qos_profile want;
};

/* qos_file_decode - decode the text of a file. Errors begin with name, and name key and value. */
int qos_file_decode(const char *text, size_t len, const char *name, struct qos_file *out,
		    struct err *e) must_check;
/* qos_file_print - the text for a file; the caller frees it. NULL: no memory. */
char *qos_file_print(const struct qos_file *f);

/* qos_add_json - add the keys of a profile to o, as in a file. -1: no memory. */
int qos_add_json(struct json *o, const struct qos_profile *p) must_check;

/* ---- a PF in the kernel ---- */

struct qos_port {
	char netdev[IFNAME_LEN];
	char pci[PCI_STR_LEN];   /* "": no PCI device */
	char rdma[PCI_RDMA_LEN]; /* its RDMA device; "": none */
	uint32_t rdma_port;
};

/*
 * qos_find - the PF called pf: an interface of this namespace, or a PCI address. ERR_NOTFOUND:
 * there is none. ERR_CONFIG: it is a VF.
 */
int qos_find(const struct ctx *ctx, const char *pf, struct qos_port *out, struct err *e) must_check;

#define QOS_WHY_LEN 160

/* The congestion notifications (CNPs) that a card sends; -1: not known. */
struct qos_cnp {
	int dscp, priority;
};

/*
 * qos_cnp_read - from debugfs, where Linux's own mlx5 driver has them for root (cc_params, in
 * drivers/infiniband/hw/mlx5/cong.c of Linux 6.12). Only reads: such a setting is lost with the
 * driver. Needs sysfs and pci. The only error is ERR_NOMEM.
 */
int qos_cnp_read(const char *sysfs, const char *pci, struct qos_cnp *out, struct err *e) must_check;

struct qos_state {
	unsigned known;               /* QOS_BIT of each setting that could be read */
	char why[QOS_N][QOS_WHY_LEN]; /* the reason why a setting is not known */
	struct dcb_info dcb;
	bool trust_dscp;
	uint8_t pfc;
	uint8_t ecn_np, ecn_rp; /* notification point, reaction point */
	uint8_t tc, cm;
	struct qos_cnp cnp;
};

/* qos_read - read the settings of a PF. The only error is ERR_NOMEM. */
int qos_read(const struct ctx *ctx, struct nl *nl, const struct qos_port *p, struct qos_state *out,
	     struct err *e) must_check;

/*
 * qos_set - set the PF as wanted; *changed: QOS_BIT of each setting that was different before. A
 * setting that the PF does not have is refused before any change. After a later failure all changes
 * are undone.
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
