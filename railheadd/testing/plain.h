/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain.h: the bare rate of etcd: keys that one client creates, if they are not there, and nothing
 * else. For test programs only.
 */
#ifndef RAILHEAD_RAILHEADD_TESTING_PLAIN_H
#define RAILHEAD_RAILHEADD_TESTING_PLAIN_H

#include "lib/base/base.h"

struct event_base;

struct plain;

/* plain_new - a client without connections. plain_free - its connections end. */
struct plain *plain_new(struct event_base *base, const char *url);
void plain_free(struct plain *p);

/*
 * plain_creates - n new keys, so many at a time, each on a connection of its own; returns ns. The
 * connections stay, as those of agents do. A key that is not created ends the program.
 */
int64_t plain_creates(struct plain *p, uint32_t n, uint32_t at_a_time);

#endif
