/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow.h: slow work in a child: a look at the hardware, and the call that registers a resource. The
 * kubelet connects to us before it answers that call. See railheadd/watch/child.h.
 *
 * Parent and child are one program, so structs go from one to the other without a format.
 */
#ifndef RAILHEAD_RAILHEADD_DEVICES_SLOW_H
#define RAILHEAD_RAILHEADD_DEVICES_SLOW_H

#include "railheadd/devices/function_priv.h"
#include "railheadd/watch/child.h"

#define SLOW_ANSWER_MAX  ((size_t)64 << 20) /* bytes */
#define SLOW_REGISTER_MS 20000 /* the kubelet connects to us for up to 10 s before it answers */

/*
 * slow_look - functions_read(), and before it the kubelet's list of pods: a pod that ends meanwhile
 * leaves a free device, and not a busy one. folder: of the kubelet's sockets; claims: also
 * functions_mark_claimed(). slow_register - call the kubelet. Both are for a child, and return the
 * exit status.
 */
struct slow_call {
	const char *socket, *endpoint, *resource;
};
int slow_look(const char *folder, bool claims);
int slow_register(const struct slow_call *call);

/* slow_say - in a child: print its answer; why NULL: it went well. Returns the exit status. */
int slow_say(const struct err *why, const void *bytes, size_t len);

/* The result of a look. */
struct slow_found {
	struct functions functions;
	uint8_t *pods; /* owned; an answer of List of the pod-resources API; NULL: see unlisted */
	size_t n_pods;
	char unlisted[sizeof(((struct err *)0)->msg)]; /* why it is not known which devices pods
							  have; "": it is */
};
void slow_found_clear(struct slow_found *f);
#define auto_slow_found auto_clean(slow_found_clear)

/* slow_say_found - the same in the child of a look. */
int slow_say_found(const struct slow_found *found, const struct err *why);

/*
 * slow_ended, slow_look_ended - the answer of a child, from child_conf.done; what: its name. bytes
 * and len may be NULL, and bytes are borrowed from it. ERR_AGAIN: it did not end in time;
 * ERR_DELEGATE: it ended without an answer; else its own error.
 */
struct slow_answer {
	const char *what;
	enum child_end how;
	const char *text;
	size_t len;
};
int slow_ended(const struct slow_answer *a, const void **bytes, size_t *len,
	       struct err *e) must_check;
int slow_look_ended(const struct slow_answer *a, struct slow_found *out, struct err *e) must_check;

#endif
