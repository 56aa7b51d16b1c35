/* SPDX-License-Identifier: Apache-2.0 */
/* kubeconfig.c: the keys of a kubeconfig that say where the API server is, and who asks. */
#include "cluster/kube/kubeconfig.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/base64.h"
#include "lib/json/yaml.h"

struct reader {
	const struct json *root;
	const struct kubeconfig_source *from;
	struct err *e;
};

/* A mapping with its name for errors ("users[\"admin\"].user"). */
struct mapping {
	const struct json *node;
	char name[320];
};

void kubeconfig_clear(struct kubeconfig *k)
{
	struct kubeconfig_text *const texts[] = { &k->ca, &k->cert, &k->key, &k->token };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		free(texts[i]->text);
		free(texts[i]->path);
	}
	free(k->server);
	free(k->namespace);
	*k = (struct kubeconfig){ 0 };
}

/* ---- keys ---- */

/* A text key; *out is NULL if it is absent or empty. */
static int get_text(const struct reader *r, const struct mapping *m, const char *key,
		    const char **out)
{
	const struct json *n = json_get(m->node, key);
	const char *s = json_str(n);

	*out = s && *s ? s : NULL;
	if (n && !s)
		return err_set(r->e, ERR_CONFIG, 0, "%s.%s: not a text", m->name, key);
	return 0;
}

/* The mapping part of the entry of this name in a list: clusters, users, contexts. */
static int kubeconfig_find(const struct reader *r, const char *list, const char *name,
			   struct mapping *out)
{
	const struct json *n = json_get(r->root, list);
	const char *part = !strcmp(list, "users")      ? "user"
			   : !strcmp(list, "clusters") ? "cluster"
						       : "context";

	*out = (struct mapping){ 0 };
	(void)snprintf(out->name, sizeof(out->name), "%s[\"%.253s\"].%s", list, name, part);
	if (n && json_type(n) != JSON_ARRAY)
		return err_set(r->e, ERR_CONFIG, 0, "%s: not a list", list);
	json_each (it, n)
		if (!out->node && !strcmp(json_text(it, "name"), name))
			out->node = json_get(it, part);
	if (!out->node || json_type(out->node) != JSON_OBJECT)
		return err_set(r->e, ERR_CONFIG, 0, "%s: there is none", out->name);
	return 0;
}

/* ---- values ---- */

static int kubeconfig_copy(const struct reader *r, const char *text, char **out)
{
	*out = text ? strdup(text) : NULL;
	return text && !*out ? err_nomem(r->e) : 0;
}

static int kubeconfig_decode(const struct reader *r, const struct mapping *m, const char *key,
			     const char *base64, char **out)
{
	size_t len = strlen(base64);
	auto_free char *text = malloc(BASE64_BYTES(len) + 1);
	ssize_t n;

	if (!text)
		return err_nomem(r->e);
	n = base64_decode(base64, len, text);
	if (n <= 0 || memchr(text, 0, (size_t)n))
		return err_set(r->e, ERR_CONFIG, 0, "%s.%s: not a text in base64", m->name, key);
	text[n] = '\0';
	*out = TAKE_PTR(text);
	return 0;
}

static int path_of(const struct reader *r, const char *path, char **out)
{
	if (!path || *path == '/')
		return kubeconfig_copy(r, path, out);
	if (asprintf(out, "%s/%s", r->from->folder, path) < 0) {
		*out = NULL;
		return err_nomem(r->e);
	}
	return 0;
}

/* Names of the two keys of a text: inside in base64, and in a file. */
static int get_pem(const struct reader *r, const struct mapping *m, const char *const keys[2],
		   struct kubeconfig_text *out)
{
	const char *data, *path;

	if (get_text(r, m, keys[0], &data) || get_text(r, m, keys[1], &path))
		return -1;
	if (data)
		return kubeconfig_decode(r, m, keys[0], data, &out->text);
	return path_of(r, path, &out->path);
}

/* ---- what is refused ---- */

struct refusal {
	const char *key, *why;
};

#define USE_TOKEN                                                                                  \
	"use the token of a ServiceAccount (tokenFile), or a client certificate in this user"

static const struct refusal of_user[] = {
	{ "exec", "a credential plugin is a program, which is not run here; " USE_TOKEN },
	{ "auth-provider", "Kubernetes has removed auth providers; " USE_TOKEN },
	{ "username", "Kubernetes has removed passwords; " USE_TOKEN },
	{ "password", "Kubernetes has removed passwords; " USE_TOKEN },
	{ "as", "impersonation is not supported; give the rights to a user of its own" },
	{ "as-uid", "impersonation is not supported; give the rights to a user of its own" },
	{ "as-groups", "impersonation is not supported; give the rights to a user of its own" },
	{ "as-user-extra", "impersonation is not supported; give the rights to a user of its own" },
	{ NULL, NULL },
};
static const struct refusal of_cluster[] = {
	{ "proxy-url", "a proxy is not supported; name the address of the API server" },
	{ "tls-server-name", "it is not supported; name the server as its certificate does" },
	{ NULL, NULL },
};

