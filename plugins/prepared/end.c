/* SPDX-License-Identifier: Apache-2.0 */
/* end.c: detaches the claims of a sandbox that ends, and removes claims. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "cni/record/record.h"
#include "lib/base/parse.h"
#include "lib/sys/fs.h"
#include "plugins/prepared/prepared_priv.h"

/* ---- the networks of a claim, also if its file is lost or damaged ---- */

struct by_record {
	const char *claim_uid;
	struct json *config[PREPARED_NETWORKS_MAX]; /* owned */
};

static int note_config(const struct record *r, void *arg)
{
	struct by_record *b = arg;
	uint64_t i;

	if (r->tree && !r->name_mismatch && r->config &&
	    strcmp(r->key.container, b->claim_uid) == 0 &&
	    strncmp(r->key.ifname, "claim", strlen("claim")) == 0 &&
	    parse_u64(r->key.ifname + strlen("claim"), 0, PREPARED_NETWORKS_MAX - 1, &i) == 0 &&
	    !b->config[i])
		b->config[i] = json_dup(r->config);
	return 0;
}

/* A reservation is not on record. The IPAM finds its addresses by their owner alone. */
static struct json *unknown_network(void)
{
	static const char text[] = "{\"cniVersion\":\"1.1.0\",\"name\":\"" PREPARED_NETWORK
				   "\",\"type\":\"rails\",\"kind\":\"macvlan\",\"ipam\":{\"type\":"
				   "\"railhead-ipam\",\"pool\":\"rail{n}\"}}";
	struct json *network = NULL;
	struct err ignored;

	(void)!json_parse(text, strlen(text), "", &network, &ignored);
	return network;
}

/* A network that is not on record is the above. */
static int read_records(const struct ctx *ctx, struct prepared *p, struct err *e)
{
	struct by_record b = { .claim_uid = p->claim.uid };
	int rc = record_each(ctx, NULL, note_config, &b, e);

	p->networks = json_new_array();
	for (size_t i = 0; i < PREPARED_NETWORKS_MAX; i++) {
		if (!b.config[i])
			b.config[i] = unknown_network();
		if (json_push(p->networks, b.config[i]) && rc == 0)
			rc = err_nomem(e);
	}
	return rc;
}

/* 1: from its file; 0: from the records of its attachments. */
static int read_networks(const struct prepared_job *job, int dir, const char *uid,
			 struct prepared *out, struct err *e)
{
	static const char *const suffixes[] = { PREPARED_CLAIM, PREPARED_ENDING };
	char file[PREPARED_FILE];
	struct err why;

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		prepared_name(uid, suffixes[i], file);
		const int rc = prepared_read_at(dir, job->pod_uid, file, out, &why);
		if (rc > 0)
			return 1;
		if (rc == 0)
			continue;
		if (why.code != ERR_DECODE && why.code != ERR_FORBIDDEN)
			return err_pass(e, &why);
		log_warn(&job->ctx->log, "%s; going by the records of its attachments", why.msg);
	}
	(void)snprintf(out->claim.uid, sizeof(out->claim.uid), "%s", uid);
	return read_records(job->ctx, out, e);
}

/* ---- the end of a claim ---- */

/* The last claim takes the other files of the folder with it. */
static int empty_folder(int dir, struct err *e)
{
	auto_fs_names struct fs_names files = { .n = 0 }, public = { .n = 0 };
	char name[300], uid[64];
	struct err why;

	if (fs_names_at(dir, ".", FS_NAMES_MAX, &files, e))
		return -1;
	for (size_t i = 0; i < files.n; i++)
		if (prepared_uid_of(files.name[i], PREPARED_CLAIM, uid) ||
		    prepared_uid_of(files.name[i], PREPARED_RESULT, uid) ||
		    prepared_uid_of(files.name[i], PREPARED_ENDING, uid))
			return 0;
	if (fs_unlink_at(dir, PREPARED_HOLDER, e))
		return -1;
	if (fs_names_at(dir, PREPARED_PUBLIC, FS_NAMES_MAX, &public, &why))
		return fs_is_gone(dir, PREPARED_PUBLIC, &why) ? 0 : err_pass(e, &why);
	for (size_t i = 0; i < public.n; i++) {
		(void)snprintf(name, sizeof(name), PREPARED_PUBLIC "/%.255s", public.name[i]);
		if (unlinkat(dir, name, 0) && errno != ENOENT)
			return err_set(e, ERR_IO, errno, "remove %s", name);
	}
	return fs_remove_empty_at(dir, PREPARED_PUBLIC, e);
}

/* From the first step on no program attaches the claim, and the next call knows its networks. */
int prepared_end_at(const struct prepared_job *job, const struct prepared_pod *pod, struct err *e)
{
	auto_prepared struct prepared p = { .networks = NULL };
	const char *slot = prepared_slot_name(job->pod_uid, job->claim_uid);
	char file[PREPARED_FILE], ending[PREPARED_FILE];

	prepared_name(job->claim_uid, PREPARED_CLAIM, file);
	prepared_name(job->claim_uid, PREPARED_ENDING, ending);
	if (renameat(pod->dir, file, pod->dir, ending) && errno != ENOENT)
		return err_set(e, ERR_IO, errno, "rename %s", file);
	return read_networks(job, pod->dir, job->claim_uid, &p, e) < 0 ||
			       prepared_detach_claim(job, pod->dir, &p, e) ||
			       prepared_refusal_forget(job->ctx, job->claim_uid, e) ||
			       (slot && prepared_slot_clear(job->ctx, slot, e)) ||
			       fs_unlink_at(pod->dir, ending, e) || empty_folder(pod->dir, e)
		       ? -1
		       : 0;
}

