/* SPDX-License-Identifier: Apache-2.0 */
/* words.c: settings of a profile as words of options and tables. Pure. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/device/ethtool.h"
#include "rdma/qos/profile.h"

static const struct {
	const char *name, *form;
} settings[QOS_N] = {
	[QOS_TRUST] = { "trust", "dscp or pcp" },
	[QOS_DSCP] = { "dscp", "DSCP values and their priority, like 26=3,48-55=6" },
	[QOS_PRIORITY_QUEUES] = { "priorityQueues",
				  "eight queues from 0 to 7, like 0,1,2,3,4,5,6,7" },
	[QOS_QUEUE_BANDWIDTH] = { "queueBandwidth", "eight of a percentage, strict, vendor, like "
						    "50,50,0,0,0,0,0,strict" },
	[QOS_PRIORITY_BUFFERS] = { "priorityBuffers",
				   "eight buffers from 0 to 7, like 0,0,0,1,0,0,0,0" },
	[QOS_BUFFER_BYTES] = { "bufferBytes", "eight numbers of bytes, at most 64 MiB each" },
	[QOS_PFC] = { "pfc", "none or priorities like 3 or 3,5" },
	[QOS_STORM] = { "pfcStormTimeout", "auto, off or milliseconds" },
	[QOS_ECN] = { "ecn", "none or priorities like 3 or 3,5" },
	[QOS_CNP] = { "cnp", "a DSCP value and a priority like 48/6" },
	[QOS_TC] = { "trafficClass", "a number from 0 to 255" },
	[QOS_CM] = { "cmTrafficClass", "a number from 0 to 255" },
};

const char *qos_name(enum qos_setting s)
{
	return settings[s].name;
}

const char *qos_form(enum qos_setting s)
{
	return settings[s].form;
}

/* ---- priorities ---- */

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

/* ---- numbers ---- */

static int words_take_number(struct slice text, uint64_t max, uint64_t *out)
{
	char digits[12];

	if (text.len >= sizeof(digits))
		return -1;
	memcpy(digits, text.p, text.len);
	digits[text.len] = '\0';
	return parse_u64(digits, 0, max, out);
}

static bool words_is_word(struct slice text, const char *word)
{
	return text.len == strlen(word) && memcmp(text.p, word, text.len) == 0;
}

static int take_entry(enum qos_setting s, struct slice text, uint32_t *out)
{
	uint64_t max = s == QOS_QUEUE_BANDWIDTH ? 100
		       : s == QOS_BUFFER_BYTES  ? QOS_BIGGEST
						: DCB_PRIORITIES - 1;
	uint64_t n;

	if (s == QOS_QUEUE_BANDWIDTH &&
	    (words_is_word(text, "strict") || words_is_word(text, "vendor"))) {
		*out = *text.p == 's' ? QOS_STRICT : QOS_VENDOR;
		return 0;
	}
	if (words_take_number(text, max, &n))
		return -1;
	*out = (uint32_t)n;
	return 0;
}

static int words_take_list(enum qos_setting s, const char *text, struct qos_profile *p)
{
	struct slice rest = { text, strlen(text) }, piece;
	uint32_t list[DCB_PRIORITIES];
	size_t n = 0;

	while (slice_next(&rest, ',', &piece)) {
		if (n == ARRAY_SIZE(list) || take_entry(s, piece, &list[n++]))
			return -1;
	}
	if (n != ARRAY_SIZE(list))
		return -1;
	memcpy(qos_list_of(p, s), list, sizeof(list));
	return 0;
}

/* Append to a text of QOS_TEXT_LEN bytes; end: where it ends. Returns where it ends then. */
printf_like(3, 4) static char *append(const char *out, char *end, const char *fmt, ...)
{
	size_t room = QOS_TEXT_LEN - (size_t)(end - out);
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(end, room, fmt, ap);
	va_end(ap);
	return n > 0 && (size_t)n < room ? end + n : end;
}

static char *format_list(enum qos_setting s, const struct qos_profile *p, char out[QOS_TEXT_LEN])
{
	const uint32_t *list = p->list[s - QOS_PRIORITY_QUEUES];
	char *end = out;

	*end = '\0';
	for (size_t i = 0; i < DCB_PRIORITIES; i++) {
		end = append(out, end, i ? "," : "");
		if (s == QOS_QUEUE_BANDWIDTH && list[i] >= QOS_VENDOR)
			end = append(out, end, list[i] == QOS_STRICT ? "strict" : "vendor");
		else
			end = append(out, end, "%u", list[i]);
	}
	return out;
}

/* ---- DSCP ---- */

