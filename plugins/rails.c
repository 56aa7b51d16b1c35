/* SPDX-License-Identifier: Apache-2.0 */
/* rails.c: the rails plugin. */
#include "plugins/ether/rails.h"
#include "plugins/ipam/ipam.h"

int main(void)
{
	return attach_main(&rails_type, &ipam_builtin);
}
