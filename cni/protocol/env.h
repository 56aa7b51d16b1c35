/* SPDX-License-Identifier: Apache-2.0 */
/* env.h: the CNI_* environment: which variables each command needs, and which values are valid. */
#ifndef RAILHEAD_CNI_PROTOCOL_ENV_H
#define RAILHEAD_CNI_PROTOCOL_ENV_H

#include "lib/base/err.h"
#include "lib/base/parse.h"

enum cni_command {
	CNI_ADD,
	CNI_DEL,
	CNI_CHECK,
	CNI_GC,
	CNI_STATUS,
	CNI_VERSION,
};

/* Longest container id and network name we serve: both must fit a file name and a store key. */
#define CNI_ID_MAX 200

struct cni_env {
	enum cni_command cmd;
	const char *container; /* "" when not given; all borrowed from the environment */
	const char *netns;
	const char *ifname;
	const char *path;
	const char *args;
	bool netns_override;
};

/* cni_command_name - the value of CNI_COMMAND: "ADD", "DEL" and so on. */
const char *cni_command_name(enum cni_command v);

/* cni_command_parse - case-sensitive (CNI-006). ERR_ENV. */
int cni_command_parse(const char *s, enum cni_command *out, struct err *e) must_check;

/*
 * cni_env_load - read the variables through get (getenv in programs) and check them for cmd:
 * everything that is missing is reported at once (CNI-008), then the form of the values
 * (CNI-010, CNI-012). ERR_ENV.
 */
int cni_env_load(enum cni_command cmd, char *(*get)(const char *), struct cni_env *out,
		 struct err *e) must_check;

/*
 * cni_args_get - copy the value of key in CNI_ARGS ("K=V;K=V") into buf. A pair is split at the
 * first '='. The last one wins. Unknown keys and empty pairs are ignored (CNI-088). Returns 1 when
 * found, 0 when not, -1 when the value does not fit (ERR_ENV).
 */
int cni_args_get(const char *args, const char *key, char *buf, size_t size,
		 struct err *e) must_check;

/* cni_args_pod - the pod of K8S_POD_NAMESPACE and K8S_POD_NAME; both "" unless both can be read. */
struct cni_pod {
	char ns[64], name[254];
};
struct cni_pod cni_args_pod(const char *args);

/*
 * cni_env_pod - what the pod is known by in all its attempts: K8S_POD_UID, or without that its
 * container. Returns uid, or a pointer of env.
 */
#define CNI_POD_UID_LEN 64
const char *cni_env_pod(const struct cni_env *env, char uid[CNI_POD_UID_LEN]);

#endif
