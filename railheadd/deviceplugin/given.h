/* SPDX-License-Identifier: Apache-2.0 */
/*
 * given.h: the devices that the kubelet may have given to pods, each with the time at which it
 * surely had. Pure.
 *
 * An id is known by an Allocate or by the kubelet's list of pods. The kubelet lists a device a
 * moment after its Allocate, and a kubelet that has just started does not list all pods yet. So an
 * id is dropped only if lists have lacked it for a while. A list that failed drops nothing.
 */
#ifndef RAILHEAD_RAILHEADD_DEVICEPLUGIN_GIVEN_H
#define RAILHEAD_RAILHEADD_DEVICEPLUGIN_GIVEN_H

#include "railheadd/resources/resources.h"

struct given_id {
	char id[RESOURCE_ID_LEN];
	int64_t at; /* ctx_mono_ms() */
};

struct given {
	struct given_id *id; /* owned; in order and each once after given_settle */
	size_t n;
};

void given_clear(struct given *g);

/* given_add - an id that no kubelet can have given (empty, too long) is ignored. ERR_NOMEM, also
 * for more than twice RESOURCE_IDS_MAX. */
int given_add(struct given *g, const char *id, int64_t at, struct err *e) must_check;

/* given_settle - each id once, with its latest time; those of before `since` are dropped. */
void given_settle(struct given *g, int64_t since);

#endif
