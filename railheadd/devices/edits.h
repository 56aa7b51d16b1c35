/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edits.h: what a container with rails gets by a CDI file (containerEdits): the hook without which
 * it does not start, the folder of the pod at /run/railhead, railctl in there, and the files of
 * RDMA devices.
 */
#ifndef RAILHEAD_RAILHEADD_DEVICES_EDITS_H
#define RAILHEAD_RAILHEADD_DEVICES_EDITS_H

#include "lib/base/ctx.h"
#include "lib/json/json.h"

#define EDITS_HOOK "railhead-hook"

/* All are borrowed. */
struct edits {
	const struct ctx *ctx;
	const char *bin;         /* the folder of CNI plugins, on the host */
	const char *folder;      /* of the pod */
	const char *const *hook; /* the words of its command; NULL ends them */
	const struct json *networks;
	unsigned variables; /* bits of rail_variables */
};

/*
 * edits_add - add them to an object. ERR_NOTFOUND: the node lacks a rail; ERR_CONFIG: a rail is of
 * another link layer than the kind of its network; ERR_STATE: a rail has no RDMA device, which the
 * network asks for. RDMA devices that move have other files afterwards, so the container then has
 * those of all numbers.
 */
int edits_add(struct json *to, const struct edits *x, struct err *e) must_check;

/* edits_add_folder - add the folder alone; once more is the same mount. -1: no memory. */
int edits_add_folder(struct json *to, const char *folder) must_check;

/* edits_put_programs - the empty files over which the runtime mounts railctl and rdma-probe. */
int edits_put_programs(const char *folder, struct err *e) must_check;

#endif
