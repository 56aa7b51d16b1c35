/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hw_addr.h: hardware addresses of interfaces, as IFLA_ADDRESS has them. Pure.
 *
 * Ethernet has 6 bytes. IPoIB has 20 (RFC 4391 section 9.1.1): a byte of flags, 3 bytes of queue
 * pair number, 16 bytes of GID.
 */
#ifndef RAILHEAD_LIB_BASE_HW_ADDR_H
#define RAILHEAD_LIB_BASE_HW_ADDR_H

#include "lib/base/guid.h"

#define MAC_LEN         6
#define MAC_STR_LEN     18 /* "aa:bb:cc:dd:ee:ff" and NUL */
#define HW_ADDR_MAX     20
#define HW_ADDR_STR_LEN 60 /* 20 bytes with ':' between them, and NUL */

struct hw_addr {
	uint8_t len; /* bytes in use; 0: no address */
	uint8_t byte[HW_ADDR_MAX];
};

/* hw_addr_make - of len bytes, as the kernel reports them. Without address above HW_ADDR_MAX. */
struct hw_addr hw_addr_make(const void *bytes, size_t len);
struct hw_addr hw_addr_of_mac(const uint8_t mac[MAC_LEN]);

/* hw_addr_is_mac - whether it is as long as that of Ethernet. */
static inline bool hw_addr_is_mac(struct hw_addr a)
{
	return a.len == MAC_LEN;
}

/*
 * hw_addr_equal - the same address of the same length; none is not equal to none. Of IPoIB only the
 * GID counts: the queue pair number changes when the driver makes the queue pair again.
 */
bool hw_addr_equal(struct hw_addr a, struct hw_addr b);

/*
 * hw_addr_guid - the GUID of the InfiniBand port: the last 8 bytes of an IPoIB address. False: it
 * is not an IPoIB address.
 */
bool hw_addr_guid(struct hw_addr a, struct guid *out);

/* hw_addr_parse - 6 or 20 hex octets joined by ':' or '-', either case. */
int hw_addr_parse(const char *s, struct hw_addr *out) must_check;

/* hw_addr_format - lower case, ':', as ip-link(8) prints it; "" without address. Returns out. */
char *hw_addr_format(struct hw_addr a, char out[HW_ADDR_STR_LEN]);

/* parse_mac, mac_format - the same where only Ethernet can be meant. */
int parse_mac(const char *s, uint8_t out[MAC_LEN]) must_check;
char *mac_format(const uint8_t mac[MAC_LEN], char out[MAC_STR_LEN]);

#endif
