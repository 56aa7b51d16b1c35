/* SPDX-License-Identifier: Apache-2.0 */
/* ipoib.c: the ipoib plugin makes a child of an IPoIB interface in the pod. */
#include "plugins/ether/ipoib.h"
#include "plugins/ipam/ipam.h"

int main(void)
{
	return attach_main(&ipoib_type, &ipam_builtin);
}
