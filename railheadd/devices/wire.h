/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h: messages of the kubelet's device plugin API as bytes. Pure.
 */
#ifndef RAILHEAD_RAILHEADD_DEVICES_WIRE_H
#define RAILHEAD_RAILHEADD_DEVICES_WIRE_H

#include "lib/grpc/proto.h"
#include "railheadd/devices/allocate.h"
#include "railheadd/devices/preferred.h"

#define WIRE_REQUEST_MAX    ((size_t)4 << 20) /* bytes, as Go's gRPC limits messages */
#define WIRE_CONTAINERS_MAX 64                /* of one request; the kubelet sends one */

/* wire_register - Register: the socket's name in the kubelet's folder, and what it serves. */
struct proto_bytes wire_register(const char *endpoint, const char *resource);
/* wire_options - of GetDevicePluginOptions: GetPreferredAllocation is there. */
struct proto_bytes wire_options(void);
/* wire_list - of ListAndWatch: all devices of a resource. */
struct proto_bytes wire_list(const struct resource_devices *d);

/* A decoded request of GetPreferredAllocation: n containers. */
struct wire_preferred {
	struct resource_preference *of; /* owned */
	size_t n;
	void *message; /* owned; what of[] borrows from */
};
/*
 * wire_preferred_decode - ERR_DECODE: it is malformed, or has more than WIRE_CONTAINERS_MAX
 * containers or RESOURCE_IDS_MAX ids of one, or asks for less than one device; ERR_NOMEM.
 */
int wire_preferred_decode(const uint8_t *bytes, size_t len, struct wire_preferred *out,
			  struct err *e) must_check;
void wire_preferred_clear(struct wire_preferred *p);
#define auto_wire_preferred auto_clean(wire_preferred_clear)

/* The ids of a container. */
struct wire_ids {
	const char *const *id; /* borrowed */
	size_t n;
};
/* wire_preferred_answer - the choice for each of n containers. */
struct proto_bytes wire_preferred_answer(const struct wire_ids *choice, size_t n);

/* A decoded request of Allocate: n containers. */
struct wire_allocate {
	struct wire_ids *of; /* owned */
	size_t n;
	void *message; /* owned; what of[] borrows from */
};
/* wire_allocate_decode - ERR_DECODE: malformed, or too many containers or ids; ERR_NOMEM. */
int wire_allocate_decode(const uint8_t *bytes, size_t len, struct wire_allocate *out,
			 struct err *e) must_check;
void wire_allocate_clear(struct wire_allocate *a);
#define auto_wire_allocate auto_clean(wire_allocate_clear)

/* wire_allocate_answer - what each of n containers gets. */
struct proto_bytes wire_allocate_answer(const struct resource_allocation *of, size_t n);

#endif
