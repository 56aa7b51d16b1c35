/* SPDX-License-Identifier: Apache-2.0 */
/* ipvlan.c: the ipvlan plugin. */
#include "cni/links/links.h"
#include "ipam/plugin/ipam.h"

int main(void)
{
	return attach_main(&link_ipvlan, &ipam_builtin);
}
