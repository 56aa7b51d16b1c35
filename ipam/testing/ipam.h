/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipam.h: the commands as calls of one line on a struct fixture. For test programs only.
 *
 *	struct fixture w;
 *	fixture_open(&w);
 *	ck_assert_str_eq(w_add(&w, CONF, "c1", ""), "10.0.0.2");
 */
#ifndef RAILHEAD_IPAM_TESTING_IPAM_H
#define RAILHEAD_IPAM_TESTING_IPAM_H

#include "ipam/admin/admin.h"
#include "ipam/alloc/alloc.h"
#include "ipam/testing/fixture.h"
#include "ipam/lease/verify.h"

/* The configuration around an ipam section; free with cni_conf_clear. */
static inline void w_conf(struct fixture *w, const char *ipam, struct cni_conf *out)
{
	char *text = NULL;
	struct err e;
	int n = asprintf(&text, "{\"cniVersion\":\"1.0.0\",\"name\":\"%s\",\"ipam\":%s}",
			 w->network, ipam);

	ck_assert_msg(cni_conf_parse(text, (size_t)n, CNI_ADD, out, &e) == 0, "%s: %s", ipam,
		      e.msg);
}

/* The error of the last call: "!<code> <message>". */
static inline const char *w_failed(struct fixture *w)
{
	(void)snprintf(w->text, sizeof(w->text), "!%d %.480s", (int)w->e.code, w->e.msg);
	return w->text;
}

/* The addresses of a result, separated by blanks, in w->text; "?" follows those to be probed. */
static inline void w_show(struct fixture *w, const struct alloc_result *r)
{
	char ip[IP_STR_LEN];

	*w->text = '\0';
	for (size_t i = 0; i < r->n; i++) {
		if (i)
			testing_append(w->text, sizeof(w->text), " ");
		testing_append(w->text, sizeof(w->text), ip_format(r->grants[i].ip, ip));
		testing_append(w->text, sizeof(w->text), r->grants[i].probe ? "?" : "");
	}
}

/* ADD as `how` has it, which has neither configuration nor request: the addresses, or the error. */
static inline const char *w_add_as(struct fixture *w, struct alloc_add how, const char *ipam,
				   const char *id, const char *args)
{
	const struct cni_env env = {
		.cmd = CNI_ADD, .container = id, .ifname = w->ifname, .args = args
	};
	struct cni_conf conf;
	auto_ipam_conf struct ipam_conf ic = { .n_pools = 0 };
	auto_alloc struct alloc_result out = { .n = 0 };
	struct request r;

	how.conf = &ic;
	how.request = &r;
	w_conf(w, ipam, &conf);
	bool bad = ipam_conf_decode(&conf, &ic, &w->e) || request_load(&env, &conf, &r, &w->e) ||
		   (r.guid && ipam_conf_only_guids(&ic, &w->e)) ||
		   alloc_add(&w->m, &how, &out, NULL, &w->e);
	if (!bad)
		w_show(w, &out);
	cni_conf_clear(&conf);
	return bad ? w_failed(w) : w->text;
}

/* ADD: the addresses, separated by blanks, or "!<code> <message>". */
static inline const char *w_add(struct fixture *w, const char *ipam, const char *id,
				const char *args)
{
	return w_add_as(w, (struct alloc_add){ .probes = w->probes }, ipam, id, args);
}

/* The owner of container id on w->network and w->ifname. */
static inline struct owner w_owner(const struct fixture *w, const char *id)
{
	return (struct owner){ w->network, id, w->ifname, "", "", "" };
}

/* DEL, which must succeed. */
static inline void w_del(struct fixture *w, const char *id)
{
	const struct owner o = w_owner(w, id);

	ck_assert_msg(alloc_del(&w->m, &o, NULL, &w->e) == 0, "%s", w->e.msg);
}

/* STATUS: "" or the error. */
static inline const char *w_status(struct fixture *w, const char *ipam)
{
	auto_ipam_conf struct ipam_conf ic = { .n_pools = 0 };
	struct cni_conf conf;

	w_conf(w, ipam, &conf);
	bool bad = ipam_conf_decode(&conf, &ic, &w->e) || alloc_status(&w->m, &ic, NULL, &w->e);
	cni_conf_clear(&conf);
	return bad ? w_failed(w) : "";
}

/* pool add or set: 0, or the error's code. */
static inline int w_pool(struct fixture *w, const char *name, const char *def, bool replace)
{
	auto_json struct json *j = NULL;
	struct admin_pool p = { .name = name, .replace = replace };

	ck_assert_msg(json_parse(def, strlen(def), "test", &j, &w->e) == 0, "%s: %s", def,
		      w->e.msg);
	p.definition = j;
	return admin_pool_put(&w->m, &p, &w->e) ? (int)w->e.code : 0;
}

/* Write or (value NULL) delete a record without the lease database. */
static inline void w_scribble(struct fixture *w, const char *key, const char *value)
{
	const struct store_ops *ops = w->m.store->ops;
	struct store_txn *t;

	ck_assert_int_eq(ops->begin(w->m.store, STORE_WRITE, &t, &w->e), 0);
	ck_assert_int_eq(value ? ops->put(t, key, value, &w->e) : ops->del(t, key, &w->e), 0);
	ck_assert_int_eq(ops->commit(t, &w->e), 0);
}

/* Appends a problem to the text in arg, for struct verify. */
static inline void w_problem(const char *text, void *arg)
{
	testing_append(arg, 4096, text);
	testing_append(arg, 4096, "\n");
}

/* The records must agree. */
static inline void w_sound(struct fixture *w)
{
	char text[4096] = "";
	struct verify v = { .found = w_problem, .arg = text };

	ck_assert_msg(ipam_verify(&w->m, &v, &w->e) == 0, "%s", w->e.msg);
	ck_assert_msg(v.problems == 0, "%s", text);
}

#endif
