/* SPDX-License-Identifier: Apache-2.0 */
/*
 * later.h: a function that the event loop calls once, soon. Its memory is there before it is
 * needed, so that asking for it cannot fail.
 */
#ifndef RAILHEAD_CLUSTER_HTTP_LATER_H
#define RAILHEAD_CLUSTER_HTTP_LATER_H

#include "cluster/http/http.h"

struct http_later;

/* http_later_new - for fn(arg), which is not called yet. NULL: no memory. */
struct http_later *http_later_new(struct http *h, void (*fn)(void *arg), void *arg);

/* http_later_call - call it when the event loop has control again. */
void http_later_call(struct http_later *l);

/* http_later_free - before or after it was called, also from inside. NULL is fine. */
void http_later_free(struct http_later *l);

#endif
