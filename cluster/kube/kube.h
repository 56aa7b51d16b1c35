/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube.h: the table of calls for Kubernetes 1.31 and newer.
 *
 * Reads are quorum reads. No write is repeated, except after a 401: the API server refuses that
 * before it looks at the write. Updates are patches with uid and version, so what others write into
 * the metadata of an object stays.
 */
#ifndef RAILHEAD_CLUSTER_KUBE_KUBE_H
#define RAILHEAD_CLUSTER_KUBE_KUBE_H

#include "cluster/http/http.h"
#include "cluster/store/cluster_store.h"
#include "lib/sys/file_stamp.h"

#define KUBE_DEFAULT_NAMESPACE "railhead"
#define KUBE_ACCOUNT_DIR       "/var/run/secrets/kubernetes.io/serviceaccount"

/* A file that was read, and what it was before: another inode, size or time is a change. */
struct kube_file {
	char *path;
	struct file_stamp stamp;
};
#define KUBE_LOGIN_FILES 4

/* Where the API server is, and who we are. All owned; NULL: none. */
struct kube_login {
	char *server;             /* "https://10.0.0.1:6443" */
	char *namespace;          /* of the agents */
	char *ca, *cert, *key;    /* texts in PEM */
	char *token, *token_file; /* at most one; the file is read for each request */
	/* Where ca, cert, key and token are from. kubeconfig NULL: ca is the text of files[0]. */
	char *kubeconfig, *context;
	struct kube_file files[KUBE_LOGIN_FILES]; /* the first ones have a path */
};
void kube_login_clear(struct kube_login *l);
#define auto_kube_login auto_clean(kube_login_clear)

/* kube_login_copy - -1: no memory, and *to is to be cleared. */
int kube_login_copy(struct kube_login *to, const struct kube_login *from) must_check;

/*
 * kube_login_renew - if one of the files has changed since it was read, read them again: ca, cert,
 * key and token are new then; server and namespace stay. 1: they have changed. 0: nothing has. -1:
 * they cannot be read; the old texts stay, and the next call returns 0 unless they change again.
 */
int kube_login_renew(struct kube_login *l, struct err *e) must_check;

/*
 * kube_login_check - ERR_CONFIG: no server, or credentials that http:// would show to all.
 * kube_login_token - the token of now, owned by the caller; NULL: none is configured. ERR_IO.
 */
int kube_login_check(const struct kube_login *l, struct err *e) must_check;
int kube_login_token(const struct kube_login *l, char **out, struct err *e) must_check;

/*
 * kube_login_file - of the kubeconfig at path; context NULL: its current one. kube_login_account -
 * of the ServiceAccount whose files are in the folder dir, with host and port of the environment's
 * KUBERNETES_SERVICE_HOST and _PORT. Both fill *out. ERR_IO, ERR_DECODE, ERR_CONFIG.
 */
int kube_login_file(const char *path, const char *context, struct kube_login *out,
		    struct err *e) must_check;
int kube_login_account(const char *dir, const char *host, const char *port, struct kube_login *out,
		       struct err *e) must_check;

struct kube_conf {
	struct kube_login login;
	unsigned timeout_ms; /* of a call, or a page of a list; 0: 5 seconds */
	unsigned page;       /* objects of a page; 0: 200 */
	unsigned watch_s; /* a watch ends then; 0: as the API server likes, half an hour or more */
	/*
	 * stray - a list or a watch has left out an object that is not railhead's. unselected - the
	 * API server cannot select by a field: all objects of the kind are read, and the field is
	 * tried again after 10 minutes. renewed - the files of the login have changed; why NULL:
	 * they are used from now on. NULL: not told.
	 */
	void (*stray)(void *arg, const struct err *e);
	void (*unselected)(void *arg, const struct err *why);
	void (*renewed)(void *arg, const struct err *why);
	void *arg; /* of all */
};

/*
 * kube_open - copies conf and sends nothing yet. Before each request the store looks whether the
 * files of the login have changed. ERR_CONFIG as of kube_login_check().
 */
int kube_open(struct event_base *base, const struct kube_conf *conf, struct cluster_store **out,
	      struct err *e) must_check;

#endif
