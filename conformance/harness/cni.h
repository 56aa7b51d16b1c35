/* SPDX-License-Identifier: Apache-2.0 */
/* cni.h: the environment of a CNI call. */
#ifndef CONFORMANCE_HARNESS_CNI_H
#define CONFORMANCE_HARNESS_CNI_H

/* The values of the CNI variables; NULL leaves a variable out, "" sets it to nothing. */
struct cni_call {
	const char *cmd, *container, *netns, *ifname, *args, *path;
	const char *const *more; /* further "NAME=value", NULL-terminated; NULL: none */
};

/* The whole environment of the call, with a PATH, NULL-terminated. One allocation: free() it. */
char **cni_env(const struct cni_call *c);

#endif
