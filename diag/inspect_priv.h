/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_priv.h: a run of the checks. */
#ifndef RAILHEAD_DIAG_INSPECT_PRIV_H
#define RAILHEAD_DIAG_INSPECT_PRIV_H

#include <net/if.h>

#include "diag/inspect.h"
#include "diag/inspect_code.h"

struct inspect_run {
	const struct inspect *s;
	const char *pod;
	bool fold;
	struct findings *out;
	/* Of the rail at hand: why its packets go elsewhere is reported already. */
	bool told_v4, told_v6;
};

/* inspect_add - a finding about a rail, valid until the next; never NULL. inspect_ok - that a check
 * found nothing; check is a literal. */
struct finding *inspect_add(struct inspect_run *run, const struct inspect_rail *r,
			    enum inspect_code code, enum finding_state state);
struct finding *inspect_ok(struct inspect_run *run, const struct inspect_rail *r,
			   const char *check);

/* inspect_tell - the cause of wrong ways of a family is reported. inspect_is_told - it is. */
void inspect_tell(struct inspect_run *run, enum ip_family family);
bool inspect_is_told(const struct inspect_run *run, enum ip_family family);

/* inspect_by_ifindex - the rail of an interface; NULL: none. */
const struct inspect_rail *inspect_by_ifindex(const struct inspect *s, int ifindex);

/* inspect_first_rule - the first rule from exactly this address; NULL: none. */
const struct rule_spec *inspect_first_rule(const struct inspect *s, struct ip a);

/* inspect_has_family - the rail has an address of this family. */
bool inspect_has_family(const struct inspect_rail *r, enum ip_family family);

/* inspect_option - "-6 " for `ip`, or "". */
const char *inspect_option(struct ip a);

static inline bool inspect_is_up(const struct inspect_rail *r)
{
	return r->link.flags & IFF_UP;
}
static inline bool inspect_has_carrier(const struct inspect_rail *r)
{
	return inspect_is_up(r) && r->link.flags & IFF_RUNNING;
}

/* The checks of the other files. */
void inspect_check_link(struct inspect_run *run, const struct inspect_rail *r);
void inspect_check_settings(struct inspect_run *run, const struct inspect_rail *r);
void inspect_check_routes(struct inspect_run *run, const struct inspect_rail *r);
void inspect_check_ways(struct inspect_run *run, const struct inspect_rail *r);
void inspect_check_host(struct inspect_run *run, const struct inspect_rail *r);

#endif
