#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Check who includes whom.
#
# usage: tools/layers.sh [ROOT]
#
# A room is a folder with C files. Its arrows are below; its README.md repeats them in a line
# "May include: lib/, cni/protocol/", and the two must agree. There is no way back along the arrows, and none to a part that stands below in the table of parts, for tests neither. Files for tests
# (X_test.c, X_fuzz.c, rooms called testing) may include all parts that the part of their room may.
# A header priv.h or X_priv.h belongs to its room alone. No files include each other in a circle. The heading of a room's is "# ROOM: words".
#
# The table of a room's README.md names files: each name in the first column exists. `foo` is the name of foo.c, foo.h and foo_priv.h. `foo.h` is that file and foo.c. `foo*` is the name of all
# files that begin so.
set -eu
export LC_ALL=C

tools=$(cd "$(dirname "$0")" && pwd)
folders="$(cat "$tools/parts") conformance tools"
cd "${1:-.}"
# room | what it may include besides itself, whole parts (lib/) or rooms
arrows='
lib/base|
lib/json|lib/base/
lib/sys|lib/base/ lib/json/
lib/cli|lib/base/ lib/json/ lib/sys/
lib/grpc|lib/base/ lib/sys/
lib/net|lib/base/ lib/sys/
lib/device|lib/base/ lib/sys/ lib/net/
lib/rdma|lib/base/ lib/json/ lib/sys/ lib/device/
lib/grpc/testing|lib/
lib/testing|lib/
topo/core|lib/
topo/read|lib/ topo/core/
topo/gdr|lib/ topo/core/ topo/read/
topo/capture|lib/ topo/read/ topo/gdr/
topo/kubelet|lib/ topo/read/
topo/nccl|lib/ topo/core/ topo/read/
topo/output|lib/ topo/core/ topo/gdr/ topo/nccl/
topo/testing|lib/ topo/
cni/protocol|lib/
cni/record|lib/ cni/protocol/
cni/routing|lib/ cni/protocol/
cni/hostveth|lib/ cni/routing/
cni/uplink|lib/ topo/read/ cni/record/
cni/engine|lib/ cni/protocol/ cni/record/ cni/routing/ cni/hostveth/ cni/uplink/
cni/testing|lib/ topo/ cni/
ipam/peers|lib/
ipam/store|lib/
ipam/conf|lib/ cni/protocol/ ipam/store/
ipam/block|lib/ ipam/conf/
ipam/lease|lib/ cni/protocol/ cni/engine/ ipam/store/ ipam/conf/ ipam/block/
ipam/alloc|lib/ cni/protocol/ ipam/peers/ ipam/conf/ ipam/lease/
ipam/admin|lib/ ipam/conf/ ipam/lease/ ipam/alloc/
ipam/testing|lib/ cni/ ipam/
cluster/store|lib/ ipam/block/
cluster/http|lib/ cluster/store/
cluster/etcd|lib/ cluster/store/ cluster/http/
cluster/kube|lib/ cluster/store/ cluster/http/
cluster/protocol|lib/ ipam/block/ cluster/store/
cluster/testing|lib/ ipam/ cluster/
fabric|lib/ cluster/http/
fabric/testing|lib/ cluster/ fabric/
sriov/vf|lib/ cni/protocol/ cni/record/
sriov/claim|lib/ cni/protocol/ cni/record/ sriov/vf/
sriov/choose|lib/ topo/core/ topo/read/ topo/kubelet/ cni/protocol/ cni/record/ sriov/vf/ sriov/claim/
sriov/admin|lib/ sriov/claim/ sriov/choose/
sriov/testing|lib/ topo/ cni/ sriov/
rdma/device|lib/
rdma/inventory|lib/ cni/record/ rdma/device/
rdma/env|lib/ cni/record/ sriov/claim/ rdma/inventory/
rdma/job|lib/
rdma/probe|lib/ rdma/device/ rdma/inventory/ rdma/job/
rdma/qos|lib/
rdma/probe/testing|lib/ cni/ rdma/
rdma/testing|lib/ cni/ rdma/
diag|lib/ cni/protocol/ cni/record/ cni/routing/ cni/hostveth/ cni/engine/ rdma/device/ rdma/inventory/ rdma/env/
diag/testing|lib/ cni/ rdma/ diag/
plugins/ipam|lib/ cni/protocol/ ipam/peers/ ipam/lease/ ipam/alloc/
plugins/rdma|lib/ cni/protocol/ cni/record/ cni/engine/ rdma/device/
plugins/sriov|lib/ cni/protocol/ cni/engine/ fabric/ sriov/vf/ sriov/claim/ sriov/choose/
plugins/ether|lib/ topo/read/ topo/kubelet/ cni/protocol/ cni/record/ cni/engine/ sriov/claim/ sriov/choose/ rdma/device/ plugins/sriov/
plugins/prepared|lib/ cni/protocol/ cni/record/ cni/engine/ rdma/env/ plugins/ether/ plugins/ipam/
plugins|cni/uplink/ cni/engine/ sriov/claim/ plugins/ipam/ plugins/rdma/ plugins/sriov/ plugins/ether/ plugins/prepared/
plugins/testing|lib/ topo/ cni/ ipam/ fabric/ sriov/ rdma/ plugins/
install|lib/ cni/protocol/ cni/record/ ipam/peers/ plugins/
railheadd/conf|lib/ topo/read/ cluster/etcd/ cluster/kube/
railheadd/pools|lib/ ipam/conf/ ipam/block/ ipam/lease/ ipam/admin/ cluster/store/ cluster/protocol/
railheadd/watch|lib/ topo/read/ topo/gdr/ cni/protocol/ cni/record/ cni/engine/ fabric/ sriov/vf/ sriov/admin/ rdma/device/ rdma/qos/ plugins/ install/ railheadd/pools/
railheadd/devices|lib/ topo/core/ topo/read/ topo/kubelet/ sriov/vf/ sriov/choose/ plugins/prepared/ railheadd/conf/ railheadd/watch/
railheadd/claims|lib/ topo/read/ cluster/http/ cluster/kube/ sriov/vf/ sriov/choose/ plugins/prepared/ railheadd/conf/ railheadd/watch/ railheadd/devices/
railheadd/metrics|lib/ ipam/alloc/ ipam/admin/ railheadd/pools/ railheadd/watch/ railheadd/devices/
railheadd|lib/ ipam/conf/ ipam/lease/ ipam/alloc/ plugins/prepared/ railheadd/conf/ railheadd/pools/ railheadd/watch/ railheadd/devices/ railheadd/claims/ railheadd/metrics/
railheadd/testing|lib/ topo/ cni/ ipam/ cluster/ fabric/ sriov/ rdma/ plugins/ install/ railheadd/
railctl/attachments|lib/ topo/read/ topo/capture/ cni/protocol/ cni/record/ cni/hostveth/ cni/uplink/ cni/engine/ ipam/peers/ ipam/conf/ sriov/claim/ rdma/device/ diag/ plugins/rdma/ plugins/ether/ plugins/prepared/ plugins/
railctl/cluster|lib/ ipam/conf/ ipam/alloc/ fabric/
railctl/ipam|lib/ cni/engine/ ipam/peers/ ipam/conf/ ipam/lease/ ipam/alloc/ ipam/admin/ plugins/prepared/
railctl/device|lib/ cni/protocol/ cni/record/ fabric/ sriov/claim/ sriov/admin/ rdma/device/ rdma/inventory/ rdma/env/ rdma/qos/ diag/
railctl/topo|lib/ topo/core/ topo/read/ topo/capture/ topo/nccl/ topo/output/ rdma/inventory/ diag/ railctl/device/
railctl|lib/ topo/read/ railctl/attachments/ railctl/cluster/ railctl/device/ railctl/ipam/ railctl/topo/
tools|lib/
conformance|conformance/'
# parts, and the parts that the tests of each may include
parts='
lib|lib/
topo|lib/ topo/
cni|lib/ topo/ cni/
ipam|lib/ cni/ ipam/
cluster|lib/ ipam/ cluster/
fabric|lib/ cluster/ fabric/
sriov|lib/ topo/ cni/ sriov/
rdma|lib/ cni/ sriov/ rdma/
diag|lib/ cni/ rdma/ diag/
plugins|lib/ topo/ cni/ ipam/ fabric/ sriov/ rdma/ plugins/
install|lib/ cni/ ipam/ plugins/ install/
railheadd|lib/ topo/ cni/ ipam/ cluster/ fabric/ sriov/ rdma/ plugins/ install/ railheadd/
railctl|lib/ topo/ cni/ ipam/ fabric/ sriov/ rdma/ diag/ plugins/ railctl/
conformance|conformance/
tools|lib/'
# headers | the only files that may include them (a regular expression)
doors='
netlink/|^lib/(net|device|testing)/
linux/netlink.h|^lib/(net|device|testing)/
linux/rtnetlink.h|^lib/(net|device|testing)/
linux/if_link.h|^lib/(net|device|testing)/
linux/if_addr.h|^lib/(net|device|testing)/
linux/neighbour.h|^lib/(net|device|testing)/
rdma/rdma_netlink.h|^lib/(net|device|testing)/
lib/net/nl_msg.h|^lib/(net|device|testing)/
cjson/|^lib/json/
cJSON.h|^lib/json/
lmdb.h|^ipam/store/lmdb[^/]*$
expat.h|^topo/nccl/
protobuf-c/|^(lib/grpc|topo/kubelet|railheadd/devices|railheadd/claims)/
topo/kubelet/pod_resources.pb-c.h|^topo/kubelet/pod_resources[.]c$
railheadd/devices/plugin.pb-c.h|^railheadd/devices/wire[.]c$
railheadd/claims/dra.pb-c.h|^railheadd/claims/dra[.]c$
nghttp2/|^lib/(grpc|testing)/
infiniband/|^rdma/probe/
rdma/rdma_cma.h|^rdma/probe/
curl/|^cluster/http/
yaml.h|^lib/json/yaml[.]c$
event2/|^(cluster/(http|testing)/|railheadd/|fabric/|lib/sys/timer)
check.h|^lib/testing/testing.h$'
export arrows parts doors
# shellcheck disable=SC2086 # words on purpose
files=$(find $folders -name '*.[ch]' 2>/dev/null | sort)
# shellcheck disable=SC2086
pages=$(find $folders examples docs packaging \( -path '*/testdata' -o -path 'conformance/*/*' \) -prune -o -name README.md -print 2>/dev/null | sort)
# shellcheck disable=SC2086
exec awk -f "$tools/circles.awk" -f "$tools/layers.awk" $files $pages
