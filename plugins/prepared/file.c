/* SPDX-License-Identifier: Apache-2.0 */
/* file.c: the files of prepared claims, and the lock of a pod. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/parse.h"
#include "lib/sys/fs.h"
#include "lib/sys/lock.h"
#include "plugins/prepared/prepared_priv.h"

#define WHAT    "file of a prepared claim"
#define LOCK_MS 10000

void prepared_clear(struct prepared *p)
{
	json_free(p->networks);
	*p = (struct prepared){ .networks = NULL };
}

/* ---- text ---- */

const struct json_field prepared_id_fields[] = {
	{ "uid", J_CHARS, J_AT(struct prepared_id, uid), .flags = J_REQUIRED, .min = 1 },
	{ "namespace", J_CHARS, J_AT(struct prepared_id, ns), .flags = J_REQUIRED, .min = 1 },
	{ "name", J_CHARS, J_AT(struct prepared_id, name), .flags = J_REQUIRED, .min = 1 },
	{ 0 },
};

static const struct json_field prepared_fields[] = {
	{ "version", J_CONST, .flags = J_REQUIRED, .min = 1, .max = 1 },
	{ "pod", J_NESTED, J_AT(struct prepared, pod), .flags = J_REQUIRED,
	  .of = prepared_id_fields },
	{ "claim", J_NESTED, J_AT(struct prepared, claim), .flags = J_REQUIRED,
	  .of = prepared_id_fields },
	{ "networks", J_ARRAY, J_AT(struct prepared, networks), .flags = J_REQUIRED },
	{ "variables", J_UINT, J_AT(struct prepared, variables), .flags = J_OMIT, .max = 3 },
	{ "memlock", J_BOOL, J_AT(struct prepared, memlock), .flags = J_OMIT },
	{ 0 },
};

/* They become names of files, CNI_ARGS and a container's id. */
static int check_id(const struct prepared_id *id, const char *what, struct err *e)
{
	return id_valid(id->uid) && id_valid(id->ns) && id_valid(id->name)
		       ? 0
		       : err_set(e, ERR_CONFIG, 0,
				 WHAT ": %s \"%s\" (\"%s/%.200s\") is not made of the letters of "
				      "an object of Kubernetes",
				 what, id->uid, id->ns, id->name);
}

int prepared_check(const struct prepared *p, struct err *e)
{
	const size_t n = json_len(p->networks);

	if (check_id(&p->pod, "pod", e) || check_id(&p->claim, "claim", e))
		return -1;
	if (json_type(p->networks) != JSON_ARRAY || !n || n > PREPARED_NETWORKS_MAX)
		return err_set(e, ERR_CONFIG, 0, WHAT ": \"networks\" is not an array of 1 to %d",
			       PREPARED_NETWORKS_MAX);
	json_each (it, p->networks)
		if (json_type(it) != JSON_OBJECT || strcmp(json_text(it, "type"), "rails") != 0 ||
		    !id_valid(json_text(it, "name")) || strlen(json_text(it, "name")) > CNI_ID_MAX)
			return err_set(e, ERR_CONFIG, 0,
				       WHAT ": a network is not an object with a name and the "
					    "type \"rails\"");
	return 0;
}

char *prepared_print(const struct prepared *p)
{
	return json_print_fields(prepared_fields, p, false);
}

