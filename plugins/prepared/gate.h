/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h: the program railhead-hook, a createRuntime hook of containers with a claim: their first
 * process does not run before the claims of the pod are attached. railhead-hook(8).
 */
#ifndef RAILHEAD_PLUGINS_PREPARED_GATE_H
#define RAILHEAD_PLUGINS_PREPARED_GATE_H

#include <limits.h>

#include "plugins/prepared/prepared.h"

/* gate_main - the program; its exit status. The state of the container comes on standard input. */
int gate_main(int argc, char **argv, const struct delegate_builtin *rails);

/* ---- pure ---- */

/* The state of a container, as a runtime prints it. ERR_DECODE, also if it has no process. */
struct gate_state {
	int pid;
	char bundle[PATH_MAX];
};
int gate_state_decode(const char *text, size_t len, struct gate_state *out,
		      struct err *e) must_check;

/* gate_netns_path - the network namespace that config.json of a bundle names; NULL: none. */
const char *gate_netns_path(const struct json *config);

/*
 * gate_is_in_pod - does /proc/PID/cgroup put the process into the pod? Both ways in which a kubelet
 * names the cgroup of a pod, in any hierarchy.
 */
bool gate_is_in_pod(const char *cgroups, const char *pod_uid);

/* gate_pod_of - the pod of the process, the innermost one; false: it is in none. */
bool gate_pod_of(const char *cgroups, char uid[64]);

/* gate_pod_names - set the names that config.json has of the pod. Without them the namespace is
 * "unknown", and the name is the UID, which is set already. */
void gate_pod_names(const struct json *config, struct prepared_id *pod);

#endif