/* "26=3" or "48-55=6"; no value may come twice. */
static int take_rule(struct slice text, uint8_t dscp[DCB_DSCP])
{
	struct slice values, range, first, last;
	uint64_t from, to, priority;

	if (!slice_next(&text, '=', &values) || !text.p ||
	    words_take_number(text, DCB_PRIORITIES - 1, &priority))
		return -1;
	range = values;
	if (!slice_next(&range, '-', &first) || words_take_number(first, DCB_DSCP - 1, &from))
		return -1;
	last = range.p ? range : first;
	if (words_take_number(last, DCB_DSCP - 1, &to) || to < from)
		return -1;
	for (uint64_t i = from; i <= to; i++) {
		if (dscp[i] != QOS_NO_RULE)
			return -1;
		dscp[i] = (uint8_t)priority;
	}
	return 0;
}

static int take_dscp(const char *text, struct qos_profile *p)
{
	struct slice rest = { text, strlen(text) }, piece;
	uint8_t dscp[DCB_DSCP];

	memset(dscp, QOS_NO_RULE, sizeof(dscp));
	while (slice_next(&rest, ',', &piece))
		if (take_rule(piece, dscp))
			return -1;
	memcpy(p->dscp, dscp, sizeof(dscp));
	return 0;
}

static char *format_dscp(const struct qos_profile *p, char out[QOS_TEXT_LEN])
{
	char *end = out;

	*end = '\0';
	for (unsigned i = 0, last; i < DCB_DSCP; i = last + 1) {
		for (last = i; last + 1 < DCB_DSCP && p->dscp[last + 1] == p->dscp[i];)
			last++;
		if (p->dscp[i] == QOS_NO_RULE)
			continue;
		end = append(out, end, "%s%u", end == out ? "" : ",", i);
		if (last > i)
			end = append(out, end, "-%u", last);
		end = append(out, end, "=%u", p->dscp[i]);
	}
	return end == out ? strcpy(out, "none") : out;
}

/* ---- others ---- */

static int take_trust(const char *text, struct qos_profile *p)
{
	if (strcmp(text, "dscp") != 0 && strcmp(text, "pcp") != 0)
		return -1;
	p->trust_dscp = *text == 'd';
	return 0;
}

static int words_take_storm(const char *text, struct qos_profile *p)
{
	uint64_t ms;

	if (strcmp(text, "auto") == 0)
		ms = ETHTOOL_STORM_AUTO;
	else if (strcmp(text, "off") == 0)
		ms = 0;
	else if (parse_u64(text, 1, ETHTOOL_STORM_AUTO - 1, &ms))
		return -1;
	p->storm = (uint16_t)ms;
	return 0;
}

static int words_take_cnp(const char *text, struct qos_profile *p)
{
	struct slice rest = { text, strlen(text) }, dscp;
	uint64_t d, priority;

	if (!slice_next(&rest, '/', &dscp) || !rest.p ||
	    words_take_number(dscp, DCB_DSCP - 1, &d) ||
	    words_take_number(rest, DCB_PRIORITIES - 1, &priority))
		return -1;
	p->cnp = (struct qos_cnp){ (int)d, (int)priority };
	return 0;
}

static int take_class(const char *text, struct qos_profile *p)
{
	uint64_t tc;

	if (parse_u64(text, 0, UINT8_MAX, &tc))
		return -1;
	p->tc = (uint8_t)tc;
	return 0;
}

static int words_take_text(enum qos_setting s, const char *text, struct qos_profile *p)
{
	switch (s) {
	case QOS_TRUST:
		return take_trust(text, p);
	case QOS_DSCP:
		return take_dscp(text, p);
	case QOS_PRIORITY_QUEUES:
	case QOS_QUEUE_BANDWIDTH:
	case QOS_PRIORITY_BUFFERS:
	case QOS_BUFFER_BYTES:
		return words_take_list(s, text, p);
	case QOS_PFC:
		return qos_priorities(text, &p->pfc);
	case QOS_STORM:
		return words_take_storm(text, p);
	case QOS_ECN:
		return qos_priorities(text, &p->ecn);
	case QOS_CNP:
		return words_take_cnp(text, p);
	case QOS_TC:
		return take_class(text, p);
	case QOS_CM:
	case QOS_N:
		break;
	}
	return -1;
}

int qos_parse(enum qos_setting s, const char *text, struct qos_profile *p)
{
	if (words_take_text(s, text, p))
		return -1;
	p->has |= QOS_BIT(s);
	return 0;
}

static char *format_cnp(struct qos_cnp c, char out[QOS_TEXT_LEN])
{
	if (c.priority < 0)
		(void)snprintf(out, QOS_TEXT_LEN, "DSCP %d", c.dscp);
	else if (c.dscp < 0)
		(void)snprintf(out, QOS_TEXT_LEN, "priority %d", c.priority);
	else
		(void)snprintf(out, QOS_TEXT_LEN, "DSCP %d, priority %d", c.dscp, c.priority);
	return out;
}

