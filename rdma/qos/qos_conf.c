/* SPDX-License-Identifier: Apache-2.0 */
/* qos_conf.c: profiles as options, as files of qos.d and as JSON. Pure. */
#include <stdio.h>
#include <string.h>

#include "rdma/qos/qos.h"

const char *qos_name(enum qos_setting s)
{
	static const char *const names[QOS_N] = { "trust", "pfc", "ecn", "trafficClass",
						  "cmTrafficClass" };

	return names[s];
}

/* ---- words ---- */

int qos_priorities(const char *text, uint8_t *out)
{
	struct slice rest = { text, strlen(text) }, piece;
	uint8_t set = 0;

	if (strcmp(text, "none") == 0) {
		*out = 0;
		return 0;
	}
	while (slice_next(&rest, ',', &piece)) {
		if (piece.len != 1 || piece.p[0] < '0' || piece.p[0] > '7')
			return -1;
		set |= (uint8_t)(1u << (piece.p[0] - '0'));
	}
	if (!set)
		return -1;
	*out = set;
	return 0;
}

char *qos_list(uint8_t priorities, char out[QOS_LIST_LEN])
{
	char *end = out;

	for (unsigned i = 0; i < DCB_PRIORITIES; i++) {
		if (!(priorities >> i & 1))
			continue;
		if (end != out)
			*end++ = ',';
		*end++ = (char)('0' + i);
	}
	*end = '\0';
	return priorities ? out : strcpy(out, "none");
}

/* ---- JSON ---- */

struct file_text {
	const char *pf;
	int trust; /* -1: not given */
	const struct json *pfc, *ecn;
	int64_t tc;
};

#define FIELD(k, m) .key = k, .offset = offsetof(struct file_text, m)

static const struct json_enum trusts[] = { { "dscp", 1 }, { "pcp", 0 }, { 0 } };
static const struct json_field fields[] = {
	{ FIELD("pf", pf), .kind = J_STRING, .flags = J_REQUIRED },
	{ FIELD("trust", trust), .kind = J_ENUM, .names = trusts },
	{ FIELD("pfc", pfc), .kind = J_ARRAY },
	{ FIELD("ecn", ecn), .kind = J_ARRAY },
	{ FIELD("trafficClass", tc), .kind = J_I64, .min = 0, .max = 255 },
	{ 0 },
};

static int take_set(const struct json *n, const char *key, uint8_t *out, struct err *e)
{
	uint8_t set = 0;
	char shown[JSON_SHOW_LEN];

	json_each (it, n) {
		double v = json_num(it);
		unsigned bit = json_type(it) == JSON_NUMBER && v >= 0 && v <= 7 ? (unsigned)v : 8;

		if (bit > 7 || (double)bit != v)
			return err_set(e, ERR_CONFIG, 0, "%s: %s is no priority from 0 to 7", key,
				       json_show(it, shown));
		set |= (uint8_t)(1u << bit);
	}
	*out = set;
	return 0;
}

static int take_profile(const struct file_text *t, struct qos_profile *p, struct err *e)
{
	if (t->trust >= 0) {
		p->has |= QOS_BIT(QOS_TRUST);
		p->trust_dscp = t->trust;
	}
	if (t->pfc)
		p->has |= QOS_BIT(QOS_PFC);
	if (t->ecn)
		p->has |= QOS_BIT(QOS_ECN);
	if (t->tc >= 0) {
		p->has |= QOS_BIT(QOS_TC);
		p->tc = (uint8_t)t->tc;
	}
	if (take_set(t->pfc, "pfc", &p->pfc, e) || take_set(t->ecn, "ecn", &p->ecn, e))
		return -1;
	return p->has ? 0
		      : err_set(e, ERR_CONFIG, 0,
				"says nothing; give one of trust, pfc, ecn, trafficClass");
}

static int take_pf(const char *pf, struct qos_file *f, struct err *e)
{
	struct pci_addr a;

	if (pci_parse(pf, &a) == 0) {
		pci_format(a, f->pf);
		return 0;
	}
	if (ifname_problem(pf))
		return err_set(e, ERR_CONFIG, 0,
			       "pf: \"%.64s\" is neither an interface nor a PCI address", pf);
	(void)snprintf(f->pf, sizeof(f->pf), "%s", pf);
	return 0;
}

static int decode_file(const char *text, size_t len, struct qos_file *f, struct err *e)
{
	auto_json struct json *tree = NULL;
	struct file_text t = { .trust = -1, .tc = -1 };

	if (json_parse(text, len, "the file", &tree, e) || json_decode(tree, "", fields, &t, e))
		return -1;
	if (json_refuse_unknown(tree, "", fields, e))
		return err_hint(e, "the keys are pf, trust, pfc, ecn, trafficClass: "
				   "railhead-qos.d(5)");
	return take_pf(t.pf, f, e) || take_profile(&t, &f->want, e) ? -1 : 0;
}

int qos_file_decode(const char *text, size_t len, const char *name, struct qos_file *out,
		    struct err *e)
{
	struct qos_file f = { .pf = "" };

	if (decode_file(text, len, &f, e))
		return err_wrap(e, "%s", name);
	*out = f;
	return 0;
}

static int add_set(struct json *o, const char *key, uint8_t set)
{
	auto_json struct json *list = json_new_array();

	if (!list)
		return -1;
	for (unsigned i = 0; i < DCB_PRIORITIES; i++) {
		char digit[] = { (char)('0' + i), '\0' };
		struct json *n = NULL;
		struct err e;

		if (!(set >> i & 1))
			continue;
		if (json_parse(digit, 1, "a priority", &n, &e) || json_push(list, n))
			return -1;
	}
	return json_put(o, key, TAKE_PTR(list));
}

int qos_add_json(struct json *o, const struct qos_profile *p)
{
	if (((p->has & QOS_BIT(QOS_TRUST)) &&
	     json_add_str(o, "trust", p->trust_dscp ? "dscp" : "pcp")) ||
	    ((p->has & QOS_BIT(QOS_PFC)) && add_set(o, "pfc", p->pfc)) ||
	    ((p->has & QOS_BIT(QOS_ECN)) && add_set(o, "ecn", p->ecn)) ||
	    ((p->has & QOS_BIT(QOS_TC)) && json_add_int(o, "trafficClass", p->tc)))
		return -1;
	return 0;
}

char *qos_file_print(const struct qos_file *f)
{
	auto_json struct json *o = json_new_object();

	if (!o || json_add_str(o, "pf", f->pf) || qos_add_json(o, &f->want))
		return NULL;
	return json_print(o, true);
}
