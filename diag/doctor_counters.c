/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_counters.c: the checks of counters. They judge the growth between two readings. */
#include <stdio.h>

#include "diag/doctor_priv.h"

struct reading {
	struct doctor *doc;
	const struct rdma_rail *rail;
	const char *name;
	const struct port_data *port;
};

static uint64_t counter_moved(const struct reading *r, enum port_counter c)
{
	return counters_moved(&r->port->first, &r->port->last, c);
}

static uint64_t counter_total(const struct reading *r, enum port_counter c)
{
	return r->port->last.value[c];
}

static bool has_counter(const struct reading *r, enum port_counter c)
{
	return counters_have(&r->port->last, c);
}

/* "3 in 1 s, 17 in all". */
#define AMOUNT_LEN 96
static const char *amount_text(const struct reading *r, enum port_counter c, char out[AMOUNT_LEN])
{
	long long ms = (long long)r->doc->data->watched_ms;

	if (ms)
		(void)snprintf(out, AMOUNT_LEN, "%llu in %lld s, %llu in all",
			       (unsigned long long)counter_moved(r, c), ms / 1000,
			       (unsigned long long)counter_total(r, c));
	else
		(void)snprintf(out, AMOUNT_LEN, "%llu in all",
			       (unsigned long long)counter_total(r, c));
	return out;
}

/* With only one reading, an event may be old or new: the state is unknown. */
static enum finding_state doctor_counters_state_of(const struct reading *r, enum port_counter c,
						   enum finding_state bad)
{
	if (r->doc->data->watched_ms)
		return counter_moved(r, c) ? bad : FINDING_OK;
	return counter_total(r, c) ? FINDING_UNKNOWN : FINDING_OK;
}

struct verdict {
	const char *check, *what; /* "retries", "packets sent again" */
	enum port_counter counter;
	enum finding_state bad;
	const char *so, *remedy;
	const char *remedy_ib; /* on InfiniBand; NULL: there is no such check */
};

static bool is_ib(const struct reading *r)
{
	return r->rail->port->layer == IB_LAYER_INFINIBAND;
}

static void add_verdict(const struct reading *r, const struct verdict *v)
{
	char text[AMOUNT_LEN];

	if (!has_counter(r, v->counter) || (is_ib(r) && !v->remedy_ib))
		return;

	enum finding_state state = doctor_counters_state_of(r, v->counter, v->bad);
	struct finding *f = doctor_add(r->doc, v->check, r->name, state);

	finding_set_value(f, "%s: %s%s", v->what, amount_text(r, v->counter, text),
			  state == FINDING_UNKNOWN ? "; one reading does not show whether they grow"
						   : "");
	if (state == FINDING_UNKNOWN)
		finding_set_remedy(f, "run it with --interval while there is traffic");
	if (state != v->bad)
		return;
	finding_set_reason(f, "%s", v->so);
	finding_set_remedy(f, "%s", is_ib(r) ? v->remedy_ib : v->remedy);
}

/* ---- congestion ---- */

static bool any_moved(const struct reading *r, enum port_counter a, enum port_counter b)
{
	return (has_counter(r, a) && counter_moved(r, a)) ||
	       (has_counter(r, b) && counter_moved(r, b));
}

static void say_congestion(const struct reading *r, struct finding *f)
{
	static const struct {
		enum port_counter counter;
		const char *what;
	} all[] = {
		{ COUNT_CNP_SENT, "CNPs sent" },
		{ COUNT_CNP_HEARD, "CNPs received" },
		{ COUNT_PAUSE_SENT, "pauses sent" },
		{ COUNT_PAUSE_HEARD, "pauses received" },
	};
	char text[ARRAY_SIZE(all) * (AMOUNT_LEN + 20)], amount[AMOUNT_LEN];
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (has_counter(r, all[i].counter))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s: %s",
						len ? "; " : "", all[i].what,
						amount_text(r, all[i].counter, amount));
	}
	finding_set_value(f, "%s", text);
}

/* CNPs slow senders down, which is right. Pauses without CNPs are a problem. */
static void check_congestion(const struct reading *r)
{
	bool cnps = has_counter(r, COUNT_CNP_SENT) || has_counter(r, COUNT_CNP_HEARD);
	bool pauses = has_counter(r, COUNT_PAUSE_SENT) || has_counter(r, COUNT_PAUSE_HEARD);
	bool stopped = r->doc->data->watched_ms && cnps &&
		       any_moved(r, COUNT_PAUSE_SENT, COUNT_PAUSE_HEARD) &&
		       !any_moved(r, COUNT_CNP_SENT, COUNT_CNP_HEARD);
	struct finding *f;

	/* The links of InfiniBand have credits, and no pauses. */
	if ((!cnps && !pauses) || is_ib(r))
		return;
	f = doctor_add(r->doc, "congestion", r->name, stopped ? FINDING_WARN : FINDING_OK);
	say_congestion(r, f);
	if (!stopped)
		return;
	finding_set_reason(f, "pauses stop traffic, and no CNP slows its senders down: the pauses "
			      "spread to flows that did not cause them");
	finding_set_remedy(
		f,
		"switch ECN on for the lossless priority, on NIC and switch alike, with a "
		"threshold below that of pauses: railctl rdma qos set --pf %s --ecn 3 --save",
		*r->rail->port->netdev ? r->rail->port->netdev : "PF");
}

/* ---- all of them ---- */

static void add_unseen(const struct reading *r)
{
	struct finding *f = doctor_add(r->doc, "counters", r->name, FINDING_UNKNOWN);

	finding_set_value(f, "sysfs does not show the port's counters in this network namespace");
	finding_set_remedy(
		f,
		r->doc->data->inventory->mode == RDMA_SHARED
			? "in mode shared only the host sees them: run it on the host, with --netns"
			: "in mode exclusive only the pod sees them: run it in the pod");
}

void doctor_check_counters(struct doctor *doc, const struct rdma_rail *rail, const char *name)
{
	/* On InfiniBand, adaptive routing delivers packets out of order: that is normal. */
	static const struct verdict verdicts[] = {
		{ "retries", "packets sent again", COUNT_RETRY, FINDING_WARN,
		  "packets are lost, or a peer does not answer: bandwidth falls, and connections "
		  "break if this continues",
		  "check pfc, trust and mtu at both ends and on the switches, and what the "
		  "switches drop; \"kubectl rail verify\" finds the node",
		  "check cables and switches with ibdiagnet or ibqueryerrors; \"kubectl rail "
		  "verify\" finds the node" },
		{ "sequence", "packets out of order", COUNT_SEQUENCE, FINDING_WARN,
		  "earlier packets were lost or overtaken, and are sent again",
		  "check what the switches drop, the links towards this port, and that no switch "
		  "spreads one flow over several paths",
		  NULL },
		{ "link-errors", "broken bits and packets", COUNT_LINK_ERROR, FINDING_WARN,
		  "the card or its peer sends packets again",
		  "check cable and transceiver at both ends",
		  "check cables and ports with ibdiagnet or ibqueryerrors" },
		{ "link-down", "times that the link went down", COUNT_LINK_DOWN, FINDING_FAIL,
		  "transfers stall or fail",
		  "check cable and transceiver at both ends, and the log of the switch",
		  "check cable and transceiver at both ends, and the log of the subnet manager" },
	};
	const struct reading r = { doc, rail, name, doctor_port(doc, rail) };

	if (!r.port->last.known) {
		add_unseen(&r);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(verdicts); i++)
		add_verdict(&r, &verdicts[i]);
	check_congestion(&r);
}
