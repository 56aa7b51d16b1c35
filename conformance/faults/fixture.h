/* SPDX-License-Identifier: Apache-2.0 */
/* fixture.h: what the interfaces of a plugin come from: a master, or a PF and its VFs. */
#ifndef CONFORMANCE_FAULTS_GROUND_H
#define CONFORMANCE_FAULTS_GROUND_H

#include <stdbool.h>

struct text;

#define PF_VFS "4" /* as many as races need */

struct fixture {
	bool is_hosts;       /* cards of the machine itself: one worker, in its network namespace */
	const char *program; /* NULL: the plugin's name */
	/* It stands behind another plugin, without an IPAM: previous() is what that one said. */
	bool chained;
	void (*previous)(unsigned pod, struct text *out);
	void (*furnish)(unsigned pod); /* a pod's interface, if it has none; NULL: it needs none */
	void (*strip)(unsigned pod);   /* the opposite */
	bool has_rdma;                 /* RDMA devices are part of the snapshot */
	const char *without; /* scenes and races that say nothing here: " name name ", or NULL */
	const char *keys;    /* of a configuration, for one certain interface */
	const char *any;     /* for any free one; NULL: the same */
	unsigned capacity;   /* attachments at a time that there is room for */
	/* false: this kernel or machine has none. */
	bool (*probe)(const char *plugin);
	void (*make)(void);
	void (*clear)(void);
	/* What a fault took away. true: something was. */
	bool (*restore)(void);
	void (*lose)(void);       /* the master goes, with all that is on it */
	void (*move)(void);       /* into the namespace "away" */
	void (*lose_link)(void);  /* p0's net1 */
	void (*reboot)(void);     /* what a boot does to it */
	void (*lose_state)(void); /* after a DEL that knows nothing of the attachment */
};

const struct fixture *fixture_of(const char *plugin);

/* Whether a scene or race is one for it. */
bool fixture_suits(const struct fixture *g, const char *name);

extern const struct fixture fixture_veth, fixture_vf, fixture_rdma, fixture_rdma_exclusive;

#endif
