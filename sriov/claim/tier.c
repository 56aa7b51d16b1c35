/* SPDX-License-Identifier: Apache-2.0 */
/* tier.c: reads the file of bandwidth tiers, and the tier in a record. The decoders are pure. */
#include "sriov/claim/tier.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "lib/sys/fs.h"
#include "lib/base/parse.h"

#define FILE_MAX    65536
#define FIELD(k, m) .key = k, .offset = offsetof(struct tier, m), .kind = J_I64

static const struct json_field values[] = {
	{ FIELD("min_tx_rate", min_rate), .min = 0, .max = UINT32_MAX },
	{ FIELD("max_tx_rate", max_rate), .min = 0, .max = UINT32_MAX },
	{ FIELD("vlanQoS", qos), .min = 0, .max = 7 },
	{ FIELD("trafficClass", traffic_class), .min = 0, .max = 255 },
	{ 0 },
};

struct tiers_text {
	const struct json *tiers;
};

static const struct json_field top[] = {
	{ "tiers", J_OBJECT, J_AT(struct tiers_text, tiers), .flags = J_REQUIRED },
	{ 0 },
};

static struct tier empty_tier(void)
{
	return (struct tier){ .min_rate = TIER_NOT_SET,
			      .max_rate = TIER_NOT_SET,
			      .qos = TIER_NOT_SET,
			      .traffic_class = TIER_NOT_SET };
}

static int claim_check_tier(const struct tier *t, const char *where, struct err *e)
{
	if (t->min_rate < 0 && t->max_rate < 0 && t->qos < 0 && t->traffic_class < 0)
		return err_set(e, ERR_CONFIG, 0,
			       "%s: is empty; give at least one of min_tx_rate, max_tx_rate, "
			       "vlanQoS, trafficClass",
			       where);
	if (t->max_rate > 0 && t->min_rate > t->max_rate)
		return err_set(e, ERR_CONFIG, 0,
			       "%s.min_tx_rate: %lld Mbit/s is more than the max_tx_rate of %lld",
			       where, (long long)t->min_rate, (long long)t->max_rate);
	return 0;
}

static int decode_one(const struct json *n, struct tier *out, struct err *e)
{
	const char *name = json_key(n);
	struct tier t = empty_tier();
	char where[TIER_NAME_LEN + 8];

	if (!id_valid(name) || strlen(name) >= TIER_NAME_LEN)
		return err_set(
			e, ERR_CONFIG, 0,
			"tiers: \"%.80s\" is not a valid name: use up to %d letters, digits, "
			"'_', '.', '-'; the first must be a letter or digit",
			name, TIER_NAME_LEN - 1);
	(void)snprintf(where, sizeof(where), "tiers.%s", name);
	if (json_decode_known(n, where, values, &t, e) || claim_check_tier(&t, where, e))
		return -1;
	memcpy(t.name, name, strlen(name) + 1);
	*out = t;
	return 0;
}

static int refuse_name(const struct json *tiers, struct err *e)
{
	char known[512] = "";
	size_t len = 0;

	json_each (it, tiers) {
		len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s", len ? ", " : "",
					json_key(it));
		if (len >= sizeof(known))
			break;
	}
	return err_set(e, ERR_CONFIG, 0, "there is no such tier; its tiers are %s%s", known,
		       len >= sizeof(known) ? "..." : "");
}

static int tier_decode_all(const struct json *tiers, const char *name, struct tier *out,
			   struct err *e)
{
	struct tier t, found = empty_tier();

	if (json_len(tiers) == 0 || json_len(tiers) > TIER_MAX)
		return err_set(e, ERR_CONFIG, 0, "tiers: has %zu tiers; 1 to %d are allowed",
			       json_len(tiers), TIER_MAX);
	json_each (it, tiers) {
		if (decode_one(it, &t, e))
			return -1;
		if (strcmp(t.name, name) == 0)
			found = t;
	}
	if (!*found.name)
		return refuse_name(tiers, e);
	*out = found;
	return 0;
}

int tier_decode(const char *text, size_t len, const char *name, struct tier *out, struct err *e)
{
	auto_json struct json *tree = NULL;
	struct tiers_text t = { 0 };

	return json_parse(text, len, "the file", &tree, e) ||
			       json_decode_known(tree, "", top, &t, e) ||
			       tier_decode_all(t.tiers, name, out, e)
		       ? -1
		       : 0;
}

int tier_load(const char *path, const char *name, struct tier *out, struct err *e)
{
	auto_free char *text = NULL;
	ssize_t len = fs_read_trusted_at(AT_FDCWD, path, FILE_MAX, &text, e);

	if (len >= 0)
		return tier_decode(text, (size_t)len, name, out, e) ? err_wrap(e, "%s", path) : 0;
	if (e->errnum != ENOENT)
		return -1;
	e->code = ERR_CONFIG;
	return err_hint(e, "create this file; railhead-tiers(5) describes it");
}

/* ---- in a record ---- */

struct json *tier_to_json(const struct tier *t)
{
	auto_json struct json *o = json_new_object();

	if (!o || json_add_str(o, "name", t->name) ||
	    (t->min_rate >= 0 && json_add_int(o, "min_tx_rate", t->min_rate)) ||
	    (t->max_rate >= 0 && json_add_int(o, "max_tx_rate", t->max_rate)) ||
	    (t->qos >= 0 && json_add_int(o, "vlanQoS", t->qos)) ||
	    (t->traffic_class >= 0 && json_add_int(o, "trafficClass", t->traffic_class)))
		return NULL;
	return TAKE_PTR(o);
}

int tier_from_json(const struct json *n, struct tier *out, struct err *e)
{
	const char *name = json_str(json_get(n, "name"));
	struct tier t = empty_tier();

	if (!name || !id_valid(name) || strlen(name) >= TIER_NAME_LEN)
		return err_set(e, ERR_NOTFOUND, 0, "the record has no tier");
	if (json_decode(n, "tier", values, &t, e))
		return -1;
	memcpy(t.name, name, strlen(name) + 1);
	*out = t;
	return 0;
}
