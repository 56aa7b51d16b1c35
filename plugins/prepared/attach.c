/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.c: attaches prepared claims by the plugin rails, and detaches them. A file names the
 * sandbox before the first ADD, and has the results behind the last one. So it shows whether a
 * claim is attached whole, and to which sandbox a part of it may be attached.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cni/record/record.h"
#include "lib/sys/fs.h"
#include "plugins/ether/rails.h"
#include "plugins/prepared/prepared_priv.h"
#include "rdma/env/files.h"

#define RAILS_MS 120000 /* more than rails takes with its default for ipamTimeout */

/* ---- calls of rails ---- */

/* The i-th network of a claim. */
struct one {
	const struct prepared_job *job;
	const struct prepared *p;
	const struct json *network;
	size_t i;
	const char *netns, *sandbox;
};

struct names {
	char ifname[IFNAME_LEN], args[640];
};

static void name_call(const struct one *x, struct names *out)
{
	const struct prepared_id *pod = &x->p->pod;

	(void)snprintf(out->ifname, sizeof(out->ifname), "claim%zu", x->i);
	(void)snprintf(
		out->args, sizeof(out->args),
		"IgnoreUnknown=1;K8S_POD_NAMESPACE=%s;K8S_POD_NAME=%s;K8S_POD_UID=%s%s%.200s",
		pod->ns, pod->name, pod->uid,
		x->sandbox && *x->sandbox ? ";K8S_POD_INFRA_CONTAINER_ID=" : "",
		x->sandbox ? x->sandbox : "");
}

static int run_rails(const struct one *x, enum cni_command cmd, char **output, struct err *e)
{
	const char *type = json_text(x->network, "type");
	auto_free char *text = json_print(x->network, false);
	struct names names;
	struct delegate d;
	size_t len;

	if (!text)
		return err_nomem(e);
	name_call(x, &names);
	const struct cni_call call = {
		.ctx = *x->job->ctx,
		.conf = { .text = text, .len = strlen(text), .ipam_type = type },
		.builtin = x->job->rails
	};
	const struct delegate_call what = { .cmd = cmd,
					    .container = x->p->claim.uid,
					    .ifname = names.ifname,
					    .netns = x->netns ? x->netns : "",
					    .args = names.args,
					    .path = x->job->cni_path };

	return delegate_start(&call, &what, RAILS_MS, &d, e) || delegate_finish(&d, output, &len, e)
		       ? -1
		       : 0;
}

static int add_network(const struct one *x, struct json *results, struct err *e)
{
	auto_json struct json *result = NULL;
	auto_free char *text = NULL;

	if (run_rails(x, CNI_ADD, &text, e) ||
	    json_parse(text, strlen(text), "the result of rails", &result, e))
		return -1;
	return json_push(results, TAKE_PTR(result)) ? err_nomem(e) : 0;
}

/* The path of the namespace may be another one by now. */
static int set_sandbox(struct json *result, const char *netns)
{
	struct json *list = json_get_mut(result, "interfaces");

	for (size_t i = 0; i < json_len(list); i++) {
		struct json *x = json_at_mut(list, i);

		if (!*json_text(x, "sandbox"))
			continue;
		json_del(x, "sandbox");
		if (json_add_str(x, "sandbox", netns))
			return -1;
	}
	return 0;
}

static int check_network(const struct one *x, const struct json *result, struct err *e)
{
	auto_json struct json *config = json_dup(x->network), *prev = json_dup(result);
	struct one check = *x;

	if (!config || !prev || set_sandbox(prev, x->netns) ||
	    json_put(config, "prevResult", TAKE_PTR(prev)))
		return err_nomem(e);
	check.network = config;
	return run_rails(&check, CNI_CHECK, NULL, e);
}

/* ---- one claim ---- */

/* 1: the claim is attached there whole. */
static int is_whole(const struct one *x, const struct attached *a, struct err *e)
{
	auto_netns struct netns here = { .fd = -1 };
	struct one part = *x;
	struct names names;

	if (!a->tree || json_len(a->results) != json_len(x->p->networks))
		return 0;
	if (netns_open(x->netns, &here, e))
		return -1;
	json_each (it, x->p->networks) {
		auto_record struct record r = { 0 };
		struct err why;

		name_call(&part, &names);
		part.i++;
		const struct record_key key = { json_text(it, "name"), x->p->claim.uid,
						names.ifname };
		if (record_read(x->job->ctx, &key, &r, &why)) {
			if (why.code == ERR_NOTFOUND || record_is_damaged(&why))
				return 0;
			return err_pass(e, &why);
		}
		if (r.adding || r.deleting || !netns_same(r.netns_id, here.id))
			return 0;
	}
	return 1;
}