static int kubeconfig_refuse(const struct reader *r, const struct mapping *m,
			     const struct refusal *list)
{
	for (; list->key; list++)
		if (json_get(m->node, list->key))
			return err_set(r->e, ERR_CONFIG, 0, "%s.%s: %s", m->name, list->key,
				       list->why);
	return 0;
}

/* ---- parts ---- */

char *kubeconfig_server(const char *key, const char *text, struct err *e)
{
	const char *host = text ? strstr(text, "://") : NULL;
	size_t len = text ? strlen(text) : 0;
	char *server;

	while (len && text[len - 1] == '/')
		len--;
	if (!host || (strncmp(text, "https://", 8) != 0 && strncmp(text, "http://", 7) != 0) ||
	    text + len <= host + 3 || strpbrk(host + 3, "?#@ \t\r\n\\\"")) {
		(void)err_set(e, ERR_CONFIG, 0, "%s \"%s\": write it as https://10.0.0.1:6443", key,
			      text ? text : "");
		return NULL;
	}
	server = strndup(text, len);
	if (!server)
		(void)err_nomem(e);
	return server;
}

static int read_cluster(const struct reader *r, const char *name, struct kubeconfig *out)
{
	static const char *const ca[] = { "certificate-authority-data", "certificate-authority" };
	const struct json *insecure;
	const char *server;
	char key[340];
	struct mapping m;

	if (kubeconfig_find(r, "clusters", name, &m) || kubeconfig_refuse(r, &m, of_cluster) ||
	    get_text(r, &m, "server", &server))
		return -1;
	insecure = json_get(m.node, "insecure-skip-tls-verify");
	if (insecure && (json_type(insecure) != JSON_BOOL || json_true(insecure)))
		return err_set(r->e, ERR_CONFIG, 0,
			       "%s.insecure-skip-tls-verify: a server that is not verified would "
			       "get our credentials; use certificate-authority",
			       m.name);
	(void)snprintf(key, sizeof(key), "%s.server", m.name);
	out->server = kubeconfig_server(key, server, r->e);
	return out->server ? get_pem(r, &m, ca, &out->ca) : -1;
}

static int read_user(const struct reader *r, const char *name, struct kubeconfig *out)
{
	static const char *const cert[] = { "client-certificate-data", "client-certificate" };
	static const char *const key[] = { "client-key-data", "client-key" };
	const char *token, *file;
	struct mapping m;

	if (kubeconfig_find(r, "users", name, &m) || kubeconfig_refuse(r, &m, of_user) ||
	    get_pem(r, &m, cert, &out->cert) || get_pem(r, &m, key, &out->key) ||
	    get_text(r, &m, "token", &token) || get_text(r, &m, "tokenFile", &file))
		return -1;
	if (!(out->cert.text || out->cert.path) != !(out->key.text || out->key.path))
		return err_set(r->e, ERR_CONFIG, 0,
			       "%s: client-certificate and client-key belong together", m.name);
	/* client-go prefers the file, which may have a newer token */
	return file ? path_of(r, file, &out->token.path)
		    : kubeconfig_copy(r, token, &out->token.text);
}

static int read_context(const struct reader *r, struct kubeconfig *out)
{
	const struct mapping root = { r->root, "kubeconfig" };
	const char *name = r->from->context, *cluster, *user, *namespace;
	struct mapping m;

	if (!name && get_text(r, &root, "current-context", &name))
		return -1;
	if (!name)
		return err_set(r->e, ERR_CONFIG, 0,
			       "current-context: there is none; name a context");
	if (kubeconfig_find(r, "contexts", name, &m) || get_text(r, &m, "cluster", &cluster) ||
	    get_text(r, &m, "user", &user) || get_text(r, &m, "namespace", &namespace))
		return -1;
	if (!cluster || !user)
		return err_set(r->e, ERR_CONFIG, 0, "%s: it needs cluster and user", m.name);
	return read_cluster(r, cluster, out) || read_user(r, user, out) ||
			       kubeconfig_copy(r, namespace, &out->namespace)
		       ? -1
		       : 0;
}

int kubeconfig_read(const char *text, size_t len, const struct kubeconfig_source *from,
		    struct kubeconfig *out, struct err *e)
{
	auto_kubeconfig struct kubeconfig k = { 0 };
	auto_json struct json *docs = NULL;

	if (len > KUBECONFIG_MAX)
		return err_set(e, ERR_DECODE, 0, "kubeconfig: more than %zu bytes", KUBECONFIG_MAX);
	if (yaml_json_read(text, len, &docs, e))
		return err_wrap(e, "kubeconfig");

	const struct reader r = { json_first(docs), from, e };

	if (read_context(&r, &k))
		return -1;
	*out = k;
	k = (struct kubeconfig){ 0 };
	return 0;
}
