/* SPDX-License-Identifier: Apache-2.0 */
/* selector.c: decodes the lists of a selector, and compares a function with them. */
#include "railheadd/devices/selector.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/base/array.h"
#include "lib/base/pkey.h"
#include "lib/device/pci.h"

#define VFS_MAX 65535

static void list_clear(struct select_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->item[i].range);
	free(l->item);
	*l = (struct select_list){ 0 };
}

void device_selector_clear(struct device_selector *s)
{
	for (int p = 0; p < SELECT_PROPERTIES; p++)
		list_clear(&s->of[p]);
}

/* ---- forms of a text ---- */

/* One form for a text; -1: it is none. words says what it must be. */
struct form {
	int (*take)(struct slice in, char out[SELECT_TEXT_LEN]);
	const char *words;
	bool ranges; /* "#0-3,5" may follow */
};

static int take_id(struct slice in, char out[SELECT_TEXT_LEN])
{
	uint32_t id;
	char text[8];

	if (in.len == 6 && in.p[0] == '0' && (in.p[1] == 'x' || in.p[1] == 'X'))
		in = (struct slice){ in.p + 2, 4 };
	if (in.len != 4 || slice_copy(in, text, sizeof(text)) || hex_take(text, 4, &id) != 4)
		return -1;
	(void)snprintf(out, SELECT_TEXT_LEN, "%04x", (unsigned)id);
	return 0;
}

static int selector_take_address(struct slice in, char out[SELECT_TEXT_LEN])
{
	char text[SELECT_TEXT_LEN];
	struct pci_addr a;

	if (slice_copy(in, text, sizeof(text)) || pci_parse_loose(text, &a))
		return -1;
	pci_format(a, out);
	return 0;
}

static int take_interface(struct slice in, char out[SELECT_TEXT_LEN])
{
	char text[SELECT_TEXT_LEN];

	if (slice_copy(in, text, sizeof(text)) || ifname_problem(text) ||
	    strpbrk(text, "^$*+?()[]{}|\\"))
		return -1;
	memcpy(out, text, SELECT_TEXT_LEN);
	return 0;
}

static int take_pf(struct slice in, char out[SELECT_TEXT_LEN])
{
	return selector_take_address(in, out) == 0 ? 0 : take_interface(in, out);
}

static int take_name(struct slice in, char out[SELECT_TEXT_LEN])
{
	char text[SELECT_TEXT_LEN];

	if (slice_copy(in, text, sizeof(text)) || !id_valid(text))
		return -1;
	memcpy(out, text, SELECT_TEXT_LEN);
	return 0;
}

static int selector_take_number(struct slice in, char out[SELECT_TEXT_LEN])
{
	char text[SELECT_TEXT_LEN];
	uint64_t n;

	if (slice_copy(in, text, sizeof(text)) || parse_u64(text, 0, UINT32_MAX, &n))
		return -1;
	(void)snprintf(out, SELECT_TEXT_LEN, "%u", (unsigned)n);
	return 0;
}

static int selector_take_link(struct slice in, char out[SELECT_TEXT_LEN])
{
	char text[SELECT_TEXT_LEN];
	bool ib;

	if (slice_copy(in, text, sizeof(text)))
		return -1;
	ib = strcasecmp(text, "infiniband") == 0;
	if (!ib && strcasecmp(text, "ether") != 0 && strcasecmp(text, "ethernet") != 0)
		return -1;
	(void)snprintf(out, SELECT_TEXT_LEN, "%s", ib ? "infiniband" : "ether");
	return 0;
}

static int selector_take_pkey(struct slice in, char out[SELECT_TEXT_LEN])
{
	char text[SELECT_TEXT_LEN];
	uint16_t pkey;

	if (slice_copy(in, text, sizeof(text)) || pkey_parse(text, &pkey))
		return -1;
	pkey_format(pkey, out);
	return 0;
}

#define INTERFACE_WORDS                                                                            \
	"the name of an interface, such as \"ens1f0\"; patterns are not supported, so list "       \
	"the names"
#define RANGE_WORDS "; numbers of VFs may follow, such as \"#0-3,5\""

static const struct form forms[SELECT_PROPERTIES] = {
	[SELECT_VENDOR] = { take_id, "a PCI id of four hexadecimal digits, such as \"15b3\"",
			    false },
	[SELECT_DEVICE] = { take_id, "a PCI id of four hexadecimal digits, such as \"101e\"",
			    false },
	[SELECT_DRIVER] = { take_name, "the name of a driver, such as \"mlx5_core\"", false },
	[SELECT_ADDRESS] = { selector_take_address, "a PCI address, such as \"0000:3b:00.2\"",
			     false },
	[SELECT_ACPI] = { selector_take_number, "a number as in the file acpi_index of sysfs",
			  false },
	[SELECT_PF] = { take_interface, INTERFACE_WORDS RANGE_WORDS, true },
	[SELECT_PF_ADDR] = { selector_take_address,
			     "a PCI address, such as \"0000:3b:00.0\"" RANGE_WORDS, true },
	[SELECT_PF_ANY] = { take_pf,
			    "an interface or a PCI address, such as \"ens1f0\" or "
			    "\"0000:3b:00.0\"" RANGE_WORDS,
			    true },
	[SELECT_INTERFACE] = { take_interface, INTERFACE_WORDS, false },
	[SELECT_LINK] = { selector_take_link, "\"ether\" or \"infiniband\"", false },
	[SELECT_PKEY] = { selector_take_pkey, "a partition key, such as \"0x8001\"", false },
	[SELECT_RDMA_NAME] = { take_name, "the name of an RDMA device, such as \"mlx5_0\"", false },
};

/* ---- lists ---- */

