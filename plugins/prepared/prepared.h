/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prepared.h: prepared claims. The driver of ResourceClaims writes the rails of a pod here before
 * the pod has a sandbox; the program railhead or railhead-hook attaches them.
 *
 * The files below <run_dir>/claims are root's, of mode 0600 in folders of mode 0700:
 *
 *	lock                     the locks of all pods, by their UIDs
 *	POD_UID/CLAIM_UID.json   a prepared claim; none: it is not prepared any more
 *	POD_UID/CLAIM_UID.result what is attached, or begun; none: nothing is
 *	POD_UID/CLAIM_UID.ending a claim whose prepared_end() has begun
 *	POD_UID/pod/             mode 0755: its settings, for the pod to read
 *
 * <run_dir>/refused/CLAIM_UID.json says why the last container with that claim did not start.
 *
 * Without claims of Kubernetes a pod has a slot, a device of the device plugin, and the hook makes
 * its claim: slot.c. The UID of that claim is POD_UID-SLOT, and <run_dir>/slots/SLOT is the folder
 * that the pod reads. The CDI file of the slot names the folder before the pod exists.
 *
 * Each network of a claim is a configuration of the plugin rails. To rails the container is the UID
 * of the claim, and the interface is "claim0", "claim1" and so on.
 */
#ifndef RAILHEAD_PLUGINS_PREPARED_PREPARED_H
#define RAILHEAD_PLUGINS_PREPARED_PREPARED_H

#include <limits.h>

#include "cni/protocol/delegate.h"

#define PREPARED_FOLDER       "claims"
#define PREPARED_REFUSED      "refused"
#define PREPARED_NETWORK      "railhead-claims" /* the name of all of them */
#define PREPARED_NETWORKS_MAX 8
#define PREPARED_CLAIMS_MAX   64 /* of one pod */
#define PREPARED_NAME_LEN     254

/* An object of Kubernetes. All are names as id_valid() demands them. */
struct prepared_id {
	char uid[64], ns[64], name[PREPARED_NAME_LEN];
};