static char *format_storm(uint16_t ms, char out[QOS_TEXT_LEN])
{
	if (ms == 0 || ms == ETHTOOL_STORM_AUTO)
		return strcpy(out, ms ? "auto" : "off");
	(void)snprintf(out, QOS_TEXT_LEN, "%u", ms);
	return out;
}

char *qos_text(enum qos_setting s, const struct qos_profile *p, char out[QOS_TEXT_LEN])
{
	switch (s) {
	case QOS_TRUST:
		return strcpy(out, p->trust_dscp ? "dscp" : "pcp");
	case QOS_DSCP:
		return format_dscp(p, out);
	case QOS_PRIORITY_QUEUES:
	case QOS_QUEUE_BANDWIDTH:
	case QOS_PRIORITY_BUFFERS:
	case QOS_BUFFER_BYTES:
		return format_list(s, p, out);
	case QOS_PFC:
		return qos_list(p->pfc, out);
	case QOS_STORM:
		return format_storm(p->storm, out);
	case QOS_ECN:
		return qos_list(p->ecn, out);
	case QOS_CNP:
		return format_cnp(p->cnp, out);
	case QOS_TC:
	case QOS_CM:
		(void)snprintf(out, QOS_TEXT_LEN, "%u", p->tc);
		return out;
	case QOS_N:
		break;
	}
	return strcpy(out, "");
}

/* ---- a whole profile ---- */

/* Queues that share by percentage share all of the link. */
static int check_bandwidth(const struct qos_profile *p, struct err *e)
{
	const uint32_t *share = p->list[QOS_QUEUE_BANDWIDTH - QOS_PRIORITY_QUEUES];
	uint32_t sum = 0;
	bool any = false;

	for (size_t i = 0; i < DCB_PRIORITIES; i++) {
		any |= share[i] < QOS_VENDOR;
		sum += share[i] < QOS_VENDOR ? share[i] : 0;
	}
	return !any || sum == 100 ? 0
				  : err_set(e, ERR_CONFIG, 0,
					    "queueBandwidth: the percentages are %u together, and "
					    "must be 100",
					    sum);
}

int qos_check_profile(const struct qos_profile *p, struct err *e)
{
	if (p->lossy && (p->has & QOS_BIT(QOS_PFC)) && p->pfc)
		return err_set(e, ERR_CONFIG, 0,
			       "lossy: the fabric has no flow control, but pfc names priorities");
	if ((p->has & QOS_BIT(QOS_DSCP)) && (p->has & QOS_BIT(QOS_TRUST)) && !p->trust_dscp)
		return err_set(e, ERR_CONFIG, 0,
			       "trust: with pcp no DSCP value has a priority, but dscp gives some");
	return p->has & QOS_BIT(QOS_QUEUE_BANDWIDTH) ? check_bandwidth(p, e) : 0;
}

static void overlay_cnp(struct qos_cnp *c, const struct qos_cnp *over)
{
	if (over->dscp >= 0)
		c->dscp = over->dscp;
	if (over->priority >= 0)
		c->priority = over->priority;
}

void qos_overlay(struct qos_profile *p, const struct qos_profile *over)
{
	unsigned has = p->has | over->has;
	struct qos_profile was = *p;

	*p = *over;
	p->has = has;
	if (!(over->has & QOS_BIT(QOS_TRUST)))
		p->trust_dscp = was.trust_dscp || (over->has & QOS_BIT(QOS_DSCP));
	else if (!over->trust_dscp && !(over->has & QOS_BIT(QOS_DSCP)))
		p->has &= ~QOS_BIT(QOS_DSCP);
	p->lossy |= was.lossy && !over->pfc;
	if (!(over->has & QOS_BIT(QOS_DSCP)))
		memcpy(p->dscp, was.dscp, sizeof(p->dscp));
	for (size_t i = 0; i < QOS_LISTS; i++)
		if (!(over->has & QOS_BIT(QOS_PRIORITY_QUEUES + i)))
			memcpy(p->list[i], was.list[i], sizeof(p->list[i]));
	if (!(over->has & QOS_BIT(QOS_PFC)))
		p->pfc = was.pfc;
	if (!(over->has & QOS_BIT(QOS_STORM)))
		p->storm = was.storm;
	if (!(over->has & QOS_BIT(QOS_ECN)))
		p->ecn = was.ecn;
	if (was.has & QOS_BIT(QOS_CNP)) {
		p->cnp = was.cnp;
		if (over->has & QOS_BIT(QOS_CNP))
			overlay_cnp(&p->cnp, &over->cnp);
	}
	if (!(over->has & QOS_BIT(QOS_TC)))
		p->tc = was.tc;
}
