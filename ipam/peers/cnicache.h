/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cnicache.h: the attachments of this node, as libcni records them for every runtime.
 *
 * Each attachment has a file, /var/lib/cni/results/NETWORK-CONTAINER-IFNAME, with the request and
 * the result. Files of libcni before 0.8 have only the result; the name has the rest.
 */
#ifndef RAILHEAD_IPAM_PEERS_CNICACHE_H
#define RAILHEAD_IPAM_PEERS_CNICACHE_H

#include "lib/base/ctx.h"

#define CNICACHE_NAME_MAX 254 /* of a Kubernetes object's name, with NUL */

struct cnicache_entry {
	char file[256];
	char network[256], container[256], ifname[64]; /* "": only the file's name has them */
	/* CNI_ARGS K8S_POD_NAMESPACE, K8S_POD_NAME, K8S_POD_UID; "": not given */
	char ns[CNICACHE_NAME_MAX], pod[CNICACHE_NAME_MAX], uid[CNICACHE_NAME_MAX];
};

/* cnicache_parse - decode the text of a file; out->file stays. -1: it names no attachment. Pure. */
int cnicache_parse(const char *text, size_t len, struct cnicache_entry *out) must_check;

struct cnicache {
	struct cnicache_entry *items; /* owned */
	size_t n;
	bool there; /* the folder exists */
};

/*
 * cnicache_load - read all files of ctx->cni_dir/results. A file that cannot be decoded gives an
 * entry with only its name. cnicache_clear - free what c owns.
 */
int cnicache_load(const struct ctx *ctx, struct cnicache *out, struct err *e) must_check;
void cnicache_clear(struct cnicache *c);
#define auto_cnicache auto_clean(cnicache_clear)

/*
 * cnicache_find - the number of attachments that match q; network and ifname "" match any. *out is
 * the first one; names that only its file name has are filled in. Pure.
 */
struct cnicache_query {
	const char *network, *container, *ifname;
};
size_t cnicache_find(const struct cnicache *c, const struct cnicache_query *q,
		     struct cnicache_entry *out);

#endif
