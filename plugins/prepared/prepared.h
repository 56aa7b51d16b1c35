/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prepared.h: prepared claims. The driver of ResourceClaims writes the rails of a pod here before
 * the pod has a sandbox; the program railhead or railhead-hook attaches them.
 *
 * The files, all of them root's and of mode 0600 in folders of mode 0700:
 *
 *	<run_dir>/claims/lock                      the locks of all pods, by their UIDs
 *	<run_dir>/claims/POD_UID/CLAIM_UID.json    a prepared claim; none: it is not prepared any
 *more <run_dir>/claims/POD_UID/CLAIM_UID.result  what is attached; none: nothing is
 *
 * Each network of a claim is a configuration of the plugin rails. To rails the container is the UID
 * of the claim, and the interface is "claim0", "claim1" and so on.
 */
#ifndef RAILHEAD_PLUGINS_PREPARED_PREPARED_H
#define RAILHEAD_PLUGINS_PREPARED_PREPARED_H

#include "lib/base/ctx.h"
#include "lib/json/json.h"

#define PREPARED_FOLDER       "claims"
#define PREPARED_NETWORKS_MAX 8
#define PREPARED_CLAIMS_MAX   64 /* of one pod */

/* An object of Kubernetes. All are names as id_valid() demands them. */
struct prepared_id {
	char uid[64], ns[64], name[254];
};

struct prepared {
	struct prepared_id pod, claim;
	struct json *networks; /* owned; a list of configurations of rails */
};

/* ---- file.c ---- */

/*
 * prepared_decode - the text of a file. ERR_DECODE. Clear *out. prepared_print - freed with free();
 * NULL: no memory. Both are pure. prepared_check - what prepared_decode demands, of a struct that
 * was built by hand: ERR_CONFIG.
 */
int prepared_decode(const char *text, size_t len, struct prepared *out, struct err *e) must_check;
char *prepared_print(const struct prepared *p);
int prepared_check(const struct prepared *p, struct err *e) must_check;
void prepared_clear(struct prepared *p);
#define auto_prepared auto_clean(prepared_clear)

/*
 * prepared_put - the claim is prepared for its pod. Once more is success. ERR_BUSY: it has other
 * networks, and is attached; or the pod has too many claims.
 */
int prepared_put(const struct ctx *ctx, const struct prepared *p, struct err *e) must_check;

/*
 * prepared_read - 1: read; 0: the claim is not prepared. ERR_DECODE: its file is damaged, or is
 * another claim's; ERR_FORBIDDEN: another user could write the file.
 */
int prepared_read(const struct ctx *ctx, const char *pod_uid, const char *claim_uid,
		  struct prepared *out, struct err *e) must_check;

/*
 * prepared_each - call fn for every claim of the pod (NULL: of all pods), in the order of their
 * UIDs. claim NULL: it cannot be read, and why says so. If fn returns non-zero, the walk ends, and
 * the value is discarded. No claim, and no folder, is success.
 */
struct prepared_entry {
	const char *pod_uid, *claim_uid;
	const struct prepared *claim;
	const struct err *why;
};
typedef int (*prepared_fn)(const struct prepared_entry *x, void *arg);
int prepared_each(const struct ctx *ctx, const char *pod_uid, prepared_fn fn, void *arg,
		  struct err *e) must_check;

#endif
