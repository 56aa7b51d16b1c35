/* SPDX-License-Identifier: Apache-2.0 */
/* rails_priv.h: what the files of the plugin rails share among themselves. */
#ifndef RAILHEAD_CNI_RAILS_RAILS_PRIV_H
#define RAILHEAD_CNI_RAILS_RAILS_PRIV_H

#include "cni/engine/attach.h"
#include "cni/engine/attach_parts.h"
#include "topo/rails/rail_list.h"

#define RAILS_KEY "rails" /* of the configuration, of the record's device and of the result */

/* ---- rails_conf.c: pure ---- */

struct rails_conf {
	int kind;                 /* an index of rails_kinds */
	const struct json *rails; /* NULL: all */
	const char *ifname;       /* with "{n}"; NULL: rails_name() */
	uint32_t min;             /* 0: all that are asked for */
};
extern const struct attach_type *const rails_kinds[];
extern const struct json_field rails_fields[];

/* rails_validate - the keys, also those that the rails of an attachment cannot have. */
int rails_validate(struct attach *a, struct err *e) must_check;

/* The rails to make, or that were made. */
struct rails_made {
	struct {
		uint32_t number;
		char ifname[IFNAME_LEN], master[IFNAME_LEN];
	} rail[RAIL_LIST_MAX];
	size_t n;
	uint32_t missing[RAIL_LIST_MAX]; /* asked for, and not there: "min" allows it */
	size_t n_missing;
};

/*
 * rails_expand - text with the number in place of each "{n}". -1: it does not fit. rails_name - the
 * name in the pod of the i-th rail, by the template, or without one: ifname for the first rail, and
 * "<ifname>r<number>" for each other. ERR_CONFIG: no name of an interface.
 */
int rails_expand(const char *text, uint32_t number, char *out, size_t size) must_check;
struct rails_names {
	const char *template; /* NULL: none */
	const char *ifname;   /* CNI_IFNAME */
};
int rails_name(const struct rails_names *names, size_t i, uint32_t number, char out[IFNAME_LEN],
	       struct err *e) must_check;

/*
 * rails_ipam - the configuration for the IPAM: ipam.pool and ipam.pools become a list of pools for
 * each rail. Text of *len bytes, owned by the caller.
 */
int rails_ipam(const struct json *config, const struct rails_made *made, char **text, size_t *len,
	       struct err *e) must_check;

/* rails_part - what the type of the i-th rail reads; owned by the caller. NULL: no memory. */
struct json *rails_part(const struct json *config, const struct rails_made *made, size_t i);

/* rails_note - {"made": [{"rail", "interface", "master"}], "missing": [3]}, for record and result;
 * owned by the caller. NULL: no memory. rails_read_note - the reverse. ERR_STATE: it is none. */
struct json *rails_note(const struct rails_made *made);
int rails_read_note(const struct json *note, struct rails_made *out, struct err *e) must_check;

/* ---- rails_choose.c ---- */

/*
 * rails_choose - which rails the attachment shall have: those of the node that the key "rails"
 * names. ERR_CONFIG: they are fewer than asked for. STATUS: no pod is known, so "gpu" is every
 * rail.
 */
int rails_choose(struct attach *a, struct rails_made *out, struct err *e) must_check;

#endif
