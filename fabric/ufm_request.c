/* SPDX-License-Identifier: Apache-2.0 */
/* ufm_request.c: what UFM is asked, and what its answer means. */
#include "fabric/ufm_request.h"

#include <string.h>

#include "lib/base/parse.h"
#include "lib/base/text.h"
#include "lib/base/base64.h"

#define QUOTE_LEN 200

/* ---- requests ---- */

static char *url_of(const struct ufm_conf *c, const char *path)
{
	auto_text struct text t = { .s = NULL };
	size_t len = strlen(c->url);

	while (len && c->url[len - 1] == '/')
		len--;
	text_add_len(&t, c->url, len);
	text_add(&t, c->token_file ? "/ufmRestV3" : "/ufmRest");
	text_add(&t, path);
	return text_take(&t);
}

char *ufm_url(const struct ufm_conf *c, enum sm_action action)
{
	return url_of(c, action == SM_ADD ? "/resources/pkeys" : "/actions/remove_guids_from_pkey");
}

char *ufm_list_url(const struct ufm_conf *c)
{
	return url_of(c, "/resources/pkeys");
}

static int add_guids(struct json *o, const struct sm_message *m)
{
	struct json *list = json_add_array(o, "guids");

	for (size_t i = 0; list && i < m->n; i++) {
		char digits[2 * GUID_LEN + 1], *end = digits;

		for (size_t k = 0; k < GUID_LEN; k++)
			end = hex_octet_put(end, m->guid[i].byte[k]);
		if (json_push_str(list, digits))
			return -1;
	}
	return list ? 0 : -1;
}

char *ufm_body(const struct ufm_conf *c, const struct sm_message *m)
{
	auto_json struct json *o = json_new_object();
	const char *kind = m->pkey & PKEY_FULL_MEMBER ? "full" : "limited";
	char pkey[PKEY_STR_LEN];

	if (!o || json_add_str(o, "pkey", pkey_format(pkey_partition(m->pkey), pkey)) ||
	    (m->action == SM_ADD && (json_add_bool(o, "index0", c->index0) ||
				     json_add_bool(o, "ip_over_ib", c->ip_over_ib) ||
				     json_add_str(o, "membership", kind))) ||
	    add_guids(o, m))
		return NULL;
	return json_print(o, false);
}

/* UFM's tokens are Basic, too, and not encoded again. */
char *ufm_authorization(const struct ufm_conf *c, const char *secret)
{
	auto_text struct text t = { .s = NULL }, plain = { .s = NULL };

	if (c->token_file) {
		text_addf(&t, "Authorization: Basic %s", secret);
		return text_take(&t);
	}
	text_addf(&plain, "%s:%s", c->user, secret);
	auto_free char *code = plain.failed ? NULL : malloc(BASE64_CHARS(plain.len) + 1);
	if (!code)
		return NULL;
	text_addf(&t, "Authorization: Basic %s", base64_encode(plain.s, plain.len, code));
	return text_take(&t);
}

/* ---- answers ---- */

/* One line of what UFM wrote, for a person. */
static void quote(const char *body, char out[QUOTE_LEN])
{
	size_t len = utf8_prefix(body, strlen(body)), n = 0;

	for (size_t i = 0; i < len && n + 1 < QUOTE_LEN; i++) {
		bool space = (unsigned char)body[i] <= ' ' || body[i] == 0x7f;

		if (!space)
			out[n++] = body[i];
		else if (n && out[n - 1] != ' ')
			out[n++] = ' ';
	}
	out[utf8_prefix(out, n)] = '\0';
}

static int refuse_answer(int status, const char *body, struct err *e)
{
	char said[QUOTE_LEN];

	quote(body, said);
	if (status == 401 || status == 403) {
		err_set(e, ERR_FORBIDDEN, 0, "UFM refused the user with status %d: %s", status,
			said);
		return err_hint(e, "compare user and passwordFile, or tokenFile, with UFM's users");
	}
	return err_set(e, ERR_UNAVAILABLE, 0, "UFM answered with status %d: %s", status,
		       *said ? said : "an empty text");
}

int ufm_judge(enum sm_action action, int status, const char *body, struct err *e)
{
	if (status >= 200 && status < 300)
		return 0;
	if (status == 404 && action == SM_REMOVE)
		return 1;
	return refuse_answer(status, body, e);
}

static bool is_partition(const char *text, uint16_t pkey)
{
	uint16_t key;

	return text && pkey_parse(text, &key) == 0 && pkey_partition(key) == pkey_partition(pkey);
}

/* An array of keys, or an object with a member for each. */
static bool list_has(const struct json *list, uint16_t pkey)
{
	bool array = json_type(list) == JSON_ARRAY;

	json_each (item, list) {
		if (is_partition(array ? json_str(item) : json_key(item), pkey))
			return true;
	}
	return false;
}

int ufm_list_judge(int status, const char *body, uint16_t pkey, struct err *e)
{
	auto_json struct json *list = NULL;

	if (status < 200 || status >= 300)
		return refuse_answer(status, body, e);
	if (json_parse(body, strlen(body), "UFM's list of partitions", &list, e) ||
	    (json_type(list) != JSON_ARRAY && json_type(list) != JSON_OBJECT)) {
		char said[QUOTE_LEN];

		quote(body, said);
		return err_set(e, ERR_UNAVAILABLE, 0, "UFM's list of partitions is not a list: %s",
			       said);
	}
	if (!list_has(list, pkey))
		return 0;
	return err_set(e, ERR_UNAVAILABLE, 0,
		       "UFM answered with status 404 about a partition that it has");
}
