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
#include "lib/json/json.h"

#define CNICACHE_NAME_MAX 254 /* of a Kubernetes object's name, with NUL */

struct cnicache_entry {
	char file[256];
	char network[256], container[256], ifname[64]; /* "": only the file's name has them */
	/* CNI_ARGS K8S_POD_NAMESPACE, K8S_POD_NAME, K8S_POD_UID; "": not given */
	char ns[CNICACHE_NAME_MAX], pod[CNICACHE_NAME_MAX], uid[CNICACHE_NAME_MAX];
};

/* cnicache_parse - decode the text of a file; out->file stays. -1: it names no attachment. Pure. */
int cnicache_parse(const char *text, size_t len, struct cnicache_entry *out) must_check;

/*
 * cnicache_config - the configuration that the attachment was made with, from the text of a file: a
 * plugin's, or a list with "plugins". The caller frees *out. ERR_DECODE: the file has none; those
 * of libcni before 0.8 never have. Pure.
 */
int cnicache_config(const char *text, size_t len, struct json **out, struct err *e) must_check;

/* The folders below ctx->cni_dir: of the runtime, and of Multus for the networks that it adds. */
#define CNICACHE_RUNTIME "results"
#define CNICACHE_MULTUS  "multus/results"

/*
 * cnicache_each - read all files of a folder. text NULL: why says that this file cannot be read;
 * the error of one that has vanished is errnum ENOENT. fn returns 0, or -1 with e. Returns 0; 1:
 * there is no such folder; -1.
 */
struct cnicache_file {
	const char *name;
	const char *text; /* len bytes and NUL */
	size_t len;
	const struct err *why;
};
typedef int (*cnicache_fn)(const struct cnicache_file *f, void *arg, struct err *e);
int cnicache_each(const struct ctx *ctx, const char *folder, cnicache_fn fn, void *arg,
		  struct err *e) must_check;

struct cnicache {
	struct cnicache_entry *items; /* owned */
	size_t n;
	bool there; /* the folder exists */
};

/*
 * cnicache_load - read all files of the runtime's folder. A file that cannot be decoded gives an
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
