/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tell.c: what people see of claims in the cluster. Each refusal of the gate is an Event of the
 * pod, because crun drops the gate's standard error. An attached claim has its addresses in its
 * status. A file of the driver has a hash of the last one, so that each is written once.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cluster/kube/note.h"
#include "lib/base/hash.h"
#include "lib/sys/fs.h"
#include "plugins/prepared/prepared.h"
#include "railheadd/claims/api.h"
#include "railheadd/claims/jobs.h"
#include "railheadd/claims/status.h"

struct tell {
	const struct jobs_place *place;
	struct api *api; /* owned; NULL: not open yet */
	int shown;       /* the folder of hashes */
	struct err why;  /* why an Event or a status is missing; msg "": none is */
};

/* Then the others are not tried, either. */
static bool tell_is_away(const struct err *e)
{
	return e->code == ERR_UNAVAILABLE || e->code == ERR_AGAIN;
}

static int tell_connect(struct tell *t, struct err *e)
{
	return t->api ? 0 : api_open(t->place->kube, NULL, &t->api, e);
}

/* ---- refusals ---- */

/* The name of the Event is made of the file, so a file that is left after a crash makes no second
 * one. */
static int tell_send(struct api *api, const struct prepared_refusal *r, int64_t at, struct err *e)
{
	auto_json struct json *body = NULL;
	char note[CLUSTER_EVENT_NOTE_LEN];
	const struct cluster_event event = { .id = hash_add_text(HASH_START, r->claim.uid) +
						   (uint64_t)at,
					     .at = at,
					     .node = r->node,
					     .reason = "RailsMissing",
					     .action = "Refuse",
					     .note = note,
					     .warning = true,
					     .namespace = r->pod.ns,
					     .pod = r->pod.name,
					     .uid = r->pod.uid };
	struct err why;

	(void)snprintf(note, sizeof(note),
		       "a container with claim %s does not start: %.500s%s%.200s", r->claim.name,
		       r->message, *r->hint ? "; " : "", r->hint);
	if (kube_note_json(&event, &body, e))
		return -1;
	const struct api_request post = { .method = "POST",
					  .verb = "create",
					  .resource = &kube_note_resource,
					  .ns = r->pod.ns,
					  .body = body };
	return api_call(api, &post, NULL, &why) && why.code != ERR_BUSY ? err_pass(e, &why) : 0;
}

static int tell_file(const struct jobs_place *p, struct api *api, int dir, const char *file,
		     struct err *e)
{
	auto_free char *text = NULL;
	struct prepared_refusal r;
	struct stat st;
	ssize_t len = fs_read_trusted_at(dir, file, JSON_MAX_SIZE, &text, e);

	if (len < 0 || fstatat(dir, file, &st, 0))
		return len < 0 && !fs_is_gone(dir, file, e) ? -1 : 0;
	if (prepared_refusal_decode(text, (size_t)len, &r, e)) {
		log_error(&p->ctx->log, "claims: no Event of refusal %s: %s", file, e->msg);
	} else {
		const int64_t at = st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
		struct prepared_refusal here = r;

		here.node = p->node; /* by its name in the cluster */
		int rc = tell_send(api, &here, at, e);
		json_free(r.tree);
		if (rc && tell_is_away(e))
			return -1;
		if (rc)
			log_error(&p->ctx->log, "claims: no Event of pod %s/%s: %s", here.pod.ns,
				  here.pod.name, e->msg);
	}
	return fs_unlink_at(dir, file, e);
}

