/* SPDX-License-Identifier: Apache-2.0 */
/* macvlan.c: the macvlan plugin. */
#include "plugins/ether/links.h"
#include "plugins/ipam/ipam.h"

int main(void)
{
	return attach_main(&link_macvlan, &ipam_builtin);
}
