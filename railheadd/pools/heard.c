/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heard.c: whether the cluster store answers, and what it refuses. A store that refuses one kind of
 * write may answer all others, so a refusal is kept beside the contact. A store that does not know
 * the agent refuses everything: that is no contact.
 */
#include "railheadd/pools/driver_parts.h"
#include "railheadd/pools/driver_priv.h"
#include "railheadd/pools/events.h"

#define SECOND INT64_C(1000000000)
/* One refusal is logged in this time: requests are repeated until an operator helps. */
#define SAY_AGAIN (10 * SECOND)

/* An API server that is away takes no event, so people read of it when it is back. */
static void tell_cut_off(struct driver *d)
{
	int64_t away = ctx_since_boot(d->conf.ctx) - d->heard.since;
	const struct event_about about = { EVENT_NODE_CUT_OFF, "", "", "", "", false };

	if (d->heard.why.code && away >= 2 * d->conf.renew)
		(void)events_tell(d->events, &about,
				  "The %s for %lld s: %s. Meanwhile the node got no new blocks of "
				  "addresses.",
				  d->heard.why.code == ERR_LOGIN
					  ? "cluster store did not know the agent"
					  : "agent had no answer of the cluster store",
				  (long long)(away / SECOND), d->heard.why.msg);
}

/*
 * An API server closes the connection when it refuses a token, so that requests beside that one
 * get no answer. The refusal says more.
 */
static bool is_beside_refusal(const struct driver *d, const struct err *why)
{
	return d->heard.why.code == ERR_LOGIN && why->code != ERR_LOGIN && d->heard.refusing &&
	       ctx_since_boot(d->conf.ctx) - d->heard.refused_at < SAY_AGAIN;
}

/* why NULL: the store is there. */
static void note_contact(struct driver *d, const struct err *why)
{
	const bool first = !d->heard.contact && !d->heard.why.code;

	if (d->heard.contact != !why || first)
		d->heard.since = ctx_since_boot(d->conf.ctx);
	d->heard.contact = !why;
	if (!why || is_beside_refusal(d, why))
		return;
	d->heard.why = *why;
	d->heard.why_at = ctx_since_boot(d->conf.ctx);
}

void driver_heard(struct driver *d, const struct err *why)
{
	bool first = !d->heard.contact && !d->heard.why.code;

	if (!why && !d->heard.contact)
		tell_cut_off(d);
	*(why ? &d->heard.unanswered : &d->heard.answered) += 1;
	if (!why && !d->heard.contact)
		log_info(&d->conf.ctx->log, "the cluster store answers");
	if (why && (d->heard.contact || first))
		log_warn(&d->conf.ctx->log, "no answer of the cluster store: %s%s%s%s", why->msg,
			 *why->detail ? " (" : "", why->detail, *why->detail ? ")" : "");
	note_contact(d, why);
	d->heard.refusing &= why != NULL;
	if (!why)
		agent_heard(d->agent);
}

void driver_refused(struct driver *d, const struct err *why)
{
	int64_t now = ctx_since_boot(d->conf.ctx);

	/* One kind of request may lack a right. Without a login none is executed. */
	if (why->code == ERR_LOGIN) {
		note_contact(d, why);
	} else {
		driver_heard(d, NULL);
		d->heard.answered--;
	}
	d->heard.refusals++;
	if (!d->heard.refused.code || now - d->heard.refused_said >= SAY_AGAIN) {
		log_error(&d->conf.ctx->log, "the cluster store refuses: %s (%s)", why->msg,
			  why->detail);
		d->heard.refused_said = now;
	}
	d->heard.refused = *why;
	d->heard.refused_at = now;
	d->heard.refusing = true;
}

static int add_heard(const struct driver *d, struct json *obj)
{
	struct json *o = json_add_object(obj, "heard");

	return !o || json_add_int(o, "answered", (int64_t)d->heard.answered) ||
			       json_add_int(o, "refused", (int64_t)d->heard.refusals) ||
			       json_add_int(o, "unanswered", (int64_t)d->heard.unanswered)
		       ? -1
		       : 0;
}

int driver_add_contact(struct driver *d, struct json *obj)
{
	const struct cluster_store *s = d->conf.store;
	int64_t now = ctx_since_boot(d->conf.ctx);
	const char *why = d->heard.why.code ? d->heard.why.msg : "it was not reached yet";

	if (json_add_str(obj, "store", s ? s->ops->name : "none") ||
	    json_add_bool(obj, "contact", d->heard.contact) ||
	    json_add_int(obj, "contactSeconds", s ? (now - d->heard.since) / SECOND : 0) ||
	    json_add_str(obj, "why", d->heard.contact || !s ? NULL : why) ||
	    json_add_known(obj, "whyDetail", d->heard.contact ? NULL : d->heard.why.detail) ||
	    (s && add_heard(d, obj)))
		return -1;
	if (!d->heard.refused.code)
		return 0;
	if (json_add_str(obj, "refused", d->heard.refused.msg) ||
	    json_add_known(obj, "refusedDetail", d->heard.refused.detail))
		return -1;
	return json_add_int(obj, "refusedSeconds", (now - d->heard.refused_at) / SECOND);
}

void driver_follow_contact(void *arg, const struct err *why)
{
	driver_heard(arg, why);
}

void driver_follow_refusal(void *arg, const struct err *why)
{
	driver_refused(arg, why);
}
