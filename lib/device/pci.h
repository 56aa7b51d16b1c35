/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pci.h: PCI functions as sysfs shows them: addresses, VF and PF, network interfaces, drivers.
 *
 * root is ctx->sysfs. A function is named by its address text "dddd:bb:dd.f"; domains may have up
 * to 8 digits (VMD and hypervisors make "10000:01:00.0"). Reads what sysfs says at that moment and
 * keeps nothing; absence is errnum ENOENT. A text that is not a PCI address is ERR_FIELD (EINVAL).
 */
#ifndef RAILHEAD_LIB_DEVICE_PCI_H
#define RAILHEAD_LIB_DEVICE_PCI_H

#include "lib/base/err.h"
#include "lib/base/parse.h"

#define PCI_STR_LEN    20 /* "dddddddd:bb:dd.f" and NUL, rounded up */
#define PCI_DRIVER_LEN 32

struct pci_addr {
	uint32_t domain;
	uint8_t bus, dev, fn; /* dev < 32, fn < 8 */
};

/* pci_parse - as sysfs writes it, either case; -1 when it is anything else. Pure. */
int pci_parse(const char *s, struct pci_addr *out) must_check;
/* pci_parse_loose - also as tools write it: lspci leaves out the domain 0000 ("0f:00.0"),
 * nvidia-smi writes eight digits of it ("00000000:0F:00.0"). Pure. */
int pci_parse_loose(const char *s, struct pci_addr *out) must_check;
/* pci_order - a number for each address, by which they are in order. Pure. */
static inline uint64_t pci_order(struct pci_addr a)
{
	return (uint64_t)a.domain << 24 | (uint64_t)a.bus << 16 | (uint64_t)a.dev << 8 | a.fn;
}
static inline bool pci_same(struct pci_addr a, struct pci_addr b)
{
	return pci_order(a) == pci_order(b);
}
/* pci_routing_id - bus, device and function in 16 bits (PCIe base specification 2.2.4.2). Pure. */
static inline uint32_t pci_routing_id(struct pci_addr a)
{
	return (uint32_t)a.bus << 8 | (uint32_t)a.dev << 3 | a.fn;
}
/* pci_format - lower case, at least 4 digits of domain. Returns out. */
char *pci_format(struct pci_addr a, char out[PCI_STR_LEN]);

/* Kind and state of a function. */
struct pci_info {
	uint16_t vendor, device;
	uint32_t class_code;         /* 24 bits: 0x020000 is an Ethernet controller */
	int numa_node;               /* -1: the firmware does not say */
	char driver[PCI_DRIVER_LEN]; /* "" when none is bound */
};

/* pci_read - ERR_NOTFOUND (ENOENT) when there is no such function. */
int pci_read(const char *root, const char *addr, struct pci_info *out, struct err *e) must_check;

/*
 * pci_root - the root complex that it hangs on: the folder of devices/ that it is in, "pci0000:3a".
 * ERR_NOTFOUND as above.
 */
#define PCI_ROOT_LEN 20
int pci_root(const char *root, const char *addr, char out[PCI_ROOT_LEN], struct err *e) must_check;

/* pci_driver - bound driver, "" when none; cheaper than pci_read. */
int pci_driver(const char *root, const char *addr, char out[PCI_DRIVER_LEN],
	       struct err *e) must_check;

/* pci_driver_is_stub - by its name, a driver (vfio, uio, stub, pciback) that takes a function only
 * when told to, mostly for a program or a guest. Pure. */
bool pci_driver_is_stub(const char *driver);

/* pci_physfn - the PF of a VF. ERR_NOTFOUND: no such function, or it is none (errnum EINVAL). */
int pci_physfn(const char *root, const char *vf, char out[PCI_STR_LEN], struct err *e) must_check;

/*
 * pci_vf_index - the number of a VF, from its routing id: first + offset + n * stride, with
 * sriov_offset and sriov_stride of the PF (PCIe base specification 9.2.1.2). One look at virtfn<n>
 * verifies it. If those files are missing or disagree, all links are searched. ERR_NOTFOUND when vf
 * is none of pf's.
 */
