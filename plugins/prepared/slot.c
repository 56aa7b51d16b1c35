/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slot.c: slots of a device plugin. The kubelet gives a slot to one pod at a time, but the device
 * plugin does not hear to which pod. So the hook makes the claim of the pod. The device plugin does
 * not hear of the end of the pod, either, and looks for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cni/engine/restore.h"
#include "lib/sys/fs.h"
#include "plugins/prepared/prepared_priv.h"

/* ---- names ---- */

const char *prepared_slot_name(const char *pod_uid, const char *claim_uid)
{
	const size_t n = strlen(pod_uid);

	return strncmp(claim_uid, pod_uid, n) == 0 && claim_uid[n] == '-' && claim_uid[n + 1]
		       ? claim_uid + n + 1
		       : NULL;
}

void prepared_slot_folder(const struct ctx *ctx, const char *slot, char out[PATH_MAX])
{
	(void)snprintf(out, PATH_MAX, "%.1024s/" PREPARED_SLOTS "/%.63s", ctx->run_dir, slot);
}

int prepared_slot_make(const struct ctx *ctx, const char *slot, struct err *e)
{
	auto_fd int run = fs_open_dir(ctx->run_dir, true, e);
	auto_fd int all = run < 0 ? -1 : fs_open_dir_at(run, PREPARED_SLOTS, true, e);

	if (all < 0)
		return -1;
	return (mkdirat(all, slot, 0755) && errno != EEXIST) || fchmodat(all, slot, 0755, 0)
		       ? err_set(e, ERR_IO, errno, "make the folder " PREPARED_SLOTS "/%s", slot)
		       : 0;
}

/* ---- the argument of the hook ---- */

static const struct json_field slot_fields[] = {
	{ "networks", J_ARRAY, J_AT(struct prepared, networks), .flags = J_REQUIRED },
	{ "memlock", J_BOOL, J_AT(struct prepared, memlock), .flags = J_OMIT },
	{ 0 },
};

int prepared_slot_decode(const char *text, size_t len, struct prepared *out, struct err *e)
{
	auto_json struct json *tree = NULL;
	struct prepared p = { .networks = NULL };

	if (json_parse(text, len, "the slot", &tree, e) ||
	    json_decode(tree, "the slot", slot_fields, &p, e)) {
		if (e->code != ERR_NOMEM)
			e->code = ERR_DECODE;
		return -1;
	}
	p.networks = json_dup(p.networks);
	if (!p.networks)
		return err_nomem(e);
	*out = p;
	return 0;
}

char *prepared_slot_print(const struct json *networks, bool memlock)
{
	auto_json struct json *copy = json_dup(networks);
	const struct prepared p = { .networks = copy, .memlock = memlock };

	return copy ? json_print_fields(slot_fields, &p, false) : NULL;
}

/* ---- the claims of slots ---- */

/* A claim has up to three files, of which the first in the order of names counts. */
static int each_of_pod(int all, const char *pod_uid, prepared_slot_fn fn, void *arg, struct err *e)
{
	static const char *const suffixes[] = { PREPARED_CLAIM, PREPARED_ENDING, PREPARED_RESULT };
	auto_fs_names struct fs_names files = { .n = 0 };
	char uid[64], last[64] = "";
	struct err why;

	if (fs_names_at(all, pod_uid, FS_NAMES_MAX, &files, &why))
		return fs_is_gone(all, pod_uid, &why) ? 0 : err_pass(e, &why);
	for (size_t i = 0; i < files.n; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(suffixes); k++) {
			if (!prepared_uid_of(files.name[i], suffixes[k], uid) ||
			    !prepared_slot_name(pod_uid, uid) || strcmp(uid, last) == 0)
				continue;
			if (fn(pod_uid, uid, arg, e))
				return -1;
			memcpy(last, uid, sizeof(last));
		}
	}
	return 0;
}

int prepared_slot_each(const struct ctx *ctx, prepared_slot_fn fn, void *arg, struct err *e)
{
	auto_fs_names struct fs_names pods = { .n = 0 };
	char path[PATH_MAX];
	struct err why;

	(void)snprintf(path, sizeof(path), "%.1024s/" PREPARED_FOLDER, ctx->run_dir);
	auto_fd int all = fs_open_dir(path, false, &why);
	if (all < 0 || fs_names_at(all, ".", FS_NAMES_MAX, &pods, &why))
		return fs_is_gone(AT_FDCWD, path, &why) ? 0 : err_pass(e, &why);
	for (size_t i = 0; i < pods.n; i++)
		if (strcmp(pods.name[i], "lock") != 0 && each_of_pod(all, pods.name[i], fn, arg, e))
			return -1;
	return 0;
}

/* ---- begin ---- */

struct taking {
	const struct prepared_job *job;
	const char *slot;
};

