/* SPDX-License-Identifier: Apache-2.0 */
/* conf.c: profiles as files of qos.d and as JSON. Pure. */
#include <stdio.h>
#include <string.h>

#include "lib/device/ethtool.h"
#include "rdma/qos/profile.h"

/* ---- JSON ---- */

#define QOS_KEYS                                                                                   \
	"lossy, trust, dscp, priorityQueues, queueBandwidth, priorityBuffers, bufferBytes, pfc, "  \
	"pfcStormTimeout, ecn, cnp, trafficClass"

struct file_text {
	const char *pf;
	int trust; /* -1: not given */
	const struct json *pfc, *ecn, *dscp, *cnp, *storm;
	const struct json *list[QOS_LISTS];
	int64_t tc;
	bool lossy;
};

#define FIELD(k, m) .key = k, .offset = offsetof(struct file_text, m)

static const struct json_enum trusts[] = { { "dscp", 1 }, { "pcp", 0 }, { 0 } };
static const struct json_field fields[] = {
	{ FIELD("pf", pf), .kind = J_STRING, .flags = J_REQUIRED },
	{ FIELD("lossy", lossy), .kind = J_BOOL },
	{ FIELD("trust", trust), .kind = J_ENUM, .names = trusts },
	{ FIELD("dscp", dscp), .kind = J_OBJECT },
	{ FIELD("priorityQueues", list[0]), .kind = J_ARRAY },
	{ FIELD("queueBandwidth", list[1]), .kind = J_ARRAY },
	{ FIELD("priorityBuffers", list[2]), .kind = J_ARRAY },
	{ FIELD("bufferBytes", list[3]), .kind = J_ARRAY },
	{ FIELD("pfc", pfc), .kind = J_ARRAY },
	{ FIELD("pfcStormTimeout", storm), .kind = J_ANY },
	{ FIELD("ecn", ecn), .kind = J_ARRAY },
	{ FIELD("cnp", cnp), .kind = J_OBJECT },
	{ FIELD("trafficClass", tc), .kind = J_I64, .min = 0, .max = 255 },
	{ 0 },
};

/* A whole number from 0 to max; -1: n is none. */
static int take_integer(const struct json *n, uint32_t max, uint32_t *out)
{
	double v = json_num(n);

	if (json_type(n) != JSON_NUMBER || !(v >= 0 && v <= max) || (double)(uint32_t)v != v)
		return -1;
	*out = (uint32_t)v;
	return 0;
}

static int take_set(const struct json *n, const char *key, uint8_t *out, struct err *e)
{
	uint8_t set = 0;
	char shown[JSON_SHOW_LEN];
	uint32_t bit;

	json_each (it, n) {
		if (take_integer(it, DCB_PRIORITIES - 1, &bit))
			return err_set(e, ERR_CONFIG, 0, "%s: %s is not a priority (0 to 7)", key,
				       json_show(it, shown));
		set |= (uint8_t)(1u << bit);
	}
	*out = set;
	return 0;
}

/* The value as the word of an option: "strict", "50". */
static int take_word(const struct json *n, char *out, size_t size)
{
	const char *text = json_str(n);
	uint32_t number;

	if (text)
		return strpbrk(text, ",=0123456789") || snprintf(out, size, "%s", text) >= (int)size
			       ? -1
			       : 0;
	if (take_integer(n, QOS_BIGGEST, &number))
		return -1;
	(void)snprintf(out, size, "%u", number);
	return 0;
}

/* An array or an object, as the text of an option. */
static int conf_take_words(const struct json *n, enum qos_setting s, struct qos_profile *p,
			   struct err *e)
{
	char text[QOS_TEXT_LEN * 2] = "", word[16], shown[JSON_SHOW_LEN];
	size_t len = 0;

	if (!n)
		return 0;
	json_each (it, n) {
		const char *key = json_key(it) ? json_key(it) : "";

		if (take_word(it, word, sizeof(word)) || strpbrk(key, ",="))
			return err_set(e, ERR_CONFIG, 0, "%s: %.16s%s%s is wrong: it takes %s",
				       qos_name(s), key, *key ? ": " : "", json_show(it, shown),
				       qos_form(s));
		int more = snprintf(text + len, sizeof(text) - len, "%s%.16s%s%s", len ? "," : "",
				    key, *key ? "=" : "", word);
		if (more < 0 || len + (size_t)more >= sizeof(text))
			return err_set(e, ERR_CONFIG, 0, "%s is too long: it takes %s", qos_name(s),
				       qos_form(s));
		len += (size_t)more;
	}
	if (qos_parse(s, text, p) == 0)
		return 0;
	return err_set(e, ERR_CONFIG, 0, "%s: \"%.64s\" is wrong: it takes %s", qos_name(s), text,
		       qos_form(s));
}

static int take_storm(const struct json *n, struct qos_profile *p, struct err *e)
{
	char word[16], shown[JSON_SHOW_LEN];

	if (!n || (take_word(n, word, sizeof(word)) == 0 &&
		   qos_parse(QOS_STORM, strcmp(word, "0") == 0 ? "off" : word, p) == 0))
		return 0;
	return err_set(e, ERR_CONFIG, 0, "%s: %s is wrong: it takes %s", qos_name(QOS_STORM),
		       json_show(n, shown), qos_form(QOS_STORM));
}

