/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig.c: libyaml reads the text twice: as events, to bound depth and number of the nodes,
 * then as a document. An alias is followed where a key has it, and nowhere else, so it cannot grow.
 */
#include "cluster/kube/kubeconfig.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "lib/base/base64.h"

#define MAX_DEPTH  32
#define MAX_EVENTS 20000

struct reader {
	yaml_document_t *doc;
	const struct kubeconfig_source *from;
	struct err *e;
};

/* A mapping with its name for errors ("users[\"admin\"].user"). */
struct mapping {
	const yaml_node_t *node;
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

/* ---- the document ---- */

static int not_yaml(const yaml_parser_t *p, struct err *e)
{
	if (p->error == YAML_MEMORY_ERROR)
		return err_nomem(e);
	return err_set(e, ERR_DECODE, 0, "line %zu: %s", p->problem_mark.line + 1,
		       p->problem ? p->problem : "not YAML");
}

static int depth_change(yaml_event_type_t type)
{
	if (type == YAML_MAPPING_START_EVENT || type == YAML_SEQUENCE_START_EVENT)
		return 1;
	return type == YAML_MAPPING_END_EVENT || type == YAML_SEQUENCE_END_EVENT ? -1 : 0;
}

static int count_events(yaml_parser_t *p, struct err *e)
{
	int depth = 0;

	for (int n = 0; n < MAX_EVENTS; n++) {
		yaml_event_t event;

		if (!yaml_parser_parse(p, &event))
			return not_yaml(p, e);

		yaml_event_type_t type = event.type;

		yaml_event_delete(&event);
		depth += depth_change(type);
		if (depth > MAX_DEPTH)
			return err_set(e, ERR_DECODE, 0, "more than %d levels", MAX_DEPTH);
		if (type == YAML_STREAM_END_EVENT)
			return 0;
	}
	return err_set(e, ERR_DECODE, 0, "more than %d values", MAX_EVENTS);
}

/* Run one pass over the text. */
static int pass(const char *text, size_t len, yaml_document_t *doc, struct err *e)
{
	yaml_parser_t p;
	int rc;

	if (!yaml_parser_initialize(&p))
		return err_nomem(e);
	yaml_parser_set_input_string(&p, (const unsigned char *)text, len);
	if (doc)
		rc = yaml_parser_load(&p, doc) ? 0 : not_yaml(&p, e);
	else
		rc = count_events(&p, e);
	yaml_parser_delete(&p);
	return rc;
}

/* ---- keys ---- */

/* The text of a scalar; NULL: another node, or one with a NUL inside. */
static const char *scalar(const yaml_node_t *n)
{
	const char *s =
		n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : NULL;

	return s && strlen(s) == n->data.scalar.length ? s : NULL;
}

/* A plain ~, null or empty value is absent. */
static bool is_null(const yaml_node_t *n)
{
	const char *s = scalar(n);

	return s && n->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       (!*s || !strcmp(s, "~") || !strcmp(s, "null"));
}

static const yaml_node_t *get(const struct reader *r, const yaml_node_t *map, const char *key)
{
	const yaml_node_t *found = NULL;

	if (!map || map->type != YAML_MAPPING_NODE)
		return NULL;
	for (const yaml_node_pair_t *p = map->data.mapping.pairs.start;
	     p < map->data.mapping.pairs.top; p++) {
		const char *name = scalar(yaml_document_get_node(r->doc, p->key));

		if (name && !strcmp(name, key))
			found = yaml_document_get_node(r->doc, p->value);
	}
	return found && !is_null(found) ? found : NULL;
}

/* A text key; *out is NULL if it is absent or empty. */
static int get_text(const struct reader *r, const struct mapping *m, const char *key,
		    const char **out)
{
	const yaml_node_t *n = get(r, m->node, key);
	const char *s = scalar(n);

	*out = s && *s ? s : NULL;
	if (n && !s)
		return err_set(r->e, ERR_CONFIG, 0, "%s.%s: not a text", m->name, key);
	return 0;
}

/* The mapping part of the entry of this name in a list: clusters, users, contexts. */
static int find(const struct reader *r, const char *list, const char *name, struct mapping *out)
{
	const yaml_node_t *root = yaml_document_get_root_node(r->doc), *n = get(r, root, list);
	const char *part = !strcmp(list, "users")      ? "user"
			   : !strcmp(list, "clusters") ? "cluster"
						       : "context";

	*out = (struct mapping){ 0 };
	(void)snprintf(out->name, sizeof(out->name), "%s[\"%.253s\"].%s", list, name, part);
	if (n && n->type != YAML_SEQUENCE_NODE)
		return err_set(r->e, ERR_CONFIG, 0, "%s: not a list", list);
	for (const yaml_node_item_t *i = n ? n->data.sequence.items.start : NULL;
	     n && i < n->data.sequence.items.top; i++) {
		const yaml_node_t *entry = yaml_document_get_node(r->doc, *i);
		const char *its = scalar(get(r, entry, "name"));

		if (its && !strcmp(its, name) && !out->node)
			out->node = get(r, entry, part);
	}
	if (!out->node || out->node->type != YAML_MAPPING_NODE)
		return err_set(r->e, ERR_CONFIG, 0, "%s: there is none", out->name);
	return 0;
}

/* ---- values ---- */

static int copy(const struct reader *r, const char *text, char **out)
{
	*out = text ? strdup(text) : NULL;
	return text && !*out ? err_nomem(r->e) : 0;
}

static int decode(const struct reader *r, const struct mapping *m, const char *key,
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
		return copy(r, path, out);
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
		return decode(r, m, keys[0], data, &out->text);
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

static int refuse(const struct reader *r, const struct mapping *m, const struct refusal *list)
{
	for (; list->key; list++)
		if (get(r, m->node, list->key))
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
	const char *server, *insecure;
	char key[340];
	struct mapping m;

	if (find(r, "clusters", name, &m) || refuse(r, &m, of_cluster) ||
	    get_text(r, &m, "server", &server) ||
	    get_text(r, &m, "insecure-skip-tls-verify", &insecure))
		return -1;
	if (insecure && strcmp(insecure, "false") != 0)
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

	if (find(r, "users", name, &m) || refuse(r, &m, of_user) ||
	    get_pem(r, &m, cert, &out->cert) || get_pem(r, &m, key, &out->key) ||
	    get_text(r, &m, "token", &token) || get_text(r, &m, "tokenFile", &file))
		return -1;
	if (!(out->cert.text || out->cert.path) != !(out->key.text || out->key.path))
		return err_set(r->e, ERR_CONFIG, 0,
			       "%s: client-certificate and client-key belong together", m.name);
	/* client-go prefers the file, which may have a newer token */
	return file ? path_of(r, file, &out->token.path) : copy(r, token, &out->token.text);
}

static int read_context(const struct reader *r, struct kubeconfig *out)
{
	const struct mapping root = { yaml_document_get_root_node(r->doc), "kubeconfig" };
	const char *name = r->from->context, *cluster, *user, *namespace;
	struct mapping m;

	if (!name && get_text(r, &root, "current-context", &name))
		return -1;
	if (!name)
		return err_set(r->e, ERR_CONFIG, 0,
			       "current-context: there is none; name a context");
	if (find(r, "contexts", name, &m) || get_text(r, &m, "cluster", &cluster) ||
	    get_text(r, &m, "user", &user) || get_text(r, &m, "namespace", &namespace))
		return -1;
	if (!cluster || !user)
		return err_set(r->e, ERR_CONFIG, 0, "%s: it needs cluster and user", m.name);
	return read_cluster(r, cluster, out) || read_user(r, user, out) ||
			       copy(r, namespace, &out->namespace)
		       ? -1
		       : 0;
}

int kubeconfig_read(const char *text, size_t len, const struct kubeconfig_source *from,
		    struct kubeconfig *out, struct err *e)
{
	yaml_document_t doc;
	const struct reader r = { &doc, from, e };
	auto_kubeconfig struct kubeconfig k = { 0 };
	int rc;

	if (len > KUBECONFIG_MAX)
		return err_set(e, ERR_DECODE, 0, "kubeconfig: more than %zu bytes", KUBECONFIG_MAX);
	if (pass(text, len, NULL, e) || pass(text, len, &doc, e))
		return err_wrap(e, "kubeconfig");
	rc = read_context(&r, &k);
	yaml_document_delete(&doc);
	if (rc)
		return -1;
	*out = k;
	k = (struct kubeconfig){ 0 };
	return 0;
}
