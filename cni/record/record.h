/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h: what an attachment changed, written before it is changed.
 *
 * One JSON file per attachment under <run_dir>/attachments/<network>/<container>,<ifname>, mode
 * 0600 in directories of mode 0700. DEL, GC and `railctl attachments repair` replay inverses from
 * it; it needs no configuration, so it works after the configuration changed or the master went
 * away. It lives in /run: after a reboot there is nothing to repair.
 */
#ifndef RAILHEAD_CNI_RECORD_RECORD_H
#define RAILHEAD_CNI_RECORD_RECORD_H

#include <limits.h>

#include "lib/base/ctx.h"
#include "lib/json/json.h"
#include "lib/sys/netns_locate.h"

/* Which attachment: borrowed strings. */
struct record_key {
	const char *network, *container, *ifname;
};

struct record {
	struct record_key key;
	const char *plugin; /* which program made it: "macvlan" */
	const char *kind;   /* link kind created, "" when an existing device was moved */
	const char *netns;  /* path as given */
	struct netns_id netns_id;
	struct netns_view from; /* of the program that wrote it; 0: of an earlier version */
	const char *netns_also; /* CNI_NETNS of the call at hand, or NULL; not in the file */
	int ifindex;            /* of the interface in the pod; 0: not made yet, or not known */
	int lower_ifindex;      /* and what it stands on (struct link_info); 0: not known */
	char boot[CTX_BOOT_ID_LEN + 1];
	int64_t created;    /* ns since 1970; the file has whole ms, and 0 for a negative time */
	bool name_mismatch; /* of record_each: the file holds another attachment's record */
	bool adding;        /* its ADD is not done yet, or was killed before it was */
	bool deleting;      /* its DEL has begun, or its ADD failed and may have left an address */
	const char *master; /* name of the lower device, "" if none */
	const char *cni_path;      /* where the delegates were found, for repair */
	const char *args;          /* CNI_ARGS, for repair */
	const struct json *config; /* the network configuration as given, for repair; may be NULL */
	const struct json *device; /* original state of a moved device; may be NULL */
	const struct json *routing; /* rules in the pod: cni/routing/routing.h; may be NULL */
	const struct json *host;    /* a veth to the node: cni/hostveth/hostveth.h; may be NULL */
	const struct json *parts;   /* the interfaces of an ADD that makes several: part.h */
	const struct record *whole; /* of a part: the record that has it; not in the file */
	struct json *tree; /* owns all of the above after record_read; NULL when built by hand */
};

/*
 * record_place - a ctx whose records are in the folder of that name below run_dir; NULL: in run_dir
 * itself. In a list of plugins each may have a record of the same network, container and interface.
 * Keep *out where it is: it points into itself. ERR_IO: the path is too long.
 */
struct record_place {
	struct ctx ctx;
	char run_dir[PATH_MAX];
};
int record_place(const struct ctx *ctx, const char *folder, struct record_place *out,
		 struct err *e) must_check;

/*
 * record_lock - one call at a time works on an attachment. ERR_AGAIN when another one holds it for
 * longer than timeout_ms. Without create nothing is made: when there is no run_dir yet there is
 * nothing to lock either, and the error has errnum ENOENT. Returns a descriptor; closing it, or
 * dying, unlocks.
 */
int record_lock(const struct ctx *ctx, const struct record_key *key, bool create, int timeout_ms,
		struct err *e) must_check;

/* record_write - create or replace. After a failure no folder is left that it made. */
int record_write(const struct ctx *ctx, const struct record *r, struct err *e) must_check;

/*
 * record_read - ERR_NOTFOUND (errnum ENOENT) when there is none; ERR_DECODE when it is damaged;
 * ERR_STATE when it is another attachment's, under the name of this one.
 */
int record_read(const struct ctx *ctx, const struct record_key *key, struct record *out,
		struct err *e) must_check;

/*
 * record_is_damaged - true if record_read() can never succeed for this record. False if it may
 * succeed later (no memory, no descriptors, EIO).
 */
bool record_is_damaged(const struct err *e);

/*
 * record_reread - what is on record by now, for a sweep that met it before it had its lock: an ADD
 * may have gone on meanwhile. 1: read; 0: there is none, or one that can never be read.
 */
int record_reread(const struct ctx *ctx, const struct record_key *key, struct record *out,
		  struct err *e) must_check;

/* record_clear - free r->tree and empty *r. */
void record_clear(struct record *r);
#define auto_record auto_clean(record_clear)

/* record_remove - remove the record, and its folder if that is empty then. None there is success.
 */
int record_remove(const struct ctx *ctx, const struct record_key *key, struct err *e) must_check;

/*
 * record_tidy - remove folders of networks that have no record: a killed ADD or DEL leaves them.
 */
int record_tidy(const struct ctx *ctx, struct err *e) must_check;

/*
 * record_each - call fn for every record of network (NULL: of all), in name order. A damaged file
 * is passed with r->tree NULL and only the key set. So is a file with the record of another
 * attachment, with r->name_mismatch set: its content must not be used. Return non-zero from fn to
 * stop the scan. A file that cannot be read now is skipped, and the scan returns -1 at its end.
 */
typedef int (*record_fn)(const struct record *r, void *arg);
int record_each(const struct ctx *ctx, const char *network, record_fn fn, void *arg,
		struct err *e) must_check;

/* record_netns - what is known of the namespace of an attachment; borrows from r. */
static inline struct netns_on_record record_netns(const struct record *r)
{
	return (struct netns_on_record){ r->netns, r->netns_also, r->netns_id, r->from };
}

/*
 * record_rdma - the name in the pod of the RDMA device that an interface plugin moved with its
 * interface: RECORD_RDMA of device. NULL: none. Borrows from r.
 */
#define RECORD_RDMA "rdma"
const char *record_rdma(const struct record *r);

/* record_refuse_mismatch - the error of a record with r->name_mismatch: names the file. Returns -1.
 */
int record_refuse_mismatch(const struct ctx *ctx, const struct record *r, struct err *e);

/* record_decode - the text of a record file. Pure; the fuzzers start here. Clear out afterwards. */
int record_decode(const char *text, size_t len, struct record *out, struct err *e) must_check;

/* record_print - the text of a record file, freed with free(). NULL: no memory. Pure. */
char *record_print(const struct record *r);

/*
 * record_mark - identifies what a record says: FNV-1a of its text. Only root can write records, so
 * no collision can be forced. RECORD_MARK_NONE: no memory. Never 0. Pure.
 */
#define RECORD_MARK_NONE 1
uint64_t record_mark(const struct record *r);

#endif
