/* SPDX-License-Identifier: Apache-2.0 */
/* import.h: what the files of `railctl ipam import` share. */
#ifndef RAILHEAD_RAILCTL_IPAM_IMPORT_H
#define RAILHEAD_RAILCTL_IPAM_IMPORT_H

#include "ipam/peers/cnicache.h"
#include "ipam/conf/conf.h"
#include "railctl/ipam/ipam.h"

/* One lease of the peer plugin. */
struct found_lease {
	struct ip ip;
	struct cnicache_entry who; /* the attachment, as far as it is known */
	const char *problem;       /* why it cannot be imported; NULL: it can */
};

struct found_leases {
	struct found_lease *items; /* owned; in the order of their addresses */
	size_t n;
	size_t others; /* number of leases left out: other nodes, other networks */
};
void found_leases_clear(struct found_leases *f);

/*
 * The network whose leases are imported. import_conf_load - read it from --config, or make it from
 * --network and --pool; import_conf_clear() frees it.
 */
struct import_conf {
	struct cni_conf envelope;
	struct ipam_conf ipam;
};
int import_conf_load(struct cmd_run *r, struct import_conf *out, struct err *e) must_check;
void import_conf_clear(struct import_conf *c);

/*
 * import_host_local - the leases in host-local's folder for the network, or in the folder of --dir.
 * ERR_NOTFOUND if the folder does not exist. found_leases_clear() frees *out.
 */
int import_host_local(struct cmd_run *r, const struct import_conf *conf, struct found_leases *out,
		      struct err *e) must_check;

/*
 * import_whereabouts - the leases in the file that the command line names: those of this node, or
 * with --all those of all nodes. found_leases_clear() frees *out.
 */
int import_whereabouts(struct cmd_run *r, const struct import_conf *conf, struct found_leases *out,
		       struct err *e) must_check;

#define IMPORT_FILE_MAX (256U << 20) /* bytes; enough for the leases of a cluster */

#endif
