/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs.c: prepares and ends claims. The file of a claim is written before its addresses are
 * reserved, so that the end of a claim finds it. The CDI file is written last: with both, the claim
 * is prepared, and the same request again reserves nothing.
 */
#include "railheadd/claims/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/sys/fs.h"
#include "railheadd/claims/api.h"
#include "railheadd/claims/cdi.h"
#include "railheadd/claims/pod.h"
#include "railheadd/claims/vfs.h"
#include "railheadd/devices/edits.h"
#include "railheadd/devices/rail_network.h"

#define PAUSE_US 500000 /* before it is tried again */

/* ---- one claim ---- */

struct job_overlap {
	const struct prepared *mine;
	uint64_t rails;
	struct err *e;
	int rc;
};

static int job_meets(const struct prepared_entry *x, void *arg)
{
	struct job_overlap *o = arg;
	uint64_t both = x->claim ? rails_of_networks(x->claim->networks) & o->rails : 0;
	char text[CLAIM_RAILS_LEN];

	if (strcmp(x->claim_uid, o->mine->claim.uid) == 0)
		return 0;
	if (!x->claim)
		o->rc = err_pass(o->e, x->why);
	else if (both)
		o->rc = err_set(o->e, ERR_FORBIDDEN, 0,
				"the pod has %s already, by its claim %s: a pod has each rail once",
				claim_rails_text(both, text), x->claim->claim.name);
	return o->rc;
}

/* Of the pod's other claims. */
static int job_check_others(const struct ctx *ctx, const struct prepared *p, struct err *e)
{
	struct job_overlap o = { p, rails_of_networks(p->networks), e, 0 };

	if (prepared_each(ctx, p->pod.uid, job_meets, &o, e))
		return -1;
	return o.rc;
}

/* Where nothing of it was before, a failure leaves nothing. */
static int job_reserve(const struct jobs_place *p, const struct prepared *claim, const char *cdi,
		       struct err *e)
{
	const struct prepared_job job = { p->ctx, claim->pod.uid, claim->claim.uid, p->bin,
					  p->rails };
	struct err why;

	if (prepared_put(p->ctx, claim, e) == 0 &&
	    prepared_reserve(p->ctx, claim, p->bin, e) == 0 &&
	    claim_cdi_put(p->ctx, claim, cdi, e) == 0)
		return 0;
	if (prepared_end(&job, &why))
		log_error(&p->ctx->log, "claim %s/%s: it could not be taken back: %s",
			  claim->claim.ns, claim->claim.name, why.msg);
	return -1;
}

static int job_make(const struct jobs_place *p, const struct prepared *claim, struct err *e)
{
	auto_prepared struct prepared was = { .networks = NULL };
	auto_free char *cdi = NULL;
	char hook[PATH_MAX];
	int rc;

	(void)snprintf(hook, sizeof(hook), "%.2000s/" EDITS_HOOK, p->bin);
	if (access(hook, X_OK)) {
		err_set(e, ERR_DELEGATE, 0, "%s is missing", hook);
		return err_hint(e, "no container starts without it: install the plugins");
	}
	/* In mode exclusive an RDMA device may be missing, too. */
	if (prepared_check_mode(claim, e) || claim_cdi(p->ctx, claim, p->bin, &cdi, e) ||
	    job_check_others(p->ctx, claim, e))
		return -1;
	rc = prepared_read(p->ctx, claim->pod.uid, claim->claim.uid, &was, e);
	if (rc < 0)
		return -1;
	if (rc && claim_cdi_stands(p->ctx, claim, cdi))
		return 0;
	/* A claim that may be attached already is not ended. */
	if (rc)
		return prepared_reserve(p->ctx, &was, p->bin, e) ||
				       claim_cdi_put(p->ctx, claim, cdi, e)
			       ? -1
			       : 0;
	return job_reserve(p, claim, cdi, e);
}

/* What was read ahead serves once: what is tried again is read again. */
struct job_source {
	const struct agent_conf_kube *kube;
	struct api *api;                /* owned; NULL: not open */
	const struct json *claim, *pod; /* read ahead; borrowed */
};

/* NULL: an error. *own owns what was read here. */
static const struct json *job_get(struct job_source *s, const struct api_request *r,
				  const struct json **ahead, struct json **own, struct err *e)
{
	const struct json *tree = TAKE_PTR(*ahead);

	if (tree)
		return tree;
	if ((!s->api && api_open(s->kube, NULL, &s->api, e)) || api_call(s->api, r, own, e))
		return NULL;
	return *own;
}

