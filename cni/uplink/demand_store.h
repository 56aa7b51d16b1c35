/* SPDX-License-Identifier: Apache-2.0 */
/* demand_store.h: the files of masters on demand. For cni/uplink only. */
#ifndef RAILHEAD_CNI_UPLINK_DEMAND_STORE_H
#define RAILHEAD_CNI_UPLINK_DEMAND_STORE_H

#include "cni/record/record.h"
#include "lib/net/link.h"
#include "lib/sys/netns.h"

#define DEMAND_MEMBERS_MAX 8
#define DEMAND_LOWER_MAX   16 /* with members that others added */
#define DEMAND_FOLDER      "masters"
#define DEMAND_USERS_MAX   4096

enum demand_kind { DEMAND_VLAN, DEMAND_BOND };

/* An interface below a VLAN, or a member of a bond, as it was before. */
struct demand_lower {
	char name[IFNAME_LEN];
	int ifindex;
	bool was_up; /* of a member whose bond ends: it is to be up again */
	uint32_t mtu;
	struct hw_addr addr;
	struct hw_addr perm; /* the one that the card was made with; none: it is not known */
};

/* A link as it is asked for, or as it was made. */
struct demand_link {
	enum demand_kind kind;
	char name[IFNAME_LEN];
	bool name_given; /* by the configuration */
	int ifindex;     /* 0: not chosen */
	uint32_t mtu;
	union link_data data;
	struct demand_lower lower[DEMAND_LOWER_MAX];
	size_t n;
};

struct demand_state {
	struct demand_link link;
	char boot[CTX_BOOT_ID_LEN + 1];
	struct netns_id netns;
	bool making;        /* its making is not done yet, or was killed before it was */
	struct json *users; /* owned; an array of {"network", "container", "ifname"} */
};

/* ---- demand_state.c: pure ---- */

/* demand_state_decode - the text of a file. ERR_DECODE. Clear *out. */
int demand_state_decode(const char *text, size_t len, struct demand_state *out,
			struct err *e) must_check;
/* demand_state_print - freed with free(); NULL: no memory. */
char *demand_state_print(const struct demand_state *s);
void demand_state_clear(struct demand_state *s);
#define auto_demand_state auto_clean(demand_state_clear)

/* demand_add_user - once more is success. ERR_BUSY: it has DEMAND_USERS_MAX others.
 * demand_drop_user - 1: it was there, 0: it was not, -1: no memory. */
int demand_add_user(struct demand_state *s, const struct record_key *key, struct err *e) must_check;
int demand_drop_user(struct demand_state *s, const struct record_key *key) must_check;

/* ---- demand_store.c: files ---- */

/* The folder of the files, locked while it is open; demand_tidy() removes it if it is empty, and so
 * does demand_close(). */
struct demand_store {
	int run, dir, lock;
};
#define DEMAND_CLOSED                                                                              \
	{                                                                                          \
		-1, -1, -1                                                                         \
	}
/* demand_open - 1: open; 0: there is no folder, and create is false. */
int demand_open(const struct ctx *ctx, bool create, struct demand_store *out,
		struct err *e) must_check;
int demand_tidy(const struct demand_store *s, struct err *e) must_check;
void demand_close(struct demand_store *s);
#define auto_demand_store auto_clean(demand_close)

/* demand_read - 1: read, 0: there is none. demand_peek - the same without the lock. */
int demand_read(int dir, const char *name, struct demand_state *out, struct err *e) must_check;
int demand_peek(const struct ctx *ctx, const char *name, struct demand_state *out,
		struct err *e) must_check;
/* demand_write - ERR_BUSY: the file would be too long to be read, because of its users. */
int demand_write(int dir, const struct demand_state *s, struct err *e) must_check;
int demand_forget(int dir, const char *name, struct err *e) must_check;

/* demand_name_of_file - "eth1.120" of "eth1.120.json". false: it is not a file of a master. Pure.
 */
bool demand_name_of_file(const char *file, char out[IFNAME_LEN]);

#endif
