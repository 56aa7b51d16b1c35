/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain.h: the bare rate of etcd: keys that one client creates, if they are not there, and nothing
 * else. For test programs only.
 */
#ifndef RAILHEAD_RAILHEADD_TESTING_PLAIN_H
#define RAILHEAD_RAILHEADD_TESTING_PLAIN_H

#include "lib/base/base.h"

struct event_base;

/* plain_creates - n keys, 64 at a time; returns ns. A key that is not created ends the program. */
int64_t plain_creates(struct event_base *base, const char *url, uint32_t n);

#endif
