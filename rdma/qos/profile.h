/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h: the wanted quality of service of a card, as options and as a file of
 * /etc/railhead/qos.d. Pure.
 */
#ifndef RAILHEAD_RDMA_QOS_PROFILE_H
#define RAILHEAD_RDMA_QOS_PROFILE_H

#include "lib/device/dcb.h"
#include "lib/json/json.h"
#include "lib/device/pci.h"

enum qos_setting {
	QOS_TRUST,
	QOS_DSCP,             /* the priority of each DSCP value */
	QOS_PRIORITY_QUEUES,  /* the queue of each priority */
	QOS_QUEUE_BANDWIDTH,  /* how the queues share the link */
	QOS_PRIORITY_BUFFERS, /* the receive buffer of each priority */
	QOS_BUFFER_BYTES,
	QOS_PFC,
	QOS_STORM, /* when the card stops to obey pause frames without an end */
	QOS_ECN,
	QOS_CNP, /* congestion notifications that the card sends */
	QOS_TC,
	QOS_CM,
	QOS_N
};
#define QOS_BIT(setting) (1u << (setting))
#define QOS_PROFILE      (QOS_BIT(QOS_CM) - 1) /* all that a profile can have */

/* qos_name - the key in files: "trust", "pfcStormTimeout", "trafficClass", "cmTrafficClass". */
const char *qos_name(enum qos_setting s);

#define QOS_STRICT  UINT32_MAX       /* bandwidth: the queue precedes those of lower numbers */
#define QOS_VENDOR  (UINT32_MAX - 1) /* bandwidth: as a driver shares before any setting */
#define QOS_NO_RULE 255              /* dscp: that value has no priority of its own */
#define QOS_UNSET   (-1)
#define QOS_LISTS   4           /* from QOS_PRIORITY_QUEUES on: a number for each of eight */
#define QOS_BIGGEST (64u << 20) /* bytes of a buffer */

/* DSCP and priority of congestion notifications (CNPs); QOS_UNSET: not known, or not wanted. */
struct qos_cnp {
	int dscp, priority;
};

/* The wanted settings. Settings that are not in `has` do not change. QOS_TC also sets QOS_CM. */
struct qos_profile {
	unsigned has; /* QOS_BIT of those in QOS_PROFILE */
	bool lossy;   /* the fabric has no PFC: only said, nothing is set */
	bool trust_dscp;
	uint8_t dscp[DCB_DSCP];                   /* priority, or QOS_NO_RULE */
	uint32_t list[QOS_LISTS][DCB_PRIORITIES]; /* see qos_list_of() */
	uint8_t pfc, ecn;                         /* bit n: priority n */
	uint16_t storm; /* ms; 0: off; ETHTOOL_STORM_AUTO: as the driver chooses */
	struct qos_cnp cnp;
	uint8_t tc;
};

/* qos_list_of - the numbers of a setting from QOS_PRIORITY_QUEUES to QOS_BUFFER_BYTES. */
static inline uint32_t *qos_list_of(struct qos_profile *p, enum qos_setting s)
{
	return p->list[s - QOS_PRIORITY_QUEUES];
}

/* ---- words.c: options ---- */

/* qos_priorities - the bits of "3", "3,5" or "none"; -1 for any other text. */
int qos_priorities(const char *text, uint8_t *out) must_check;
#define QOS_LIST_LEN 16
/* qos_list - the text for such bits: "3,5", "none". Returns out. */
char *qos_list(uint8_t priorities, char out[QOS_LIST_LEN]);

/*
 * qos_parse - take the text of one setting into p, with its bit in has: "dscp", "26=3,48-55=6",
 * "0,1,2,3,4,5,6,7", "strict,50,50,0,0,0,0,0", "auto", "off", "106". For QOS_CNP a DSCP value and a
 * priority, as "48/6". -1: it is none; p stays. qos_form - its form, for errors and help.
 */
int qos_parse(enum qos_setting s, const char *text, struct qos_profile *p) must_check;
const char *qos_form(enum qos_setting s);
#define QOS_TEXT_LEN 400
/* qos_text - the value of one setting as such a text; QOS_CM like QOS_TC. Returns out. */
char *qos_text(enum qos_setting s, const struct qos_profile *p, char out[QOS_TEXT_LEN]);

/*
 * qos_check_profile - ERR_CONFIG: settings that contradict each other, or shares of the queues that
 * are not 100 percent.
 */
int qos_check_profile(const struct qos_profile *p, struct err *e) must_check;

/*
 * qos_overlay - replace the settings of p that over has, and remove those that contradict them:
 * lossy if over has priorities with PFC, dscp if over has trust in PCP.
 */
void qos_overlay(struct qos_profile *p, const struct qos_profile *over);

/* ---- conf.c: files ---- */

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

#endif
