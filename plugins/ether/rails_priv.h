/* SPDX-License-Identifier: Apache-2.0 */
/* rails_priv.h: what the files of the plugin rails share among themselves. */
#ifndef RAILHEAD_PLUGINS_ETHER_RAILS_PRIV_H
#define RAILHEAD_PLUGINS_ETHER_RAILS_PRIV_H

#include "cni/engine/attach.h"
#include "cni/engine/attach_parts.h"
#include "topo/read/rail_list.h"

#define RAILS_KEY "rails" /* of the configuration, of the record's device and of the result */

/* ---- rails_conf.c: pure ---- */

enum rails_kind {
	RAILS_MACVLAN,
	RAILS_IPVLAN,
	RAILS_SRIOV,
	RAILS_IB_SRIOV,
	RAILS_IPOIB,
	RAILS_KINDS,
};
enum rails_rdma_mode { RAILS_RDMA_NONE, RAILS_RDMA_EXCLUSIVE, RAILS_RDMA_SHARED };

struct rails_conf {
	int kind;                      /* enum rails_kind, an index of rails_kinds */
	int rdma;                      /* enum rails_rdma_mode */
	const struct json *rails;      /* NULL: all */
	const struct json *device_ids; /* undecoded; NULL: not given */
	const struct json *resource;   /* the same */
	const char *resource_name;     /* of the kubelet; NULL: not given */
	const char *device_id, *pci_bus_id;
	const char *ifname; /* with "{n}"; NULL: rails_name() */
	uint32_t min;       /* 0: all that are asked for */
};
extern const struct attach_type *const rails_kinds[RAILS_KINDS];
extern const struct json_field rails_fields[];

/* rails_kind_of - the type that the key kind of a configuration names; NULL: none. rails_moves - it
 * moves VFs. */
const struct attach_type *rails_kind_of(const struct json *config);
bool rails_moves(const struct json *config);

/* rails_validate - the keys, also those that the rails of an attachment cannot have. */
int rails_validate(struct attach *a, struct err *e) must_check;

/* The rails to make, or that were made. */
struct rails_made {
	struct {
		uint32_t number;
		char ifname[IFNAME_LEN], master[IFNAME_LEN];
		char device[PCI_STR_LEN]; /* the VF that is given for it; "": any of the PF */
	} rail[RAIL_LIST_MAX];
	size_t n;
	uint32_t missing[RAIL_LIST_MAX]; /* asked for, and not there: "min" allows it */
	size_t n_missing;
	char from[128]; /* where their interfaces are named, for errors */
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

/* rails_note - {"made": [{"rail", "interface", "master", "device"}], "missing": [3]}, for record
 * and result; owned by the caller. NULL: no memory. rails_read_note - the reverse. ERR_STATE: it is
 * none. */
struct json *rails_note(const struct rails_made *made);
int rails_read_note(const struct json *note, struct rails_made *out, struct err *e) must_check;

/* ---- rails_devices.c ---- */

/* VFs by PCI address, as pci_format() writes them, each once. */
struct rails_devices {
	char id[RAIL_LIST_MAX][PCI_STR_LEN];
	bool taken[RAIL_LIST_MAX]; /* by a rail */
	size_t n;                  /* 0: none is given: each rail takes a free VF */
	const char *source;        /* the key that gave them: a literal */
};

/*
 * rails_devices_read - the devices that the call names: deviceIDs, runtimeConfig.deviceIDs,
 * args.cni.deviceIDs, or the one of deviceID, pciBusID or runtimeConfig.deviceID; the first that
 * names any. Errors name key and value. Pure. rails_devices_find - the same, but with resourceName
 * the devices of this resource that the kubelet gave the pod; none for STATUS.
 */
int rails_devices_read(const struct attach *a, const struct rails_conf *c,
		       struct rails_devices *out, struct err *e) must_check;
int rails_devices_find(const struct attach *a, const struct rails_conf *c,
		       struct rails_devices *out, struct err *e) must_check;

/*
 * rails_devices_pf - the PCI address of the PF with this interface. ERR_CONFIG: it is not a PCI
 * device. rails_devices_take - the device that is a VF of the PF with this interface, in out; "" if
 * none is left. ERR_CONFIG: a device is not a VF. rails_devices_all_taken - ERR_CONFIG names one
 * that no rail took.
 */
int rails_devices_pf(const struct ctx *ctx, const char *ifname, char pf[PCI_STR_LEN],
		     struct err *e) must_check;
int rails_devices_take(const struct ctx *ctx, struct rails_devices *d, const char *pf_ifname,
		       char out[PCI_STR_LEN], struct err *e) must_check;
int rails_devices_all_taken(const struct rails_devices *d, struct err *e) must_check;

/* ---- rails_rdma.c ---- */

/* The check of the RDMA devices of an ADD or CHECK; zeroed memory is its beginning. */
struct rails_rdma {
	struct nl *nl;
	int64_t deadline_ms; /* of ctx_mono_ms(), for the GIDs of all rails */
};
void rails_rdma_clear(struct rails_rdma *m);

/*
 * rails_rdma_verify - ERR_STATE unless the RDMA device below the part's interface carries these
 * addresses, in an ADD after a wait; sets part->rdma. ADD puts the device into part->device for the
 * record. CHECK: ERR_STATE if it is another one now.
 */
int rails_rdma_verify(struct rails_rdma *m, struct attach *part, const struct cni_result *ips,
		      struct err *e) must_check;

/* ---- rails_del.c: a DEL without a record ---- */

/*
 * rails_each_name - for struct attach_several. rails_release - for struct attach_type: without a
 * record r, release the VFs whose owner can only be this attachment.
 */
int rails_each_name(const struct cni_call *call, attach_name_fn fn, void *arg);
int rails_release(const struct cni_call *call, const struct record *r, struct err *e);

/* ---- rails_choose.c ---- */

/*
 * rails_choose - which rails the attachment shall have: those of the node that the key "rails"
 * names. ERR_CONFIG: they are fewer than asked for. STATUS: no pod is known, so "gpu" is every
 * rail.
 */
int rails_choose(struct attach *a, struct rails_made *out, struct err *e) must_check;

#endif
