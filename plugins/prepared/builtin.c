/* SPDX-License-Identifier: Apache-2.0 */
/* builtin.c: the plugin rails in a program that attaches claims, and in it the IPAM. */
#include "plugins/ether/rails.h"
#include "plugins/ipam/ipam.h"
#include "plugins/prepared/builtin.h"

static int rails_main(void)
{
	return attach_main(&rails_type, &ipam_builtin);
}

/* No mark: where the program rails is installed, it may have a prefix. */
const struct delegate_builtin prepared_rails = { .type = "rails", .run = rails_main };
