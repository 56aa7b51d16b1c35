// SPDX-License-Identifier: Apache-2.0
/* Finds functions by their addresses, with bsearch in a sorted array. */
#include <string.h>

#include "topo/read/tree.h"

static int by_addr(const void *x, const void *y)
{
	return cmp_u64(pci_order(((const struct tree_place *)x)->addr),
		       pci_order(((const struct tree_place *)y)->addr));
}

int tree_index(struct tree *t, struct err *e)
{
	struct topo_machine *m = t->m;

	t->place = calloc(m->n_pci + 1, sizeof(*t->place));
	if (!t->place)
		return err_nomem(e);
	for (uint32_t i = 0; i < m->n_pci; i++)
		t->place[i] = (struct tree_place){ m->pci[i].addr, i };
	t->n_places = m->n_pci;
	qsort(t->place, t->n_places, sizeof(*t->place), by_addr);
	for (size_t i = 0; i < t->n_physfns; i++)
		m->pci[t->physfn[i].pci].physfn = tree_find(t, t->physfn[i].addr);
	return 0;
}

uint32_t tree_find(const struct tree *t, struct pci_addr a)
{
	const struct tree_place key = { .addr = a };
	const struct tree_place *found =
		t->n_places ? bsearch(&key, t->place, t->n_places, sizeof(key), by_addr) : NULL;

	return found ? found->pci : TOPO_NONE;
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
	return any ? tree_find(t, last) : TOPO_NONE;
}

void tree_clear(struct tree *t)
{
	if (t->fd >= 0)
		(void)close(t->fd);
	free(t->place);
	free(t->ends);
	free(t->vfs);
	free(t->physfn);
	free(t->netdev);
}
