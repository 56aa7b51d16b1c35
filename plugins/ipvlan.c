/* SPDX-License-Identifier: Apache-2.0 */
/* ipvlan.c: the ipvlan plugin. */
#include "plugins/ether/links.h"
#include "plugins/ipam/ipam.h"

int main(void)
{
	return attach_main(&link_ipvlan, &ipam_builtin);
}
