/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_lmdb.c: the embedded store. The only file that knows LMDB.
 *
 * Locking is ours (MDB_NOLOCK): writers hold an exclusive lock on the file "lock" for a
 * transaction, readers a shared one. LMDB's own lock file would let readers run beside a writer,
 * which nobody needs here, and in exchange has a mutex without timeout, so that one stopped process
 * stops a node, and reader slots that outlive killed processes. The kernel drops our lock with the
 * process that held it.
 *
 * A killed process leaves its transaction undone: the meta page is the last thing a commit writes.
 * What a power loss leaves is the matter of ipam/lmdb_recover.h.
 */
#include "ipam/store_lmdb.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ipam/lmdb_file.h"
#include "ipam/lmdb_recover.h"
#include "lib/ctx.h"
#include "lib/fs.h"

/* Address space, not disk: the file grows as it is used. Enough for about a million leases. */
#define MAP_SIZE ((size_t)1 << 30)
#define FLAGS    (MDB_NOLOCK | MDB_NOTLS | MDB_NOSYNC | MDB_NORDAHEAD)

#define LOCK_FILE "lock"

struct lmdb {
	struct store base;
	MDB_env *env;
	int dirfd, lockfd;
	int wait_ms;
	char *file; /* path of data.mdb, for errors */
	char boot[CTX_BOOT_ID_LEN + 1];
};

struct lmdb_txn {
	struct store_txn base;
	MDB_txn *txn;
	MDB_dbi dbi;
	bool keep;
};

static struct lmdb *lmdb_of(struct store *s)
{
	return (struct lmdb *)(void *)s;
}

static struct lmdb_txn *txn_of(struct store_txn *t)
{
	return (struct lmdb_txn *)(void *)t;
}

static struct lmdb_place place_of(const struct lmdb *s)
{
	return (struct lmdb_place){ s->dirfd, s->lockfd, s->boot, s->file };
}

