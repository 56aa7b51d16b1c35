# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# check: 7.2
# needs: movable
# rdma-faults: everything fails once: conformance/faults for the plugin rdma behind macvlan, over rxe, in mode shared, and
# in mode exclusive with a device that moves. CASES: which of the two. How many: guest/faults.sh.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/guest/faults.sh
. conformance/vm/guest/faults.sh

modprobe -a rdma_rxe ib_uverbs macvlan igbvf
insmod "$TREE/build/vm/movable-$WANT_KERNEL/movable.ko"
for plugin in ${CASES:-rdma rdma-exclusive}; do
	mode=shared
	[ "$plugin" = rdma ] || mode=exclusive
	check "mode $mode" within 60 rdma system set netns $mode
	survives "$plugin" 12
done
check "mode shared again" within 60 rdma system set netns shared
rmmod movable
finish
