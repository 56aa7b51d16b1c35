/* SPDX-License-Identifier: Apache-2.0 */
/* result_rdma.h: the key "rdma" of a result: the RDMA device of the pod's interface. Pure. */
#ifndef RAILHEAD_CNI_PROTOCOL_RESULT_RDMA_H
#define RAILHEAD_CNI_PROTOCOL_RESULT_RDMA_H

#include "lib/json/json.h"
#include "lib/rdma/bus.h"

#define RESULT_RDMA_KEY "rdma"

/* Strings are borrowed. */
struct result_rdma {
	enum rdma_mode mode;
	const char *device; /* its name in the pod */
	uint32_t port;
	const char *bus;         /* of the hardware below; "": there is none */
	const struct json *gids; /* an array; NULL: mode exclusive, or none is known */
	const struct rdma_chardevs *chardevs;
};

/* result_rdma_json - the value of the key. The caller frees it. NULL: no memory. */
struct json *result_rdma_json(const struct result_rdma *r);

#endif
