/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_parts.h: several interfaces in one ADD, and the result that names them.
 *
 * They have one record, one call of the IPAM and one undo stack. A plugin that makes several has
 * the hooks below. Its struct attach_type has only hooks for its keys, because each interface has
 * the hooks of its own type. docs/decisions/2026-11-27-rails-in-one-add.md.
 */
#ifndef RAILHEAD_CNI_ENGINE_ATTACH_PARTS_H
#define RAILHEAD_CNI_ENGINE_ATTACH_PARTS_H

#include "cni/protocol/plugin.h"
#include "lib/base/hw_addr.h"

struct attach; /* of attach.h */

#define ATTACH_PARTS_MAX 32

/*
 * Each interface has a call of its own. It is the runtime's, but env.ifname is its name, conf.tree
 * has what its type reads, and data is that type. All is borrowed from the plugin's state.
 */
struct attach_parts {
	const struct cni_call *call[ATTACH_PARTS_MAX];
	char what[ATTACH_PARTS_MAX][16]; /* "rail 3", for errors */
	size_t n;
	const struct cni_call *ipam; /* for the IPAM's ADD and STATUS; its result has n groups */
	const char *key;             /* of the result, for note; NULL: none */
	const struct json *note;
};

typedef int (*attach_name_fn)(const char *ifname, const char *kind, void *arg);

/*
 * parts - what to make, or what was made: for ADD, CHECK and STATUS. May set a->device, which the
 * record keeps. verify - a part that has its addresses, of ADD and of CHECK: ERR_STATE; may set
 * part->rdma for the result, and part->device for the record; NULL: nothing to verify. restorers -
 * of the types that move a device; NULL: none does. each_name - for a DEL without a record: call fn
 * for every name and kind that an interface of the attachment may have; with prevResult for those
 * that it has. Nothing of the configuration can be relied on. fn returns non-zero to stop, and
 * each_name returns that.
 */
struct attach_several {
	int (*parts)(struct attach *a, struct attach_parts *out, struct err *e);
	int (*verify)(struct attach *a, struct attach *part, const struct cni_result *ips,
		      struct err *e);
	const struct attach_restore_type *restorers;
	int (*each_name)(const struct cni_call *call, attach_name_fn fn, void *arg);
};

/* An interface of an ADD, and the addresses that belong on it. */
struct attach_part {
	struct attach *a;
	const struct cni_result *ips;
};

/* ---- the result of ADD, see attach_result.c; pure ---- */

/*
 * attach_parse_ipam_result - what an IPAM printed. ERR_DELEGATE: it is not a result. The caller
 * clears *out, also after an error.
 */
int attach_parse_ipam_result(const struct attach *a, struct slice text, struct cni_result *out,
			     struct err *e) must_check;

/* attach_ips - what belongs on our interface: the IPAM's result, or the adopted addresses of
 * prevResult. */
const struct cni_result *attach_ips(const struct attach *a, const struct cni_result *from_ipam);

/*
 * attach_build_result - what ADD answers: the plugin's own, else prevResult unchanged, our
 * interface behind its interfaces, ips on it (CNI-039, CNI-103). mac is memory for a text of *r.
 */
int attach_build_result(const struct attach *a, const struct cni_result *ips,
			char mac[HW_ADDR_STR_LEN], struct cni_result *r, struct err *e) must_check;

/* attach_add_to_result - one more interface of this ADD, with its addresses, behind those of *r. */
int attach_add_to_result(const struct attach *a, const struct cni_result *ips,
			 char mac[HW_ADDR_STR_LEN], struct cni_result *r, struct err *e) must_check;

/* attach_name_in_result - *r gets the key, with a copy of n. */
int attach_name_in_result(struct cni_result *r, const char *key, const struct json *n,
			  struct err *e) must_check;

/*
 * attach_push_rdma - the key "rdma" of the result of several interfaces is a list: the RDMA device
 * of one of them, with the name of the interface; nothing if it has none.
 */
int attach_push_rdma(const struct attach *part, struct json *list, struct err *e) must_check;

/*
 * attach_share_ips - what of the IPAM's result belongs to the interface of a group (from 1 on): its
 * addresses and routes; group 1 also has those of no group. The caller clears *out.
 */
int attach_share_ips(const struct cni_result *all, unsigned group, struct cni_result *out,
		     struct err *e) must_check;

/* attach_warn_of_version - a warning if results of the call's version name no interface. */
void attach_warn_of_version(const struct cni_call *call);

#endif
