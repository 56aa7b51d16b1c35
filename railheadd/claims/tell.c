/* SPDX-License-Identifier: Apache-2.0 */
/* tell.c: an Event of the pod for each refusal of the gate, whose standard error crun drops. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cluster/kube/note.h"
#include "lib/base/hash.h"
#include "lib/sys/fs.h"
#include "plugins/prepared/prepared.h"
#include "railheadd/claims/api.h"
#include "railheadd/claims/jobs.h"

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
	if (prepared_refusal_decode(text, (size_t)len, &r, e) == 0) {
		const int64_t at = st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
		struct prepared_refusal here = r;

		here.node = p->node; /* by its name in the cluster */
		int rc = tell_send(api, &here, at, e);
		json_free(r.tree);
		if (rc && (e->code == ERR_UNAVAILABLE || e->code == ERR_AGAIN))
			return -1;
		if (rc)
			log_error(&p->ctx->log, "claims: no Event of pod %s/%s: %s", here.pod.ns,
				  here.pod.name, e->msg);
	}
	return fs_unlink_at(dir, file, e);
}

int job_tell(const struct jobs_place *p)
{
	auto_fs_names struct fs_names files = { .n = 0 };
	auto_api struct api *api = NULL;
	char path[PATH_MAX];
	struct err e;
	int rc = 0;

	prepared_refusals(p->ctx, path);
	auto_fd int dir = fs_open_dir(path, false, &e);
	if (dir < 0)
		return fs_is_gone(AT_FDCWD, path, &e) ? job_say(NULL, NULL, 0)
						      : job_say(&e, NULL, 0);
	if (fs_names_at(dir, ".", FS_NAMES_MAX, &files, &e))
		return job_say(&e, NULL, 0);
	if (files.n)
		rc = api_open(p->kube, &api, &e);
	for (size_t i = 0; i < files.n && !rc; i++)
		rc = tell_file(p, api, dir, files.name[i], &e);
	return job_say(rc ? &e : NULL, NULL, 0);
}