int prepared_decode(const char *text, size_t len, struct prepared *out, struct err *e)
{
	auto_json struct json *tree = NULL;
	struct prepared p = { .networks = NULL };

	if (json_parse(text, len, WHAT, &tree, e))
		return -1;
	/* What is wrong in it is not a configuration: the driver wrote it. */
	if (json_decode(tree, WHAT, prepared_fields, &p, e) || prepared_check(&p, e)) {
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

/* ---- files ---- */

void prepared_name(const char *uid, const char *suffix, char out[PREPARED_FILE])
{
	(void)snprintf(out, PREPARED_FILE, "%.63s%.8s", uid, suffix);
}

bool prepared_uid_of(const char *file, const char *suffix, char uid[64])
{
	const size_t len = strlen(file), end = strlen(suffix);

	if (len <= end || len - end >= 64 || strcmp(file + len - end, suffix) != 0)
		return false;
	(void)snprintf(uid, 64, "%.*s", (int)(len - end), file);
	return id_valid(uid);
}

void prepared_public(const struct ctx *ctx, const char *pod_uid, const char *claim_uid,
		     char out[PATH_MAX])
{
	const char *slot = prepared_slot_name(pod_uid, claim_uid);

	if (slot)
		prepared_slot_folder(ctx, slot, out);
	else
		(void)snprintf(out, PATH_MAX, "%.1024s/" PREPARED_FOLDER "/%.63s/" PREPARED_PUBLIC,
			       ctx->run_dir, pod_uid);
}

static int check_uid(const char *uid, const char *what, struct err *e)
{
	return id_valid(uid) && strlen(uid) < 64
		       ? 0
		       : err_set(e, ERR_ENV, 0, "%s \"%.80s\" is not a UID", what, uid);
}

/* <run_dir>/claims, and the folder of the pod in it (NULL: only the former). 0: it is not there. */
static int open_folders(const struct ctx *ctx, const char *pod_uid, struct prepared_pod *out,
			struct err *e)
{
	char path[PATH_MAX];
	struct err why;

	(void)snprintf(path, sizeof(path), "%.1024s/" PREPARED_FOLDER, ctx->run_dir);
	auto_fd int all = fs_open_dir(path, false, &why);
	if (all < 0)
		return fs_is_gone(AT_FDCWD, path, &why) ? 0 : err_pass(e, &why);
	auto_fd int dir = pod_uid ? fs_open_dir_at(all, pod_uid, false, &why) : -1;
	if (pod_uid && dir < 0)
		return fs_is_gone(all, pod_uid, &why) ? 0 : err_pass(e, &why);
	out->all = TAKE_FD(all);
	out->dir = TAKE_FD(dir);
	return 1;
}

void prepared_close(struct prepared_pod *p, const char *pod_uid)
{
	struct err ignored;

	if (p->lock >= 0)
		(void)!fs_remove_empty_at(p->all, pod_uid, &ignored);
	base_close_fd(&p->dir);
	base_close_fd(&p->lock);
	base_close_fd(&p->all);
	*p = (struct prepared_pod)PREPARED_CLOSED;
}

/* The folder is made, and removed when it is empty, with the lock held. */
static int open_locked(const struct ctx *ctx, const char *pod_uid, bool create,
		       struct prepared_pod *p, struct err *e)
{
	struct err why;

	p->lock = lock_name(p->all, pod_uid, true, LOCK_MS, e);
	if (p->lock < 0 && e->code == ERR_AGAIN && prepared_free_lock(ctx, p->all, p->dir))
		p->lock = lock_name(p->all, pod_uid, true, LOCK_MS, e);
	if (p->lock < 0)
		return err_wrap(e, "claims of pod %s", pod_uid);
	base_close_fd(&p->dir);
	p->dir = fs_open_dir_at(p->all, pod_uid, create, &why);
	if (p->dir >= 0)
		return 1;
	return !create && fs_is_gone(p->all, pod_uid, &why) ? 0 : err_pass(e, &why);
}

int prepared_open(const struct ctx *ctx, const char *pod_uid, bool create, struct prepared_pod *out,
		  struct err *e)
{
	struct prepared_pod p = PREPARED_CLOSED;
	int rc;

	if (check_uid(pod_uid, "the pod's", e))
		return -1;
	if (create) {
		auto_fd int run = fs_open_dir(ctx->run_dir, true, e);
		p.all = run < 0 ? -1 : fs_open_dir_at(run, PREPARED_FOLDER, true, e);
		rc = p.all < 0 ? -1 : 1;
	} else {
		rc = open_folders(ctx, pod_uid, &p, e);
	}
	if (rc > 0)
		rc = open_locked(ctx, pod_uid, create, &p, e);
	if (rc > 0)
		*out = p;
	else
		prepared_close(&p, pod_uid);
	return rc;
}

int prepared_read_at(int dir, const char *pod_uid, const char *file, struct prepared *out,
		     struct err *e)
{
	auto_prepared struct prepared p = { .networks = NULL };
	auto_free char *text = NULL;
	struct err why;

	ssize_t len = fs_read_trusted_at(dir, file, JSON_MAX_SIZE, &text, &why);
	if (len < 0 && fs_is_gone(dir, file, &why))
		return 0;
	if (len < 0 || prepared_decode(text, (size_t)len, &p, &why)) {
		*e = why;
		return err_wrap(e, PREPARED_FOLDER "/%s/%s", pod_uid, file);
	}
	/* A copied or renamed file. */
	const size_t n = strlen(p.claim.uid);
	if (strcmp(p.pod.uid, pod_uid) != 0 || strncmp(p.claim.uid, file, n) != 0 ||
	    strrchr(file, '.') != file + n)
		return err_set(e, ERR_DECODE, 0,
			       PREPARED_FOLDER "/%s/%s: it is of pod %s and claim %s", pod_uid,
			       file, p.pod.uid, p.claim.uid);
	*out = p;
	p.networks = NULL;
	return 1;
}

int prepared_read(const struct ctx *ctx, const char *pod_uid, const char *claim_uid,
		  struct prepared *out, struct err *e)
{
	struct prepared_pod p = PREPARED_CLOSED;
	char file[PREPARED_FILE];

	if (check_uid(pod_uid, "the pod's", e) || check_uid(claim_uid, "the claim's", e))
		return -1;
	prepared_name(claim_uid, PREPARED_CLAIM, file);
	int rc = open_folders(ctx, pod_uid, &p, e);
	if (rc > 0)
		rc = prepared_read_at(p.dir, pod_uid, file, out, e);
	prepared_close(&p, pod_uid);
	return rc;
}

/* 1: the claim is prepared like this already. */
static int compare_earlier(const struct prepared_pod *pod, const struct prepared *p, struct err *e)
{
	auto_prepared struct prepared old = { .networks = NULL };
	char file[PREPARED_FILE];
	struct err damaged;

	/* A damaged file is replaced: only the driver can say what belongs there. */
	prepared_name(p->claim.uid, PREPARED_CLAIM, file);
	if (prepared_read_at(pod->dir, p->pod.uid, file, &old, &damaged) <= 0)
		return 0;
	if (json_same(old.networks, p->networks))
		return 1;
	prepared_name(p->claim.uid, PREPARED_RESULT, file);
	return faccessat(pod->dir, file, F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT
		       ? 0
		       : err_set(e, ERR_BUSY, 0,
				 "claim %s/%s is attached, and cannot get other networks",
				 p->claim.ns, p->claim.name);
}

static int put_file(const struct prepared_pod *pod, const struct prepared *p, struct err *e)
{
	auto_free char *text = prepared_print(p);
	auto_fs_names struct fs_names names = { .n = 0 };
	char file[PREPARED_FILE];

	if (!text)
		return err_nomem(e);
	/* At most three files a claim. */
	if (fs_names_at(pod->dir, ".", (size_t)3 * PREPARED_CLAIMS_MAX, &names, e))
		return e->errnum == EFBIG ? err_set(e, ERR_BUSY, 0, "pod %s/%s has too many claims",
						    p->pod.ns, p->pod.name)
					  : -1;
	if (strlen(text) > JSON_MAX_SIZE)
		return err_set(e, ERR_CONFIG, 0, WHAT ": it is longer than %d bytes",
			       JSON_MAX_SIZE);
	/* A runtime mounts it before the hook of the container writes into it. */
	if (!prepared_slot_name(p->pod.uid, p->claim.uid) &&
	    ((mkdirat(pod->dir, PREPARED_PUBLIC, 0755) && errno != EEXIST) ||
	     fchmodat(pod->dir, PREPARED_PUBLIC, 0755, 0)))
		return err_set(e, ERR_IO, errno, "make the folder " PREPARED_PUBLIC);
	prepared_name(p->claim.uid, PREPARED_CLAIM, file);
	/* Not durable on purpose, as the records: the driver prepares again after a boot. */
	return fs_replace_at(pod->dir, file, text, false, e);
}

int prepared_put(const struct ctx *ctx, const struct prepared *p, struct err *e)
{
	struct prepared_pod pod = PREPARED_CLOSED;

	if (prepared_check(p, e) || prepared_open(ctx, p->pod.uid, true, &pod, e) < 0)
		return -1;
	int rc = compare_earlier(&pod, p, e);
	if (rc == 0)
		rc = put_file(&pod, p, e);
	prepared_close(&pod, p->pod.uid);
	return rc < 0 ? err_wrap(e, "prepare claim %s/%.200s", p->claim.ns, p->claim.name) : 0;
}

/* ---- all claims ---- */

struct walk {
	prepared_fn fn;
	void *arg;
	bool ended;
};

static int each_of_pod(int all, const char *pod_uid, struct walk *w, struct err *e)
{
	auto_fs_names struct fs_names files = { .n = 0 };
	auto_fd int dir = fs_open_dir_at(all, pod_uid, false, e);

	if (dir < 0 || fs_names_at(dir, ".", FS_NAMES_MAX, &files, e))
		return fs_is_gone(all, pod_uid, e) ? 0 : -1;
	for (size_t i = 0; i < files.n && !w->ended; i++) {
		auto_prepared struct prepared p = { .networks = NULL };
		char uid[64];
		struct err why;

		if (!prepared_uid_of(files.name[i], PREPARED_CLAIM, uid))
			continue;
		const int rc = prepared_read_at(dir, pod_uid, files.name[i], &p, &why);
		if (rc == 0)
			continue;
		const struct prepared_entry x = { pod_uid, uid, rc > 0 ? &p : NULL,
						  rc > 0 ? NULL : &why };
		w->ended = w->fn(&x, w->arg) != 0;
	}
	return 0;
}

int prepared_each(const struct ctx *ctx, const char *pod_uid, prepared_fn fn, void *arg,
		  struct err *e)
{
	struct walk w = { .fn = fn, .arg = arg };
	struct prepared_pod p = PREPARED_CLOSED;
	auto_fs_names struct fs_names pods = { .n = 0 };
	int rc =
		pod_uid && check_uid(pod_uid, "the pod's", e) ? -1 : open_folders(ctx, NULL, &p, e);

	if (rc > 0 && pod_uid)
		rc = each_of_pod(p.all, pod_uid, &w, e);
	else if (rc > 0)
		rc = fs_names_at(p.all, ".", FS_NAMES_MAX, &pods, e);
	for (size_t i = 0; i < pods.n && rc == 0 && !w.ended; i++)
		if (strcmp(pods.name[i], "lock") != 0)
			rc = each_of_pod(p.all, pods.name[i], &w, e);
	prepared_close(&p, pod_uid);
	return rc < 0 ? -1 : 0;
}

struct file_wanted {
	const char *uid;
	char *name;
};

static int file_take_name(const struct prepared_entry *x, void *arg)
{
	const struct file_wanted *w = arg;

	if (!x->claim || strcmp(x->claim_uid, w->uid) != 0)
		return 0;
	(void)snprintf(w->name, PREPARED_NAME_LEN, "%s", x->claim->claim.name);
	return 1;
}

const char *prepared_claim_name(const struct ctx *ctx, const char *pod_uid, const char *claim_uid,
				char out[PREPARED_NAME_LEN])
{
	struct file_wanted w = { claim_uid, out };
	struct err ignored;

	out[0] = '\0';
	(void)!prepared_each(ctx, pod_uid, file_take_name, &w, &ignored);
	return out;
}
