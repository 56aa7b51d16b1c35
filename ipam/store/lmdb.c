/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lmdb.c: the embedded store. No other file uses LMDB.
 *
 * This file does the locking (MDB_NOLOCK): during a transaction a writer holds an exclusive lock on
 * the file "lock", a reader a shared one. LMDB's own lock file would let readers run beside a
 * writer, which is not needed here. It has a mutex without timeout, so one stopped process would
 * stop a node, and reader slots that survive killed processes. The kernel drops our lock with its
 * process.
 *
 * A killed process leaves its transaction undone, because a commit writes the meta page last. For a
 * power loss see ipam/store/lmdb_recover.h.
 */
#include "ipam/store/lmdb.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdio.h>
#include <string.h>

#include "ipam/store/lmdb_file.h"
#include "ipam/store/lmdb_lock.h"
#include "ipam/store/lmdb_recover.h"
#include "ipam/store/lmdb_reserve.h"
#include "lib/sys/fs.h"
#include "lib/sys/safe_path.h"

/* Address space, not disk: the file grows as it is used. Enough for about a million leases. */
#define STORE_SIZE ((size_t)1 << 30)
#define MAP_SIZE   (STORE_SIZE + STORE_SIZE / 4) /* with space for releases when it is full */
#define FLAGS      (MDB_NOLOCK | MDB_NOTLS | MDB_NOSYNC | MDB_NORDAHEAD | MDB_NOSUBDIR)

#define COMMIT_MAX_S 8 /* less than the time that others wait for the lock */
#define LOCK_FILE    "lock"
#define FREE_LISTS   0 /* LMDB's own database of free pages */

struct lmdb {
	struct store base;
	MDB_env *env;
	int dirfd, lockfd, datafd;
	int wait_ms;
	const struct log *log;
	char *file; /* path of data.mdb, for errors */
	char boot[CTX_BOOT_ID_LEN + 1];
};

struct lmdb_txn {
	struct store_txn base;
	MDB_txn *txn;
	MDB_dbi dbi;
	bool keep, release;
};

static struct lmdb *lmdb_of(struct store *s)
{
	return (struct lmdb *)(void *)s;
}

static struct lmdb_txn *txn_of(struct store_txn *t)
{
	return (struct lmdb_txn *)(void *)t;
}

static struct lmdb_place lmdb_place_of(const struct lmdb *s)
{
	return (struct lmdb_place){ s->dirfd, s->lockfd, s->boot, s->file };
}

/* An error of LMDB: its own codes are negative, the others are errno. */
static int set_lmdb_error(const struct lmdb *s, int rc, const char *what, struct err *e)
{
	if (rc == ENOMEM)
		return err_nomem(e);
	/* LMDB returns EIO for a write that was incomplete. */
	if ((rc == EIO && lmdb_reserve_is_out(s->dirfd)) || rc == EDQUOT)
		rc = ENOSPC;
	if (rc == MDB_MAP_FULL) {
		err_set(e, ERR_STORE, ENOSPC, "the store %s is full (%zu MiB)", s->file,
			STORE_SIZE >> 20);
		return err_hint(e, "`railctl ipam verify` shows what is in it");
	}
	if (rc == MDB_CORRUPTED || rc == MDB_PAGE_NOTFOUND || rc == MDB_INVALID ||
	    rc == MDB_VERSION_MISMATCH || rc == MDB_PANIC || rc == MDB_INCOMPATIBLE)
		return lmdb_damaged(s->file, mdb_strerror(rc), e);
	if (rc < 0)
		return err_set(e, ERR_STORE, 0, "%s in %s: %s", what, s->file, mdb_strerror(rc));
	err_set(e, ERR_STORE, rc, "%s in %s", what, s->file);
	return rc == ENOSPC ? err_hint(e, "the file system is full") : -1;
}

static int lock_store(const struct lmdb *s, bool exclusive, struct err *e)
{
	const struct lmdb_lock l = { s->lockfd, s->wait_ms, s->file, s->log };

	return lmdb_lock_take(&l, exclusive, e);
}

static void unlock_store(const struct lmdb *s)
{
	lmdb_lock_drop(&(struct lmdb_lock){ .fd = s->lockfd });
}

/* ---- transactions ---- */

static void txn_end(struct lmdb_txn *t)
{
	unlock_store(lmdb_of(t->base.store));
	free(t);
}

