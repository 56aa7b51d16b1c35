/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pf.h: a kernel with a PF and its VFs, for tests. The linker sends nl_request(), nl_get()
 * and their like here: what is about VFs is answered from a table that the test can look at, all
 * else goes on to the real kernel. Requests are counted, and one of them can be made to fail.
 *
 * For test programs only. The table is shared with processes that the test forks.
 */
#ifndef RAILHEAD_LIB_TESTING_PF_H
#define RAILHEAD_LIB_TESTING_PF_H

#include "lib/sys/netns.h"
#include "lib/device/vf.h"
#include "lib/device/pci.h"

#define FAKEPF_VFS 16

struct fakepf_vf {
	struct vf_info is; /* what the PF tells, and what requests change */
	char addr[PCI_STR_LEN];
	int link;   /* number that the veth which stands for it was made with; 0: none */
	bool admin; /* is.mac was set at the PF */
	int peer;   /* that of the veth's other end, by which it is known under any name */
	struct guid node, port; /* InfiniBand: read by its driver when it was bound */
};

struct fakepf {
	int pf_ifindex;
	char addr[PCI_STR_LEN]; /* of the PF, if its interface tells; a test sets it */
	char port[IFNAME_LEN];  /* its phys_port_name; a test sets it */
	struct netns_id host;   /* the namespace that it was made in */
	uint32_t n;
	struct fakepf_vf vf[FAKEPF_VFS];
	int refuses[VF_ALL + 1]; /* by enum vf_attr: errno of each attempt to set it; 0: it works */
	unsigned ignores;        /* bits of enum vf_attr: accepted, and not done */
	bool mac_is_the_pfs;     /* igbvf: an interface takes no other MAC than its PF's */
	bool tells_own_macs;     /* igb: what a VF's interface takes by itself shows in is.mac */
	bool mac_needs_trust;    /* both MACs are refused while the VF is not trusted */
	int link_refuses_mac;    /* errno with which the interface of any VF refuses one; 0: none */
	bool ipoib;              /* the interfaces of its VFs have addresses of IPoIB */
	bool guids;              /* and these end with the VF's port GUID */
	bool old_kernel;         /* before 5.14: no link tells which device it is of */
	unsigned requests;       /* since the start, or since this was set to 0 */
	unsigned fail_at;        /* that one fails ... */
	int fail_errnum;         /* ... with this errno, or, 0, the process ends as if killed */
	int refuses_bind; /* errno with which a driver refuses to be bound again; 0: it works */
	bool keeps_guids; /* binding a driver again changes no GUID */
	/* Called in the middle of pci_rebind(), when VF n has no driver and no interface, and at
	 * its end; NULL: pci_rebind() is that of the real kernel. */
	void (*unbound)(uint32_t n);
	void (*rebound)(uint32_t n);
	void (*moved)(void); /* called after each link that moved or was renamed; NULL: nothing */
};

/*
 * fakepf - from here on interface pf_ifindex is a PF with n VFs as a driver makes them: no MAC, no
 * VLAN, spoof check on, everything is told. fakepf_stop - no more; the table stays.
 */
struct fakepf *fakepf(int pf_ifindex, uint32_t n);
void fakepf_stop(void);

/*
 * fakepf_read_guids - VF n has the GUIDs that its PF knows now: its driver read them.
 */
void fakepf_read_guids(uint32_t n);

/*
 * fakepf_link - the veth ifindex, whose other end stays at number peer in this namespace, is VF n:
 * it is shown as hardware, of the PCI function addr.
 */
void fakepf_link(uint32_t n, const char *addr, int ifindex, int peer);

#endif
