/* SPDX-License-Identifier: Apache-2.0 */
/* ib_links.c: reads the links between switches and adapters from a file of ibnetdiscover. */
#include "fabric/ib_links.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/array.h"

#define LINE_MAX_LEN 1024 /* with NUL */

void ib_links_clear(struct ib_links *l)
{
	free(l->link);
	intent_clear(&l->trunks);
	*l = (struct ib_links){ .n = 0 };
}

static int compare_adapters(const void *a, const void *b)
{
	const struct ib_link *x = a, *y = b;

	return memcmp(&x->adapter, &y->adapter, sizeof(x->adapter));
}

struct ib_reader {
	struct ib_links links;
	struct ib_link leaf; /* the switch whose lines these are, if has_leaf */
	bool has_leaf;
	char line[LINE_MAX_LEN]; /* one line at a time */
	size_t number;
};

static void ib_reader_clear(struct ib_reader *r)
{
	ib_links_clear(&r->links);
}

static int refuse_line(const struct ib_reader *r, const char *why, struct err *e)
{
	return err_set(e, ERR_DECODE, 0, "line %zu: %s: \"%.64s\"", r->number, why, r->line);
}

/* Of 1 to 16 hexadecimal digits: it prints those of a port without leading zeros. */
static bool guid_from(const char *text, size_t len, struct guid *out)
{
	uint64_t number = 0;

	if (!len || len > 16 || strspn(text, "0123456789abcdefABCDEF") < len)
		return false;
	for (size_t i = 0; i < len; i++)
		number = number << 4 |
			 (uint64_t)(text[i] <= '9' ? text[i] - '0' : (text[i] & 0xf) + 9);
	*out = guid_of_number(number);
	return guid_is_usable(*out);
}

/*
 * Managed switches of NVIDIA call themselves "MF0;NAME:MODEL/U1"; of others the whole description
 * is the name.
 */
static void take_leaf_name(const char *line, char out[IB_NAME_MAX])
{
	const char *from = strstr(line, "# \""), *to;
	size_t len;

	if (!from)
		return;
	from += 3;
	to = from + strcspn(from, "\"");
	if (strncmp(from, "MF0;", 4) == 0) {
		from += 4;
		to = from + strcspn(from, ":\"");
	}
	/* Without a name it is known by its GUID. */
	if (to == from)
		return;
	len = (size_t)(to - from) < IB_NAME_MAX ? (size_t)(to - from) : IB_NAME_MAX - 1;
	memcpy(out, from, len);
	for (size_t i = 0; i < len; i++)
		if (out[i] < 0x20 || out[i] > 0x7e)
			out[i] = '?';
	out[len] = '\0';
}

/* Switch 41 "S-GUID" # "DESCRIPTION"... */
static int read_switch(struct ib_reader *r, struct err *e)
{
	const char *id = strstr(r->line, "\"S-");
	struct guid guid;

	if (!id || !guid_from(id + 3, strcspn(id + 3, "\""), &guid))
		return refuse_line(r, "the GUID of a switch is missing", e);
	r->has_leaf = true;
	r->leaf = (struct ib_link){ .port = "" };
	guid_format(guid, r->leaf.leaf);
	guid_format(guid, r->leaf.leaf_name);
	take_leaf_name(r->line, r->leaf.leaf_name);
	return 0;
}

/* [PORT] "S-GUID"[PORT] # ... */
static int read_trunk(struct ib_reader *r, const char *peer, struct err *e)
{
	struct intent *t = &r->links.trunks;
	struct guid guid;

	if (!peer || !guid_from(peer + 3, strcspn(peer + 3, "\""), &guid))
		return 0;
	if (ARRAY_GROW(t->cable, t->n, INTENT_CABLES_MAX, "links of switches", e))
		return -1;
	t->cable[t->n] = (struct intent_cable){ .node = "" };
	memcpy(t->cable[t->n].node, r->leaf.leaf, sizeof(r->leaf.leaf));
	guid_format(guid, t->cable[t->n++].leaf);
	return 0;
}

/* [PORT] "H-GUID"[PORT](GUID of the port) # ...; behind [PORT] may be [ext PORT]. */
static int read_link(struct ib_reader *r, struct err *e)
{
	struct ib_link link = r->leaf;
	const char *peer = strstr(r->line, "\"H-"), *guid, *comment = strchr(r->line, '#');
	char *end;
	unsigned long port = strtoul(r->line + 1, &end, 10);

	if (!peer || (comment && comment < peer))
		return read_trunk(r, strstr(r->line, "\"S-"), e);
	if (*end != ']' || !port || port > 255)
		return refuse_line(r, "the port of the switch is not a number from 1 to 255", e);
	guid = strchr(peer, '(');
	if (!guid || !guid_from(guid + 1, strcspn(guid + 1, ")"), &link.adapter))
		return refuse_line(r, "the GUID of the adapter's port is missing", e);
	(void)snprintf(link.port, sizeof(link.port), "%lu", port);
	return ARRAY_PUSH(r->links.link, r->links.n, IB_LINKS_MAX, "links", link, e);
}

static int read_line(struct ib_reader *r, struct err *e)
{
	if (strncmp(r->line, "Switch", 6) == 0)
		return read_switch(r, e);
	/* An adapter, a router, the keys before the next one. */
	if (*r->line && *r->line != '[' && *r->line != '#')
		r->has_leaf = false;
	return *r->line == '[' && r->has_leaf ? read_link(r, e) : 0;
}

static int check_links(const struct ib_links *l, struct err *e)
{
	char text[GUID_STR_LEN];

	if (!l->n)
		return err_set(
			e, ERR_CONFIG, 0,
			"no link of a switch with an adapter is in it; it is not of ibnetdiscover");
	for (size_t i = 1; i < l->n; i++)
		if (compare_adapters(&l->link[i - 1], &l->link[i]) == 0)
			return err_set(e, ERR_CONFIG, 0, "port %s has two links",
				       guid_format(l->link[i].adapter, text));
	return 0;
}

int ib_links_read(const char *text, size_t len, struct ib_links *out, struct err *e)
{
	auto_clean(ib_reader_clear) struct ib_reader r = { .number = 0 };
	const char *const end = text + len;

	for (const char *at = text, *next; at < end; at = next + 1) {
		size_t n;

		next = memchr(at, '\n', (size_t)(end - at));
		next = next ? next : end;
		n = (size_t)(next - at);
		r.number++;
		/* Only the beginning of a line counts. */
		n = n < sizeof(r.line) ? n : sizeof(r.line) - 1;
		memcpy(r.line, at, n);
		r.line[n] = '\0';
		if (read_line(&r, e))
			return -1;
	}
	if (r.links.n)
		qsort(r.links.link, r.links.n, sizeof(*r.links.link), compare_adapters);
	if (check_links(&r.links, e))
		return -1;
	*out = r.links;
	r.links = (struct ib_links){ .n = 0 };
	return 0;
}

const struct ib_link *ib_links_find(const struct ib_links *l, struct guid adapter)
{
	const struct ib_link key = { .adapter = adapter };

	return l->n ? bsearch(&key, l->link, l->n, sizeof(key), compare_adapters) : NULL;
}
