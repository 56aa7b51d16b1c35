/* SPDX-License-Identifier: Apache-2.0 */
/* inuse.c: a change, again until the kernel has destroyed what is in its way. */
#include "cni/engine/inuse.h"

#include <errno.h>
#include <stdio.h>

#include "cni/engine/inuse_priv.h"
#include "lib/base/backoff.h"

struct change {
	struct inuse_what what;
	struct ip_prefix addr; /* family IP_NONE: set the interface up */
	bool nodad;
};

static int try_once(const struct inuse_place *at, const struct change *c, struct err *e)
{
	const int ifindex = at->link->ifindex;

	return c->addr.addr.family ? nl_addr_add(at->pod_nl, ifindex, c->addr, c->nodad, e)
				   : nl_link_set_up(at->pod_nl, ifindex, e);
}

static int refuse_living(const struct inuse_place *at, const struct change *c, const char *who,
			 struct err *e)
{
	err_set(e, ERR_BUSY, 0, "%s on %s is in use by %s", c->what.text, at->master, who);
	return err_hint(e,
			c->addr.addr.family
				? "remove that interface, or its address, if it should not have it"
				: "remove that interface, or give one of the two another MAC: "
				  "\"mac\" or \"macPrefix\" of the networks may be the same");
}

static int inuse_refuse_unknown(const struct inuse_place *at, const struct change *c, struct err *e)
{
	err_set(e, ERR_AGAIN, 0, "%s on %s is in use by an interface of another network namespace",
		c->what.text, at->master);
	err_hint(e,
		 "no attachment has it: if a pod with it ended now, the kernel still destroys its "
		 "namespace, which took longer than %d ms, and the next ADD succeeds",
		 at->wait_ms);
	return err_hint(e, "else something beside CNI made it: `ip -all netns exec ip -d address` "
			   "shows the interfaces of named namespaces");
}

static int wait_and_try(const struct inuse_place *at, const struct change *c, struct err *e)
{
	struct backoff p = backoff_for(at->wait_ms);
	struct err why;

	while (backoff_pause(&p)) {
		if (try_once(at, c, &why) == 0)
			return 0;
		if (why.errnum != EADDRINUSE)
			return err_pass(e, &why);
	}
	return inuse_refuse_unknown(at, c, e);
}

static int inuse_change(const struct inuse_place *at, const struct change *c, struct err *e)
{
	char who[INUSE_WHO_LEN];
	struct err why, ignored;

	if (try_once(at, c, &why) == 0)
		return 0;
	if (why.errnum != EADDRINUSE)
		return err_pass(e, &why);

	int found = inuse_find(at, &c->what, who, &ignored);

	if (found > 0)
		return refuse_living(at, c, who, e);
	if (found < 0)
		log_debug(&at->ctx->log, "%s: %s", c->what.text, ignored.msg);
	log_debug(
		&at->ctx->log,
		"%s on %s: waiting for the kernel, which may be destroying the namespace of a pod",
		c->what.text, at->master);
	return wait_and_try(at, c, e);
}

int inuse_set_up(const struct inuse_place *at, struct err *e)
{
	char mac[HW_ADDR_STR_LEN];
	struct change c = { .nodad = false };

	(void)snprintf(c.what.text, sizeof(c.what.text), "MAC %s",
		       hw_addr_format(at->link->addr, mac));
	return inuse_change(at, &c, e);
}

int inuse_add_address(const struct inuse_place *at, struct ip_prefix addr, bool nodad,
		      struct err *e)
{
	struct change c = { .what = { .ip = addr.addr }, .addr = addr, .nodad = nodad };
	char text[IP_STR_LEN];

	(void)snprintf(c.what.text, sizeof(c.what.text), "address %s", ip_format(addr.addr, text));
	return inuse_change(at, &c, e);
}
