/* SPDX-License-Identifier: Apache-2.0 */
/*
 * given.h: the devices that the kubelet may have given to pods, each with the time at which it
 * surely had. Pure.
 *
 * An id is known by an Allocate or by the kubelet's list of pods. The kubelet lists a device a
 * moment after its Allocate, and a kubelet that has just started does not list all pods yet. So an
 * id is dropped only if lists have lacked it for a while. A list that failed drops nothing.
 *
 * The kubelet never lists the devices of an init container (List in
 * pkg/kubelet/apis/podresources/server_v1.go; from 1.29 on it lists those of sidecars). So an id
 * of an Allocate that no list has had since is not dropped while its device is in use.
 */
#ifndef RAILHEAD_RAILHEADD_DEVICES_GIVEN_H
#define RAILHEAD_RAILHEADD_DEVICES_GIVEN_H

#include "railheadd/devices/resources.h"

struct given_id {
	char id[RESOURCE_ID_LEN];
	int64_t at;  /* ctx_mono_ms() */
	bool listed; /* by a list; else by an Allocate since */
};

struct given {
	struct given_id *id; /* owned; in order and each once after given_settle */
	size_t n;
};

void given_clear(struct given *g);

/*
 * given_add - by an Allocate. given_list - by a list. An id that no kubelet can have given (empty,
 * too long) is ignored. ERR_NOMEM, also for more than twice RESOURCE_IDS_MAX.
 */
int given_add(struct given *g, const char *id, int64_t at, struct err *e) must_check;
int given_list(struct given *g, const char *id, int64_t at, struct err *e) must_check;

/* given_in_use - the device of this id is in use; after given_settle. */
void given_in_use(struct given *g, const char *id, int64_t at);

/* given_settle - each id once, with its latest time; those of before `since` are dropped. */
void given_settle(struct given *g, int64_t since);

#endif
