// SPDX-License-Identifier: Apache-2.0
/*
 * Where a PCI function lies is told by its path: devices/pci0000:17/0000:17:00.0/0000:18:00.0 names
 * its root complex and what is above it. Paths in order put what is above before what is below, so
 * one walk with the folders of the way at hand reads all.
 */
#include <fcntl.h>
#include <string.h>

#include "rdma/affinity/read_priv.h"

#define LEVELS 32

/* ---- names ---- */

bool tree_is_root(struct slice name)
{
	char text[PCI_ROOT_LEN + 8];
	struct pci_addr a;

	if (name.len < 4 || name.len >= PCI_ROOT_LEN || strncmp(name.p, "pci", 3) != 0)
		return false;
	memcpy(text, name.p + 3, name.len - 3);
	memcpy(text + name.len - 3, ":00.0", 6);
	return !pci_parse(text, &a);
}

bool tree_is_function(struct slice name, struct pci_addr *out)
{
	char text[PCI_STR_LEN];

	return !slice_copy(name, text, sizeof(text)) && !pci_parse(text, out);
}

struct slice tree_last_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return (struct slice){ name, strlen(name) };
}

/* How much of a path is the folder of its root complex. VMD puts a root complex below a function:
 * the last one counts. A tree made by hand may have none: then it is what is before the functions.
 */
static size_t root_len(const char *path)
{
	struct slice rest = { path, strlen(path) }, part;
	size_t len = 0;
	struct pci_addr a;

	for (const char *p = path; (p = strstr(p, "/pci")); p++) {
		struct slice name = { p + 1, strcspn(p + 1, "/") };
		if (tree_is_root(name))
			len = (size_t)(name.p + name.len - path);
	}
	while (!len && slice_next(&rest, '/', &part)) {
		if (tree_is_function(part, &a))
			return part.p > path ? (size_t)(part.p - path - 1) : 0;
	}
	return len;
}

/* Those of one root complex together, each behind what is above it. */
static int by_path(const void *x, const void *y)
{
	const char *a = *(char *const *)x, *b = *(char *const *)y;
	size_t la = root_len(a), lb = root_len(b);
	int c = strncmp(a, b, la < lb ? la : lb);

	if (c || la != lb)
		return c ? c : (la > lb) - (la < lb);
	return strcmp(a, b);
}

/* ---- the walk ---- */

struct level {
	size_t len; /* of its path */
	int fd;
	uint32_t pci;
	struct tree_ends ends;
};

struct walk {
	struct tree *t;
	struct err *e;
	const char *path; /* of what was read last */
	uint32_t root;
	struct level level[LEVELS]; /* [0] is the root complex */
	size_t depth;
};

static void walk_clear(struct walk *w)
{
	while (w->depth)
		(void)close(w->level[--w->depth].fd);
}

/* Up to what the path has in common with the one before. */
static void pop_to(struct walk *w, const char *path, size_t root)
{
	if (w->depth && w->level[0].len != root)
		walk_clear(w);
	while (w->depth) {
		size_t len = w->level[w->depth - 1].len;
		if (!strncmp(w->path, path, len) && (path[len] == '/' || path[len] == '\0'))
			return;
		(void)close(w->level[--w->depth].fd);
	}
}

static int root_index(struct walk *w, struct slice name)
{
	struct aff_machine *m = w->t->m;
	char text[PCI_ROOT_LEN] = "";

	if (tree_is_root(name) && slice_copy(name, text, sizeof(text)))
		*text = '\0';
	for (w->root = 0; w->root < m->n_roots; w->root++) {
		if (!strcmp(m->root[w->root].name, text))
			return 0;
	}
	return aff_add_root(m, text, &w->root, w->e);
}

/* 1: it cannot be opened */
static int push_root(struct walk *w, const char *path, size_t len)
{
	char text[TREE_PATH];

	if (slice_copy((struct slice){ path, len }, text, sizeof(text)))
		return 1;
	int fd = tree_open(w->t->fd, text);
	if (fd < 0)
		return 1;
	w->level[w->depth++] = (struct level){ .len = len, .fd = fd, .pci = AFF_NONE };
	return root_index(w, tree_last_name(text));
}

static int read_physfn(struct tree *t, int dir, uint32_t vf, struct err *e)
{
	char path[TREE_PATH];
	struct tree_place pf = { .pci = vf };

	/* "../0000:25:00.0": only the name counts. */
	if (tree_link(dir, "x/x", "physfn", path) != TREE_LINK ||
	    !tree_is_function(tree_last_name(path), &pf.addr))
		return 0;
	t->m->pci[vf].is_vf = true;
	if (!(t->n_vfs & (t->n_vfs - 1))) {
		void *more = reallocarray(t->vf, t->n_vfs ? 2 * t->n_vfs : 1, sizeof(*t->vf));
		if (!more)
			return err_nomem(e);
		t->vf = more;
	}
	t->vf[t->n_vfs++] = pf;
	return 0;
}

