/* SPDX-License-Identifier: Apache-2.0 */
/* agent_files.c: reads agent.json, certificates and the password. */
#include "railheadd/conf/agent_files.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "lib/sys/safe_path.h"

#define CONF_MAX   65536
#define SECRET_MAX 262144 /* a file may have many certificates */

static int read_secret(const char *path, char **out, struct err *e)
{
	return path && safe_read(path, SECRET_MAX, out, e) < 0 ? -1 : 0;
}

int agent_files_trusted(const char *path, struct err *e)
{
	auto_free char *real = realpath(path, NULL), *text = NULL;

	if (!real)
		return err_set(e, ERR_IO, errno, "%s", path);
	return safe_read(real, SECRET_MAX, &text, e) < 0 ? -1 : 0;
}

/* The line of a file, as `echo secret >FILE` writes it. */
static int read_password(const char *path, char **out, struct err *e)
{
	if (read_secret(path, out, e))
		return -1;
	if (*out)
		(*out)[strcspn(*out, "\r\n")] = '\0';
	if (*out && !**out)
		return err_set(e, ERR_CONFIG, 0, "%s: the first line is empty", path);
	return 0;
}

/* Kubernetes' nodes have lower-case names, whatever the host name is. */
static int name_of_node(const char *given, char out[64], struct err *e)
{
	struct utsname names = { .nodename = "" };

	if (!given)
		given = getenv(AGENT_NODE_ENV);
	if (!given && uname(&names))
		return err_set(e, ERR_IO, errno, "the host name");
	if (!given)
		given = names.nodename;
	for (size_t i = 0; i < 63 && given[i]; i++)
		out[i] = (char)tolower((unsigned char)given[i]);
	out[strlen(given) < 63 ? strlen(given) : 63] = '\0';
	/* A name that was cut could be another node's. */
	return agent_conf_node_check(strlen(given) > 63 ? given : out, e);
}

static int agent_files_load_tree(const char *path, bool optional, struct json **out, struct err *e)
{
	auto_free char *text = NULL;
	struct err why;
	ssize_t len = safe_read(path, CONF_MAX, &text, &why);

	if (len < 0 && optional && why.errnum == ENOENT)
		return 0;
	if (len < 0)
		return err_pass(e, &why);
	return json_parse(text, (size_t)len, path, out, e);
}

static int read_secrets(const struct agent_conf_etcd *etcd, struct agent_files *f, struct err *e)
{
	return read_secret(etcd->ca, &f->ca, e) || read_secret(etcd->cert, &f->cert, e) ||
			       read_secret(etcd->key, &f->key, e) ||
			       read_password(etcd->password_file, &f->password, e)
		       ? -1
		       : 0;
}

static void free_secrets(struct agent_files *f)
{
	free(f->ca);
	free(f->cert);
	free(f->key);
	free(f->password);
}

/* Take the stamps before the files are read, and before it is known that they can be. */
static bool stamps_differ(struct agent_files *f)
{
	const struct agent_conf_etcd *etcd = &f->conf.etcd;
	const char *const paths[] = { etcd->ca, etcd->cert, etcd->key, etcd->password_file };
	bool differ = false;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		differ |= paths[i] && file_stamp_renew(&f->stamps[i], paths[i]);
	return differ;
}

static int agent_files_load_with(const struct ctx *ctx, const char *path, bool all,
				 struct agent_files *f, struct err *e)
{
	char usual[4096];
	bool optional = !path;

	(void)snprintf(usual, sizeof(usual), "%s/" AGENT_CONF_FILE, ctx->etc_dir);
	path = path ? path : usual;
	if (agent_files_load_tree(path, optional, &f->tree, e))
		return -1;
	if (agent_conf_decode(f->tree, &f->conf, e) ||
	    ((all || f->conf.claims.kubelet) && name_of_node(f->conf.node, f->node, e)))
		return err_wrap(e, "%s", path);
	if (!all)
		return 0;
	(void)stamps_differ(f);
	return read_secrets(&f->conf.etcd, f, e);
}

int agent_files_load(const struct ctx *ctx, const char *path, bool all, struct agent_files *out,
		     struct err *e)
{
	struct agent_files f = { .tree = NULL };

	if (agent_files_load_with(ctx, path, all, &f, e)) {
		agent_files_clear(&f);
		return -1;
	}
	*out = f;
	return 0;
}

void agent_files_clear(struct agent_files *f)
{
	json_free(f->tree);
	free_secrets(f);
	*f = (struct agent_files){ .tree = NULL };
}

int agent_files_renew(struct agent_files *f, struct err *e)
{
	struct agent_files now = { .tree = NULL };

	if (!stamps_differ(f))
		return 0;
	if (read_secrets(&f->conf.etcd, &now, e)) {
		free_secrets(&now);
		return -1;
	}
	free_secrets(f);
	f->ca = now.ca;
	f->cert = now.cert;
	f->key = now.key;
	f->password = now.password;
	f->renewals++;
	return 1;
}

struct etcd_conf agent_files_etcd(const struct agent_files *f)
{
	return (struct etcd_conf){ .endpoints = f->conf.etcd.endpoints,
				   .prefix = f->conf.etcd.prefix,
				   .tls = { f->ca, f->cert, f->key },
				   .user = f->conf.etcd.user,
				   .password = f->password };
}