int prepared_delete(const struct prepared_job *job, const struct prepared *p,
		    const struct attached *a, struct err *e)
{
	struct one x = { .job = job, .p = p, .netns = a->netns, .sandbox = a->id };
	struct err why;
	int rc = 0;

	json_each (it, p->networks) {
		x.network = it;
		/* An empty object: it has nothing. */
		if (json_len(it) && run_rails(&x, CNI_DEL, NULL, rc ? &why : e))
			rc = -1;
		x.i++;
	}
	return rc ? err_wrap(e, "claim %s/%.200s", p->claim.ns, p->claim.name) : 0;
}

int prepared_detach_claim(const struct prepared_job *job, int dir, const struct prepared *p,
			  struct err *e)
{
	auto_attached struct attached a = { .tree = NULL };
	char file[PREPARED_FILE];
	struct err damaged;

	prepared_name(p->claim.uid, PREPARED_RESULT, file);
	(void)!attached_read(dir, file, &a, &damaged);
	return prepared_delete(job, p, &a, e) || fs_unlink_at(dir, file, e) ? -1 : 0;
}

static int add_claim(struct one *x, int dir, const struct prepared_sandbox *s, struct err *e)
{
	auto_json struct json *results = json_new_array();
	const struct attached a = { .network = s->network ? s->network : "",
				    .id = s->id ? s->id : "",
				    .ifname = s->ifname ? s->ifname : "",
				    .netns = s->netns,
				    .results = results };

	if (!results)
		return err_nomem(e);
	if (attached_write(dir, x->p->claim.uid, &a, e))
		return -1;
	json_each (it, x->p->networks) {
		x->network = it;
		if (add_network(x, results, e))
			return -1;
		x->i++;
	}
	return attached_write(dir, x->p->claim.uid, &a, e);
}

static int check_claim(struct one *x, const struct attached *a, struct err *e)
{
	const struct json *result = json_first(a->results);

	json_each (it, x->p->networks) {
		x->network = it;
		if (check_network(x, result, e))
			return -1;
		x->i++;
		result = json_next(result);
	}
	return 0;
}

/* ---- all claims of a pod ---- */

struct claim {
	struct prepared p;
	bool added; /* by this call */
};

struct claims {
	struct prepared_pod pod;
	struct claim item[PREPARED_CLAIMS_MAX];
	size_t n;
};

static void close_claims(struct claims *c, const char *pod_uid)
{
	for (size_t i = 0; i < c->n; i++)
		prepared_clear(&c->item[i].p);
	prepared_close(&c->pod, pod_uid);
}

/* 0: there is no folder of the pod. */
static int open_claims(const struct prepared_job *job, struct claims *out, struct err *e)
{
	auto_fs_names struct fs_names files = { .n = 0 };
	bool found = !job->claim_uid;
	char uid[64];
	int rc = prepared_open(job->ctx, job->pod_uid, false, &out->pod, e);

	if (rc > 0 && fs_names_at(out->pod.dir, ".", FS_NAMES_MAX, &files, e))
		return -1;
	for (size_t i = 0; i < files.n; i++) {
		if (!prepared_uid_of(files.name[i], PREPARED_CLAIM, uid))
			continue;
		if (out->n == PREPARED_CLAIMS_MAX)
			return err_set(e, ERR_CONFIG, 0, "pod %s has too many claims",
				       job->pod_uid);
		if (prepared_read_at(out->pod.dir, job->pod_uid, files.name[i],
				     &out->item[out->n].p, e) <= 0)
			return -1;
		found |= job->claim_uid && strcmp(uid, job->claim_uid) == 0;
		out->n++;
	}
	if (rc < 0 || found)
		return rc;
	err_set(e, ERR_NOTFOUND, 0, "claim %s of pod %s is not prepared", job->claim_uid,
		job->pod_uid);
	return err_hint(e, "the driver prepares it when the kubelet makes a sandbox for the pod");
}

static int attach_one(const struct prepared_job *job, const struct prepared_sandbox *s,
		      struct claims *all, struct claim *c, struct err *e)
{
	struct one x = { .job = job, .p = &c->p, .netns = s->netns, .sandbox = s->id };
	auto_attached struct attached a = { .tree = NULL };
	char file[PREPARED_FILE];
	struct err damaged;

