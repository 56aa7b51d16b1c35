/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.h: the one engine of all plugins that attach a pod to a network.
 * A plugin is a struct attach_type: its keys, its role and its hooks. The engine does the rest, and
 * it alone knows the order. ADD: configuration, namespaces, find, lock, what an earlier ADD left,
 * prepare, record, master on demand, claim, record, IPAM, create, addresses, up, routes, announce.
 * Then: host veth, gateways, result, record. No change before a record on disk says how it was.
 * Every step has its inverse on an undo stack; DEL, GC, repair: decisions/2026-11-22-one-engine.md.
 */
#ifndef RAILHEAD_CNI_ENGINE_ATTACH_H
#define RAILHEAD_CNI_ENGINE_ATTACH_H

#include "cni/engine/probe.h"
#include "cni/engine/restore.h"
#include "cni/hostveth/hostveth.h"
#include "cni/uplink/master.h"
#include "cni/protocol/plugin.h"
#include "cni/engine/tuning.h"

/* Keys that every plugin takes that makes or moves an interface. */
struct attach_conf {
	struct master_conf master; /* none: the type's default, else that of the default route */
	uint32_t mtu;              /* 0: the master's */
	bool in_container;         /* linkInContainer: the master lives in the pod's netns */
	bool dad;                  /* wait for duplicate address detection */
	struct probe_conf probe;
	uint32_t ipam_timeout; /* seconds */
	struct routing_conf routing;
	struct tuning_conf tuning;
	struct hostveth_conf host;
};

#define ATTACH_STATE_MAX 2048

/* One ADD, CHECK or STATUS in progress. */
struct attach {
	const struct cni_call *call;
	const struct cni_call *whole; /* of several interfaces: the runtime's call; else NULL */
	const struct attach_type *type;
	struct record_place records; /* where this plugin's records are */
	int64_t begun_ms;            /* of ctx_mono_ms() */
	struct attach_conf conf;
	_Alignas(16) unsigned char state[ATTACH_STATE_MAX]; /* the plugin's; decoded by fields */
	struct netns host, pod;
	struct netns_view view; /* from where pod was opened */
	struct nl *host_nl, *pod_nl;
	struct cni_result prev;  /* decoded prevResult; empty when there is none */
	struct link_info master; /* ifindex 0 before it was looked up */
	struct link_info link;   /* the pod's interface */
	struct json *device;     /* owned; what the record keeps of it */
	const char *pci_id;      /* for the result; borrowed from device or the configuration */
	struct json *rdma;       /* owned; the key "rdma" of the result; NULL: none */
	const char *below;       /* the record's master; borrowed. NULL: the name of master */
	const char *master_from; /* the file that names it; borrowed. NULL: the key "master" */
	struct hw_addr made_mac; /* of macPrefix, before create; none: the key is not there */
	uint32_t table;          /* of its rail in the pod; 0: none, or not chosen yet */
	bool is_up;              /* the pod's interface was set up before it had its addresses */
	bool no_link; /* no interface (vfio-pci), or not ours (follows): none is configured */
	bool nothing_to_restore; /* prepare's word: no record is needed before create */
};

enum attach_role {
	ATTACH_MAKES,   /* a new interface in the pod: macvlan, ipvlan */
	ATTACH_MOVES,   /* a device of the host into the pod, as its interface: sriov */
	ATTACH_FOLLOWS, /* the plugin that made or moved the pod's interface: rdma */
};

/*
 * Hooks return 0, or -1 with e set. Those that are not marked may be NULL: "M" needs it in a plugin
 * that moves, "F" in one that follows.
 */
struct attach_type {
	const char *name; /* of the plugin */
	enum attach_role role;
	const char *kind;    /* of the links it makes: what DEL deletes without a record; else "" */
	const char *records; /* F: the folder of its records below run_dir; else NULL */
	const struct json_field *fields; /* its own keys, into state; NULL: validate reads them */
	void (*defaults)(void *state);   /* before all else */
	void (*clear)(void *state);      /* at the end, also after a failure: frees, closes */
	const struct attach_several *several; /* it makes several interfaces: attach_parts.h */