static int job_check_pod(struct job_source *s, const struct claim *c, struct err *e)
{
	const struct prepared_id *id = &c->prepared.pod;
	const struct api_request get = API_GET(&api_pods, id->ns, id->name);
	auto_json struct json *own = NULL;
	const struct json *pod = job_get(s, &get, &s->pod, &own, e);

	return pod ? claim_check_pod(pod, c, e) : -1;
}

static int job_try(const struct jobs_place *p, struct job_source *s, const struct dra_claim *c,
		   struct dra_outcome *out, struct err *e)
{
	const struct api_request get = API_GET(&api_claims, c->ns, c->name);
	const struct claim_asked asked = { c->ns, c->name, c->uid, p->node, p->groups };
	auto_json struct json *own = NULL;
	const struct json *tree = job_get(s, &get, &s->claim, &own, e);
	struct claim claim;

	if (!tree || claim_decode(tree, &asked, &claim, e))
		return -1;
	if (job_check_pod(s, &claim, e) || vfs_give(p->ctx, &claim, e) ||
	    job_make(p, &claim.prepared, e)) {
		prepared_clear(&claim.prepared);
		return err_wrap(e, "claim %s/%s", c->ns, c->name);
	}
	out->claim = claim;
	out->tree = TAKE_PTR(own);
	return 0;
}

/* The kubelet asks again after a minute only, so what may pass is waited for here. */
static bool job_may_pass(const struct err *e)
{
	return e->code == ERR_AGAIN || e->code == ERR_BUSY || e->code == ERR_EXHAUSTED ||
	       e->code == ERR_UNAVAILABLE;
}

static void job_print_error(struct dra_outcome *out, const struct err *e)
{
	(void)snprintf(out->error, sizeof(out->error), "%.700s%s%.300s%s", e->msg,
		       *e->detail ? " (" : "", e->detail, *e->detail ? ")" : "");
	for (char *s = strchr(out->error, '\n'); s; s = strchr(s, '\n'))
		*s = ' ';
}

/* ---- requests ---- */

static void job_outcomes_free(struct dra_outcome *all, size_t n)
{
	for (size_t i = 0; all && i < n; i++) {
		prepared_clear(&all[i].claim.prepared);
		json_free(all[i].tree);
	}
	free(all);
}

static int job_answer(struct proto_bytes m)
{
	struct err e;
	int rc;

	if (!m.data)
		(void)err_nomem(&e);
	rc = slow_say(m.data ? NULL : &e, m.data, m.len);
	free(m.data);
	return rc;
}

int job_prepare(const struct jobs_place *p, const struct dra_request *r)
{
	struct dra_outcome *all = calloc(r->n + 1, sizeof(*all));
	int64_t until = ctx_mono_ms() + JOBS_WAIT_MS;
	struct job_source s = { p->kube, NULL, r->claim, r->pod };
	struct err e;
	int rc;

	if (!all) {
		(void)err_nomem(&e);
		return slow_say(&e, NULL, 0);
	}
	for (size_t i = 0; i < r->n; i++) {
		while ((rc = job_try(p, &s, &r->of[i], &all[i], &e)) && job_may_pass(&e) &&
		       ctx_mono_ms() < until) {
			s.pod = NULL;
			(void)usleep(PAUSE_US);
		}
		if (rc)
			job_print_error(&all[i], &e);
	}
	rc = job_answer(dra_prepared(r, all, p->node));
	job_outcomes_free(all, r->n);
	api_close(s.api);
	return rc;
}

/* 1: the folder has a file of this claim, or may have lost it. Its end may have begun, and may have
 * failed. */
static int job_has_claim(int all, const char *pod_uid, const char *claim_uid, struct err *e)
{
	auto_fs_names struct fs_names files = { .n = 0 };
	size_t len = strlen(claim_uid);
	bool others = false;
	struct err why;

	if (fs_names_at(all, pod_uid, FS_NAMES_MAX, &files, &why))
		return fs_is_gone(all, pod_uid, &why) ? 0 : err_pass(e, &why);
	for (size_t i = 0; i < files.n; i++) {
		if (strncmp(files.name[i], claim_uid, len) == 0 && files.name[i][len] == '.')
			return 1;
		others |= strchr(files.name[i], '.') != NULL;
	}
	return !others;
}

