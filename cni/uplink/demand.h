/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demand.h: masters on demand: a VLAN, a bond, or a VLAN on a bond, which the first pod that needs
 * it makes, and the last one removes.
 *
 * Each such link has a file run_dir/masters/NAME.json: the boot, the network namespace, the number
 * of the link, how its lower interfaces were before, and the attachments that use it. The file is
 * written before the link is made, and removed after it. One lock is held meanwhile. A link is
 * removed only if demand_judge() says so. A link that another program made is used, and never
 * removed.
 */
#ifndef RAILHEAD_CNI_UPLINK_DEMAND_H
#define RAILHEAD_CNI_UPLINK_DEMAND_H

#include "cni/uplink/demand_store.h"
#include "cni/uplink/master.h"
#include "cni/record/record.h"

struct demand_vlan {
	uint32_t id; /* 1 to 4094 */
	const char *name;
	uint32_t mtu; /* 0: that of the lower interface */
	struct master_conf of;
};

struct demand_bond {
	struct master_conf member[DEMAND_MEMBERS_MAX];
	size_t n;
	const char *name;
	uint32_t mtu; /* 0: the least of its members */
	union link_data data;
};

/* The key "master" as an object: strings are borrowed from the configuration. */
struct demand_conf {
	bool has_vlan, has_bond; /* both: the VLAN is on the bond */
	struct demand_vlan vlan;
	struct demand_bond bond;
};

/* demand_read_conf - ERR_CONFIG, ERR_DECODE and ERR_FIELD name key and value. Pure. */
int demand_read_conf(const struct json *object, struct demand_conf *out, struct err *e) must_check;

/* demand_check_conf - the same for a caller that needs no more than the verdict. */
int demand_check_conf(const struct json *object, struct err *e) must_check;

enum demand_when {
	DEMAND_MAY_BE_MADE, /* ADD, STATUS: one that is not there could be made */
	DEMAND_MUST_BE,     /* CHECK: it is there, up, and as configured */
};

/*
 * demand_find - look for the master; changes nothing. If it is not there, *out describes the one
 * that demand_take() would make, with the number that it would ask for. ERR_CONFIG: the lower
 * interface is not there, a member cannot join, or what is there differs from the configuration.
 * ERR_STATE: the same and more with DEMAND_MUST_BE.
 */
int demand_find(struct master_place *p, const struct json *object, enum demand_when when,
		struct link_info *out, struct err *e) must_check;

/*
 * demand_take - the master for one more attachment, made if it is not there. *link is what
 * demand_find() said, and has the real number afterwards. The attachment is on record already, and
 * its record is locked. After an error demand_give() undoes it.
 */
int demand_take(struct master_place *p, const struct json *object, const struct record_key *key,
		struct link_info *link, struct err *e) must_check;

/*
 * demand_give - the attachment does not need its masters any more: its interface is gone. Masters
 * without a user are removed. None is success, and so is a file that cannot be read. ctx is the
 * one of the record.
 */
int demand_give(const struct ctx *ctx, const struct record_key *key, struct err *e) must_check;

/* The steps of an attachment as hooks, which the engine calls as it calls those of a plugin. */
struct demand_hooks {
	int (*check_conf)(const struct json *object, struct err *e);
	int (*find)(struct master_place *p, const struct json *object, enum demand_when when,
		    struct link_info *out, struct err *e);
	int (*take)(struct master_place *p, const struct json *object, const struct record_key *key,
		    struct link_info *link, struct err *e);
	int (*give)(const struct ctx *ctx, const struct record_key *key, struct err *e);
};
extern const struct demand_hooks demand_hooks;

/*
 * demand_sweep - forget attachments that have no record, and remove masters without a user: for
 * GC and repair. All are tried; the first error counts.
 */
int demand_sweep(const struct ctx *ctx, struct err *e) must_check;

/*
 * demand_is_ending - the kernel refused an interface on this master because its last user takes it
 * away at this moment. False if it is none that was made on demand.
 */
bool demand_is_ending(struct nl *nl, const struct link_info *master);

/*
 * demand_users - how many attachments use the master of that name; 0: it was not made on demand, or
 * cannot be read. For people.
 */
size_t demand_users(const struct ctx *ctx, const char *name);

/* A member that a bond on demand does not have any more. */
enum demand_lost_why {
	DEMAND_AWAY,      /* there is no interface of its number or name */
	DEMAND_CAME_BACK, /* its card has a new number, and has not joined again */
	DEMAND_LEFT,      /* a person took it out */
	DEMAND_UNPROVED,  /* the interface of its name may be another card */
};
struct demand_lost {
	char master[IFNAME_LEN]; /* on record: the bond, or a VLAN on it */
	char bond[IFNAME_LEN], member[IFNAME_LEN];
	enum demand_lost_why why;
	int ifindex; /* the interface that is there now; 0: none */
};
struct demand_losses {
	struct demand_lost *item; /* owned */
	size_t n;
};

/*
 * demand_find_lost - for people: of all bonds on demand of this network namespace, once for the
 * bond and once for each VLAN on it. Files that cannot be read are left out. demand_lost_name -
 * "came-back". demand_lost_text - what is so, and what to do.
 */
int demand_find_lost(const struct ctx *ctx, struct demand_losses *out, struct err *e) must_check;
void demand_losses_clear(struct demand_losses *x);
#define auto_demand_losses auto_clean(demand_losses_clear)
const char *demand_lost_name(enum demand_lost_why why);
#define DEMAND_LOST_LEN 256
const char *demand_lost_text(const struct demand_lost *x, char out[DEMAND_LOST_LEN]);

#endif