/* One that cannot be sent does not keep the others. */
static int tell_refusals(struct tell *t, struct err *e)
{
	auto_fs_names struct fs_names files = { .n = 0 };
	char path[PATH_MAX];

	prepared_refusals(t->place->ctx, path);
	auto_fd int dir = fs_open_dir(path, false, e);
	if (dir < 0)
		return fs_is_gone(AT_FDCWD, path, e) ? 0 : -1;
	if (fs_names_at(dir, ".", FS_NAMES_MAX, &files, e))
		return -1;
	for (size_t i = 0; i < files.n; i++) {
		if (tell_connect(t, e))
			return -1;
		if (tell_file(t->place, t->api, dir, files.name[i], e) == 0)
			continue;
		if (tell_is_away(e))
			return -1;
		t->why = *e;
		(void)err_wrap(&t->why, "no Event of refusal %s", files.name[i]);
	}
	return 0;
}

/* ---- the status of claims ---- */

static int tell_status(struct tell *t, const struct prepared *p, const struct json *results,
		       struct err *e)
{
	const struct api_request get = API_GET(&api_claims, p->claim.ns, p->claim.name);
	const struct claim_asked asked = { p->claim.ns, p->claim.name, p->claim.uid, t->place->node,
					   t->place->groups };
	auto_json struct json *tree = NULL, *body = NULL;
	auto_free char *name = NULL;
	struct claim claim;

	if (tell_connect(t, e) || api_call(t->api, &get, &tree, e) ||
	    claim_decode(tree, &asked, &claim, e))
		return -1;
	body = claim_status(&claim, t->place->node, results);
	prepared_clear(&claim.prepared);
	if (!body || asprintf(&name, "%s/status", p->claim.name) < 0) {
		name = NULL;
		return err_nomem(e);
	}
	const struct api_request apply = { .method = "PATCH",
					   .verb = "patch the status of",
					   .resource = &api_claims,
					   .ns = p->claim.ns,
					   .name = name,
					   .query = "fieldManager=" CLAIM_DRIVER "&force=true",
					   .body = body };

	return api_call(t->api, &apply, NULL, e);
}

/* A claim that has gone meanwhile has no status. */
static int tell_claim(const struct prepared_entry *x, void *arg)
{
	auto_json struct json *results = NULL;
	auto_free char *text = NULL, *was = NULL;
	struct tell *t = arg;
	char hash[32];
	struct err e;

	if (prepared_slot_name(x->pod_uid, x->claim_uid))
		return 0;
	if (!x->claim) {
		t->why = *x->why;
		return 0;
	}
	int rc = prepared_results(t->place->ctx, x->claim, &results, &e);
	if (rc < 0)
		t->why = e;
	if (rc <= 0)
		return 0;
	text = json_print(results, false);
	(void)snprintf(hash, sizeof(hash), "%016" PRIx64,
		       text ? hash_add_text(HASH_START, text) : 0);
	if (fs_read_at(t->shown, x->claim_uid, sizeof(hash), &was, &e) >= 0 &&
	    strcmp(was, hash) == 0)
		return 0;
	if (tell_status(t, x->claim, results, &e)) {
		if (e.code == ERR_NOTFOUND || e.code == ERR_STATE)
			return 0;
		t->why = e;
		(void)err_wrap(&t->why, "the status of claim %s/%.200s", x->claim->claim.ns,
			       x->claim->claim.name);
		return tell_is_away(&e);
	}
	if (fs_replace_at(t->shown, x->claim_uid, hash, false, &e))
		log_error(&t->place->ctx->log, "claims: %s", e.msg);
	return 0;
}

static int tell_statuses(struct tell *t, struct err *e)
{
	char path[PATH_MAX];

	claim_shown(t->place->ctx, path);
	t->shown = fs_open_dir(path, true, e);
	if (t->shown < 0)
		return -1;
	int rc = prepared_each(t->place->ctx, NULL, tell_claim, t, e);
	(void)close(t->shown);
	return rc == 0 && *t->why.msg ? err_pass(e, &t->why) : rc;
}

int job_tell(const struct jobs_place *p)
{
	struct tell t = { .place = p };
	struct err e;
	int rc = tell_refusals(&t, &e) || tell_statuses(&t, &e);

	api_close(t.api);
	return slow_say(rc ? &e : NULL, NULL, 0);
}
