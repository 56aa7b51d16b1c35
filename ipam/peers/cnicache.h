/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cnicache.h: the attachments of this node, as libcni keeps them for every runtime.
 *
 * One file an attachment, /var/lib/cni/results/NETWORK-CONTAINER-IFNAME: what the runtime asked,
 * and the result. Files of libcni before 0.8 have the result alone: their name tells the rest.
 */
#ifndef RAILHEAD_IPAM_PEERS_CNICACHE_H
#define RAILHEAD_IPAM_PEERS_CNICACHE_H

#include "lib/base/ctx.h"

#define CNICACHE_NAME_MAX 254 /* of a Kubernetes object's name, with NUL */

struct cnicache_entry {
	char file[256];
	char network[256], container[256], ifname[64]; /* "": see the file's name */
	/* CNI_ARGS K8S_POD_NAMESPACE, K8S_POD_NAME, K8S_POD_UID; "" when not given */
	char ns[CNICACHE_NAME_MAX], pod[CNICACHE_NAME_MAX], uid[CNICACHE_NAME_MAX];
};

/* cnicache_parse - the text of a file, all but out->file. -1: it says no attachment. Pure. */
int cnicache_parse(const char *text, size_t len, struct cnicache_entry *out) must_check;

struct cnicache {
	struct cnicache_entry *items; /* owned */
	size_t n;
	bool there; /* the folder exists */
};

/* cnicache_load - all of ctx->cni_dir/results; what cannot be read is known by its name only. */
int cnicache_load(const struct ctx *ctx, struct cnicache *out, struct err *e) must_check;
void cnicache_clear(struct cnicache *c);
#define auto_cnicache auto_clean(cnicache_clear)

/*
 * cnicache_find - how many attachments match: network and ifname "" stand for any. *out is the
 * first of them, with what was not said in it filled in. Pure.
 */
struct cnicache_query {
	const char *network, *container, *ifname;
};
size_t cnicache_find(const struct cnicache *c, const struct cnicache_query *q,
		     struct cnicache_entry *out);

#endif