struct prepared {
	struct prepared_id pod, claim;
	struct json *networks; /* owned; a list of configurations of rails */
	unsigned variables;    /* that the driver gives a container, as bits of its list */
	bool memlock;          /* the first process of a container may lock any amount of memory */
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

/* prepared_public - the folder that the pod reads at PREPARED_AT. prepared_put makes it, with mode
 * 0755, unless it is that of a slot. Pure. */
#define PREPARED_AT "/run/railhead"
/* Empty files there, over which the runtime mounts the programs of the node. */
#define PREPARED_PROGRAMS                                                                          \
	{                                                                                          \
		"railctl", "rdma-probe"                                                            \
	}
void prepared_public(const struct ctx *ctx, const char *pod_uid, const char *claim_uid,
		     char out[PATH_MAX]);

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

/* prepared_claim_name - of the claim with this UID; pod_uid NULL: of any pod. Returns out, "" if
 * its file cannot be read. */
const char *prepared_claim_name(const struct ctx *ctx, const char *pod_uid, const char *claim_uid,
				char out[PREPARED_NAME_LEN]);

/* ---- attach.c: all in the network namespace of the host ---- */

struct prepared_job {
	const struct ctx *ctx;
	const char *pod_uid;
	const char *claim_uid; /* prepared_end: this one; prepared_attach: this one must be there */
	const char *cni_path;  /* folders with the program railhead-ipam */
	const struct delegate_builtin *rails; /* NULL: the program rails is there, too */
};

/* The network namespace of a pod. */
struct prepared_sandbox {
	const char *netns; /* its path */
	/* The attachment behind which the claims are attached, or NULL if that is not known. */
	const char *network, *id, *ifname;
};

/* prepared_check_mode - ERR_STATE: a network needs RDMA devices that pods share, and the node is in
 * RDMA mode exclusive. An ADD says the same. */
int prepared_check_mode(const struct prepared *p, struct err *e) must_check;

/*
 * prepared_reserve - the addresses of all networks, before there is a sandbox; all or nothing. Once
 * more is success. Errors are those of an ADD: no such rail, no address left. It comes behind
 * prepared_put(), so that prepared_end() gives the addresses back whatever happens.
 */
int prepared_reserve(const struct ctx *ctx, const struct prepared *p, const char *cni_path,
		     struct err *e) must_check;

/*
 * prepared_attach - all claims of the pod; all or nothing. A claim that is attached there is only
 * checked; one that is attached elsewhere is detached first. A pod without claims is success.
 * ERR_NOTFOUND: claim_uid is not prepared. ERR_DECODE: a claim is damaged, and none is attached.
 */
int prepared_attach(const struct prepared_job *job, const struct prepared_sandbox *s,
		    struct err *e) must_check;

/* prepared_is_attached - to some sandbox, or an attachment has begun. */
bool prepared_is_attached(const struct ctx *ctx, const struct prepared *p);

/* prepared_results - 1: *out are the results of rails, one for each network, owned by the caller;
 * 0: the claim is not attached whole. */
int prepared_results(const struct ctx *ctx, const struct prepared *p, struct json **out,
		     struct err *e) must_check;

/*
 * prepared_refresh - write the files of all pods with an attached claim again: rails may have come
 * back, or have changed. It logs what it cannot do for one pod, and goes on with the others.
 */
int prepared_refresh(const struct ctx *ctx, struct err *e) must_check;

/* prepared_verify - ERR_STATE unless all claims of the pod are attached there whole. */
int prepared_verify(const struct prepared_job *job, const struct prepared_sandbox *s,
		    struct err *e) must_check;

/*
 * prepared_detach - the claims that were attached for id and ifname. They stay prepared. pod_uid
 * NULL: of whichever pod. prepared_gc - the claims that were attached behind the network of conf,
 * for an attachment that its list of valid ones does not have.
 */
int prepared_detach(const struct prepared_job *job, const struct prepared_sandbox *s,
		    struct err *e) must_check;
int prepared_gc(const struct prepared_job *job, const struct cni_conf *conf,
		struct err *e) must_check;

/*
 * prepared_end - the claim is not prepared any more, and nothing of it is left: neither interfaces
 * nor addresses, and with the last claim of the pod no folder. Once more is success. pod_uid NULL:
 * its files are lost; records and the IPAM know what it had.
 */
int prepared_end(const struct prepared_job *job, struct err *e) must_check;

/* ---- slot.c ---- */

#define PREPARED_SLOTS    "slots"
#define PREPARED_SLOT_LEN 27 /* with the UID of a pod, the UID of a claim */

/* prepared_slot_name - the slot of such a claim; NULL: it is a claim of Kubernetes. Pure.
 * prepared_slot_folder - what the pod reads; it may not exist. Pure. prepared_slot_make - make it,
 * with mode 0755; once more is success. */
const char *prepared_slot_name(const char *pod_uid, const char *claim_uid);
void prepared_slot_folder(const struct ctx *ctx, const char *slot, char out[PATH_MAX]);
int prepared_slot_make(const struct ctx *ctx, const char *slot, struct err *e) must_check;

/*
 * prepared_slot_decode - the argument of the hook, an object with the networks. It sets only
 * networks and memlock of *out. ERR_DECODE. prepared_slot_print - the reverse, freed with free();
 * NULL: no memory. Pure.
 */
int prepared_slot_decode(const char *text, size_t len, struct prepared *out,
			 struct err *e) must_check;
char *prepared_slot_print(const struct json *networks, bool memlock);

/*
 * prepared_slot_take - the claim of job is prepared; p is how, if it is not yet. A pod that had the
 * slot before is ended first. ERR_BUSY: the network namespace of that pod still exists.
 * ERR_FORBIDDEN: another container of the pod has a slot.
 */
int prepared_slot_take(const struct prepared_job *job, const struct prepared *p,
		       struct err *e) must_check;

/*
 * prepared_slot_end - prepared_end() if the namespace to which it was attached is proved gone. 1:
 * nothing is left of it; 0: the namespace exists. Errors also if that is not known.
 */
int prepared_slot_end(const struct prepared_job *job, struct err *e) must_check;

/* prepared_slot_each - call fn for each claim of a slot, also if its end has begun; -1 of fn ends
 * the walk. */
typedef int (*prepared_slot_fn)(const char *pod_uid, const char *claim_uid, void *arg,
				struct err *e);
int prepared_slot_each(const struct ctx *ctx, prepared_slot_fn fn, void *arg,
		       struct err *e) must_check;

/* ---- refused.c ---- */

/* Why a container did not start. Texts are borrowed; of prepared_refusal_decode() from tree. */
struct prepared_refusal {
	struct prepared_id pod, claim;
	int64_t code; /* enum err_code */
	const char *node, *message, *hint;
	struct json *tree; /* owned; NULL to write it */
};

/*
 * prepared_refuse - write the file of the claim; a later refusal replaces it.
 * prepared_refusal_forget - remove it; none is success. prepared_refusals - their folder, which the
 * first refusal makes. Pure.
 */
int prepared_refuse(const struct ctx *ctx, const struct prepared_refusal *r,
		    struct err *e) must_check;
int prepared_refusal_forget(const struct ctx *ctx, const char *claim_uid, struct err *e) must_check;
void prepared_refusals(const struct ctx *ctx, char out[PATH_MAX]);

/* prepared_refusal_decode - the text of a file. ERR_DECODE. Free out->tree. Pure. */
int prepared_refusal_decode(const char *text, size_t len, struct prepared_refusal *out,
			    struct err *e) must_check;

#endif