int pci_vf_index(const char *root, const char *pf, const char *vf, uint32_t *out,
		 struct err *e) must_check;

/* pci_vf_addr - the address of VF number n: what virtfn<n> points to. */
int pci_vf_addr(const char *root, const char *pf, uint32_t n, char out[PCI_STR_LEN],
		struct err *e) must_check;

/*
 * pci_vf_each - call fn with the address of each VF, in the order of their numbers; cheaper than
 * pci_vf_addr for each. Non-zero from fn ends the walk and is not an error. ERR_NOTFOUND: no such
 * function, no SR-IOV (EOPNOTSUPP), or a VF went meanwhile.
 */
typedef int (*pci_vf_fn)(const char *vf, void *arg);
int pci_vf_each(const char *root, const char *pf, pci_vf_fn fn, void *arg,
		struct err *e) must_check;

/* How many VFs there are and could be. ERR_NOTFOUND (EOPNOTSUPP) when it has no SR-IOV. */
struct pci_sriov {
	uint32_t num, total;
};
int pci_sriov(const char *root, const char *pf, struct pci_sriov *out, struct err *e) must_check;
/* pci_set_numvfs - ERR_KERNEL with the driver's errno, ERANGE above total; fewer than asked for is
 * an error too. A change between two non-zero numbers goes through 0, as the kernel demands
 * (EBUSY). May take seconds. */
int pci_set_numvfs(const char *root, const char *pf, uint32_t n, struct err *e) must_check;

/* pci_pf_netdev - the interface that stands for the PF itself. Beside it a PF in switchdev mode
 * shows representors: the PF's own has no phys_port_name, or one of the form "p<number>".
 * ERR_NOTFOUND if there is none here. _second: of two ports of one function, the other one. */
int pci_pf_netdev(const char *root, const char *pf, char out[IFNAME_LEN], struct err *e) must_check;
int pci_pf_netdev_second(const char *root, const char *pf, char out[IFNAME_LEN],
			 struct err *e) must_check;

/* pci_port_of_pf - whether a phys_port_name is that of the PF's own interface. Pure. */
bool pci_port_of_pf(const char *name);

/* pci_vf_netdev - the one interface of a VF; ERR_NOTFOUND (ENOENT) when it has none here. */
int pci_vf_netdev(const char *root, const char *vf, char out[IFNAME_LEN], struct err *e) must_check;

/* pci_of_netdev - the function behind an interface. ERR_NOTFOUND: it is none of PCI, or absent. */
int pci_of_netdev(const char *root, const char *ifname, char out[PCI_STR_LEN],
		  struct err *e) must_check;

/* pci_rdma_device - the RDMA device of the function (infiniband/NAME); ERR_NOTFOUND when none. */
#define PCI_RDMA_LEN 64
int pci_rdma_device(const char *root, const char *addr, char out[PCI_RDMA_LEN],
		    struct err *e) must_check;

/* pci_iommu_group - the number of its IOMMU group as text; errnum ENOENT: it is in none. */
#define PCI_GROUP_LEN 16
int pci_iommu_group(const char *root, const char *addr, char out[PCI_GROUP_LEN],
		    struct err *e) must_check;

/*
 * pci_bind - have driver (or, when NULL, the one the kernel chooses by itself) drive the function:
 * driver_override, unbind, drivers_probe; already so is success. The override stays, so that the
 * kernel does not choose otherwise later. With NULL and no override, a driver that is bound counts
 * as the kernel's choice, unless its name says vfio, uio or stub: those never take a device by
 * themselves. ERR_KERNEL naming the driver when afterwards another one, or none, drives it: the
 * hint says which module to load; the former override and driver are restored if possible.
 */
int pci_bind(const char *root, const char *addr, const char *driver, struct err *e) must_check;

/*
 * pci_rebind - unbind the function from the driver that it has, if any, and bind it to driver, so
 * that the driver reads the function again. driver_override stays. ERR_KERNEL: no driver, or
 * another one, drives the function afterwards.
 */
int pci_rebind(const char *root, const char *addr, const char *driver, struct err *e) must_check;

#endif
