/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dra.h: messages of the kubelet's API for drivers of claims as bytes. Pure.
 */
#ifndef RAILHEAD_RAILHEADD_CLAIMS_DRA_H
#define RAILHEAD_RAILHEADD_CLAIMS_DRA_H

#include "lib/grpc/proto.h"
#include "railheadd/claims/claim.h"

#define DRA_REQUEST_MAX ((size_t)4 << 20) /* bytes, as Go's gRPC limits messages */
#define DRA_CLAIMS_MAX  64                /* of one request: those of a pod */

/* dra_info - of GetInfo: the path of the socket with the calls below. */
struct proto_bytes dra_info(const char *endpoint);

/* dra_status_decode - of NotifyRegistrationStatus; error is cut where it is long. ERR_DECODE. */
struct dra_status {
	bool registered;
	char error[256];
};
int dra_status_decode(const uint8_t *bytes, size_t len, struct dra_status *out,
		      struct err *e) must_check;

/* A decoded request of NodePrepareResources or NodeUnprepareResources. */
struct dra_claim {
	const char *ns, *name, *uid;
};
struct dra_request {
	struct dra_claim of[DRA_CLAIMS_MAX]; /* texts belong to the message */
	size_t n;
	void *message; /* owned */
	/* Of a request with one claim, as read after it came; owned; NULL: not read. */
	struct json *claim, *pod;
};
/* dra_request_decode - ERR_DECODE: malformed, more than DRA_CLAIMS_MAX, or a text is not a name of
 * Kubernetes; ERR_NOMEM. Clear *out. */
int dra_request_decode(const uint8_t *bytes, size_t len, struct dra_request *out,
		       struct err *e) must_check;
void dra_request_clear(struct dra_request *r);
#define auto_dra_request auto_clean(dra_request_clear)

/* The end of one claim of a request. */
struct dra_outcome {
	struct claim claim; /* prepared: its devices; texts are borrowed */
	struct json *tree;  /* owned; what they are borrowed from; NULL: from the request */
	char error[1024];   /* "": it went well */
};

/* dra_prepared, dra_unprepared - the outcome of each claim of the request. pool: of all devices. */
struct proto_bytes dra_prepared(const struct dra_request *r, const struct dra_outcome *of,
				const char *pool);
struct proto_bytes dra_unprepared(const struct dra_request *r, const struct dra_outcome *of);

/*
 * dra_health - the health of all devices of pool. devices: of slices_devices(), with taints: a
 * device is healthy without one, and its message is the value of the first. now: seconds. The
 * kubelet forgets it after DRA_HEALTH_S.
 */
#define DRA_HEALTH_S 120
struct proto_bytes dra_health(const struct json *devices, const char *pool, int64_t now);

#endif
