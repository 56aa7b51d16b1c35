/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cdi.c: makes, writes and removes CDI files of claims. The names of file and devices are made of
 * the claim's UID: the kubelet keeps them, so they are the same after an upgrade.
 */
#include "railheadd/claims/cdi.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/sys/fs.h"
#include "railheadd/devices/edits.h"
#include "railheadd/devices/files.h"
#include "railheadd/devices/rail_network.h"

#define CDI_VERSION "0.5.0"
#define CDI_MAX     65536

char *claim_cdi_id(const char *claim_uid, uint64_t rails, char out[CDI_ID_LEN])
{
	char number[16] = "";

	if (rails && rails != UINT64_MAX)
		(void)snprintf(number, sizeof(number), "-%d", __builtin_ctzll(rails));
	(void)snprintf(out, CDI_ID_LEN, CDI_CLAIM_KIND "=%.64s%s", claim_uid, number);
	return out;
}

/* The edits of the file are a container's once, however many of its devices it has. A device needs
 * some of its own. */
static int cdi_add_device(struct json *list, const char *claim_uid, uint64_t rails,
			  const char *folder)
{
	struct json *device = json_push_object(list), *edits;
	char id[CDI_ID_LEN];

	(void)claim_cdi_id(claim_uid, rails, id);
	return !device || json_add_str(device, "name", id + strlen(CDI_CLAIM_KIND "=")) ||
			       !(edits = json_add_object(device, "containerEdits"))
		       ? -1
		       : edits_add_folder(edits, folder);
}

int claim_cdi(const struct ctx *ctx, const struct prepared *p, const char *bin, char **out,
	      struct err *e)
{
	const char *const words[] = {
		EDITS_HOOK, "--pod", p->pod.uid, "--claim", p->claim.uid, NULL
	};
	auto_json struct json *o = json_new_object();
	const uint64_t rails = rails_of_networks(p->networks);
	struct json *list, *edits;
	char folder[PATH_MAX];
	const struct edits x = { ctx, bin, folder, words, p->networks, p->variables };

	prepared_public(ctx, p->pod.uid, p->claim.uid, folder);
	if (!o || json_add_str(o, "cdiVersion", CDI_VERSION) ||
	    json_add_str(o, "kind", CDI_CLAIM_KIND) || !(list = json_add_array(o, "devices")) ||
	    cdi_add_device(list, p->claim.uid, UINT64_MAX, folder))
		return err_nomem(e);
	for (uint64_t left = rails == UINT64_MAX ? 0 : rails; left; left &= left - 1) {
		if (cdi_add_device(list, p->claim.uid, left, folder))
			return err_nomem(e);
	}
	edits = json_add_object(o, "containerEdits");
	if (!edits)
		return err_nomem(e);
	if (edits_add(edits, &x, e))
		return -1;
	*out = json_print(o, false);
	return *out ? 0 : err_nomem(e);
}

static void claim_cdi_name(const char *claim_uid, char out[NAME_MAX + 1])
{
	(void)snprintf(out, NAME_MAX + 1, "railhead.io-claim_%.64s.json", claim_uid);
}

bool claim_cdi_stands(const struct ctx *ctx, const struct prepared *p, const char *text)
{
	struct err ignored;
	auto_fd int dir = files_open_beside(ctx, CDI_DIR, false, &ignored);
	auto_free char *now = NULL;
	char name[NAME_MAX + 1];

	claim_cdi_name(p->claim.uid, name);
	return dir >= 0 && fs_read_at(dir, name, CDI_MAX, &now, &ignored) >= 0 &&
	       strcmp(now, text) == 0;
}

int claim_cdi_put(const struct ctx *ctx, const struct prepared *p, const char *text, struct err *e)
{
	auto_fd int dir = files_open_beside(ctx, CDI_DIR, true, e);
	char name[NAME_MAX + 1], folder[PATH_MAX];

	prepared_public(ctx, p->pod.uid, p->claim.uid, folder);
	if (dir < 0 || edits_put_programs(folder, e))
		return err_wrap(e, "the CDI file");
	claim_cdi_name(p->claim.uid, name);
	return files_put_noticed(dir, name, text, e) ? err_wrap(e, "the CDI file") : 0;
}

int claim_cdi_remove(const struct ctx *ctx, const char *claim_uid, struct err *e)
{
	struct err why;
	auto_fd int dir = files_open_beside(ctx, CDI_DIR, false, &why);
	char name[NAME_MAX + 1];

	if (dir < 0)
		return files_beside_is_gone(ctx, CDI_DIR, &why) ? 0 : err_pass(e, &why);
	claim_cdi_name(claim_uid, name);
	return fs_unlink_at(dir, name, e) ? err_wrap(e, "the CDI file") : 0;
}
