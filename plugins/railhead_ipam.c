/* SPDX-License-Identifier: Apache-2.0 */
/* railhead_ipam.c: the program railhead-ipam. */
#include "plugins/ipam/ipam.h"

int main(void)
{
	return ipam_builtin.run();
}
