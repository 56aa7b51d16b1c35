/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * fabric.h: what the parts of fabric.ko share. conformance/vm/fabric.md says what the module stands
 * for.
 *
 * A function is a PF or a VF of an emulated card. It lives as long as the module and keeps what a
 * card's firmware keeps: GUIDs, link policy, port. A device is the RDMA device of a function while
 * the driver is bound to it.
 */
#ifndef FABRIC_H
#define FABRIC_H

#include <linux/pci.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#define FAB_DOMAIN 1
#define FAB_PKEYS  16
#define FAB_GIDS   8
#define FAB_PORT   1

/* FAB_OPS: what can be counted, refused, delayed and held (faults.c has the names). */
enum fab_op {
	FAB_PROBE,
	FAB_REMOVE,
	FAB_NUMVFS,
	FAB_REGISTER,
	FAB_SET_NODE_GUID,
	FAB_SET_PORT_GUID,
	FAB_GET_VF_GUID,
	FAB_GET_VF_CONFIG,
	FAB_SET_VF_LINK,
	FAB_QUERY_PORT,
	FAB_QUERY_GID,
	FAB_QUERY_PKEY,
	FAB_INTERFACE,
	FAB_UCONTEXT,
	FAB_SA_JOIN,
	FAB_SA_PATH,
	FAB_OPS,
};

struct fab_device;

struct fab_function {
	struct fab_function *pf; /* NULL: it is one */
	int vf;                  /* its number, from 0 */
	u8 bus, devfn;
	char address[16]; /* as in sysfs: 0001:01:00.1 */
	u8 *config;       /* 4096 bytes */
	/* What the firmware keeps. state of a VF: 0 as its link policy says. lid, sm_lid of a VF:
	 * its own. */
	u64 node_guid, port_guid;
	int link; /* IFLA_VF_LINK_STATE_* */
	enum ib_port_state state;
	u16 lid, sm_lid;
	u16 pkeys[FAB_PKEYS];
	/* GUIDs that the PF's driver set since it was bound; it shows no others. */
	u64 set_node_guid, set_port_guid;
	struct fab_device *device; /* NULL: not bound. Changes under fab_lock. */
	atomic_t counts[FAB_OPS];
};

struct fab_device {
	struct ib_device ib;
	struct fab_function *function;
	u64 node_guid, port_guid;  /* as they were when the driver was bound */
	struct fab_qp *mad_qps[2]; /* of management datagrams; under fab_lock */
	bool registered;           /* events reach its users; under fab_lock */
};

/* main.c: functions and the lock of everything that moves messages: queues, groups, devices. */
extern spinlock_t fab_lock;
extern struct fab_function *fab_functions; /* PF 0, its VFs, PF 1, its VFs */
extern int fab_count;
int fab_pfs(void);
int fab_vfs(void);
struct fab_function *fab_pf(int number);
struct fab_function *fab_at(u8 bus, u8 devfn); /* NULL: none */
struct fab_function *fab_of(struct pci_dev *pdev);
void fab_reset_vf(struct fab_function *f); /* GUIDs, link and port of a new VF */
enum ib_port_state fab_state(const struct fab_function *f);

/* config.c: configuration space, and the host bridge that shows it. */
int fab_config_init(void);
void fab_config_exit(void);
int fab_bridge_add(void);
void fab_bridge_remove(void);

/* driver.c: the PCI driver of PFs and VFs. */
int fab_driver_init(void);
void fab_driver_exit(void);

/* vfio.c: a driver that is called vfio-pci. */
int fab_vfio_init(void);
void fab_vfio_exit(void);

/* device.c: the RDMA device. */
int fab_device_add(struct fab_function *f, struct pci_dev *pdev);
void fab_device_remove(struct fab_function *f);
void fab_event(struct fab_function *f,
	       enum ib_event_type event); /* of its port, and of VFs that follow it */
union ib_gid fab_gid(u64 guid);

/* faults.c: count an operation, then refuse, delay or hold it as was asked for. May sleep. */
int fab_fault(struct fab_function *f, enum fab_op op);
void fab_faults_clear(void); /* and release what is held */
extern const char *const fab_op_names[FAB_OPS];
extern const struct file_operations fab_faults_file;

/* knobs.c: debugfs. */
int fab_knobs_init(void);
void fab_knobs_exit(void);

#endif
