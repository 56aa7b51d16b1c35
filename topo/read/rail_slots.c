/* SPDX-License-Identifier: Apache-2.0 */
/* rail_slots.c: the file of pinned numbers, and the slot of a function. */
#include "topo/read/rail_slots.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/device/sysfs.h"
#include "lib/json/json.h"
#include "lib/sys/fs.h"

#define SLOTS_MAX 65536
#define LEVELS    33

/* ---- the file ---- */

static const struct json_field slot_fields[] = {
	{ "rail", J_U32, J_AT(struct rail_slot, number), .flags = J_REQUIRED,
	  .max = RAIL_NUMBER_MAX },
	{ "slot", J_CHARS, J_AT(struct rail_slot, path), .flags = J_REQUIRED, .min = 1 },
	{ "pci", J_CHARS, J_AT(struct rail_slot, pci), .flags = J_REQUIRED, .min = 1 },
	{ 0 },
};

static const struct json_field slots_fields[] = {
	{ .key = "version", .kind = J_CONST, .flags = J_REQUIRED, .min = 1, .max = 1 },
	{ "slots", J_LIST, J_AT(struct rail_slots, slot), .flags = J_REQUIRED, .of = slot_fields,
	  .item = sizeof(struct rail_slot), .has = offsetof(struct rail_slots, n) },
	{ 0 },
};

static int slots_check(const struct rail_slots *s, struct err *e)
{
	struct pci_addr ignored;

	for (size_t i = 0; i < s->n; i++) {
		const struct rail_slot *x = &s->slot[i];

		if (pci_parse(x->pci, &ignored))
			return err_set(e, ERR_CONFIG, 0,
				       "slots[%zu].pci: \"%s\" is not a PCI address", i, x->pci);
		for (size_t k = 0; k < i; k++)
			if (s->slot[k].number == x->number || !strcmp(s->slot[k].path, x->path))
				return err_set(e, ERR_CONFIG, 0,
					       "slots[%zu]: its rail or its slot is given twice",
					       i);
	}
	return 0;
}

static int slots_parse(const char *text, size_t len, struct rail_slots *out, struct err *e)
{
	auto_json struct json *tree = NULL;
	struct rail_slots s = { .n = 0 };

	if (json_parse(text, len, "the file", &tree, e))
		return -1;
	if (json_type(tree) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "must be an object, got %s", json_type_name(tree));
	if (json_decode(tree, "", slots_fields, &s, e) || slots_check(&s, e))
		return -1;
	*out = s;
	return 0;
}

int rail_slots_read(const struct ctx *ctx, struct rail_slots *out, struct err *e)
{
	auto_free char *text = NULL;
	struct err why;

	auto_fd int dir = ctx->state_dir ? fs_open_dir(ctx->state_dir, false, &why) : -1;
	ssize_t n = dir < 0 ? -1 : fs_read_trusted_at(dir, RAIL_SLOTS_FILE, SLOTS_MAX, &text, &why);
	if (n < 0 && (!ctx->state_dir || why.errnum == ENOENT || why.errnum == EACCES ||
		      why.errnum == EPERM))
		return 1;
	if (n < 0)
		err_pass(e, &why);
	if (n >= 0 && slots_parse(text, (size_t)n, out, e) == 0)
		return 0;
	err_wrap(e, "%s/" RAIL_SLOTS_FILE, ctx->state_dir);
	return err_hint(e, "on a drained node: railctl rails slots --renumber");
}

int rail_slots_write(const struct ctx *ctx, const struct rail_slots *s, struct err *e)
{
	auto_free char *text = json_print_fields(slots_fields, s, true);
	auto_fd int dir = fs_open_dir(ctx->state_dir, true, e);

	if (!text)
		return err_nomem(e);
	return dir < 0 || fs_replace_at(dir, RAIL_SLOTS_FILE, text, true, e)
		       ? err_wrap(e, "%s", ctx->state_dir)
		       : 0;
}

/* ---- slots ---- */

/* The name in ACPI, without its backslash, or that of the folder. An error is not "no ACPI": the
 * slot would have another name. */
static int name_root(const struct ctx *ctx, const struct topo_root *root, char out[RAIL_SLOT_LEN],
		     struct err *e)
{
	char path[PCI_ROOT_LEN + 64], text[RAIL_SLOT_LEN / 2];

	(void)snprintf(out, RAIL_SLOT_LEN, "%s", root->name);
	if (!*root->name)
		return 0;
	(void)snprintf(path, sizeof(path), "devices/%s/firmware_node/path", root->name);
	if (sysfs_read(ctx->sysfs, path, text, sizeof(text), e))
		return e->errnum == ENOENT ? 0 : -1;
	if (text[0] == '\\' && !strpbrk(text, "/\""))
		(void)snprintf(out, RAIL_SLOT_LEN, "%s", text + 1);
	return 0;
}

int rail_slots_path(const struct ctx *ctx, const struct topo_machine *m, uint32_t pci,
		    char out[RAIL_SLOT_LEN], struct err *e)
{
	uint32_t chain[LEVELS];
	size_t n = 0, len;

	for (uint32_t p = pci; p != TOPO_NONE && n < LEVELS; p = m->pci[p].parent)
		chain[n++] = p;
	if (name_root(ctx, &m->root[m->pci[pci].root], out, e))
		return -1;
	for (len = strlen(out); n-- > 0 && len < RAIL_SLOT_LEN; len = strlen(out)) {
		const struct pci_addr a = m->pci[chain[n]].addr;

		(void)snprintf(out + len, RAIL_SLOT_LEN - len, "/%02x.%x", a.dev, a.fn);
	}
	return 0;
}

int rail_slots_numbers(const struct ctx *ctx, const struct rail_slots *s,
		       const struct topo_machine *m, uint32_t *number, struct err *e)
{
	char path[RAIL_SLOT_LEN];

	for (size_t i = 0; i < m->n_hcas; i++)
		number[i] = TOPO_NONE;
	for (size_t i = 0; i < m->n_hcas; i++) {
		const struct topo_hca *h = &m->hca[i];

		if (h->pci == TOPO_NONE || (h->kind != TOPO_HCA_PF && h->kind != TOPO_HCA_BOND))
			continue;
		if (rail_slots_path(ctx, m, h->pci, path, e))
			return -1;
		for (size_t k = 0; k < s->n; k++)
			if (strcmp(s->slot[k].path, path) == 0)
				number[h->card] = s->slot[k].number;
	}
	/* The index of a card is its lowest one: it comes last. */
	for (size_t i = m->n_hcas; i-- > 0;)
		number[i] = topo_is_network(&m->hca[i]) ? number[m->hca[i].card] : TOPO_NONE;
	return 0;
}