static int take_range(struct slice text, struct vf_range *out)
{
	struct slice first, last;
	char number[8];
	uint64_t a, b;

	if (!slice_next(&text, '-', &first) || slice_copy(first, number, sizeof(number)) ||
	    parse_u64(number, 0, VFS_MAX, &a))
		return -1;
	b = a;
	if (slice_next(&text, '-', &last) &&
	    (slice_copy(last, number, sizeof(number)) || parse_u64(number, a, VFS_MAX, &b)))
		return -1;
	*out = (struct vf_range){ (uint32_t)a, (uint32_t)b };
	return slice_next(&text, '-', &last) ? -1 : 0;
}

/* 1: malformed */
static int take_ranges(struct slice text, struct select_item *item, struct err *e)
{
	struct slice one;
	struct vf_range r;

	while (slice_next(&text, ',', &one)) {
		if (take_range(one, &r))
			return 1;
		if (ARRAY_GROW(item->range, item->n_ranges, SELECT_ITEMS_MAX, "ranges of VFs", e))
			return -1;
		item->range[item->n_ranges++] = r;
	}
	return 0;
}

static int selector_add_text(struct select_list *l, const struct form *form, const char *text,
			     struct err *e)
{
	struct slice rest = { text, strlen(text) }, head = rest;
	struct select_item item = { .text = "" };
	int rc;

	if (form->ranges && strchr(text, '#'))
		(void)slice_next(&rest, '#', &head);
	else
		rest.p = NULL;
	if (form->take(head, item.text))
		return 1;
	rc = rest.p ? take_ranges(rest, &item, e) : 0;
	if (rc == 0 && ARRAY_GROW(l->item, l->n, SELECT_ITEMS_MAX, "values of one key", e) == 0) {
		l->item[l->n++] = item;
		return 0;
	}
	free(item.range);
	return rc ? rc : -1;
}

static int selector_add_value(struct select_list *l, const struct form *form,
			      const struct json *value, const char *where, struct err *e)
{
	const char *text = json_str(value);
	char shown[JSON_SHOW_LEN];
	int rc;

	if (!text)
		return err_set(e, ERR_DECODE, 0, "%s: must be a string, got %s", where,
			       json_show(value, shown));
	rc = selector_add_text(l, form, text, e);
	if (rc == 0)
		return 0;
	if (rc < 0)
		return err_wrap(e, "%s", where);
	return err_set(e, ERR_CONFIG, 0, "%s: %s is not %s", where, json_show(value, shown),
		       form->words);
}

int device_selector_add(struct device_selector *s, enum select_property p,
			const struct json *values, const char *where, struct err *e)
{
	char shown[JSON_SHOW_LEN], place[160];
	size_t i = 0;

	if (!values)
		return 0;
	if (json_str(values))
		return selector_add_value(&s->of[p], &forms[p], values, where, e);
	if (json_type(values) != JSON_ARRAY)
		return err_set(e, ERR_DECODE, 0, "%s: must be a list of strings, got %s", where,
			       json_show(values, shown));
	json_each (value, values) {
		(void)snprintf(place, sizeof(place), "%.120s[%zu]", where, i++);
		if (selector_add_value(&s->of[p], &forms[p], value, place, e))
			return -1;
	}
	return 0;
}

/* ---- comparison ---- */

static bool range_has(const struct select_item *item, const struct select_subject *f)
{
	if (!item->range)
		return true;
	for (size_t i = 0; f->is_vf && i < item->n_ranges; i++) {
		if (f->vf >= item->range[i].first && f->vf <= item->range[i].last)
			return true;
	}
	return false;
}

static bool item_names(const struct select_item *item, enum select_property p,
		       const struct select_subject *f)
{
	const char *text = f->text[p];

	if (p == SELECT_PF_ANY && f->pf_addr && strcmp(item->text, f->pf_addr) == 0)
		return true;
	/* Only upstream's files have this property; it compares names in any case. */
	if (p == SELECT_PF)
		return text && strcasecmp(item->text, text) == 0;
	return text && strcmp(item->text, text) == 0;
}

static enum select_answer list_accepts(const struct select_list *l, enum select_property p,
				       const struct select_subject *f)
{
	bool seen = f->text[p] && *f->text[p];
	/* Upstream (getItem() of pkg/resources/deviceSelectors.go) takes one entry of a PF. */
	bool first_counts = p == SELECT_PF || p == SELECT_PF_ADDR;

	for (size_t i = 0; i < l->n; i++) {
		if (!item_names(&l->item[i], p, f))
			continue;
		if (range_has(&l->item[i], f))
			return SELECT_YES;
		if (first_counts)
			return SELECT_NO;
	}
	if (!l->n)
		return SELECT_YES;
	/* The pod that has the device also has that from which these are read. */
	return f->away && !seen &&
			       (p == SELECT_PKEY || p == SELECT_RDMA_NAME ||
				p == SELECT_INTERFACE || p == SELECT_PF || p == SELECT_PF_ANY)
		       ? SELECT_MAYBE
		       : SELECT_NO;
}

enum select_answer device_selector_matches(const struct device_selector *s,
					   const struct select_subject *f)
{
	enum select_answer answer = SELECT_YES;

	for (int p = 0; p < SELECT_PROPERTIES && answer != SELECT_NO; p++) {
		enum select_answer one = list_accepts(&s->of[p], (enum select_property)p, f);

		if (one < answer)
			answer = one;
	}
	if (answer == SELECT_YES && s->rdma && !f->has_rdma)
		return f->away ? SELECT_MAYBE : SELECT_NO;
	return answer;
}

bool device_selector_names(const struct device_selector *s)
{
	return s->of[SELECT_INTERFACE].n || s->of[SELECT_RDMA_NAME].n;
}