/* Released pages are inside the file, and are used before the file grows. */
static uint64_t free_bytes(const struct lmdb *s)
{
	MDB_stat stat = { 0 };
	MDB_cursor *c;
	MDB_val k, v;
	MDB_txn *txn;
	uint64_t n = 0;

	if (mdb_env_stat(s->env, &stat) || mdb_txn_begin(s->env, NULL, MDB_RDONLY, &txn))
		return 0;
	if (mdb_cursor_open(txn, FREE_LISTS, &c) == 0) {
		while (mdb_cursor_get(c, &k, &v, MDB_NEXT) == 0)
			n += *(const size_t *)v.mv_data;
		mdb_cursor_close(c);
	}
	mdb_txn_abort(txn);
	return n * stat.ms_psize;
}

/* A release always begins: the space that it needs was reserved for it. */
static int reserve_space(const struct lmdb *s, enum store_mode mode, struct err *e)
{
	MDB_envinfo info = { 0 };
	MDB_stat stat = { 0 };
	struct err why;

	(void)mdb_env_info(s->env, &info);
	(void)mdb_env_stat(s->env, &stat);
	uint64_t used = ((uint64_t)info.me_last_pgno + 1) * stat.ms_psize;
	uint64_t kept = lmdb_reserve_size(used);
	bool fits = used + 2 * kept <= STORE_SIZE;

	if (fits && lmdb_reserve_make(s->datafd, used, &why) == 0)
		return 0;
	if (mode == STORE_RELEASE ||
	    lmdb_reserve_behind(s->datafd, used) + free_bytes(s) >= 2 * kept)
		return 0;
	if (!fits)
		return set_lmdb_error(s, MDB_MAP_FULL, "begin a transaction", e);
	*e = why;
	return err_wrap(e, "%s", s->file);
}

static int lmdb_begin(struct store *store, enum store_mode mode, struct store_txn **out,
		      struct err *e)
{
	struct lmdb *s = lmdb_of(store);
	auto_free struct lmdb_txn *t = calloc(1, sizeof(*t));
	bool write = mode != STORE_READ;

	if (!t)
		return err_nomem(e);
	if (lock_store(s, write, e))
		return -1;
	if (write && reserve_space(s, mode, e)) {
		unlock_store(s);
		return -1;
	}
	t->release = mode == STORE_RELEASE;
	int rc = mdb_txn_begin(s->env, NULL, write ? 0 : MDB_RDONLY, &t->txn);
	if (rc == 0) {
		rc = mdb_dbi_open(t->txn, NULL, 0, &t->dbi);
		if (rc)
			mdb_txn_abort(t->txn);
	}
	if (rc) {
		unlock_store(s);
		return set_lmdb_error(s, rc, "begin a transaction", e);
	}
	t->base.store = store;
	*out = &TAKE_PTR(t)->base;
	return 0;
}

static int check_key(const struct lmdb *s, const char *key, struct err *e)
{
	size_t len = strlen(key);

	if (len > 0 && len <= STORE_KEY_MAX)
		return 0;
	return err_set(e, ERR_STORE, 0, "a key of %zu bytes does not fit the store %s", len,
		       s->file);
}

/* Values are stored with their NUL, so that readers get text without a copy. */
static int lmdb_check_value(const struct lmdb *s, const MDB_val *v, struct err *e)
{
	if (v->mv_size > 0 && ((const char *)v->mv_data)[v->mv_size - 1] == '\0')
		return 0;
	return lmdb_damaged(s->file, "a value has no end", e);
}

static int lmdb_get(struct store_txn *txn, const char *key, const char **value, struct err *e)
{
	struct lmdb_txn *t = txn_of(txn);
	const struct lmdb *s = lmdb_of(txn->store);
	MDB_val k = { strlen(key), (void *)(uintptr_t)key }, v;

	if (check_key(s, key, e))
		return -1;
	int rc = mdb_get(t->txn, t->dbi, &k, &v);
	if (rc && rc != MDB_NOTFOUND)
		return set_lmdb_error(s, rc, "read", e);
	if (rc == 0 && lmdb_check_value(s, &v, e))
		return -1;
	*value = rc == 0 ? v.mv_data : NULL;
	return 0;
}

static int lmdb_put(struct store_txn *txn, const char *key, const char *value, struct err *e)
{
	struct lmdb_txn *t = txn_of(txn);
	const struct lmdb *s = lmdb_of(txn->store);
	size_t len = strlen(value);
	MDB_val k = { strlen(key), (void *)(uintptr_t)key };
	MDB_val v = { len + 1, (void *)(uintptr_t)value };

	if (check_key(s, key, e))
		return -1;
	if (len > STORE_VALUE_MAX)
		return err_set(e, ERR_STORE, 0, "a value of %zu bytes does not fit the store %s",
			       len, s->file);
	int rc = mdb_put(t->txn, t->dbi, &k, &v, 0);
	return rc ? set_lmdb_error(s, rc, "write", e) : 0;
}

