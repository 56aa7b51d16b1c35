# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 150
# check: no
# needs: movable
# rdma-faults: everything fails once: conformance/faults for the plugin rdma in mode exclusive, with a rxe device that moves.
# Mode shared: faults. How many: guest/faults.sh.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/guest/faults.sh
. conformance/vm/guest/faults.sh

modprobe -a rdma_rxe ib_uverbs igbvf
insmod "$TREE/build/vm/movable-$WANT_KERNEL/movable.ko"
check "mode exclusive" eventually rdma system set netns exclusive
survives rdma-exclusive 12
check "mode shared again" eventually rdma system set netns shared
rmmod movable
finish
