/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig.h: the parts of a kubeconfig that say where the API server is and who we are. Pure.
 *
 * The form is that of client-go, tools/clientcmd/api/v1. Certificates and a token may be inside or
 * in files. Credential plugins are programs, and are refused, as is everything else
 * that would make a connection unsafe or that we cannot do.
 */
#ifndef RAILHEAD_CLUSTER_KUBE_KUBECONFIG_H
#define RAILHEAD_CLUSTER_KUBE_KUBECONFIG_H

#include "lib/base/err.h"

#define KUBECONFIG_MAX ((size_t)256 * 1024) /* bytes */

/* A text, or the file that has it. Both NULL: absent. The text wins, as in client-go. */
struct kubeconfig_text {
	char *text, *path;
};

/* All owned. */
struct kubeconfig {
	char *server;    /* without '/' at its end */
	char *namespace; /* NULL: none */
	struct kubeconfig_text ca, cert, key, token;
};

void kubeconfig_clear(struct kubeconfig *k);
#define auto_kubeconfig auto_clean(kubeconfig_clear)

/* Where the text is from. */
struct kubeconfig_source {
	const char *folder;  /* relative paths begin there */
	const char *context; /* NULL: current-context */
};

/*
 * kubeconfig_read - the context's cluster and user; *out is empty before. ERR_DECODE: not YAML.
 * ERR_CONFIG names the key: missing, of another form, or refused, with what to do instead.
 */
int kubeconfig_read(const char *text, size_t len, const struct kubeconfig_source *from,
		    struct kubeconfig *out, struct err *e) must_check;

/*
 * kubeconfig_server - an address of an API server, without '/' at its end. NULL: no memory or
 * ERR_CONFIG. key: for the error.
 */
char *kubeconfig_server(const char *key, const char *text, struct err *e);

#endif
