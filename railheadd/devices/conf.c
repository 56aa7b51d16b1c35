/* SPDX-License-Identifier: Apache-2.0 */
/* conf.c: recognizes the form of a file; what the three forms have in common. */
#include "railheadd/devices/conf.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/base/array.h"
#include "lib/json/case.h"

#define SELECTORS_MAX 64
#define WARNINGS_MAX  64
#define LABEL_MAX     63 /* bytes of a label of a DNS name, and of the name of a resource */

const struct json_enum conf_node_ways[] = {
	{ "list", NODES_LIST },
	{ "cdi", NODES_CDI },
	{ "cdi-annotation", NODES_CDI_ANNOTATION },
	{ NULL, 0 },
};

const struct json_enum conf_link_down[] = { { "healthy", 0 }, { "unhealthy", 1 }, { NULL, 0 } };

/* ---- building a set ---- */

struct resource_conf *conf_new(struct conf_file *f, struct err *e)
{
	struct resource_set *s = f->set;

	if (array_grow(
		    &s->conf, s->n, 1,
		    (struct array_kind){ sizeof(*s->conf), RESOURCES_MAX, "resources", ERR_CONFIG },
		    e))
		return NULL;
	s->conf[s->n] = (struct resource_conf){ .nodes = (enum node_way)f->nodes,
						.link_matters = f->link_down };
	return &s->conf[s->n++];
}

struct device_selector *conf_selector(struct resource_conf *r, struct err *e)
{
	if (array_grow(&r->selector, r->n_selectors, 1,
		       (struct array_kind){ sizeof(*r->selector), SELECTORS_MAX, "selectors",
					    ERR_CONFIG },
		       e))
		return NULL;
	r->selector[r->n_selectors] = (struct device_selector){ 0 };
	return &r->selector[r->n_selectors++];
}

void conf_interval(struct resource_set *s, uint32_t seconds)
{
	if (seconds > RESOURCES_INTERVAL_MAX)
		seconds = RESOURCES_INTERVAL_MAX;
	if (seconds && (!s->interval || seconds < s->interval))
		s->interval = seconds;
}

/* ---- names ---- */

static bool is_label(const char *s, size_t len, const char *inside)
{
	if (!len || len > LABEL_MAX || !isalnum((unsigned char)s[0]) ||
	    !isalnum((unsigned char)s[len - 1]))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)s[i]) && !strchr(inside, s[i]))
			return false;
	}
	return true;
}

static bool is_domain(const char *s, size_t len)
{
	struct slice rest = { s, len }, label;

	while (slice_next(&rest, '.', &label)) {
		if (!is_label(label.p, label.len, "-"))
			return false;
	}
	for (size_t i = 0; i < len; i++) {
		if (isupper((unsigned char)s[i]))
			return false;
	}
	return true;
}

/* Parts of CDI names (pkg/parser of tags.cncf.io/container-device-interface), and the name of an
 * annotation, have fewer characters than a resource. */
static int check_cdi(const struct resource_conf *r, const char *where, struct err *e)
{
	const char *name = strchr(r->name, '/') + 1;

	if (r->nodes == NODES_LIST)
		return 0;
	if (!isalpha((unsigned char)*r->name))
		return err_set(e, ERR_CONFIG, 0,
			       "%s: \"%s\": a domain of CDI begins with a letter: rename the "
			       "resource, or set deviceNodes to \"list\"",
			       where, r->name);
	if (strchr(name, '.'))
		return err_set(
			e, ERR_CONFIG, 0,
			"%s: \"%s\": a name of CDI has no \".\": rename the resource, or set "
			"deviceNodes to \"list\"",
			where, r->name);
	if (r->nodes == NODES_CDI_ANNOTATION && strlen(r->name) + strlen("net-") > LABEL_MAX)
		return err_set(e, ERR_CONFIG, 0,
			       "%s: \"%s\" is longer than the name of an annotation may be: rename "
			       "the resource, or set deviceNodes to \"cdi\"",
			       where, r->name);
	return 0;
}

int conf_name(struct conf_file *f, struct resource_conf *r, const char *name, const char *where,
	      struct err *e)
{
	const char *slash = strchr(name, '/');

	if (!slash || !is_domain(name, (size_t)(slash - name)) ||
	    !is_label(slash + 1, strlen(slash + 1), "-_."))
		return err_set(
			e, ERR_CONFIG, 0,
			"%s: \"%.160s\" is not the name of a resource: a domain in lower case, "
			"\"/\", and at most 63 letters, digits, \"-\", \"_\" or \".\"",
			where, name);
	if (strlen(name) >= RESOURCE_NAME_LEN)
		return err_set(e, ERR_CONFIG, 0, "%s: \"%.160s\" has more than %d bytes", where,
			       name, RESOURCE_NAME_LEN - 1);
	if (memmem(name, (size_t)(slash - name), "kubernetes.io", 13))
		return err_set(e, ERR_CONFIG, 0,
			       "%s: \"%s\": the domain kubernetes.io is Kubernetes' own; use "
			       "another one",
			       where, name);
	for (size_t i = 0; i < f->set->n; i++) {
		if (&f->set->conf[i] != r && strcmp(f->set->conf[i].name, name) == 0)
			return err_set(e, ERR_CONFIG, 0,
				       "%s: there is a resource \"%s\" already: rename one of them",
				       where, name);
	}
	(void)snprintf(r->name, sizeof(r->name), "%s", name);
	return check_cdi(r, where, e);
}