	prepared_name(c->p.claim.uid, PREPARED_RESULT, file);
	const int was = attached_read(all->pod.dir, file, &a, &damaged);
	const int whole = was > 0 ? is_whole(&x, &a, e) : 0;
	if (whole < 0)
		return -1;
	if (whole)
		return check_claim(&x, &a, e);
	if (was && prepared_detach_claim(job, all->pod.dir, &c->p, e))
		return -1;
	c->added = true;
	return add_claim(&x, all->pod.dir, s, e);
}

static void take_back(const struct prepared_job *job, struct claims *all)
{
	struct err why;

	for (size_t i = all->n; i-- > 0;)
		if (all->item[i].added &&
		    prepared_detach_claim(job, all->pod.dir, &all->item[i].p, &why))
			log_warn(&job->ctx->log, "%s", why.msg);
}

/* The files that the pod reads; also if the call that attached was killed before it wrote them. */
static int write_public(const struct prepared_job *job, const struct prepared_sandbox *s,
			const struct claims *all, struct err *e)
{
	char path[PATH_MAX], done[PATH_MAX] = "", last[PATH_MAX];
	bool added = false;

	for (size_t i = 0; i < all->n; i++)
		added |= all->item[i].added;
	for (size_t i = 0; i < all->n; i++) {
		prepared_public(job->ctx, job->pod_uid, all->item[i].p.claim.uid, path);
		if (strcmp(path, done) == 0)
			continue;
		(void)snprintf(done, sizeof(done), "%s", path);
		(void)snprintf(last, sizeof(last), "%.4000s/explain.txt", path);
		if ((added || access(last, F_OK)) && pod_files_write(job->ctx, s->netns, path, e))
			return -1;
	}
	return 0;
}

static int attach_all(const struct prepared_job *job, const struct prepared_sandbox *s,
		      struct claims *all, struct err *e)
{
	if (prepared_hold(all->pod.dir, e))
		return -1;
	for (size_t i = 0; i < all->n; i++) {
		const struct prepared_id *id = &all->item[i].p.claim;

		if (attach_one(job, s, all, &all->item[i], e)) {
			take_back(job, all);
			return err_wrap(e, "claim %s/%.200s", id->ns, id->name);
		}
	}
	if (write_public(job, s, all, e)) {
		take_back(job, all);
		return -1;
	}
	for (size_t i = 0; i < all->n; i++) {
		if (prepared_refusal_forget(job->ctx, all->item[i].p.claim.uid, e))
			return -1;
	}
	return 0;
}

int prepared_attach(const struct prepared_job *job, const struct prepared_sandbox *s, struct err *e)
{
	struct claims all = { .pod = PREPARED_CLOSED };
	struct err ignored;
	int rc = open_claims(job, &all, e);

	if (rc > 0) {
		rc = attach_all(job, s, &all, e);
		(void)!fs_unlink_at(all.pod.dir, PREPARED_HOLDER, &ignored);
	}
	close_claims(&all, job->pod_uid);
	return rc < 0 ? -1 : 0;
}

int prepared_verify(const struct prepared_job *job, const struct prepared_sandbox *s, struct err *e)
{
	struct claims all = { .pod = PREPARED_CLOSED };
	int rc = open_claims(job, &all, e);

	for (size_t i = 0; rc >= 0 && i < all.n; i++) {
		const struct prepared *p = &all.item[i].p;
		struct one x = { .job = job, .p = p, .netns = s->netns, .sandbox = s->id };
		auto_attached struct attached a = { .tree = NULL };
		char file[PREPARED_FILE];

		prepared_name(p->claim.uid, PREPARED_RESULT, file);
		rc = attached_read(all.pod.dir, file, &a, e);
		if (rc >= 0)
			rc = is_whole(&x, &a, e);
		if (rc == 0)
			rc = err_set(e, ERR_STATE, 0, "it is not attached in %s", s->netns);
		if (rc < 0 || check_claim(&x, &a, e))
			rc = err_wrap(e, "claim %s/%.200s", p->claim.ns, p->claim.name);
	}
	close_claims(&all, job->pod_uid);
	return rc < 0 ? -1 : 0;
}

/* ---- the files of a pod, once more ---- */

static int refresh_pod(const struct prepared_job *job, const struct claims *all, struct err *e)
{
	char path[PATH_MAX], done[PATH_MAX] = "";

	for (size_t i = 0; i < all->n; i++) {
		struct one x = { .job = job, .p = &all->item[i].p };
		auto_attached struct attached a = { .tree = NULL };
		char file[PREPARED_FILE];
		int rc;

		prepared_public(job->ctx, job->pod_uid, x.p->claim.uid, path);
		if (strcmp(path, done) == 0)
			continue;
		prepared_name(x.p->claim.uid, PREPARED_RESULT, file);
		rc = attached_read(all->pod.dir, file, &a, e);
		x.netns = a.netns;
		if (rc > 0)
			rc = is_whole(&x, &a, e);
		if (rc == 0)
			continue;
		if (rc < 0 || pod_files_write(job->ctx, a.netns, path, e))
			return -1;
		(void)snprintf(done, sizeof(done), "%s", path);
	}
	return 0;
}

