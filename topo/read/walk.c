// SPDX-License-Identifier: Apache-2.0
/*
 * Reads PCI functions from their paths. devices/pci0000:17/0000:17:00.0/0000:18:00.0 names the root
 * complex, the function above, and the function. Sorted paths list parents before children, so
 * that one pass with a stack of levels reads all of them.
 */
#include <string.h>

#include "lib/base/array.h"
#include "topo/read/tree.h"

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

/* The length of the part of a path that is the folder of its root complex. VMD puts a root complex
 * below a function, so the last one counts. Without one, it is the part before the functions. */
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

/* Sorts paths by root complex, and parents before children. */
static int walk_by_path(const void *x, const void *y)
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
	uint32_t pci;
};

struct walk {
	struct tree *t;
	struct err *e;
	const char *path; /* the path that was read last */
	uint32_t root;
	bool placed;                /* the NUMA node of the root complex is known */
	struct level level[LEVELS]; /* [0] is the root complex */
	size_t depth;
};

/* Drop the levels that the path does not have in common with the one before. */
static void pop_to(struct walk *w, const char *path, size_t root)
{
	if (w->depth && w->level[0].len != root)
		w->depth = 0;
	for (; w->depth; w->depth--) {
		size_t len = w->level[w->depth - 1].len;
		if (!strncmp(w->path, path, len) && (path[len] == '/' || path[len] == '\0'))
			return;
	}
}

static int push_root(struct walk *w, const char *path, size_t len)
{
	struct topo_machine *m = w->t->m;
	char text[TREE_PATH], name[PCI_ROOT_LEN] = "";

	if (slice_copy((struct slice){ path, len }, text, sizeof(text)))
		return 1;
	if (tree_is_root(tree_last_name(text)))
		(void)strcpy(name, tree_last_name(text).p);
	w->level[w->depth++] = (struct level){ .len = len, .pci = TOPO_NONE };
	w->placed = false;
	for (w->root = 0; w->root < m->n_roots; w->root++) {
		if (!strcmp(m->root[w->root].name, name))
			return 0;
	}
	return topo_add_root(m, name, &w->root, w->e);
}

#define ENDS_MAX (1u << 24)

/* The ends of one more function. */
static int walk_add_ends(struct tree *t, struct err *e)
{
	size_t n = t->m->n_pci;

	if (ARRAY_GROW(t->ends, n, ENDS_MAX, "PCI functions", e))
		return -1;
	t->ends[n] = (struct tree_ends){ 0 };
	return 0;
}

/* Add a function with its class. 1: it does not exist, or a component of the path is a link. */
static int walk_add_function(struct walk *w, struct tree_path *p, struct pci_addr a, uint32_t *out)
{
	struct tree *t = w->t;
	uint32_t class = 0;
	bool has_class = !tree_hex(t->fd, tree_at(p, "class"), 0xffffff, &class);

	if (!has_class) {
		p->text[p->len] = '\0';
		auto_fd int dir = tree_open(t->fd, p->text);
		if (dir < 0)
			return 1;
	}
	if (walk_add_ends(t, w->e) || topo_add_pci(t->m, a, out, w->e))
		return -1;
	struct topo_pci *f = &t->m->pci[*out];
	f->has_class = has_class;
	f->class_code = class;
	f->parent = w->level[w->depth - 1].pci;
	f->root = w->root;
	return 0;
}

/* Add a VF as a copy of the one of its PF that was read. 1: none was read, or it is not a VF. */
static int walk_add_vf(struct walk *w, struct pci_addr a, uint32_t *out)
{
	const struct tree_vfs *v = tree_vf_of(w->t, a);

	if (!v || v->like == TOPO_NONE)
		return 1;
	const struct topo_pci like = w->t->m->pci[v->like];
	if (walk_add_ends(w->t, w->e) || topo_add_pci(w->t->m, a, out, w->e))
		return -1;
	w->t->m->pci[*out] = like;
	w->t->m->pci[*out].addr = a;
	return 0;
}

/* Descend one level. 1: it is not a function, or cannot be opened. */
static int push_function(struct walk *w, const char *path, struct slice part)
{
	struct tree_path p = { .len = (size_t)(part.p + part.len - path) };
	struct tree *t = w->t;
	struct pci_addr a;
	uint32_t pci = 0;

	if (w->depth == LEVELS || !tree_is_function(part, &a) || p.len >= TREE_PATH)
		return 1;
	int rc = walk_add_vf(w, a, &pci);
	if (rc == 1) {
		memcpy(p.text, path, p.len);
		rc = walk_add_function(w, &p, a, &pci);
		if (rc == 0 && tree_matters(t, &p, &t->m->pci[pci])) {
			rc = tree_sriov(t, &p, pci, w->e);
			tree_function(t, &p, pci);
		}
	}
	if (rc)
		return rc;
	struct topo_pci *f = &t->m->pci[pci];
	if (!w->placed && f->parent == TOPO_NONE && !f->has_ids)
		(void)tree_number(t->fd, tree_at(&p, "numa_node"), &f->numa);
	w->placed |= f->numa >= 0;
	w->level[w->depth++] = (struct level){ .len = p.len, .pci = pci };
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
		rc = part.len ? push_function(w, path, part) : 0;
	if (rc <= 0)
		return rc;
	return topo_add_note(w->t->m, w->e, "%s is left out: it is not there, or a link on the way",
			     path);
}

int tree_functions(struct tree *t, struct fs_names *paths, struct err *e)
{
	struct walk w = { .t = t, .e = e };

	if (paths->n)
		qsort(paths->name, paths->n, sizeof(*paths->name), walk_by_path);
	for (size_t i = 0; i < paths->n; i++) {
		if (walk_to(&w, paths->name[i]))
			return -1;
	}
	return 0;
}
