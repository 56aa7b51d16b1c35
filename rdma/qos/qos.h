/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qos.h: quality of service of a PF as RDMA needs it: whether DSCP is trusted, which priorities
 * pause, which have ECN, and the traffic class of those who choose none.
 *
 * Of these the kernel's own drivers know the first two (data center bridging); the rest is in files
 * that NVIDIA's drivers have, and RDMA CM's default.
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

/* What shall be; what is not in has stays as it is. QOS_CM goes with QOS_TC. */
struct qos_profile {
	unsigned has; /* QOS_BIT of TRUST, PFC, ECN, TC */
	bool trust_dscp;
	uint8_t pfc, ecn; /* bit n: priority n */
	uint8_t tc;
};

/* ---- qos_conf.c: pure ---- */

/* qos_priorities - "3" or "3,5" or "none"; -1 when it is neither. */
int qos_priorities(const char *text, uint8_t *out) must_check;
#define QOS_LIST_LEN 16
/* qos_list - the same backwards. Returns out. */
char *qos_list(uint8_t priorities, char out[QOS_LIST_LEN]);

/* qos_class - the number in what the file traffic_class says: "106", or "Global tclass=106". */
int qos_class(const char *text, uint8_t *out) must_check;

/* A file of /etc/railhead/qos.d. */
struct qos_file {
	char pf[PCI_STR_LEN]; /* interface or PCI address */
	struct qos_profile want;
};

/* qos_file_decode - errors begin with name, and name key and value. */
int qos_file_decode(const char *text, size_t len, const char *name, struct qos_file *out,
		    struct err *e) must_check;
/* qos_file_print - its text, freed with free(); NULL: no memory. */
char *qos_file_print(const struct qos_file *f);

/* qos_add_json - the keys of a profile, as a file has them. -1: no memory. */
int qos_add_json(struct json *o, const struct qos_profile *p) must_check;

/* ---- a PF in the kernel ---- */

struct qos_port {
	char netdev[IFNAME_LEN];
	char pci[PCI_STR_LEN];   /* "": no PCI device */
	char rdma[PCI_RDMA_LEN]; /* its RDMA device; "": none */
	uint32_t rdma_port;
};

/* qos_find - pf: an interface of this namespace or a PCI address. ERR_NOTFOUND; ERR_CONFIG: a VF.
 */
int qos_find(const struct ctx *ctx, const char *pf, struct qos_port *out, struct err *e) must_check;

#define QOS_WHY_LEN 160

struct qos_state {
	unsigned known;               /* QOS_BIT: of what could be read */
	char why[QOS_N][QOS_WHY_LEN]; /* why it is not */
	struct dcb_info dcb;
	bool trust_dscp;
	uint8_t pfc;
	uint8_t ecn_np, ecn_rp; /* notification point, reaction point */
	uint8_t tc, cm;
};

/* qos_read - fails only when memory is out. */
int qos_read(const struct ctx *ctx, struct nl *nl, const struct qos_port *p, struct qos_state *out,
	     struct err *e) must_check;

/*
 * qos_set - have the PF like that; *changed: QOS_BIT of what was not so before. What cannot be set
 * at all is refused before anything is; after a failure later on, what was set is put back.
 */
struct qos_work {
	const struct ctx *ctx;
	struct nl *nl;
	const struct qos_port *port;
};
int qos_set(const struct qos_work *w, const struct qos_profile *want, unsigned *changed,
	    struct err *e) must_check;

/* ---- where things are, for the three files ---- */

#define QOS_PATH_LEN 192
/* qos_ecn_path - side: "roce_np" or "roce_rp". All are relative to sysfs. Return out. */
char *qos_ecn_path(const struct qos_port *p, const char *side, unsigned priority,
		   char out[QOS_PATH_LEN]);
char *qos_tc_path(const struct qos_port *p, char out[QOS_PATH_LEN]);
#define QOS_CM_DIR "kernel/config/rdma_cm"
/* qos_cm_path - the folder of its device, and what is in that. */
char *qos_cm_path(const struct qos_port *p, const char *tail, char out[QOS_PATH_LEN]);

#endif
