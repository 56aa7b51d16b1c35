/* SPDX-License-Identifier: Apache-2.0 */
/* rails.c: the rails plugin. */
#include "cni/rails/rails.h"
#include "ipam/plugin/ipam.h"

int main(void)
{
	return attach_main(&rails_type, &ipam_builtin);
}