/* An error of LMDB: its own codes are negative, the others are errno. */
static int fail(const struct lmdb *s, int rc, const char *what, struct err *e)
{
	if (rc == ENOMEM)
		return err_nomem(e);
	if (rc == MDB_MAP_FULL) {
		err_set(e, ERR_STORE, 0, "the store %s is full (%zu MiB)", s->file, MAP_SIZE >> 20);
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

static int try_lock(int fd, short type)
{
	struct flock all = { .l_type = type, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_SETLK, &all);
}

/*
 * Wait for a lock by asking again: transactions take less than a millisecond, and a blocking wait
 * could only be ended by a signal.
 */
static int lock(const struct lmdb *s, short type, struct err *e)
{
	struct timespec pause = { 0, 50000 };
	int64_t deadline = 0;

	while (try_lock(s->lockfd, type)) {
		if (errno != EAGAIN && errno != EACCES && errno != EINTR)
			return err_set(e, ERR_STORE, errno, "lock %s", s->file);
		int64_t now = ctx_mono_ms();
		if (!deadline)
			deadline = now + s->wait_ms;
		if (now >= deadline) {
			err_set(e, ERR_AGAIN, ETIMEDOUT, "another process holds the store %s",
				s->file);
			return err_hint(
				e,
				"`fuser -v` on the file \"%s\" beside it names the process; "
				"is it stopped?",
				LOCK_FILE);
		}
		(void)nanosleep(&pause, NULL);
		if (pause.tv_nsec < 1000000)
			pause.tv_nsec *= 2;
	}
	return 0;
}

static void unlock(const struct lmdb *s)
{
	(void)try_lock(s->lockfd, F_UNLCK);
}

/* ---- transactions ---- */

static void txn_end(struct lmdb_txn *t)
{
	unlock(lmdb_of(t->base.store));
	free(t);
}

static int lmdb_begin(struct store *store, enum store_mode mode, struct store_txn **out,
		      struct err *e)
{
	struct lmdb *s = lmdb_of(store);
	auto_free struct lmdb_txn *t = calloc(1, sizeof(*t));
	bool write = mode == STORE_WRITE;

	if (!t)
		return err_nomem(e);
	if (lock(s, write ? F_WRLCK : F_RDLCK, e))
		return -1;
	int rc = mdb_txn_begin(s->env, NULL, write ? 0 : MDB_RDONLY, &t->txn);
	if (rc == 0) {
		rc = mdb_dbi_open(t->txn, NULL, 0, &t->dbi);
		if (rc)
			mdb_txn_abort(t->txn);
	}
	if (rc) {
		unlock(s);
		return fail(s, rc, "begin a transaction", e);
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

/* Values are kept with their NUL, so that readers get text without a copy. */
static int check_value(const struct lmdb *s, const MDB_val *v, struct err *e)
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
		return fail(s, rc, "read", e);
	if (rc == 0 && check_value(s, &v, e))
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
	return rc ? fail(s, rc, "write", e) : 0;
}

static int lmdb_del(struct store_txn *txn, const char *key, struct err *e)
{
	struct lmdb_txn *t = txn_of(txn);
	const struct lmdb *s = lmdb_of(txn->store);
	MDB_val k = { strlen(key), (void *)(uintptr_t)key };

	if (check_key(s, key, e))
		return -1;
	int rc = mdb_del(t->txn, t->dbi, &k, NULL);
	return rc && rc != MDB_NOTFOUND ? fail(s, rc, "delete", e) : 0;
}

struct walk {
	const char *prefix;
	store_fn fn;
	void *arg;
};

/* 1: the walk ends here. */
static int visit(const struct lmdb *s, const MDB_val *k, const MDB_val *v, const struct walk *w,
		 struct err *e)
{
	char key[STORE_KEY_MAX + 1];
	size_t n = strlen(w->prefix);

	if (k->mv_size < n || memcmp(k->mv_data, w->prefix, n) != 0)
		return 1;
	if (k->mv_size > STORE_KEY_MAX)
		return lmdb_damaged(s->file, "a key is too long", e);
	if (check_value(s, v, e))
		return -1;
	memcpy(key, k->mv_data, k->mv_size);
	key[k->mv_size] = '\0';
	return w->fn(key, v->mv_data, w->arg) ? 1 : 0;
}

static int walk(const struct lmdb *s, MDB_cursor *c, const char *from, const struct walk *w,
		struct err *e)
{
	MDB_val k = { strlen(from), (void *)(uintptr_t)from }, v;
	/* LMDB knows no empty key: everything begins with the first one. */
	int rc = mdb_cursor_get(c, &k, &v, *from ? MDB_SET_RANGE : MDB_FIRST);

	while (rc == 0) {
		int end = visit(s, &k, &v, w, e);
		if (end)
			return end < 0 ? -1 : 0;
		rc = mdb_cursor_get(c, &k, &v, MDB_NEXT);
	}
	return rc == MDB_NOTFOUND ? 0 : fail(s, rc, "scan", e);
}

static int lmdb_scan(struct store_txn *txn, struct store_span span, store_fn fn, void *arg,
		     struct err *e)
{
	struct lmdb_txn *t = txn_of(txn);
	const struct lmdb *s = lmdb_of(txn->store);
	const char *from =
		span.from && strcmp(span.from, span.prefix) > 0 ? span.from : span.prefix;
	struct walk w = { span.prefix, fn, arg };
	MDB_cursor *c;
	int rc = mdb_cursor_open(t->txn, t->dbi, &c);

	if (rc)
		return fail(s, rc, "scan", e);
	rc = walk(s, c, from, &w, e);
	mdb_cursor_close(c);
	return rc;
}

static void lmdb_keep_txn(struct store_txn *txn)
{
	txn_of(txn)->keep = true;
}

static int lmdb_commit(struct store_txn *txn, enum store_commit *out, struct err *e)
{
	struct lmdb_txn *t = txn_of(txn);
	const struct lmdb *s = lmdb_of(txn->store);
	const struct lmdb_place place = place_of(s);
	int rc = mdb_txn_commit(t->txn);

	if (rc)
		rc = fail(s, rc, "commit", e);
	else if (t->keep)
		rc = lmdb_keep(&place, e);
	txn_end(t);
	if (rc)
		return -1;
	*out = STORE_DONE;
	return 0;
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

static int open_env(struct lmdb *s, const char *dir, struct err *e)
{
	int rc = mdb_env_create(&s->env);

	if (rc == 0)
		rc = mdb_env_set_mapsize(s->env, MAP_SIZE);
	if (rc == 0)
		rc = mdb_env_open(s->env, dir, FLAGS, 0600);
	return rc ? fail(s, rc, "open the store", e) : 0;
}

/* Nobody may begin or commit while the file is looked at, or made. */
static int open_settled(struct lmdb *s, const char *dir, struct err *e)
{
	const struct lmdb_place place = place_of(s);

	if (lock(s, F_WRLCK, e))
		return -1;
	int rc = lmdb_settle(&place, e);
	if (rc == 0)
		rc = open_env(s, dir, e);
	unlock(s);
	return rc;
}

static int open_dir(const struct store_lmdb *at, struct err *e)
{
	struct err cause;
	int fd = fs_open_dir(at->dir, at->create == STORE_CREATE, &cause);

	if (fd >= 0)
		return fd;
	*e = cause;
	e->code = at->create == STORE_EXISTING && cause.errnum == ENOENT ? ERR_NOTFOUND : ERR_STORE;
	return err_wrap(e, "store directory %s", at->dir);
}

static int look(const struct lmdb *s, struct lmdb_file *out, struct err *e)
{
	auto_fd int fd =
		openat(s->dirfd, LMDB_DATA, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0 && errno != ENOENT)
		return err_set(e, ERR_STORE, errno, "open the store %s", s->file);
	return lmdb_file_inspect(fd, out, e);
}

static int open_files(struct lmdb *s, const struct store_lmdb *at, struct err *e)
{
	enum lmdb_trust trust;
	struct lmdb_file f;

	s->dirfd = open_dir(at, e);
	if (s->dirfd < 0 || look(s, &f, e))
		return -1;
	if (f.state == LMDB_FILE_EMPTY && at->create == STORE_EXISTING)
		return err_set(e, ERR_NOTFOUND, ENOENT, "there is no store in %s", at->dir);
	/* without a lock file beside it, it is not a store of ours that was torn */
	int make = f.state == LMDB_FILE_BAD ? 0 : O_CREAT;
	s->lockfd = openat(s->dirfd, LOCK_FILE, O_RDWR | make | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->lockfd < 0 && errno == ENOENT)
		return lmdb_damaged(s->file, "it does not begin as a store of ours does", e);
	if (s->lockfd < 0)
		return err_set(e, ERR_STORE, errno, "open %s/%s", at->dir, LOCK_FILE);
	const struct lmdb_place place = place_of(s);
	if (lmdb_trust(&place, &trust, e))
		return -1;
	if (f.state == LMDB_FILE_GOOD && trust == LMDB_TRUSTED)
		return open_env(s, at->dir, e);
	return open_settled(s, at->dir, e);
}

int store_lmdb_open(const struct store_lmdb *at, struct store **out, struct err *e)
{
	struct lmdb *s = calloc(1, sizeof(*s));

	if (!s)
		return err_nomem(e);
	s->base.ops = &lmdb_ops;
	s->dirfd = s->lockfd = -1;
	s->wait_ms = STORE_LMDB_WAIT_MS;
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