/* ---- keys ---- */

int conf_select(struct device_selector *s, const struct select_key *keys, const struct json *n,
		const char *where, struct err *e)
{
	char place[CONF_WHERE_LEN];

	for (const struct select_key *k = keys; k->key; k++) {
		(void)snprintf(place, sizeof(place), "%.90s.%s", where, k->key);
		if (device_selector_add(s, k->property, json_get(n, k->key), place, e))
			return -1;
	}
	return 0;
}

static bool conf_has_key(const char *key, struct conf_keys known)
{
	for (const struct json_field *x = known.fields; x && x->key; x++) {
		if (strcasecmp(key, x->key) == 0)
			return true;
	}
	for (const struct select_key *k = known.select; k && k->key; k++) {
		if (strcasecmp(key, k->key) == 0)
			return true;
	}
	return false;
}

/* Not logged here: the file is read again and again, and the log should have it once. */
int conf_ignored(struct conf_file *f, const struct json *n, const char *where,
		 struct conf_keys known, struct err *e)
{
	struct resource_set *s = f->set;
	char *text;

	json_each (member, n) {
		if (s->n_warnings == WARNINGS_MAX || conf_has_key(json_key(member), known))
			continue;
		if (ARRAY_GROW(s->warning, s->n_warnings, WARNINGS_MAX, "warnings", e))
			return -1;
		if (asprintf(&text, "%.512s: %s: the key \"%.64s\" is not known, and ignored",
			     f->path, where, json_key(member)) < 0)
			return err_nomem(e);
		s->warning[s->n_warnings++] = text;
	}
	return 0;
}

/* ---- the three forms ---- */

int conf_add_upstream(struct conf_file *f, const struct json *tree, const struct conf_form *form,
		      struct err *e)
{
	struct conf_upstream file = form->usual;
	char where[32];
	size_t i = 0;

	if (json_decode(tree, "", form->fields, &file, e) ||
	    conf_ignored(f, tree, "file", (struct conf_keys){ form->fields, NULL }, e))
		return -1;
	f->prefix = file.prefix;
	f->nodes = file.nodes;
	f->link_down = file.link_down;
	json_each (n, file.list) {
		(void)snprintf(where, sizeof(where), "%s[%zu]", form->list, i++);
		if (form->add(f, n, where, e))
			return -1;
	}
	conf_interval(f->set, file.interval);
	return 0;
}

/* The agent has all copies in memory, and sends them to the kubelet. */
static int check_copies(const struct resource_set *s, struct err *e)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->conf[i].copies;
	return n <= RESOURCE_COPIES_MAX
		       ? 0
		       : err_set(e, ERR_CONFIG, 0,
				 "all resources together have %zu copies, allowed are %d: reduce "
				 "\"share\" or \"rdmaHcaMax\"",
				 n, RESOURCE_COPIES_MAX);
}

static int add_form(struct conf_file *f, struct json *tree, struct err *e)
{
	if (json_get(tree, "resources"))
		return conf_own(f, tree, e);
	json_fold_case(tree);
	if (json_get(tree, "resourceList"))
		return conf_sriov(f, tree, e);
	if (json_get(tree, "configList"))
		return conf_shared(f, tree, e);
	return err_set(e, ERR_CONFIG, 0,
		       "has none of the keys \"resources\", \"resourceList\" and \"configList\"");
}

int conf_add(struct resource_set *s, struct json *tree, const char *path, struct err *e)
{
	struct conf_file f = { .set = s, .path = path, .nodes = NODES_LIST };

	if (json_type(tree) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "must be an object, got %s", json_type_name(tree));
	return add_form(&f, tree, e) || check_copies(s, e) ? -1 : 0;
}

const struct device_selector *conf_selector_of(const struct resource_conf *r,
					       const struct select_subject *f, bool *sure)
{
	static const struct device_selector every = { 0 };
	const struct device_selector *maybe = NULL;

	*sure = true;
	for (size_t i = 0; i < r->n_selectors; i++) {
		enum select_answer answer = device_selector_matches(&r->selector[i], f);

		if (answer == SELECT_YES)
			return &r->selector[i];
		if (answer == SELECT_MAYBE && !maybe)
			maybe = &r->selector[i];
	}
	*sure = !r->n_selectors;
	return r->n_selectors ? maybe : &every;
}
