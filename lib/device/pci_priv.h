/* SPDX-License-Identifier: Apache-2.0 */
/* pci_priv.h: what the files of lib/device share; not for other rooms. */
#ifndef RAILHEAD_LIB_DEVICE_PCI_PRIV_H
#define RAILHEAD_LIB_DEVICE_PCI_PRIV_H

#include "lib/device/pci.h"

#define PCI_DEVICES  "bus/pci/devices"
#define PCI_ATTR_LEN 64 /* longest attribute we read, with NUL */
#define PCI_VFS_MAX  65535

/* ---- addr.c: pure ---- */

/* pci_parse_hex - "0x" and hexadecimal digits, as attributes hold them; <= max. */
int pci_parse_hex(const char *s, uint32_t max, uint32_t *out) must_check;

/*
 * pci_vf_number - n for which vf is pf + offset + n * stride, in routing ids. -1: there is none.
 * With a single VF the stride has no meaning and may be 0.
 */
struct pci_layout {
	uint32_t offset, stride;
};
int pci_vf_number(struct pci_addr pf, struct pci_addr vf, struct pci_layout l,
		  uint32_t *out) must_check;

/* ---- pci.c ---- */

/* pci_canonical - addr as sysfs writes it. ERR_FIELD (EINVAL) when it is not a PCI address. */
int pci_canonical(const char *addr, char out[PCI_STR_LEN], struct err *e) must_check;

/* pci_open - the folder of a function, for the functions below. ERR_NOTFOUND (ENOENT). */
int pci_open(const char *root, const char *addr, struct err *e) must_check;

/* pci_attr - the value of an attribute without its newline; errnum ENOENT when absent. */
int pci_attr(int dir, const char *name, char out[PCI_ATTR_LEN], struct err *e) must_check;
int pci_attr_u32(int dir, const char *name, uint32_t max, uint32_t *out, struct err *e) must_check;

/*
 * pci_link_addr - the address of the function to which a link points. errnum ENOENT: there is no
 * link; ENAMETOOLONG: its text is too long; EBADMSG: it points to something else.
 */
int pci_link_addr(int dir, const char *name, char out[PCI_STR_LEN], struct err *e) must_check;

/* pci_absent - the thing, not a file, does not exist: ERR_NOTFOUND with errnum, whose text is not
 * part of the message. */
int pci_absent(struct err *e, int errnum, const char *fmt, ...) printf_like(3, 4);

/* ---- the kernel's side of writing (sysfs_write), for which tests put their own ---- */

/* pci_bind_by, ... - pci_bind(), pci_rebind() and pci_set_numvfs() with the write of a test. */
typedef int (*pci_write_fn)(const char *root, const char *path, const char *value, struct err *e);
int pci_bind_by(const char *root, const char *addr, const char *driver, pci_write_fn write,
		struct err *e) must_check;
int pci_rebind_by(const char *root, const char *addr, const char *driver, pci_write_fn write,
		  struct err *e) must_check;
int pci_set_numvfs_by(const char *root, const char *pf, uint32_t n, pci_write_fn write,
		      struct err *e) must_check;

#endif