struct refresh {
	const struct ctx *ctx;
	char done[64]; /* the pod of the last claim */
};

static int refresh_claim(const struct prepared_entry *entry, void *arg)
{
	struct refresh *r = arg;
	const struct prepared_job job = { .ctx = r->ctx, .pod_uid = entry->pod_uid };
	struct claims all = { .pod = PREPARED_CLOSED };
	struct err why;

	if (strcmp(r->done, entry->pod_uid) == 0)
		return 0;
	(void)snprintf(r->done, sizeof(r->done), "%s", entry->pod_uid);
	/* A pod whose claims are worked on, or whose namespace has gone, is another program's. */
	if ((open_claims(&job, &all, &why) < 0 || refresh_pod(&job, &all, &why) < 0) &&
	    why.code != ERR_AGAIN && why.code != ERR_NETNS)
		log_warn(&r->ctx->log, "pod %s: %s", entry->pod_uid, why.msg);
	close_claims(&all, job.pod_uid);
	return 0;
}

int prepared_refresh(const struct ctx *ctx, struct err *e)
{
	struct refresh r = { .ctx = ctx };

	return prepared_each(ctx, NULL, refresh_claim, &r, e);
}

/* ---- before there is a sandbox ---- */

int prepared_check_mode(const struct prepared *p, struct err *e)
{
	json_each (it, p->networks) {
		if (strcmp(json_text(it, "rdma"), "shared") == 0)
			return rails_rdma_check_mode(e);
	}
	return 0;
}

static int reserve_network(const struct one *x, struct err *e)
{
	char *text = json_print(x->network, false);
	struct names names;

	if (!text)
		return err_nomem(e);
	name_call(x, &names);
	struct cni_call call = { .ctx = *x->job->ctx,
				 .env = { .cmd = CNI_ADD,
					  .container = x->p->claim.uid,
					  .ifname = names.ifname,
					  .netns = "/proc/self/ns/net", /* nobody enters it */
					  .args = names.args,
					  .path = x->job->cni_path },
				 .data = &rails_type };
	int rc = cni_conf_parse(text, strlen(text), CNI_ADD, &call.conf, e);

	if (rc == 0)
		rc = attach_reserve(&call, e);
	cni_conf_clear(&call.conf);
	return rc;
}

/* PREPARED_RESULT of the claim. */
static void result_path(const struct ctx *ctx, const struct prepared *p, char out[PATH_MAX])
{
	(void)snprintf(out, PATH_MAX, "%.1024s/" PREPARED_FOLDER "/%s/%s" PREPARED_RESULT,
		       ctx->run_dir, p->pod.uid, p->claim.uid);
}

bool prepared_is_attached(const struct ctx *ctx, const struct prepared *p)
{
	char path[PATH_MAX];

	result_path(ctx, p, path);
	return fs_may_exist(path);
}

int prepared_results(const struct ctx *ctx, const struct prepared *p, struct json **out,
		     struct err *e)
{
	auto_attached struct attached a = { .tree = NULL };
	char path[PATH_MAX];

	result_path(ctx, p, path);
	int rc = attached_read(AT_FDCWD, path, &a, e);
	if (rc <= 0 || json_len(a.results) != json_len(p->networks))
		return rc < 0 ? -1 : 0;
	*out = json_dup(a.results);
	return *out ? 1 : err_nomem(e);
}

int prepared_reserve(const struct ctx *ctx, const struct prepared *p, const char *cni_path,
		     struct err *e)
{
	const struct prepared_job job = { .ctx = ctx, .cni_path = cni_path };
	struct one x = { .job = &job, .p = p };
	struct err why;

	if (prepared_check(p, e))
		return -1;
	/* An attached claim has its addresses, and keeps them. */
	if (prepared_is_attached(ctx, p))
		return 0;
	json_each (it, p->networks) {
		x.network = it;
		if (reserve_network(&x, e) == 0) {
			x.i++;
			continue;
		}
		if (prepared_delete(&job, p, &(struct attached){ .tree = NULL }, &why))
			log_warn(&ctx->log, "%s", why.msg);
		return err_wrap(e, "claim %s/%.200s", p->claim.ns, p->claim.name);
	}
	return 0;
}
