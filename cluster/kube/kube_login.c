/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_login.c: reads the files that a kubeconfig or a ServiceAccount names. A token in a file is
 * replaced every hour or so, so its path is kept and not its text.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "cluster/kube/kube.h"
#include "cluster/kube/kubeconfig.h"
#include "lib/sys/fs.h"

#define PEM_MAX ((size_t)256 * 1024)

void kube_login_clear(struct kube_login *l)
{
	free(l->server);
	free(l->namespace);
	free(l->ca);
	free(l->cert);
	free(l->key);
	free(l->token);
	free(l->token_file);
	*l = (struct kube_login){ 0 };
}

/* Hand it over to a caller. */
static struct kube_login kube_login_take(struct kube_login *l)
{
	struct kube_login taken = *l;

	*l = (struct kube_login){ 0 };
	return taken;
}

/* The text of one of both; neither: NULL. */
static int take(struct kubeconfig_text *from, char **out, struct err *e)
{
	if (from->path && !from->text && fs_read_at(AT_FDCWD, from->path, PEM_MAX, out, e) < 0)
		return -1;
	if (from->text)
		*out = TAKE_PTR(from->text);
	return 0;
}

int kube_login_file(const char *path, const char *context, struct kube_login *out, struct err *e)
{
	auto_free char *folder = strdup(path), *text = NULL;
	auto_kubeconfig struct kubeconfig k = { 0 };
	auto_kube_login struct kube_login l = { 0 };
	struct kubeconfig_source from = { folder, context };
	char *slash = folder ? strrchr(folder, '/') : NULL;
	ssize_t len;

	if (!folder)
		return err_nomem(e);
	if (slash)
		*slash = '\0';
	else
		from.folder = ".";
	len = fs_read_at(AT_FDCWD, path, KUBECONFIG_MAX, &text, e);
	if (len < 0 || kubeconfig_read(text, (size_t)len, &from, &k, e) || take(&k.ca, &l.ca, e) ||
	    take(&k.cert, &l.cert, e) || take(&k.key, &l.key, e))
		return err_wrap(e, "%s", path);
	l.server = TAKE_PTR(k.server);
	l.namespace = TAKE_PTR(k.namespace);
	l.token = TAKE_PTR(k.token.text);
	l.token_file = TAKE_PTR(k.token.path);
	*out = kube_login_take(&l);
	return 0;
}

static int read_file(const char *dir, const char *name, char **out, struct err *e)
{
	auto_free char *path = NULL;

	if (asprintf(&path, "%s/%s", dir, name) < 0) {
		path = NULL;
		return err_nomem(e);
	}
	return fs_read_at(AT_FDCWD, path, PEM_MAX, out, e) < 0 ? err_wrap(e, "%s", path) : 0;
}

int kube_login_account(const char *dir, const char *host, const char *port, struct kube_login *out,
		       struct err *e)
{
	auto_kube_login struct kube_login l = { 0 };
	auto_free char *server = NULL;
	bool v6 = host && strchr(host, ':');

	if (!host || !*host || !port || !*port)
		return err_set(e, ERR_CONFIG, 0,
			       "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: "
			       "this is no pod; name a kubeconfig");
	if (asprintf(&server, "https://%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "", port) < 0) {
		server = NULL;
		return err_nomem(e);
	}
	l.server = kubeconfig_server("KUBERNETES_SERVICE_HOST", server, e);
	if (!l.server || read_file(dir, "ca.crt", &l.ca, e) ||
	    read_file(dir, "namespace", &l.namespace, e))
		return -1;
	l.namespace[strcspn(l.namespace, "\r\n")] = '\0';
	if (asprintf(&l.token_file, "%s/token", dir) < 0) {
		l.token_file = NULL;
		return err_nomem(e);
	}
	*out = kube_login_take(&l);
	return 0;
}
