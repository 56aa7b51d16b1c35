/* SPDX-License-Identifier: Apache-2.0 */
/* macvlan.c: the macvlan plugin. */
#include "cni/links/links.h"
#include "ipam/plugin/ipam.h"

int main(void)
{
	return attach_main(&link_macvlan, &ipam_builtin);
}
