/* SPDX-License-Identifier: Apache-2.0 */
/*
 * login.c: reads the files that a kubeconfig or a ServiceAccount names. A token in a file is
 * replaced every hour or so, so its path is kept and not its text.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "cluster/kube/kube.h"
#include "cluster/kube/kubeconfig.h"
#include "lib/sys/fs.h"

#define PEM_MAX   ((size_t)256 * 1024)
#define TOKEN_MAX ((size_t)64 * 1024)

/* ---- a login ---- */

/* Its texts, which are all alike to copy and free. */
#define TEXTS(l)                                                                                   \
	{                                                                                          \
		&(l)->server, &(l)->namespace, &(l)->ca, &(l)->cert, &(l)->key, &(l)->token,       \
			&(l)->token_file, &(l)->kubeconfig, &(l)->context                          \
	}

void kube_login_clear(struct kube_login *l)
{
	char **const texts[] = TEXTS(l);

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(*texts[i]);
	for (size_t i = 0; i < KUBE_LOGIN_FILES; i++)
		free(l->files[i].path);
	*l = (struct kube_login){ 0 };
}

static int login_copy_text(char **to, const char *text)
{
	*to = text ? strdup(text) : NULL;
	return text && !*to ? -1 : 0;
}

int kube_login_copy(struct kube_login *to, const struct kube_login *from)
{
	char *const *const texts[] = TEXTS(from);
	char **const copies[] = TEXTS(to);

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (login_copy_text(copies[i], *texts[i]))
			return -1;
	for (size_t i = 0; i < KUBE_LOGIN_FILES; i++) {
		if (login_copy_text(&to->files[i].path, from->files[i].path))
			return -1;
		to->files[i].stamp = from->files[i].stamp;
	}
	return 0;
}

/* Hand it over to a caller. */
static struct kube_login kube_login_take(struct kube_login *l)
{
	struct kube_login taken = *l;

	*l = (struct kube_login){ 0 };
	return taken;
}

/* ---- files ---- */

/* The stamp is taken before the file is read: a change meanwhile shows as one. -1: no memory. */
static int note_file(struct kube_login *l, const char *path)
{
	size_t n = 0;

	while (l->files[n].path)
		n++;
	if (login_copy_text(&l->files[n].path, path))
		return -1;
	l->files[n].stamp = file_stamp(path);
	return 0;
}

/* The text of one of both into *out, of l; neither: NULL. */
static int login_take(struct kube_login *l, struct kubeconfig_text *from, char **out, struct err *e)
{
	if (from->text || !from->path) {
		*out = TAKE_PTR(from->text);
		return 0;
	}
	if (note_file(l, from->path))
		return err_nomem(e);
	return fs_read_at(AT_FDCWD, from->path, PEM_MAX, out, e) < 0 ? -1 : 0;
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
	if (note_file(&l, path) || login_copy_text(&l.kubeconfig, path) ||
	    login_copy_text(&l.context, context))
		return err_nomem(e);
	len = fs_read_at(AT_FDCWD, path, KUBECONFIG_MAX, &text, e);
	if (len < 0 || kubeconfig_read(text, (size_t)len, &from, &k, e) ||
	    login_take(&l, &k.ca, &l.ca, e) || login_take(&l, &k.cert, &l.cert, e) ||
	    login_take(&l, &k.key, &l.key, e))
		return err_wrap(e, "%s", path);
	l.server = TAKE_PTR(k.server);
	l.namespace = TAKE_PTR(k.namespace);
	l.token = TAKE_PTR(k.token.text);
	l.token_file = TAKE_PTR(k.token.path);
	*out = kube_login_take(&l);
	return 0;
}

/* DIR/NAME; NULL: no memory. */
static char *path_in(const char *dir, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

static int read_namespace(const char *dir, char **out, struct err *e)
{
	auto_free char *path = path_in(dir, "namespace");

	if (!path)
		return err_nomem(e);
	if (fs_read_at(AT_FDCWD, path, PEM_MAX, out, e) < 0)
		return err_wrap(e, "%s", path);
	(*out)[strcspn(*out, "\r\n")] = '\0';
	return 0;
}

static int read_ca(struct kube_login *l, char **out, struct err *e)
{
	const char *path = l->files[0].path;

	return fs_read_at(AT_FDCWD, path, PEM_MAX, out, e) < 0 ? err_wrap(e, "%s", path) : 0;
}

int kube_login_account(const char *dir, const char *host, const char *port, struct kube_login *out,
		       struct err *e)
{
	auto_kube_login struct kube_login l = { 0 };
	auto_free char *server = NULL, *ca = NULL;
	bool v6 = host && strchr(host, ':');

	if (!host || !*host || !port || !*port)
		return err_set(e, ERR_CONFIG, 0,
			       "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: "
			       "this is not a pod; name a kubeconfig");
	if (asprintf(&server, "https://%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "", port) < 0) {
		server = NULL;
		return err_nomem(e);
	}
	l.server = kubeconfig_server("KUBERNETES_SERVICE_HOST", server, e);
	if (!l.server)
		return -1;
	l.token_file = path_in(dir, "token");
	ca = path_in(dir, "ca.crt");
	if (!l.token_file || !ca || note_file(&l, ca))
		return err_nomem(e);
	if (read_ca(&l, &l.ca, e) || read_namespace(dir, &l.namespace, e))
		return -1;
	*out = kube_login_take(&l);
	return 0;
}

/* ---- changes on disk ---- */

/* Remember how they are now, so that files that cannot be read are not read for each request. */
static bool have_changed(struct kube_login *l)
{
	bool changed = false;

	for (size_t i = 0; i < KUBE_LOGIN_FILES && l->files[i].path; i++)
		changed |= file_stamp_renew(&l->files[i].stamp, l->files[i].path);
	return changed;
}

static void swap(char **a, char **b)
{
	char *old = *a;

	*a = *b;
	*b = old;
}

int kube_login_renew(struct kube_login *l, struct err *e)
{
	auto_kube_login struct kube_login now = { 0 };
	char *ca = NULL;

	if (!have_changed(l))
		return 0;
	if (!l->kubeconfig) {
		if (read_ca(l, &ca, e))
			return -1;
		swap(&l->ca, &ca);
		free(ca);
		return 1;
	}
	if (kube_login_file(l->kubeconfig, l->context, &now, e))
		return -1;
	/* The store points to server and namespace: they stay. */
	swap(&l->server, &now.server);
	swap(&l->namespace, &now.namespace);

	struct kube_login old = kube_login_take(l);

	*l = kube_login_take(&now);
	now = old;
	return 1;
}

/* ---- the token of now ---- */

int kube_login_token(const struct kube_login *l, char **out, struct err *e)
{
	if (!l->token_file) {
		*out = l->token ? strdup(l->token) : NULL;
		return l->token && !*out ? err_nomem(e) : 0;
	}
	if (fs_read_at(AT_FDCWD, l->token_file, TOKEN_MAX, out, e) < 0)
		return -1;
	(*out)[strcspn(*out, " \t\r\n")] = '\0';
	return 0;
}