static int job_end_of_pods(const struct jobs_place *p, const struct dra_claim *c, struct err *e)
{
	struct prepared_job job = { p->ctx, NULL, c->uid, p->bin, p->rails };
	auto_fs_names struct fs_names pods = { .n = 0 };
	char path[PATH_MAX];
	bool found = false;
	struct err why;

	(void)snprintf(path, sizeof(path), "%.2000s/" PREPARED_FOLDER, p->ctx->run_dir);
	if (fs_names_at(AT_FDCWD, path, FS_NAMES_MAX, &pods, &why))
		return fs_is_gone(AT_FDCWD, path, &why) ? 0 : err_pass(e, &why);
	auto_fd int all = fs_open_dir(path, false, e);

	if (all < 0)
		return -1;
	for (size_t i = 0; i < pods.n; i++) {
		job.pod_uid = pods.name[i];
		const int rc = job_has_claim(all, job.pod_uid, c->uid, e);
		if (rc < 0 || (rc && prepared_end(&job, e)))
			return -1;
		found |= rc;
	}
	job.pod_uid = NULL;
	return found ? 0 : prepared_end(&job, e);
}

void claim_shown(const struct ctx *ctx, char out[PATH_MAX])
{
	(void)snprintf(out, PATH_MAX, "%.2000s/shown", ctx->run_dir);
}

static int job_forget_shown(const struct jobs_place *p, const char *claim_uid, struct err *e)
{
	char path[PATH_MAX];

	claim_shown(p->ctx, path);
	return fs_unlink_in(path, claim_uid, e);
}

/* The CDI file goes first: no container starts. job_restore() may have written it meanwhile. */
int job_end(const struct jobs_place *p, const struct dra_claim *c, struct err *e)
{
	return claim_cdi_remove(p->ctx, c->uid, e) || job_end_of_pods(p, c, e) ||
			       claim_cdi_remove(p->ctx, c->uid, e) || job_forget_shown(p, c->uid, e)
		       ? -1
		       : 0;
}

/* ---- CDI files ---- */

struct job_restoring {
	const struct jobs_place *place;
	char *note;
	size_t len;
};

/* While a claim is not attached, Prepare may still be at work, which writes the file last. */
static int job_restore_one(const struct prepared_entry *x, void *arg)
{
	auto_prepared struct prepared now = { .networks = NULL };
	const struct job_restoring *r = arg;
	const struct jobs_place *p = r->place;
	auto_free char *cdi = NULL;
	struct err e;

	if (!x->claim || prepared_slot_name(x->pod_uid, x->claim_uid) ||
	    !prepared_is_attached(p->ctx, x->claim))
		return 0;
	if (claim_cdi(p->ctx, x->claim, p->bin, &cdi, &e) == 0) {
		if (claim_cdi_stands(p->ctx, x->claim, cdi))
			return 0;
		if (claim_cdi_put(p->ctx, x->claim, cdi, &e) == 0 &&
		    (prepared_read(p->ctx, x->pod_uid, x->claim_uid, &now, &e) != 0 ||
		     claim_cdi_remove(p->ctx, x->claim_uid, &e) == 0)) {
			log_warn(&p->ctx->log, "claims: the CDI file of claim %s was another one",
				 x->claim_uid);
			return 0;
		}
	}
	(void)snprintf(r->note, r->len, "the CDI file of claim %s/%s: %s", x->claim->claim.ns,
		       x->claim->claim.name, e.msg);
	return 0;
}

void job_restore(const struct jobs_place *p, char *note, size_t len)
{
	struct job_restoring r = { p, note, len };
	struct err e;

	if (prepared_each(p->ctx, NULL, job_restore_one, &r, &e))
		(void)snprintf(note, len, "%s", e.msg);
}

int job_unprepare(const struct jobs_place *p, const struct dra_request *r)
{
	struct dra_outcome *all = calloc(r->n + 1, sizeof(*all));
	struct err e;
	int rc;

	if (!all) {
		(void)err_nomem(&e);
		return slow_say(&e, NULL, 0);
	}
	for (size_t i = 0; i < r->n; i++) {
		if (job_end(p, &r->of[i], &e)) {
			(void)err_wrap(&e, "claim %s/%s", r->of[i].ns, r->of[i].name);
			job_print_error(&all[i], &e);
		}
	}
	rc = job_answer(dra_unprepared(r, all));
	job_outcomes_free(all, r->n);
	return rc;
}
