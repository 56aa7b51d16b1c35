/* SPDX-License-Identifier: Apache-2.0 */
/* ufm_conf.c: decodes sm-ufm.json. */
#include "fabric/ufm_conf.h"

#include <string.h>

#include "fabric/hook_conf.h"

#define TEXT(name, member, more)                                                                   \
	{                                                                                          \
		name, J_STRING, J_AT(struct ufm_conf, member), .flags = (more), .max = 1024        \
	}

static const struct json_field keys[] = {
	TEXT("url", url, J_REQUIRED),
	TEXT("user", user, 0),
	TEXT("passwordFile", password_file, 0),
	TEXT("tokenFile", token_file, 0),
	TEXT("ca", ca, 0),
	{ "index0", J_BOOL, J_AT(struct ufm_conf, index0) },
	{ "ipOverIb", J_BOOL, J_AT(struct ufm_conf, ip_over_ib) },
	{ 0 },
};

int ufm_conf_check(const struct ufm_conf *c, struct err *e)
{
	const bool password = c->user && c->password_file;

	if (strncmp(c->url, "https://", 8) != 0 || !c->url[8]) {
		err_set(e, ERR_CONFIG, 0, "url: \"%.128s\" must begin with https://", c->url);
		return err_hint(e, "the password would be readable on the network otherwise");
	}
	if (strpbrk(c->url, " ?#\"") || strchr(c->url, '@'))
		return err_set(e, ERR_CONFIG, 0,
			       "url: \"%.128s\" must be scheme, host and maybe port and path",
			       c->url);
	if (!c->user != !c->password_file)
		return err_set(e, ERR_CONFIG, 0, "user and passwordFile: give both or none");
	if (password == (c->token_file != NULL))
		return err_set(e, ERR_CONFIG, 0, "give either user and passwordFile, or tokenFile");
	if (password && strchr(c->user, ':'))
		return err_set(e, ERR_CONFIG, 0, "user: \"%.128s\" must not have a colon", c->user);
	return 0;
}

int ufm_conf_load(const char *path, struct ufm_conf *out, struct err *e)
{
	auto_ufm_conf struct ufm_conf c = { .index0 = true, .ip_over_ib = true };

	const struct hook_conf conf = { keys, &c, &c.tree };

	if (hook_conf_load(path, false, &conf, e))
		return -1;
	if (ufm_conf_check(&c, e))
		return err_wrap(e, "%s", path);
	*out = c;
	c.tree = NULL;
	return 0;
}

void ufm_conf_clear(struct ufm_conf *c)
{
	json_free(c->tree);
	c->tree = NULL;
}