static int lmdb_del(struct store_txn *txn, const char *key, struct err *e)
{
	struct lmdb_txn *t = txn_of(txn);
	const struct lmdb *s = lmdb_of(txn->store);
	MDB_val k = { strlen(key), (void *)(uintptr_t)key };

	if (check_key(s, key, e))
		return -1;
	int rc = mdb_del(t->txn, t->dbi, &k, NULL);
	return rc && rc != MDB_NOTFOUND ? set_lmdb_error(s, rc, "delete", e) : 0;
}

struct scan {
	const char *prefix;
	store_fn fn;
	void *arg;
};

/* 1: the scan ends here. */
static int visit_key(const struct lmdb *s, const MDB_val *k, const MDB_val *v, const struct scan *w,
		     struct err *e)
{
	char key[STORE_KEY_MAX + 1];
	size_t n = strlen(w->prefix);

	if (k->mv_size < n || memcmp(k->mv_data, w->prefix, n) != 0)
		return 1;
	if (k->mv_size > STORE_KEY_MAX)
		return lmdb_damaged(s->file, "a key is too long", e);
	if (lmdb_check_value(s, v, e))
		return -1;
	memcpy(key, k->mv_data, k->mv_size);
	key[k->mv_size] = '\0';
	return w->fn(key, v->mv_data, w->arg) ? 1 : 0;
}

static int scan_range(const struct lmdb *s, MDB_cursor *c, const char *from, const struct scan *w,
		      struct err *e)
{
	MDB_val k = { strlen(from), (void *)(uintptr_t)from }, v;
	/* LMDB has no empty key: an empty prefix begins with the first key. */
	int rc = mdb_cursor_get(c, &k, &v, *from ? MDB_SET_RANGE : MDB_FIRST);

	while (rc == 0) {
		int end = visit_key(s, &k, &v, w, e);
		if (end)
			return end < 0 ? -1 : 0;
		rc = mdb_cursor_get(c, &k, &v, MDB_NEXT);
	}
	return rc == MDB_NOTFOUND ? 0 : set_lmdb_error(s, rc, "scan", e);
}

static int lmdb_scan(struct store_txn *txn, struct store_span span, store_fn fn, void *arg,
		     struct err *e)
{
	struct lmdb_txn *t = txn_of(txn);
	const struct lmdb *s = lmdb_of(txn->store);
	const char *from =
		span.from && strcmp(span.from, span.prefix) > 0 ? span.from : span.prefix;
	struct scan w = { span.prefix, fn, arg };
	MDB_cursor *c;
	int rc = mdb_cursor_open(t->txn, t->dbi, &c);

	if (rc)
		return set_lmdb_error(s, rc, "scan", e);
	rc = scan_range(s, c, from, &w, e);
	mdb_cursor_close(c);
	return rc;
}

static void lmdb_keep_txn(struct store_txn *txn)
{
	txn_of(txn)->keep = true;
}

static int lmdb_commit(struct store_txn *txn, struct err *e)
{
	struct lmdb_txn *t = txn_of(txn);
	const struct lmdb *s = lmdb_of(txn->store);
	const struct lmdb_place place = lmdb_place_of(s);
	/* LMDB repeats an interrupted write without end. If it is killed, nothing has changed. */
	(void)alarm(COMMIT_MAX_S);
	int rc = mdb_txn_commit(t->txn);
	(void)alarm(0);

	if (rc)
		rc = set_lmdb_error(s, rc, "commit", e);
	else if (t->keep)
		rc = lmdb_checkpoint(&place, e);
	/* A release need not survive a power loss: no lease does. */
	if (rc && t->keep && t->release && e->errnum == ENOSPC)
		rc = 0;
	txn_end(t);
	return rc;
}

static void lmdb_abort(struct store_txn *txn)
{
	if (!txn)
		return;
	mdb_txn_abort(txn_of(txn)->txn);
	txn_end(txn_of(txn));
}

/* ---- open and close ---- */

static void lmdb_close(struct store *store)
{
	struct lmdb *s = lmdb_of(store);

	if (s->env)
		mdb_env_close(s->env);
	if (s->lockfd >= 0)
		(void)close(s->lockfd);
	if (s->datafd >= 0)
		(void)close(s->datafd);
	if (s->dirfd >= 0)
		(void)close(s->dirfd);
	free(s->file);
	free(s);
}

static const struct store_ops lmdb_ops = {
	.close = lmdb_close,
	.begin = lmdb_begin,
	.get = lmdb_get,
	.put = lmdb_put,
	.del = lmdb_del,
	.scan = lmdb_scan,
	.keep = lmdb_keep_txn,
	.commit = lmdb_commit,
	.abort = lmdb_abort,
};