/* ---- sandboxes ---- */

/* Which claims: of one attachment, or of those that are not in the list of conf. */
struct match {
	const struct prepared_sandbox *s;
	const struct cni_conf *conf;
};

static bool is_matched(const struct match *m, const struct attached *a)
{
	if (!*a->id)
		return false;
	if (m->s)
		return strcmp(a->id, m->s->id) == 0 && strcmp(a->ifname, m->s->ifname) == 0;
	return strcmp(a->network, m->conf->name) == 0 &&
	       !cni_conf_is_valid(m->conf, a->id, a->ifname);
}

static int detach_matched(const struct prepared_job *job, const struct prepared_pod *pod,
			  const char *file, const struct match *m, struct err *e)
{
	auto_prepared struct prepared p = { .networks = NULL };
	auto_attached struct attached a = { .tree = NULL };
	char uid[64];
	struct err why;

	if (!prepared_uid_of(file, PREPARED_RESULT, uid))
		return 0;
	const bool slot = prepared_slot_name(job->pod_uid, uid);
	const int rc = attached_read(pod->dir, file, &a, &why);
	/* To which sandbox it belongs is not known: the claim's end, or the next sandbox, cleans.
	 */
	if (rc < 0 && (why.code == ERR_DECODE || why.code == ERR_CONFIG)) {
		log_warn(&job->ctx->log, "%s", why.msg);
		return 0;
	}
	if (rc < 0)
		return err_pass(e, &why);
	if (rc == 0 || !(is_matched(m, &a) ||
			 (slot && m->s && prepared_slot_is_at(job->ctx, uid, m->s->netns))))
		return 0;
	/* No driver ends it. */
	if (slot) {
		struct prepared_job end = *job;

		end.claim_uid = uid;
		return prepared_end_at(&end, pod, e);
	}
	return read_networks(job, pod->dir, uid, &p, e) < 0 ||
			       prepared_detach_claim(job, pod->dir, &p, e)
		       ? -1
		       : 0;
}

/* All claims are tried; the error is the first one. */
static int detach_pod(const struct prepared_job *job, const struct match *m, struct err *e)
{
	struct prepared_pod pod = PREPARED_CLOSED;
	auto_fs_names struct fs_names files = { .n = 0 };
	struct err why;
	int rc = prepared_open(job->ctx, job->pod_uid, false, &pod, e);

	if (rc > 0)
		rc = fs_names_at(pod.dir, ".", FS_NAMES_MAX, &files, e);
	for (size_t i = 0; i < files.n; i++)
		if (detach_matched(job, &pod, files.name[i], m, rc ? &why : e))
			rc = -1;
	prepared_close(&pod, job->pod_uid);
	return rc;
}

static int detach_pods(const struct prepared_job *job, const struct match *m, struct err *e)
{
	auto_fs_names struct fs_names pods = { .n = 0 };
	struct prepared_job one = *job;
	char path[PATH_MAX];
	struct err why;
	int rc = 0;

	(void)snprintf(path, sizeof(path), "%.1024s/" PREPARED_FOLDER, job->ctx->run_dir);
	if (fs_names_at(AT_FDCWD, path, FS_NAMES_MAX, &pods, &why))
		return fs_is_gone(AT_FDCWD, path, &why) ? 0 : err_pass(e, &why);
	for (size_t i = 0; i < pods.n; i++) {
		one.pod_uid = pods.name[i];
		if (strcmp(one.pod_uid, "lock") != 0 && detach_pod(&one, m, rc ? &why : e))
			rc = -1;
	}
	return rc;
}

int prepared_detach(const struct prepared_job *job, const struct prepared_sandbox *s, struct err *e)
{
	const struct match m = { .s = s };

	return job->pod_uid ? detach_pod(job, &m, e) : detach_pods(job, &m, e);
}

int prepared_gc(const struct prepared_job *job, const struct cni_conf *conf, struct err *e)
{
	const struct match m = { .conf = conf };

	/* No list is no information, not an empty list. */
	return conf->valid ? detach_pods(job, &m, e) : 0;
}

/* ---- one claim ---- */

static int end_lost(const struct prepared_job *job, struct err *e)
{
	auto_prepared struct prepared p = { .networks = NULL };

	(void)snprintf(p.claim.uid, sizeof(p.claim.uid), "%s", job->claim_uid);
	return read_records(job->ctx, &p, e) ||
			       prepared_delete(job, &p, &(struct attached){ .tree = NULL }, e)
		       ? -1
		       : 0;
}

int prepared_end(const struct prepared_job *job, struct err *e)
{
	struct prepared_pod pod = PREPARED_CLOSED;

	if (!job->pod_uid)
		return end_lost(job, e) ? err_wrap(e, "end of claim %s", job->claim_uid) : 0;
	int rc = prepared_open(job->ctx, job->pod_uid, false, &pod, e);

	if (rc > 0)
		rc = prepared_end_at(job, &pod, e);
	prepared_close(&pod, job->pod_uid);
	return rc < 0 ? err_wrap(e, "end of claim %s", job->claim_uid) : 0;
}