/* One function further down. 1: it is none, or cannot be opened. */
static int push(struct walk *w, const char *path, struct slice part)
{
	const struct level *top = &w->level[w->depth - 1];
	struct level new = { .len = (size_t)(part.p + part.len - path) };
	struct pci_addr a;
	char name[PCI_STR_LEN];

	if (w->depth == LEVELS || !tree_is_function(part, &a) ||
	    slice_copy(part, name, sizeof(name)))
		return 1;
	auto_fd int fd = openat(top->fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return 1;
	if (aff_add_pci(w->t->m, a, &new.pci, w->e) || read_physfn(w->t, fd, new.pci, w->e))
		return -1;
	w->t->m->pci[new.pci].parent = top->pci;
	w->t->m->pci[new.pci].root = w->root;
	tree_function(w->t, fd, new.pci, &new.ends);
	tree_above(w->t, new.pci, &new.ends, &top->ends);
	new.fd = TAKE_FD(fd);
	w->level[w->depth++] = new;
	return 0;
}

static int walk_to(struct walk *w, const char *path)
{
	size_t root = root_len(path);
	struct slice part, rest;
	int rc = 0;

	pop_to(w, path, root);
	if (!w->depth)
		rc = push_root(w, path, root);
	w->path = path;
	size_t len = w->depth ? w->level[w->depth - 1].len : 0;
	rest = (struct slice){ path + len, strlen(path + len) };
	while (rc == 0 && slice_next(&rest, '/', &part))
		rc = part.len ? push(w, path, part) : 0;
	if (rc <= 0)
		return rc;
	return aff_add_note(w->t->m, w->e, "%s is left out: it is not there, or a link on the way",
			    path);
}

int tree_functions(struct tree *t, struct tree_names *paths, struct err *e)
{
	auto_clean(walk_clear) struct walk w = { .t = t, .e = e };

	if (paths->n)
		qsort(paths->name, paths->n, sizeof(*paths->name), by_path);
	for (size_t i = 0; i < paths->n; i++) {
		if (walk_to(&w, paths->name[i]))
			return -1;
	}
	return 0;
}

/* ---- by address ---- */

static int by_addr(const void *x, const void *y)
{
	const struct pci_addr a = ((const struct tree_place *)x)->addr,
			      b = ((const struct tree_place *)y)->addr;
	uint64_t ka = (uint64_t)a.domain << 24 | (uint64_t)a.bus << 16 | (uint64_t)a.dev << 8 |
		      a.fn,
		 kb = (uint64_t)b.domain << 24 | (uint64_t)b.bus << 16 | (uint64_t)b.dev << 8 |
		      b.fn;

	return (ka > kb) - (ka < kb);
}

int tree_index(struct tree *t, struct err *e)
{
	struct aff_machine *m = t->m;

	t->place = calloc(m->n_pci + 1, sizeof(*t->place));
	if (!t->place)
		return err_nomem(e);
	for (uint32_t i = 0; i < m->n_pci; i++)
		t->place[i] = (struct tree_place){ m->pci[i].addr, i };
	t->n_places = m->n_pci;
	qsort(t->place, t->n_places, sizeof(*t->place), by_addr);
	for (size_t i = 0; i < t->n_vfs; i++)
		m->pci[t->vf[i].pci].physfn = tree_find(t, t->vf[i].addr);
	return 0;
}

uint32_t tree_find(const struct tree *t, struct pci_addr a)
{
	const struct tree_place key = { .addr = a };
	const struct tree_place *found =
		t->n_places ? bsearch(&key, t->place, t->n_places, sizeof(key), by_addr) : NULL;

	return found ? found->pci : AFF_NONE;
}

uint32_t tree_last(const struct tree *t, const char *path)
{
	struct slice rest = { path, strlen(path) }, part;
	struct pci_addr a, last;
	bool any = false;

	while (slice_next(&rest, '/', &part)) {
		if (!tree_is_function(part, &a))
			continue;
		last = a;
		any = true;
	}
	return any ? tree_find(t, last) : AFF_NONE;
}

void tree_clear(struct tree *t)
{
	if (t->fd >= 0)
		(void)close(t->fd);
	free(t->place);
	free(t->vf);
}
