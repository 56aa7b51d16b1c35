/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_kube.h: the bare rate of an API server: blocks that clients create, and nothing else. For
 * test programs only.
 */
#ifndef RAILHEAD_RAILHEADD_TESTING_PLAIN_KUBE_H
#define RAILHEAD_RAILHEADD_TESTING_PLAIN_KUBE_H

#include "lib/base/base.h"

struct event_base;
struct plain_kube;

/* plain_kube_new - so many clients with a connection each; where: a kubeconfig. */
struct plain_kube *plain_kube_new(struct event_base *base, const char *where, uint32_t connections);
void plain_kube_free(struct plain_kube *p);

/*
 * plain_kube_creates - n new blocks, one at a time on each connection; returns ns. The connections
 * stay. A block that is not created ends the program. At most 65,536 in all.
 */
int64_t plain_kube_creates(struct plain_kube *p, uint32_t n);

#endif
