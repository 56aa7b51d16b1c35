/* SPDX-License-Identifier: Apache-2.0 */
/* ipam_import.h: what the files of `railctl ipam import` share. */
#ifndef RAILHEAD_RAILCTL_IPAM_IPAM_IMPORT_H
#define RAILHEAD_RAILCTL_IPAM_IPAM_IMPORT_H

#include "ipam/peers/cnicache.h"
#include "ipam/conf/conf.h"
#include "railctl/ipam/ipam.h"

/* One lease of the other program. */
struct found_lease {
	struct ip ip;
	struct cnicache_entry who; /* what is known of the attachment */
	const char *problem;       /* why it cannot be imported; NULL: it can */
};

struct found_leases {
	struct found_lease *items; /* owned; in the order of their addresses */
	size_t n;
	size_t others; /* left out: of other nodes, or of other networks */
};
void found_leases_clear(struct found_leases *f);
#define auto_found_leases auto_clean(found_leases_clear)

/* The network whose leases are imported, from --config, or from --network and --pool. */
struct import_conf {
	struct cni_conf envelope;
	struct ipam_conf ipam;
};
int import_conf_load(struct cmd_run *r, struct import_conf *out, struct err *e) must_check;
void import_conf_clear(struct import_conf *c);
#define auto_import_conf auto_clean(import_conf_clear)

/* import_host_local - of the network's folder, or that of --dir. ERR_NOTFOUND: there is none. */
int import_host_local(struct cmd_run *r, const struct import_conf *conf, struct found_leases *out,
		      struct err *e) must_check;

/* import_whereabouts - of the file that the command line names; see --all for whose. */
int import_whereabouts(struct cmd_run *r, const struct import_conf *conf, struct found_leases *out,
		       struct err *e) must_check;

/* import_read - a file that the command line names as what; "-": standard input. */
int import_read(const char *what, const char *path, char **text, size_t *len,
		struct err *e) must_check;

#endif
