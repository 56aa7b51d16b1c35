/* SPDX-License-Identifier: Apache-2.0 */
/* fixture.h: the devices that a plugin makes its interfaces from: a master, or a PF and its VFs. */
#ifndef CONFORMANCE_FAULTS_GROUND_H
#define CONFORMANCE_FAULTS_GROUND_H

#include <stdbool.h>

struct text;

#define PF_VFS "4" /* as many as races need */

/* Settings of the pod's interface: more steps between its creation and the moment it is up. */
#define FIXTURE_TUNING                                                                             \
	",\"txQueueLen\":2000,\"gso\":{\"maxSize\":30000},\"gro\":{\"maxSize\":40000},"            \
	"\"sysctl\":{\"net.ipv4.conf.IFNAME.arp_filter\":\"1\","                                   \
	"\"net.ipv4.neigh.IFNAME.gc_stale_time\":\"77\"}"

struct fixture {
	bool is_hosts;       /* cards of the machine itself: one worker, in its network namespace */
	const char *program; /* NULL: the plugin's name */
	/* The plugin follows another one and has no IPAM. previous() is the result of that one. */
	bool chained;
	void (*previous)(unsigned pod, struct text *out);
	void (*furnish)(unsigned pod); /* a pod's interface, if it has none; NULL: it needs none */
	void (*strip)(unsigned pod);   /* the opposite */
	bool has_rdma;                 /* RDMA devices are part of the snapshot */
	const char *without;   /* scenes and races that do not apply here: " name name ", or NULL */
	const char *keys;      /* of a configuration, for one certain interface */
	const char *ipam;      /* of its ipam section, which addresses; NULL: those of call.c */
	const char *alone;     /* the same for the IPAM alone; NULL: the same */
	const char *v6_ifname; /* the interface in the pod that has the IPv6 address; NULL: net1 */
	const char *any;       /* for any free one; NULL: the same */
	unsigned capacity;     /* attachments at a time that there is room for */
	/* false: this kernel or machine has none. */
	bool (*probe)(const char *plugin);
	void (*make)(void);
	void (*clear)(void);
	/* Repair the devices that a fault removed. Returns true if one was missing. */
	bool (*restore)(void);
	void (*lose)(void);       /* remove the master and everything on it */
	void (*move)(void);       /* move the master into the namespace "away" */
	void (*lose_link)(void);  /* remove net1 of p0 */
	void (*reboot)(void);     /* change the devices as a boot does */
	void (*lose_state)(void); /* clean up after a DEL without a record of the attachment */
	/* Append what else is part of the snapshot, as lines; NULL: nothing. */
	void (*look)(struct text *out);
};

/* fixture_of - the fixture of a plugin; NULL: this plugin is unknown. */
const struct fixture *fixture_of(const char *plugin);

/* fixture_suits - does this scene or race apply to the fixture? */
bool fixture_suits(const struct fixture *g, const char *name);

extern const struct fixture fixture_veth, fixture_vf, fixture_rail_vfs;
extern const struct fixture fixture_rdma, fixture_rdma_exclusive;
extern const struct fixture fixture_ib, fixture_ib_exclusive, fixture_ipoib;

/*
 * functions_look - append a line for each PCI function that is a VF or has an RDMA device: its
 * driver, its interface, its RDMA and character device in this namespace, and the GUIDs that its
 * driver read.
 */
void functions_look(struct text *out);

#endif