static int take_cnp(const struct json *n, struct qos_profile *p, struct err *e)
{
	struct cnp_text {
		int64_t dscp, priority;
	} t = { QOS_UNSET, QOS_UNSET };
	static const struct json_field cnp_fields[] = {
		{ "dscp", J_I64, J_AT(struct cnp_text, dscp), .max = DCB_DSCP - 1 },
		{ "priority", J_I64, J_AT(struct cnp_text, priority), .max = DCB_PRIORITIES - 1 },
		{ 0 },
	};

	if (!n)
		return 0;
	if (json_decode_known(n, "cnp", cnp_fields, &t, e))
		return -1;
	if (t.dscp < 0 && t.priority < 0)
		return err_set(e, ERR_CONFIG, 0, "cnp: says nothing; give dscp, priority or both");
	p->cnp = (struct qos_cnp){ (int)t.dscp, (int)t.priority };
	p->has |= QOS_BIT(QOS_CNP);
	return 0;
}

static int take_simple(const struct file_text *t, struct qos_profile *p, struct err *e)
{
	p->lossy = t->lossy;
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
	return take_set(t->pfc, "pfc", &p->pfc, e) || take_set(t->ecn, "ecn", &p->ecn, e) ? -1 : 0;
}

static int take_profile(const struct file_text *t, struct qos_profile *p, struct err *e)
{
	if (take_simple(t, p, e) || conf_take_words(t->dscp, QOS_DSCP, p, e) ||
	    take_storm(t->storm, p, e) || take_cnp(t->cnp, p, e))
		return -1;
	for (size_t i = 0; i < QOS_LISTS; i++)
		if (conf_take_words(t->list[i], (enum qos_setting)(QOS_PRIORITY_QUEUES + i), p, e))
			return -1;
	if (!p->has && !p->lossy)
		return err_set(e, ERR_CONFIG, 0, "says nothing; give one of " QOS_KEYS);
	return qos_check_profile(p, e);
}

static int conf_take_pf(const char *pf, struct qos_file *f, struct err *e)
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
		return err_hint(e, "the keys are pf, " QOS_KEYS ": railhead-qos.d(5)");
	return conf_take_pf(t.pf, f, e) || take_profile(&t, &f->want, e) ? -1 : 0;
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

/* ---- printing ---- */

static int push_number(struct json *list, uint32_t n)
{
	char text[12];
	struct json *number = NULL;
	struct err e;

	(void)snprintf(text, sizeof(text), "%u", n);
	return json_parse(text, strlen(text), "a number", &number, &e) || json_push(list, number)
		       ? -1
		       : 0;
}

static int conf_add_set(struct json *o, const char *key, uint8_t set)
{
	struct json *list = json_add_array(o, key);

	for (unsigned i = 0; list && i < DCB_PRIORITIES; i++)
		if ((set >> i & 1) && push_number(list, i))
			return -1;
	return list ? 0 : -1;
}

static int conf_add_list(struct json *o, enum qos_setting s, const uint32_t *n)
{
	struct json *list = json_add_array(o, qos_name(s));

	for (size_t i = 0; list && i < DCB_PRIORITIES; i++) {
		bool word = s == QOS_QUEUE_BANDWIDTH && n[i] >= QOS_VENDOR;

		if (word ? json_push_str(list, n[i] == QOS_STRICT ? "strict" : "vendor")
			 : push_number(list, n[i]))
			return -1;
	}
	return list ? 0 : -1;
}

static int conf_add_dscp(struct json *o, const struct qos_profile *p)
{
	struct json *rules = json_add_object(o, "dscp");
	char key[8];

	for (unsigned i = 0; rules && i < DCB_DSCP; i++) {
		(void)snprintf(key, sizeof(key), "%u", i);
		if (p->dscp[i] != QOS_NO_RULE && json_add_int(rules, key, p->dscp[i]))
			return -1;
	}
	return rules ? 0 : -1;
}

static int add_cnp(struct json *o, const struct qos_cnp *c)
{
	struct json *cnp = json_add_object(o, "cnp");

	return !cnp || (c->dscp >= 0 && json_add_int(cnp, "dscp", c->dscp)) ||
			       (c->priority >= 0 && json_add_int(cnp, "priority", c->priority))
		       ? -1
		       : 0;
}

static int conf_add_one(struct json *o, enum qos_setting s, const struct qos_profile *p)
{
	switch (s) {
	case QOS_TRUST:
		return json_add_str(o, "trust", p->trust_dscp ? "dscp" : "pcp");
	case QOS_DSCP:
		return conf_add_dscp(o, p);
	case QOS_PRIORITY_QUEUES:
	case QOS_QUEUE_BANDWIDTH:
	case QOS_PRIORITY_BUFFERS:
	case QOS_BUFFER_BYTES:
		return conf_add_list(o, s, p->list[s - QOS_PRIORITY_QUEUES]);
	case QOS_PFC:
		return conf_add_set(o, "pfc", p->pfc);
	case QOS_STORM:
		return p->storm == ETHTOOL_STORM_AUTO ? json_add_str(o, qos_name(s), "auto")
						      : json_add_int(o, qos_name(s), p->storm);
	case QOS_ECN:
		return conf_add_set(o, "ecn", p->ecn);
	case QOS_CNP:
		return add_cnp(o, &p->cnp);
	case QOS_TC:
		return json_add_int(o, "trafficClass", p->tc);
	case QOS_CM:
	case QOS_N:
		break;
	}
	return 0;
}

int qos_add_json(struct json *o, const struct qos_profile *p)
{
	if (p->lossy && json_add_bool(o, "lossy", true))
		return -1;
	for (unsigned i = 0; i < QOS_CM; i++)
		if ((p->has & QOS_BIT(i)) && conf_add_one(o, (enum qos_setting)i, p))
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