/* Every failure to open is ERR_STORE, except a lack of memory. */
static int not_opened(const struct lmdb *s, const struct err *why, struct err *e)
{
	*e = *why;
	if (e->code != ERR_NOMEM)
		e->code = ERR_STORE;
	return err_wrap(e, "open the store %s", s->file);
}

/* Opens the file by its descriptor, so that no link can replace it meanwhile. */
static int open_env(struct lmdb *s, struct err *e)
{
	struct err why;
	char path[32];
	int rc;

	s->datafd = safe_open_file(s->dirfd, LMDB_DATA, O_RDWR | O_CREAT, &why);
	if (s->datafd < 0)
		return not_opened(s, &why, e);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", s->datafd);
	rc = mdb_env_create(&s->env);
	if (rc == 0)
		rc = mdb_env_set_mapsize(s->env, MAP_SIZE);
	if (rc == 0)
		rc = mdb_env_open(s->env, path, FLAGS, 0600);
	return rc ? set_lmdb_error(s, rc, "open the store", e) : 0;
}

/* Holds the lock, so that no transaction runs while the file is checked or created. */
static int open_prepared(struct lmdb *s, struct err *e)
{
	const struct lmdb_place place = lmdb_place_of(s);

	if (lock_store(s, true, e))
		return -1;
	int rc = lmdb_prepare(&place, e);
	if (rc == 0)
		rc = open_env(s, e);
	unlock_store(s);
	return rc;
}

static int lmdb_open_dir(const struct store_lmdb *at, struct err *e)
{
	bool create = at->create == STORE_CREATE;
	struct err cause;
	auto_fd int fd =
		at->outside
			? safe_open_dir(at->dir, SAFE_OWNED | (create ? SAFE_CREATE : 0), &cause)
			: fs_open_dir(at->dir, create, &cause);

	if (fd >= 0 && (at->outside || safe_check_dir(fd, at->dir, &cause) == 0))
		return TAKE_FD(fd);
	*e = cause;
	e->code = at->create == STORE_EXISTING && cause.errnum == ENOENT ? ERR_NOTFOUND : ERR_STORE;
	return err_wrap(e, "store directory %s", at->dir);
}

static int open_lock(struct lmdb *s, enum lmdb_file_state state, struct err *e)
{
	/* A malformed file without a lock file beside it was never a store. */
	int make = state == LMDB_FILE_BAD ? 0 : O_CREAT;
	struct err why;

	s->lockfd = safe_open_file(s->dirfd, LOCK_FILE, O_RDWR | make, &why);
	if (s->lockfd >= 0)
		return 0;
	if (why.errnum == ENOENT)
		return lmdb_damaged(s->file, "it does not begin like a store", e);
	return not_opened(s, &why, e);
}

static int open_files(struct lmdb *s, const struct store_lmdb *at, struct err *e)
{
	enum lmdb_trust trust;
	struct lmdb_file f;
	struct err why;

	s->dirfd = lmdb_open_dir(at, e);
	if (s->dirfd < 0)
		return -1;
	auto_fd int fd = safe_open_file(s->dirfd, LMDB_DATA, O_RDONLY, &why);
	if (fd < 0 && why.errnum != ENOENT)
		return not_opened(s, &why, e);
	if (lmdb_file_inspect(fd, &f, e))
		return -1;
	if (f.state == LMDB_FILE_EMPTY && at->create == STORE_EXISTING)
		return err_set(e, ERR_NOTFOUND, ENOENT, "there is no store in %s", at->dir);
	if (open_lock(s, f.state, e))
		return -1;
	const struct lmdb_place place = lmdb_place_of(s);
	if (lmdb_trust(&place, &trust, e))
		return -1;
	if (f.state == LMDB_FILE_GOOD && trust == LMDB_TRUSTED && !at->outside)
		return open_env(s, e);
	return open_prepared(s, e);
}

int store_lmdb_open(const struct store_lmdb *at, struct store **out, struct err *e)
{
	struct lmdb *s = calloc(1, sizeof(*s));

	if (!s)
		return err_nomem(e);
	s->base.ops = &lmdb_ops;
	s->dirfd = s->lockfd = s->datafd = -1;
	s->wait_ms = STORE_LMDB_WAIT_MS;
	s->log = at->log;
	(void)snprintf(s->boot, sizeof(s->boot), "%s", at->boot);
	if (asprintf(&s->file, "%s/%s", at->dir, LMDB_DATA) < 0) {
		s->file = NULL;
		lmdb_close(&s->base);
		return err_nomem(e);
	}
	if (open_files(s, at, e)) {
		lmdb_close(&s->base);
		return -1;
	}
	*out = &s->base;
	return 0;
}

void store_lmdb_patience(struct store *s, int wait_ms)
{
	lmdb_of(s)->wait_ms = wait_ms;
}
