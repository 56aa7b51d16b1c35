/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manager_pf_state.c: the file that keeps the MACs of a PF's VFs, and whether a call that creates
 * VFs has begun and not ended.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "lib/sys/fs.h"
#include "lib/json/json.h"
#include "sriov/admin/manager_priv.h"

#define FOLDER   "vf"
#define FILE_MAX (1024 * 1024)
#define VFS_MAX  65535

/*
 * Cards of one vendor differ in the last three bytes, so their VFs differ there, too. Cards of two
 * vendors can have the same last bytes: six bits of the first byte then differ in most cases.
 */
/* The first three bytes of a MAC and of a GUID are the vendor's. */
static void manager_pf_state_make_local(const uint8_t *pf, uint32_t index, uint8_t *out, size_t len)
{
	uint32_t maker = (uint32_t)pf[0] << 16 | (uint32_t)pf[1] << 8 | pf[2];

	maker = maker * 0x9e3779b1u >> 26;
	out[0] = (uint8_t)(maker << 2 | 2); /* locally administered, for one station */
	out[1] = (uint8_t)(index >> 8);
	out[2] = (uint8_t)index;
	memcpy(out + 3, pf + 3, len - 3);
}

void manager_mac(const uint8_t pf[MAC_LEN], uint32_t index, uint8_t out[MAC_LEN])
{
	manager_pf_state_make_local(pf, index, out, MAC_LEN);
}

struct guid manager_guid(struct guid pf, uint32_t index)
{
	struct guid out = GUID_ZERO;

	manager_pf_state_make_local(pf.byte, index, out.byte, GUID_LEN);
	return out;
}

void pf_state_clear(struct pf_state *b)
{
	free(b->mac);
	*b = (struct pf_state){ 0 };
}

int pf_state_extend(struct pf_state *b, const uint8_t pf_mac[MAC_LEN], uint32_t n, struct err *e)
{
	if (memcmp(b->pf_mac, pf_mac, MAC_LEN) != 0)
		b->n = 0;
	memcpy(b->pf_mac, pf_mac, MAC_LEN);
	if (n <= b->n)
		return 0;
	if (ARRAY_GROW_BY(b->mac, b->n, n - b->n, UINT32_MAX, "MAC addresses", e))
		return -1;
	for (; b->n < n; b->n++)
		manager_mac(pf_mac, b->n, b->mac[b->n]);
	return 0;
}

/* ---- text ---- */

static const struct json_field making_fields[] = {
	{ "boot", J_CHARS, J_AT(struct pf_state, boot), .flags = J_REQUIRED,
	  .min = CTX_BOOT_ID_LEN },
	{ "autoprobe", J_BOOL, J_AT(struct pf_state, autoprobe) },
	{ 0 },
};

static const struct json_field head_fields[] = {
	{ "version", J_CONST, .flags = J_REQUIRED, .min = 1, .max = 1 },
	{ "pf", J_CHARS, J_AT(struct pf_state, pf), .flags = J_REQUIRED },
	{ "pfMac", J_MAC, J_AT(struct pf_state, pf_mac) },
	{ 0 },
};

/* "macs" stands between the two. */
static const struct json_field tail_fields[] = {
	{ "making", J_NESTED, .flags = J_IF, .has = offsetof(struct pf_state, making),
	  .of = making_fields },
	{ 0 },
};

static int decode_macs(const struct json *macs, struct pf_state *b, struct err *e)
{
	size_t n = json_len(macs);

	if (json_type(macs) != JSON_ARRAY)
		return err_set(e, ERR_DECODE, 0, "macs: must be an array");
	if (n > VFS_MAX)
		return err_set(e, ERR_DECODE, 0, "macs: %zu are too many", n);
	if (ARRAY_GROW_BY(b->mac, b->n, n, VFS_MAX, "MAC addresses", e))
		return -1;
	json_each (it, macs) {
		const char *text = json_str(it);

		if (!text || parse_mac(text, b->mac[b->n]))
			return err_set(e, ERR_DECODE, 0, "macs[%u]: not a MAC address", b->n);
		b->n++;
	}
	return 0;
}

int pf_state_decode(const char *text, size_t len, const char *pf, struct pf_state *out,
		    struct err *e)
{
	auto_json struct json *tree = NULL;
	auto_pf_state struct pf_state b = { 0 };

	if (json_parse(text, len, "the state of a PF", &tree, e) ||
	    json_decode(tree, "", head_fields, &b, e) ||
	    decode_macs(json_get(tree, "macs"), &b, e) || json_decode(tree, "", tail_fields, &b, e))
		return -1;
	if (strcmp(b.pf, pf) != 0)
		return err_set(e, ERR_DECODE, 0, "the file is about the PF %.64s", b.pf);
	*out = b;
	b = (struct pf_state){ 0 };
	return 0;
}

static int add_macs(struct json *o, const struct pf_state *b)
{
	struct json *macs = json_add_array(o, "macs");
	char mac[MAC_STR_LEN];

	for (uint32_t i = 0; macs && i < b->n; i++) {
		if (json_push_str(macs, mac_format(b->mac[i], mac)))
			return -1;
	}
	return macs ? 0 : -1;
}

char *pf_state_print(const struct pf_state *b)
{
	auto_json struct json *o = json_encoded(head_fields, b);

	return !o || add_macs(o, b) || json_encode(o, tail_fields, b) ? NULL : json_print(o, true);
}

/* ---- files ---- */

static int manager_pf_state_open_folder(const struct ctx *ctx, bool create, struct err *e)
{
	auto_fd int state = fs_open_dir(ctx->state_dir, create, e);

	return state < 0 ? -1 : fs_open_dir_at(state, FOLDER, create, e);
}

int pf_state_read(const struct ctx *ctx, const char *pf, struct pf_state *out, struct err *e)
{
	struct pf_state b = { 0 };
	auto_free char *text = NULL;
	struct err why;
	ssize_t len = -1;

	(void)snprintf(b.pf, sizeof(b.pf), "%s", pf);
	auto_fd int dir = manager_pf_state_open_folder(ctx, false, &why);
	if (dir >= 0)
		len = fs_read_at(dir, pf, FILE_MAX, &text, &why);
	if (len < 0 && why.errnum != ENOENT) {
		*e = why;
		return err_wrap(e, "read %s/" FOLDER "/%s", ctx->state_dir, pf);
	}
	if (len >= 0 && pf_state_decode(text, (size_t)len, pf, &b, &why)) {
		if (why.code == ERR_NOMEM)
			return err_pass(e, &why);
		log_warn(&ctx->log, "%s/" FOLDER "/%s: %s; starting a new one", ctx->state_dir, pf,
			 why.msg);
	}
	*out = b;
	return 0;
}

int pf_state_write(const struct ctx *ctx, const struct pf_state *b, struct err *e)
{
	auto_free char *text = pf_state_print(b);

	if (!text)
		return err_nomem(e);
	auto_fd int dir = manager_pf_state_open_folder(ctx, true, e);
	if (dir < 0 || fs_replace_at(dir, b->pf, text, true, e))
		return err_wrap(e, "write %s/" FOLDER "/%s", ctx->state_dir, b->pf);
	return 0;
}
