/* SPDX-License-Identifier: Apache-2.0 */
/* cnicache.c: reads the files in which libcni records attachments, and searches them. */
#include "ipam/peers/cnicache.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/array.h"
#include "lib/base/parse.h"
#include "lib/base/base64.h"
#include "lib/sys/fs.h"

/* ---- one file ---- */

static bool cnicache_copy_text(const struct json *n, char *out, size_t size)
{
	const char *text = json_str(n);

	if (text && slice_copy((struct slice){ text, strlen(text) }, out, size) == 0)
		return true;
	*out = '\0';
	return false;
}

/* cniArgs is an array of [key, value]. */
static void cnicache_read_args(const struct json *args, struct cnicache_entry *e)
{
	const struct {
		const char *key;
		char *out;
	} wanted[] = {
		{ "K8S_POD_NAMESPACE", e->ns },
		{ "K8S_POD_NAME", e->pod },
		{ "K8S_POD_UID", e->uid },
	};

	json_each (pair, args) {
		const char *key = json_str(json_first(pair));

		for (size_t i = 0; key && i < ARRAY_SIZE(wanted); i++) {
			if (strcmp(key, wanted[i].key) == 0)
				(void)cnicache_copy_text(json_next(json_first(pair)), wanted[i].out,
							 CNICACHE_NAME_MAX);
		}
	}
}

int cnicache_parse(const char *text, size_t len, struct cnicache_entry *out)
{
	struct cnicache_entry x = { .file = "" };
	auto_json struct json *o = NULL;
	struct err ignored;

	if (json_parse(text, len, "cache", &o, &ignored) ||
	    !cnicache_copy_text(json_get(o, "networkName"), x.network, sizeof(x.network)) ||
	    !cnicache_copy_text(json_get(o, "containerId"), x.container, sizeof(x.container)) ||
	    !cnicache_copy_text(json_get(o, "ifName"), x.ifname, sizeof(x.ifname)) ||
	    !id_valid(x.network) || !id_valid(x.container) || ifname_problem(x.ifname))
		return -1;
	cnicache_read_args(json_get(o, "cniArgs"), &x);
	memcpy(x.file, out->file, sizeof(x.file));
	*out = x;
	return 0;
}

int cnicache_config(const char *text, size_t len, struct json **out, struct err *e)
{
	auto_json struct json *o = NULL, *config = NULL;
	const char *coded;
	ssize_t n;

	if (json_parse(text, len, "file of libcni", &o, e))
		return -1;
	coded = json_str(json_get(o, "config"));
	if (!coded)
		return err_set(e, ERR_DECODE, 0, "file of libcni: it has no \"config\"");
	auto_free char *plain = malloc(BASE64_BYTES(strlen(coded)) + 1);
	if (!plain)
		return err_nomem(e);
	n = base64_decode(coded, strlen(coded), plain);
	if (n < 0)
		return err_set(e, ERR_DECODE, 0, "file of libcni: config: it is not base64");
	if (json_parse(plain, (size_t)n, "config in a file of libcni", &config, e))
		return -1;
	if (json_type(config) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "config in a file of libcni: %s is not an object",
			       json_type_name(config));
	*out = TAKE_PTR(config);
	return 0;
}

/* ---- the folder ---- */

#define ENTRIES_MAX (1u << 20)

static int cnicache_read_file(int dir, const char *name, cnicache_fn fn, void *arg, struct err *e)
{
	auto_free char *text = NULL;
	struct err why;
	ssize_t len = fs_read_at(dir, name, JSON_MAX_SIZE, &text, &why);
	const struct cnicache_file f = { name, len < 0 ? NULL : text, len < 0 ? 0 : (size_t)len,
					 &why };

	return len < 0 && why.code == ERR_NOMEM ? err_nomem(e) : fn(&f, arg, e);
}

int cnicache_each(const struct ctx *ctx, const char *folder, cnicache_fn fn, void *arg,
		  struct err *e)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	char path[PATH_MAX];
	struct err why;
	int n = snprintf(path, sizeof(path), "%s/%s", ctx->cni_dir ? ctx->cni_dir : "", folder);

	if (n < 0 || (size_t)n >= sizeof(path))
		return err_set(e, ERR_IO, ENAMETOOLONG, "libcni's folder %s", folder);
	if (!ctx->cni_dir)
		return 1;
	auto_fd int dir = fs_open_dir(path, false, &why);
	if (dir < 0 && why.errnum == ENOENT)
		return 1;
	if (dir < 0 || fs_names_at(dir, ".", FS_NAMES_MAX, &names, &why)) {
		*e = why;
		return err_wrap(e, "libcni's folder %s", path);
	}
	for (size_t i = 0; i < names.n; i++) {
		if (cnicache_read_file(dir, names.name[i], fn, arg, e))
			return -1;
	}
	return 0;
}

static int load_entry(const struct cnicache_file *f, void *arg, struct err *e)
{
	struct cnicache *c = arg;
	struct cnicache_entry *entry;

	if (ARRAY_GROW(c->items, c->n, ENTRIES_MAX, "files of the CNI cache", e))
		return -1;
	entry = &c->items[c->n++];
	*entry = (struct cnicache_entry){ .file = "" };
	(void)snprintf(entry->file, sizeof(entry->file), "%s", f->name);
	if (f->text)
		(void)!cnicache_parse(f->text, f->len, entry);
	return 0;
}

int cnicache_load(const struct ctx *ctx, struct cnicache *out, struct err *e)
{
	int rc;

	*out = (struct cnicache){ .n = 0 };
	rc = cnicache_each(ctx, CNICACHE_RUNTIME, load_entry, out, e);
	out->there = rc == 0;
	if (rc < 0)
		cnicache_clear(out);
	return rc < 0 ? -1 : 0;
}

void cnicache_clear(struct cnicache *c)
{
	free(c->items);
	*c = (struct cnicache){ .n = 0 };
}

/* Splits NETWORK-CONTAINER-IFNAME. All parts can contain '-', so the container must be known. */
static bool cnicache_read_name(const struct cnicache_query *q, const char *name,
			       struct cnicache_entry *out)
{
	const char *at = strstr(name, q->container), *end = at ? at + strlen(q->container) : NULL;

	if (!at || at == name || at[-1] != '-' || *end != '-' || ifname_problem(end + 1) ||
	    slice_copy((struct slice){ name, (size_t)(at - name - 1) }, out->network,
		       sizeof(out->network)) ||
	    !id_valid(out->network))
		return false;
	(void)snprintf(out->ifname, sizeof(out->ifname), "%s", end + 1);
	(void)snprintf(out->container, sizeof(out->container), "%s", q->container);
	return true;
}

size_t cnicache_find(const struct cnicache *c, const struct cnicache_query *q,
		     struct cnicache_entry *out)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct cnicache_entry *have = &c->items[i];
		struct cnicache_entry x;

		if (*have->container && strcmp(have->container, q->container) != 0)
			continue;
		x = *have;
		if ((!*x.container && !cnicache_read_name(q, have->file, &x)) ||
		    (*q->network && strcmp(x.network, q->network) != 0) ||
		    (*q->ifname && strcmp(x.ifname, q->ifname) != 0))
			continue;
		if (n++ == 0)
			*out = x;
	}
	return n;
}
