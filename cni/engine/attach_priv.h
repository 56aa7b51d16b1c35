/* SPDX-License-Identifier: Apache-2.0 */
/* attach_priv.h: what the files of the attach engine share among themselves. */
#ifndef RAILHEAD_CNI_ENGINE_ATTACH_PRIV_H
#define RAILHEAD_CNI_ENGINE_ATTACH_PRIV_H

#include "cni/engine/attach.h"
#include "cni/engine/attach_parts.h"
#include "cni/hostveth/attach.h"
#include "cni/engine/inuse.h"
#include "cni/protocol/delegate.h"

/* whereabouts gives itself 120 s, kubelet's CRI calls end at 120 to 240 s */
#define ATTACH_IPAM_TIMEOUT_S     90
#define ATTACH_IPAM_TIMEOUT_MAX_S 600

#define ATTACH_LOCK_MS 10000
#define ATTACH_UNDO_MS 10000 /* of a failed ADD, kept for the IPAM's DEL */

/* ---- attach_conf.c: pure ---- */

/* attach_init - empty state for a call, with the defaults of its keys. attach_init_part - of one of
 * the interfaces of whole, whose namespaces and sockets it borrows. */
void attach_init(struct attach *a, const struct cni_call *call);
void attach_init_part(struct attach *a, const struct cni_call *call, const struct attach *whole);
/* attach_clear - release what was opened or read since attach_init(). */
void attach_clear(struct attach *a);
#define auto_attach auto_clean(attach_clear)

/* attach_read_conf - decode and validate all that needs no system. */
int attach_read_conf(struct attach *a, struct err *e) must_check;

/* attach_timeout_ms - the time of the IPAM; the default when the configuration is unreadable. */
int attach_timeout_ms(const struct attach *a);

/*
 * The time of one ADD, in ms from now; each at least a second. The attachment's lock has at most
 * half of ipamTimeout, and the IPAM's ADD ends at ipamTimeout after the plugin began.
 * ATTACH_UNDO_MS after that the IPAM's DEL of the failed ADD has ended, too.
 */
int attach_lock_ms(const struct attach *a);
int attach_ipam_add_ms(const struct attach *a);
int attach_ipam_undo_ms(const struct attach *a);

/* attach_type_of - the plugin that this call belongs to. */
const struct attach_type *attach_type_of(const struct cni_call *call);

/*
 * attach_ipam_type - the IPAM that the plugin runs, "" for none: a plugin that follows has none,
 * and one that refuses "dhcp" has not run it.
 */
const char *attach_ipam_type(const struct cni_call *call);

/* attach_records - where the plugin's records are. */
int attach_records(const struct cni_call *call, struct record_place *out, struct err *e) must_check;

/* ---- attach_observe.c: looks, changes nothing ---- */

/* attach_open - open the namespaces of host and pod, and a netlink socket in each. ERR_NETNS. */
int attach_open(struct attach *a, struct err *e) must_check;
/* attach_master_place - where the master is looked for. */
struct master_place attach_master_place(const struct attach *a);
/* attach_find_master - fill a->master; checks conf.mtu against it. */
int attach_find_master(struct attach *a, struct err *e) must_check;

/*
 * attach_lower_of_master - the number of the device on which the kernel puts a link that is made on
 * the master: its own lower device if it is of the same kind (macvlan on macvlan).
 */
int attach_lower_of_master(const struct attach *a);

/* attach_find - the master, or what the type has in its place. */
int attach_find(struct attach *a, struct err *e) must_check;
/* attach_tuning_place, attach_inuse_place - where the pod's interface is, for these rooms. */
struct tuning_place attach_tuning_place(const struct attach *a);
struct inuse_place attach_inuse_place(const struct attach *a);

/* attach_host_of - of an attachment, without an interface yet. attach_host_join - one more
 * interface with its addresses, if the key "host" is there. ERR_CONFIG: there is no interface. */
struct attach_host attach_host_of(const struct attach *a);
int attach_host_join(struct attach_host *h, const struct attach *a, const struct cni_result *ips,
		     struct err *e) must_check;