static int make_room(const char *pod_uid, const char *claim_uid, void *arg, struct err *e)
{
	const struct taking *t = arg;
	struct prepared_job earlier = *t->job;
	const char *slot = prepared_slot_name(pod_uid, claim_uid);
	const bool same = slot && strcmp(slot, t->slot) == 0;

	if (strcmp(pod_uid, t->job->pod_uid) == 0) {
		if (same)
			return 0;
		err_set(e, ERR_FORBIDDEN, 0, "another container of the pod has the rails, by %s",
			slot);
		return err_hint(e, "one container of a pod asks for them; the others share its "
				   "network");
	}
	if (!same)
		return 0;
	earlier.pod_uid = pod_uid;
	earlier.claim_uid = claim_uid;
	const int rc = prepared_slot_end(&earlier, e);
	return rc ? (rc < 0 ? -1 : 0)
		  : err_set(e, ERR_BUSY, 0, "pod %s, which had %s before, has not ended yet",
			    pod_uid, slot);
}

int prepared_slot_take(const struct prepared_job *job, const struct prepared *p, struct err *e)
{
	auto_prepared struct prepared was = { .networks = NULL };
	struct taking t = { job, prepared_slot_name(job->pod_uid, job->claim_uid) };

	if (!t.slot)
		return err_set(e, ERR_ENV, 0, "%s is not the claim of a slot", job->claim_uid);
	if (prepared_slot_each(job->ctx, make_room, &t, e))
		return -1;
	/* A pod keeps what it has when the configuration changes. */
	const int rc = prepared_read(job->ctx, job->pod_uid, job->claim_uid, &was, e);
	return rc == 0 ? prepared_put(job->ctx, p, e) : rc < 0 ? -1 : 0;
}

/* ---- end ---- */

/* The namespace of the claim's records, beside another one. */
struct search {
	const struct ctx *ctx;
	const char *claim_uid;
	const struct netns *other; /* NULL: none */
	bool found;                /* of the claim: a namespace that lives, or is the other one */
	int rc;
	struct err *e;
};

static int search_record(const struct record *r, void *arg)
{
	auto_netns struct netns pod = { .fd = -1 };
	struct search *s = arg;

	if (r->name_mismatch || strcmp(r->key.container, s->claim_uid) != 0)
		return 0;
	if (!r->tree)
		s->rc = err_set(s->e, ERR_DECODE, 0, "the record of %s is damaged", s->claim_uid);
	else if (s->other)
		s->found |= netns_same(r->netns_id, s->other->id);
	else
		s->rc = attach_netns_of(s->ctx, r, &pod, s->e);
	s->found |= s->rc > 0;
	return s->rc;
}

bool prepared_slot_is_at(const struct ctx *ctx, const char *claim_uid, const char *netns)
{
	auto_netns struct netns here = { .fd = -1 };
	struct err ignored;
	struct search s = { ctx, claim_uid, &here, false, 0, &ignored };

	return netns && *netns && netns_open(netns, &here, &ignored) == 0 &&
	       record_each(ctx, NULL, search_record, &s, &ignored) == 0 && s.found;
}

/* Its path proves nothing: it is that of a process, whose number another process may get. */
static int slot_lives(const struct ctx *ctx, const char *claim_uid, struct err *e)
{
	struct search s = { ctx, claim_uid, NULL, false, 0, e };
	struct err why;

	if (record_each(ctx, NULL, search_record, &s, &why))
		return err_pass(e, &why);
	return s.rc < 0 ? -1 : s.found;
}

int prepared_slot_end(const struct prepared_job *job, struct err *e)
{
	struct prepared_pod pod = PREPARED_CLOSED;
	int rc = prepared_open(job->ctx, job->pod_uid, false, &pod, e);

	if (rc == 0)
		return 1;
	/* With the lock held: a hook may be attaching it to the next sandbox of the pod. */
	if (rc > 0)
		rc = slot_lives(job->ctx, job->claim_uid, e);
	if (rc >= 0)
		rc = rc ? 0 : prepared_end_at(job, &pod, e) ? -1 : 1;
	prepared_close(&pod, job->pod_uid);
	return rc < 0 ? err_wrap(e, "end of %s", job->claim_uid) : rc;
}

int prepared_slot_clear(const struct ctx *ctx, const char *slot, struct err *e)
{
	static const char *const programs[] = PREPARED_PROGRAMS;
	auto_fs_names struct fs_names files = { .n = 0 };
	char path[PATH_MAX];
	struct err why;

	prepared_slot_folder(ctx, slot, path);
	auto_fd int dir = fs_open_dir(path, false, &why);
	if (dir < 0 || fs_names_at(dir, ".", FS_NAMES_MAX, &files, &why))
		return fs_is_gone(AT_FDCWD, path, &why) ? 0 : err_pass(e, &why);
	for (size_t i = 0; i < files.n; i++) {
		bool is_mounted_over = false;

		for (size_t k = 0; k < ARRAY_SIZE(programs); k++)
			is_mounted_over |= strcmp(files.name[i], programs[k]) == 0;
		if (!is_mounted_over && fs_unlink_at(dir, files.name[i], e))
			return -1;
	}
	return 0;
}
