/* SPDX-License-Identifier: Apache-2.0 */
/* index.c: makes the entries that follow from leases and from other records. Pure. */
#include "ipam/lease/index.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"

#define ENTRIES_MAX (1u << 27)

static int index_add_entry(struct lease_index *f, const char *key, const char *detail,
			   uint64_t count, struct err *e)
{
	if (count == 0)
		return 0;
	if (ARRAY_GROW(f->items, f->n, ENTRIES_MAX, "entries of the index", e))
		return -1;
	struct lease_index_entry x = { strdup(key), strdup(detail), count };
	if (!x.key || !x.detail) {
		free(x.key);
		free(x.detail);
		return err_nomem(e);
	}
	f->items[f->n++] = x;
	return 0;
}

int lease_index_add_lease(struct lease_index *f, const struct key_address *a,
			  const struct lease *rec, struct err *e)
{
	struct key k, usage;

	key_of_usage(&usage, a->scope, rec->source);
	if (rec->state == LEASE_RESTING) {
		key_of_rest(&k, a->scope, rec->source, rec->since, &a->ip);
		return index_add_entry(f, k.s, "", 1, e) ||
				       index_add_entry(f, usage.s, "resting", 1, e)
			       ? -1
			       : 0;
	}
	struct key address;
	key_of_address(&address, a->scope, a->ip);
	key_of_owner(&k, rec->owner.container, rec->owner.ifname, rec->owner.network);
	if (index_add_entry(f, k.s, address.s, 1, e) || index_add_entry(f, usage.s, "used", 1, e))
		return -1;
	if (owner_has_pod(&rec->owner)) {
		const char *const pod[3] = { rec->owner.ns, rec->owner.pod, rec->owner.ifname };

		key_of_pod(&k, a->scope, pod, &a->ip);
		if (index_add_entry(f, k.s, address.s, 1, e))
			return -1;
	}
	if (!key_pool_of(a->scope))
		return 0;
	key_of_quota(&k, a->scope, rec->owner.ns);
	return index_add_entry(f, k.s, "", 1, e);
}

static int add_owner(struct lease_index *f, const char *key, const char *value, struct err *e)
{
	struct key_list list;

	if (key_list_parse(value, key, &list, e))
		return -1;
	for (size_t i = 0; i < list.n; i++) {
		if (index_add_entry(f, key, list.items[i].s, 1, e))
			return -1;
	}
	return list.n ? 0 : index_add_entry(f, key, "nothing", 1, e);
}

int lease_index_add_record(struct lease_index *f, const char *key, const char *value, struct err *e)
{
	struct source_usage t;
	uint64_t n;

	switch (*key) {
	case 'o':
		return add_owner(f, key, value, e);
	case 'i':
		return index_add_entry(f, key, value, 1, e);
	case 'u':
		if (source_usage_parse(value, key, &t, e) ||
		    index_add_entry(f, key, "used", t.used, e))
			return -1;
		return index_add_entry(f, key, "resting", t.resting, e);
	case 'q':
		if (parse_u64(value, 1, INT64_MAX, &n))
			return err_set(e, ERR_STORE, 0,
				       "the store's record %s is damaged: \"%.32s\"", key, value);
		return index_add_entry(f, key, "", n, e);
	default:
		return index_add_entry(f, key, "", 1, e);
	}
}

static int compare_entries(const void *a, const void *b)
{
	const struct lease_index_entry *x = a, *y = b;
	int c = strcmp(x->key, y->key);

	return c ? c : strcmp(x->detail, y->detail);
}

void lease_index_sort(struct lease_index *f)
{
	size_t n = 0;

	if (f->n == 0)
		return;
	qsort(f->items, f->n, sizeof(*f->items), compare_entries);
	for (size_t i = 1; i < f->n; i++) {
		if (compare_entries(&f->items[n], &f->items[i]) == 0) {
			f->items[n].count += f->items[i].count;
			free(f->items[i].key);
			free(f->items[i].detail);
		} else {
			f->items[++n] = f->items[i];
		}
	}
	f->n = n + 1;
}

int lease_index_compare(const struct lease_index *want, const struct lease_index *have,
			lease_index_fn fn, void *arg)
{
	size_t i = 0, j = 0;

	while (i < want->n || j < have->n) {
		int c = i == want->n   ? 1
			: j == have->n ? -1
				       : compare_entries(&want->items[i], &have->items[j]);
		uint64_t w = c <= 0 ? want->items[i].count : 0;
		uint64_t h = c >= 0 ? have->items[j].count : 0;
		const struct lease_index_entry *f = c <= 0 ? &want->items[i] : &have->items[j];
		int rc = w == h ? 0 : fn(f, w, h, arg);

		if (rc)
			return rc;
		i += c <= 0;
		j += c >= 0;
	}
	return 0;
}

static size_t index_first_of(const struct lease_index *f, const char *key)
{
	return ARRAY_PLACE(i, f->n, strcmp(f->items[i].key, key) < 0);
}

int lease_index_record(const struct lease_index *want, const char *key, char **out, struct err *e)
{
	struct key_list list = { .n = 0 };
	struct source_usage t = { 0 };
	const char *address = "";
	uint64_t n = 0;
	char *text = NULL;

	for (size_t i = index_first_of(want, key);
	     i < want->n && strcmp(want->items[i].key, key) == 0; i++) {
		const struct lease_index_entry *f = &want->items[i];

		if (*key == 'o' && key_list_add(&list, f->detail))
			return err_set(e, ERR_STORE, 0, "%s holds more than %d addresses", key,
				       LEASE_KEYS_MAX);
		if (strcmp(f->detail, "used") == 0)
			t.used = f->count;
		if (strcmp(f->detail, "resting") == 0)
			t.resting = f->count;
		if (*key == 'i')
			address = f->detail;
		n += f->count;
	}
	*out = NULL;
	if (n == 0)
		return 0;
	if (*key == 'o')
		text = key_list_print(&list);
	else if (*key == 'u')
		text = source_usage_print(&t);
	else if (*key == 'r' || *key == 'i')
		text = strdup(address);
	else if (asprintf(&text, "%" PRIu64, n) < 0)
		text = NULL;
	*out = text;
	return text ? 0 : err_nomem(e);
}

void lease_index_clear(struct lease_index *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->items[i].key);
		free(f->items[i].detail);
	}
	free(f->items);
	*f = (struct lease_index){ 0 };
}