/* ---- attach_earlier.c: changes nothing but what an earlier ADD left ---- */

/*
 * attach_refuse_taken - ERR_BUSY: the name is taken in the pod, or an ADD without DEL came before.
 * attach_refuse_second - only the latter, by the record of key; after 0, what a killed ADD or a DEL
 * left is restored. attach_settle - the same for a plugin that follows.
 */
int attach_refuse_taken(const struct attach *a, struct err *e) must_check;
int attach_refuse_second(const struct attach *a, const struct record_key *key,
			 struct err *e) must_check;
int attach_settle(const struct attach *a, struct err *e) must_check;

/* ---- attach_probe.c ---- */

struct probe_answer {
	bool asked; /* whether the network was asked */
	/* addresses of another host, separated by commas, for the IPAM's DEL; "": none */
	char conflict[16 * IP_STR_LEN];
};

/*
 * attach_can_probe - the IPAM may mark addresses that must be probed (DELEGATE_PROBE).
 * attach_has_marks - it did so in r.
 */
bool attach_can_probe(const struct attach *a);
bool attach_has_marks(const struct cni_result *r);

/*
 * attach_probe - ask the network for the addresses of n interfaces at once, which do not have them
 * yet: with the key "probe" for all of them, else for those that the IPAM marked. Sets an interface
 * up if that is the one that asks. The calling thread is in the host's namespace when it returns.
 * ERR_CONFLICT names address and MAC. ERR_AGAIN: a link has no carrier, and the IPAM demands the
 * probe.
 */
int attach_probe(const struct attach_part *parts, size_t n, struct probe_answer *out,
		 struct err *e) must_check;

/*
 * attach_probe_gateways - with "gateway" of the key "probe": ask the gateways of the addresses from
 * those addresses, which the interfaces have. A warning names each that does not answer. ERR_AGAIN:
 * the same with "strict". The calling thread is in the host's namespace when it returns.
 */
int attach_probe_gateways(const struct attach_part *parts, size_t n, struct err *e) must_check;

/* ---- configure.c ---- */

/*
 * attach_configure - give n interfaces their addresses, set them up, add their routes, and announce
 * the addresses; those without a link are skipped. The calling thread is in the host's namespace
 * when it returns, also after a failure.
 */
int attach_configure(const struct attach_part *parts, size_t n, struct err *e) must_check;

/* ---- attach_del.c ---- */

/* attach_restore_own - restore by a record of this plugin; marks the record `deleting` first.
 * attach_moved_own - whether this plugin moves the interface of such a record. */
bool attach_moved_own(const struct cni_call *call, const struct record *r);
int attach_restore_own(const struct cni_call *call, const struct record_place *records,
		       const struct record *r, struct err *e) must_check;

/* ---- release.c ---- */

/*
 * attach_release - the IPAM's DEL, of an attachment whose interfaces are gone. The IPAM is that of
 * ADD: by the configuration of r; by the call's if r has none, as an empty record. leased: its ADD
 * may have run; else an IPAM that is missing is a warning. attach_same_ipam - whether the call's
 * configuration has the IPAM of r; it then gets what the runtime sent.
 */
int attach_release(const struct cni_call *call, const struct record *r,
		   const struct delegate_call *del, bool leased, struct err *e) must_check;
bool attach_same_ipam(const struct cni_call *call, const struct record *r);

/* attach_ipam_timeout_ms - by a configuration of which no other key need be readable. */
int attach_ipam_timeout_ms(const struct json *config);

/*
 * attach_add, ... - the commands of a plugin of the engine (attach_plugin() in attach.h). ADD
 * prints its result; the others print nothing.
 */
int attach_add(const struct cni_call *call, struct err *e);
int attach_del(const struct cni_call *call, struct err *e);
int attach_check(const struct cni_call *call, struct err *e);
int attach_gc(const struct cni_call *call, struct err *e);
int attach_status(const struct cni_call *call, struct err *e);

#endif