	/* Checks that need no system; may read a->prev and set a->conf.master. */
	int (*validate)(struct attach *a, struct err *e);
	/* M F: look up the device, or the node's mode, in place of a master. Changes nothing. For
	 * ADD, CHECK, and STATUS, which has no pod. check_master - in a plugin that makes: refuse a
	 * master on which the kernel makes no such interface. */
	int (*find)(struct attach *a, struct err *e);
	int (*check_master)(const struct attach *a, struct err *e);
	uint32_t (*max_mtu)(const struct attach *a); /* NULL: the mtu of the master */
	/* F: the record of an earlier ADD without DEL: ERR_BUSY when the pod still has what it
	 * took. After 0 it is restored. */
	int (*check_earlier)(const struct attach *a, const struct record *earlier, struct err *e);
	/* F: look up what create will change, and set a->device; may take a lock, which clear
	 * gives back. Changes nothing. */
	int (*prepare)(struct attach *a, struct err *e);
	/* M: take the device, under its record without device, and set a->device. */
	int (*claim)(struct attach *a, struct err *e);
	/* All: make the interface, or move the device, into the pod under its final name. The
	 * engine restores after a failure. May replace a->device by what CHECK shall find. */
	int (*create)(struct attach *a, struct err *e);
	/* F: prevResult, and what this plugin has to say, into *r. */
	int (*result)(const struct attach *a, struct cni_result *r, struct err *e);
	/* F: CHECK: compare a->link, or what is on record, with the configuration. ERR_STATE. */
	int (*check)(struct attach *a, struct err *e);
	/* M F: the inverse of claim and create, whatever was reached. */
	attach_restore_fn restore;
	/* The same for an ADD that fails, under the locks of prepare. NULL: restore. */
	int (*undo)(const struct attach *a, const struct record *r, struct err *e);
	/* DEL, after restore: what is known of the attachment elsewhere. r: its record, or NULL. */
	int (*release)(const struct cni_call *call, const struct record *r, struct err *e);
	/* GC: remove what this plugin left in the network and no record knows. */
	int (*sweep)(const struct cni_call *call, struct err *e);

	/* The longest wait in ms for carrier before addresses are announced. Called only if the
	 * interface is up and has no carrier. NULL: carrier is immediate. */
	int (*carrier_ms)(const struct attach *a);
	bool takes_mac_prefix;  /* create uses made_mac if no other MAC is given */
	bool shares_mac;        /* with its master: the master also receives replies */
	bool adopts_prev_ips;   /* without an IPAM it takes over the addresses of prevResult */
	bool leases_guid;       /* it takes a GUID of the IPAM: guid_lease.h */
	bool no_dhcp;           /* the IPAM "dhcp" cannot serve its interfaces */
	bool hides_lower_netns; /* the kernel does not say in which namespace its master is */
};

/* attach_main - the whole program of a plugin. builtin: the IPAM whose code it carries, or NULL. */
int attach_main(const struct attach_type *type, const struct delegate_builtin *builtin);
/*
 * attach_reserve - the IPAM's ADD of an attachment that comes later and gets the same addresses:
 * call is that ADD, with the UID or name of its pod, and data is the type. Also checks that the
 * masters are there. Nothing else is changed, and no network namespace is needed. The IPAM's DEL
 * gives the addresses back.
 */
int attach_reserve(const struct cni_call *call, struct err *e) must_check;

/* attach_plugin - the same plugin as a table of commands, for cni_main() and for tests. */
struct cni_plugin attach_plugin(const struct attach_type *type);

/* attach_check_conf - what ADD says about the configuration of a call before it looks at the
 * system. */
int attach_check_conf(const struct attach_type *type, struct cni_call *call,
		      struct err *e) must_check;

/*
 * attach_create_link - for the create hook of plugins that make a link: spec holds what only this
 * kind has; kind, name, lower device, namespace and mtu are filled in here.
 */
int attach_create_link(struct attach *a, struct link_spec spec, struct err *e) must_check;

/* attach_master_nl - the netlink socket of the namespace in which the master lives. */
struct nl *attach_master_nl(const struct attach *a);
/* attach_key - which attachment a call is about. */
struct record_key attach_key(const struct cni_call *call);
/* attach_read_record - what ADD recorded, for CHECK. ERR_STATE with errnum ENOENT: nothing. */
int attach_read_record(const struct attach *a, struct record *out, struct err *e) must_check;

/*
 * attach_choose_mac - the MAC for the pod's interface: the key "mac" (NULL: not given), CNI_ARGS
 * "MAC=", runtimeConfig.mac; the last one given wins (CNI-084). 1: out is set, 0: none is given.
 */
int attach_choose_mac(const struct attach *a, const char *configured, uint8_t out[MAC_LEN],
		      struct err *e) must_check;

#endif
