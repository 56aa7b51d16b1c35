/* SPDX-License-Identifier: Apache-2.0 */
/* prepared_priv.h: what the files of prepared claims share among themselves. */
#ifndef RAILHEAD_PLUGINS_PREPARED_PREPARED_PRIV_H
#define RAILHEAD_PLUGINS_PREPARED_PREPARED_PRIV_H

#include "plugins/prepared/prepared.h"

/* Behind the UID of the claim, in names of files. */
#define PREPARED_CLAIM  ".json"
#define PREPARED_ENDING ".ending"
#define PREPARED_RESULT ".result"
#define PREPARED_FILE   (64 + 8)

/* Other files of the folder. */
#define PREPARED_HOLDER "holder" /* the process that attaches, and so has the lock */
#define PREPARED_PUBLIC "pod"    /* a folder */

/* ---- file.c ---- */

extern const struct json_field prepared_id_fields[];

/* The folder of a pod, with the pod's lock. */
struct prepared_pod {
	int all, dir, lock; /* -1: not open */
};
#define PREPARED_CLOSED                                                                            \
	{                                                                                          \
		-1, -1, -1                                                                         \
	}

/*
 * prepared_open - 1: open; 0: the pod has no folder, and create is false. ERR_AGAIN: another
 * program works on the claims of the pod. prepared_close - also removes the folder if it is empty.
 */
int prepared_open(const struct ctx *ctx, const char *pod_uid, bool create, struct prepared_pod *out,
		  struct err *e) must_check;
void prepared_close(struct prepared_pod *p, const char *pod_uid);

/* prepared_read_at - prepared_read() in the open folder of the pod; file is "UID.json" or
 * "UID.ending". */
int prepared_read_at(int dir, const char *pod_uid, const char *file, struct prepared *out,
		     struct err *e) must_check;

/* prepared_name - the name of a file of the claim. prepared_uid_of - the reverse: "UID" of
 * "UID.json" with suffix ".json"; false: it is another file. Pure. */
void prepared_name(const char *uid, const char *suffix, char out[PREPARED_FILE]);
bool prepared_uid_of(const char *file, const char *suffix, char uid[64]);

/* ---- attached.c ---- */

struct attached {
	const char *network, *id, *ifname; /* struct prepared_sandbox; "": not known */
	const char *netns;
	const struct json *results; /* of each network, or of none: it is not whole */
	struct json *tree;          /* owns all of that */
};
/* attached_read - 1: read; 0: there is no such file. */
int attached_read(int dir, const char *file, struct attached *out, struct err *e) must_check;
int attached_write(int dir, const char *uid, const struct attached *a, struct err *e) must_check;
void attached_clear(struct attached *a);
#define auto_attached auto_clean(attached_clear)

/* ---- attach.c ---- */

/* prepared_delete - DEL of all networks, also after an error, which is the first one.
 * prepared_detach_claim - the same, and then its file goes. */
int prepared_delete(const struct prepared_job *job, const struct prepared *p,
		    const struct attached *a, struct err *e) must_check;
int prepared_detach_claim(const struct prepared_job *job, int dir, const struct prepared *p,
			  struct err *e) must_check;

/* ---- end.c ---- */

/* prepared_end_at - prepared_end() in the open folder of the pod. */
int prepared_end_at(const struct prepared_job *job, const struct prepared_pod *pod,
		    struct err *e) must_check;

/* ---- slot.c ---- */

/* prepared_slot_clear - remove the settings of the pod; the folder and railctl in it stay. */
int prepared_slot_clear(const struct ctx *ctx, const char *slot, struct err *e) must_check;

/* prepared_slot_is_at - the claim is attached there. The gate does not know the sandbox. */
bool prepared_slot_is_at(const struct ctx *ctx, const char *claim_uid, const char *netns);

/* ---- holder.c ---- */

/*
 * prepared_hold - note that this process has the lock. prepared_free_lock - true: the process that
 * has it was stopped by a signal, and has been killed; it would keep the lock for ever.
 */
int prepared_hold(int dir, struct err *e) must_check;
bool prepared_free_lock(const struct ctx *ctx, int all, int dir);

#endif
