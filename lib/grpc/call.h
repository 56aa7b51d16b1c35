/* SPDX-License-Identifier: Apache-2.0 */
/* call.h: one unary gRPC call to a server that listens at a unix socket. */
#ifndef RAILHEAD_LIB_GRPC_CALL_H
#define RAILHEAD_LIB_GRPC_CALL_H

#include "lib/grpc/unary.h"

/*
 * grpc_call - connect to the socket at this path, call, and close. until: of ctx_mono_ms(), for the
 * whole call; r->timeout_ms is what was left of it. The caller clears *out; its status may be any.
 * Each error names the socket. ERR_AGAIN: there is no server, or it did not answer in time;
 * ERR_FORBIDDEN: the server's user is neither root nor the caller's; ERR_CONFIG: the path is too
 * long; ERR_IO; ERR_NOMEM.
 */
int grpc_call(const char *socket_path, const struct grpc_request *r, int64_t until,
	      struct grpc_answer *out, struct err *e) must_check;

#endif
