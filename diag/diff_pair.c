// SPDX-License-Identifier: Apache-2.0
/* Finds the devices of two machines that belong together: by PCI address, then by index or name. */
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "diag/diff_priv.h"

/* ---- the devices of one machine ---- */

/* Pods take VFs and give them back. In a VM or a pod, where no PF is visible, a VF is a card. */
static bool is_compared(const struct json *device, enum diff_kind kind)
{
	const char *what = json_text(device, "kind");

	if (kind == DIFF_GPU)
		return true;
	return strcmp(what, "software") != 0 &&
	       (strcmp(what, "vf") != 0 || !json_get(device, "pf"));
}

static void put_label(const struct json *device, enum diff_kind kind, char label[DIFF_LABEL_LEN])
{
	if (kind == DIFF_GPU)
		(void)snprintf(label, DIFF_LABEL_LEN, "GPU %.0f",
			       json_num(json_get(device, "index")));
	else
		(void)snprintf(label, DIFF_LABEL_LEN, "%s", json_text(device, "name"));
}

/* ---- pairs ---- */

typedef bool (*same_fn)(const struct diff_pair *expected, const struct diff_pair *found);

static bool is_same_address(const struct diff_pair *expected, const struct diff_pair *found)
{
	const char *bdf = json_text(expected->expected, "bdf");

	return *bdf && strcmp(bdf, json_text(found->found, "bdf")) == 0;
}

static bool is_same_label(const struct diff_pair *expected, const struct diff_pair *found)
{
	return strcmp(expected->label, found->label) == 0;
}

/* A file that NCCL wrote can have both ports of a card at one function: then the name decides. */
static bool is_same_device(const struct diff_pair *expected, const struct diff_pair *found)
{
	return is_same_address(expected, found) && is_same_label(expected, found);
}

/* The devices of one list, each a pair without the other machine. */
static int diff_pair_take_list(const struct json *list, enum diff_kind kind, bool found,
			       struct diff_pairs *out, struct err *e)
{
	size_t n = 0;

	json_each (it, list) {
		struct diff_pair *p;

		if (!is_compared(it, kind))
			continue;
		if (++n > TOPO_DIFF_DEVICES_MAX)
			return err_set(e, ERR_EXHAUSTED, 0, "the %s machine has more than %d %s",
				       found ? "second" : "first", TOPO_DIFF_DEVICES_MAX,
				       kind == DIFF_GPU ? "GPUs" : "HCAs");
		if (ARRAY_GROW(out->item, out->n, 2 * TOPO_DIFF_DEVICES_MAX, "devices", e))
			return -1;
		p = &out->item[out->n++];
		*p = (struct diff_pair){ .expected = found ? NULL : it,
					 .found = found ? it : NULL };
		put_label(it, kind, p->label);
	}
	return 0;
}

/* Move devices of the second machine, from `second` on, into pairs of the first one. */
static size_t join(struct diff_pairs *p, size_t second, same_fn is_same)
{
	size_t joined = 0;

	for (size_t f = second; f < p->n; f++) {
		for (size_t i = 0; i < second; i++) {
			struct diff_pair *first = &p->item[i];

			if (first->found || !p->item[f].found || !is_same(first, &p->item[f]))
				continue;
			first->found = p->item[f].found;
			p->item[f].found = NULL;
			joined++;
		}
	}
	return joined;
}

int diff_pair(const struct json *expected, const struct json *found, enum diff_kind kind,
	      struct diff_pairs *out, struct err *e)
{
	size_t second, n = 0;

	if (diff_pair_take_list(expected, kind, false, out, e))
		return -1;
	second = out->n;
	if (diff_pair_take_list(found, kind, true, out, e))
		return -1;
	out->any_address = join(out, second, is_same_device) > 0;
	out->any_address |= join(out, second, is_same_address) > 0;
	(void)join(out, second, is_same_label);
	for (size_t i = 0; i < out->n; i++)
		if (out->item[i].expected || out->item[i].found)
			out->item[n++] = out->item[i];
	out->n = n;
	return 0;
}

/* "mlx5_0+mlx5_1" has mlx5_1. */
static bool diff_pair_has_part(const char *fused, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = fused; p; p = strchr(p, '+')) {
		p += *p == '+';
		if (strncmp(p, name, len) == 0 && (p[len] == '+' || !p[len]))
			return true;
	}
	return false;
}

bool diff_is_fused(const struct diff_pairs *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->item[i].found &&
		    diff_pair_has_part(json_text(p->item[i].found, "name"), name))
			return true;
	return false;
}

const struct diff_pair *diff_find(const struct diff_pairs *p, bool found, const char *key,
				  const char *text)
{
	for (size_t i = 0; i < p->n && *text; i++) {
		const struct json *device = found ? p->item[i].found : p->item[i].expected;

		if (device && strcmp(json_text(device, key), text) == 0)
			return &p->item[i];
	}
	return NULL;
}
