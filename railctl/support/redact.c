/* SPDX-License-Identifier: Apache-2.0 */
/* redact.c: a walk over a configuration: which values are secrets. */
#include "railctl/support/redact.h"

#include <string.h>
#include <strings.h>

#include "lib/base/text.h"

static bool is_secret_key(const char *key)
{
	static const char *const parts[] = { "password", "passwd",     "passphrase", "secret",
					     "token",    "credential", "privatekey", "apikey" };
	const size_t len = strlen(key);

	if (len >= 4 && strcasecmp(key + len - 4, "file") == 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (strcasestr(key, parts[i]))
			return true;
	}
	return false;
}

/* "https://user:password@host/": where user begins, and the "@". NULL: it is no such URL. */
static const char *user_of(const char *s, const char **at)
{
	const char *user = strstr(s, "://");

	if (!user)
		return NULL;
	user += 3;
	*at = user + strcspn(user, "@/?#");
	return **at == '@' ? user : NULL;
}

static struct json *copy_string(const char *s)
{
	struct json *array = json_new_array(), *copy = NULL;
	auto_text struct text text = { 0 };
	const char *at, *user = user_of(s, &at);

	if (user) {
		text_addf(&text, "%.*s" REDACTED "%s", (int)(user - s), s, at);
		s = text.failed ? NULL : text.s;
	}
	if (array && s && json_push_str(array, s) == 0)
		copy = json_dup(json_first(array));
	json_free(array);
	return copy;
}

static struct json *copy_of(const struct json *n);

static struct json *copy_array(const struct json *n)
{
	struct json *out = json_new_array();

	json_each (item, n) {
		struct json *copy = out ? copy_of(item) : NULL;

		if (!copy || json_push(out, copy)) {
			json_free(out);
			return NULL;
		}
	}
	return out;
}

static struct json *copy_object(const struct json *n)
{
	struct json *out = json_new_object();

	json_each (item, n) {
		const char *key = json_key(item);
		struct json *copy = !out                 ? NULL
				    : is_secret_key(key) ? copy_string(REDACTED)
							 : copy_of(item);

		if (!copy || json_put(out, key, copy)) {
			json_free(out);
			return NULL;
		}
	}
	return out;
}

/* The parser bounds the depth of a tree. */
static struct json *copy_of(const struct json *n)
{
	if (json_type(n) == JSON_OBJECT)
		return copy_object(n);
	if (json_type(n) == JSON_ARRAY)
		return copy_array(n);
	return json_str(n) ? copy_string(json_str(n)) : json_dup(n);
}

struct json *redact(const struct json *conf)
{
	return copy_of(conf);
}
