#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Check who includes whom.
#
# usage: tools/layers.sh [ROOT]
#
# A room is a folder with C files. Its arrows are below; its README.md repeats them in a line
# "May include: lib/, cni/protocol/", and the two must agree. There is no way back along the arrows. Files for tests
# (X_test.c, X_fuzz.c, X_contract.*, rooms called testing) may include all parts that the part of their room may.
# A header X_priv.h belongs to its room alone. No files include each other in a circle. A README has at most 60 lines, and the heading of a room's is "# ROOM: words".
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
lib/wait|lib/base/
lib/encode|lib/base/
lib/json|lib/base/
lib/grpc|lib/base/ lib/sys/
lib/grpc/testing|lib/
lib/sys|lib/base/ lib/wait/ lib/encode/ lib/json/
lib/net|lib/base/ lib/sys/
lib/device|lib/base/ lib/sys/ lib/net/
lib/pci|lib/base/ lib/sys/
lib/rdma|lib/base/ lib/json/ lib/sys/ lib/net/ lib/device/ lib/pci/
lib/nccl|lib/base/
lib/cli|lib/base/ lib/json/
lib/testing|lib/
topo/core|lib/
topo/read|lib/ topo/core/
topo/kubelet|lib/ topo/read/
topo/nccl|lib/ topo/core/
topo/gdr|lib/ topo/core/ topo/read/
topo/xml|lib/ topo/core/ topo/read/ topo/nccl/
topo/capture|lib/ topo/read/ topo/gdr/
topo/compare|lib/ topo/core/ topo/nccl/
topo/rails|lib/ topo/core/ topo/read/
topo/show|lib/ topo/core/ topo/gdr/ topo/compare/
topo/dra|lib/ topo/core/
topo/diff|lib/
topo/verify|lib/
topo/testing|lib/ topo/
cni/protocol|lib/
cni/record|lib/ cni/protocol/
cni/routing|lib/ cni/protocol/
cni/inspect|lib/ cni/protocol/ cni/record/ cni/routing/ cni/hostveth/ cni/tuning/
cni/master|lib/ topo/rails/
cni/demand|lib/ topo/rails/ cni/protocol/ cni/record/ cni/master/
cni/tuning|lib/ cni/protocol/
cni/probe|lib/
cni/hostveth|lib/ cni/protocol/ cni/routing/
cni/inuse|lib/ cni/protocol/ cni/record/
cni/announce|lib/ cni/protocol/
cni/engine|lib/ cni/protocol/ cni/record/ cni/routing/ cni/hostveth/ cni/probe/ cni/inuse/ cni/announce/ cni/master/ cni/demand/ cni/tuning/
cni/ipoib|lib/ cni/protocol/ cni/record/ cni/engine/
cni/links|lib/ cni/protocol/ cni/engine/
cni/rails|lib/ topo/rails/ topo/kubelet/ cni/protocol/ cni/record/ cni/engine/ cni/links/ rdma/device/ sriov/take/ sriov/choose/ sriov/plugin/
cni/plugins|lib/ cni/protocol/ cni/engine/ cni/links/ cni/ipoib/ cni/rails/ ipam/plugin/
cni/testing|lib/ cni/
ipam/store|lib/
ipam/conf|lib/ cni/protocol/ ipam/store/
ipam/node|lib/ ipam/conf/
ipam/agent|lib/
ipam/peers|lib/
ipam/lease|lib/ cni/protocol/ cni/record/ cni/engine/ ipam/store/ ipam/conf/ cluster/protocol/
ipam/blocks|lib/ ipam/conf/ ipam/node/ ipam/lease/ cluster/protocol/
ipam/alloc|lib/ cni/protocol/ ipam/conf/ ipam/node/ ipam/lease/ ipam/agent/ ipam/peers/
ipam/admin|lib/ ipam/conf/ ipam/node/ ipam/lease/ ipam/alloc/
ipam/plugin|lib/ cni/protocol/ ipam/agent/ ipam/lease/ ipam/alloc/ ipam/peers/
ipam/testing|lib/ cni/ ipam/ cluster/
fabric/sm|lib/
fabric/opensm|lib/ fabric/sm/
fabric/ufm|lib/ cluster/http/ fabric/sm/
fabric/testing|lib/ cluster/ fabric/
sriov/vf|lib/ cni/protocol/ cni/record/
sriov/take|lib/ cni/protocol/ cni/record/ sriov/vf/
sriov/choose|lib/ cni/protocol/ cni/record/ topo/ sriov/vf/ sriov/take/
sriov/admin|lib/ sriov/vf/ sriov/take/ sriov/choose/
sriov/attach|lib/ cni/protocol/ cni/record/ cni/engine/ sriov/vf/ sriov/take/ sriov/choose/
sriov/plugin|lib/ cni/protocol/ cni/engine/ ipam/plugin/ sriov/vf/ sriov/take/ sriov/attach/
sriov/ib|lib/ cni/protocol/ cni/record/ cni/engine/ fabric/sm/ ipam/plugin/ sriov/vf/ sriov/take/ sriov/attach/
sriov/testing|lib/ cni/ topo/ sriov/
rdma/device|lib/
rdma/inventory|lib/ cni/record/ rdma/device/
rdma/plugin|lib/ cni/ rdma/device/
rdma/env|lib/ rdma/inventory/
rdma/qos|lib/
rdma/doctor|lib/ rdma/device/ rdma/inventory/ rdma/env/
rdma/testing|lib/ cni/ rdma/
rdma/probe/data|lib/
rdma/probe/wire|lib/
rdma/probe/verbs|lib/ rdma/probe/data/ rdma/probe/wire/
rdma/probe/run|lib/ rdma/probe/data/ rdma/probe/wire/ rdma/probe/verbs/
rdma/probe/cmd|lib/ rdma/probe/data/ rdma/probe/run/
rdma/probe/testing|lib/ rdma/probe/
repair/stale|lib/ cni/ sriov/ib/ sriov/take/ rdma/plugin/
install|lib/ cni/record/ ipam/peers/ repair/stale/
cluster/http|lib/
cluster/store|lib/
cluster/protocol|lib/ ipam/conf/ cluster/store/
cluster/call|lib/ cluster/http/ cluster/store/
cluster/etcd|lib/ cluster/http/ cluster/store/ cluster/call/
cluster/kube|lib/ cluster/http/ cluster/store/ cluster/call/
cluster/testing|lib/ ipam/ cluster/
railheadd|lib/ ipam/lease/
railheadd/conf|lib/ cluster/http/ cluster/etcd/ cluster/kube/ cluster/store/
railheadd/labels|lib/ ipam/conf/ ipam/node/
railheadd/follow|lib/ cluster/store/
railheadd/drive|lib/ ipam/conf/ ipam/lease/ ipam/blocks/ ipam/admin/ cluster/store/ cluster/protocol/ railheadd/labels/ railheadd/nodes/ railheadd/events/ railheadd/follow/
railheadd/events|lib/ cluster/store/
railheadd/kubenode|lib/ cluster/store/ railheadd/drive/ railheadd/follow/
railheadd/machines|lib/ cluster/protocol/ cluster/store/ railheadd/drive/
railheadd/reserved|lib/ ipam/conf/ ipam/lease/ ipam/admin/ cluster/store/ cluster/protocol/ railheadd/drive/ railheadd/follow/
railheadd/nodes|lib/ ipam/conf/ ipam/blocks/ cluster/store/ cluster/protocol/
railheadd/report|lib/ cluster/store/ cluster/protocol/ railheadd/nodes/
railheadd/child|lib/
railheadd/resources|lib/ topo/core/ topo/read/ sriov/vf/ sriov/choose/
railheadd/grpc|lib/
railheadd/deviceplugin|lib/ topo/kubelet/ railheadd/child/ railheadd/grpc/ railheadd/resources/
railheadd/devices|lib/ cni/record/ cni/protocol/ cni/engine/ sriov/vf/ rdma/device/ repair/stale/
railheadd/metrics|lib/ ipam/admin/ ipam/agent/ railheadd/child/ railheadd/deviceplugin/ railheadd/devices/ railheadd/drive/ railheadd/repair/ railheadd/plugins/ railheadd/rails/
railheadd/plugins|lib/ install/ railheadd/events/
railheadd/rails|lib/ topo/core/ topo/read/ topo/gdr/ rdma/qos/ railheadd/child/ railheadd/events/
railheadd/repair|lib/ cni/ fabric/sm/ sriov/vf/ sriov/admin/ repair/stale/ railheadd/child/ railheadd/events/
railheadd/reclaim|lib/ cluster/store/ cluster/protocol/ railheadd/report/
railheadd/serve|lib/ ipam/conf/ ipam/agent/ railheadd/deviceplugin/ railheadd/drive/ railheadd/machines/ railheadd/nodes/ railheadd/plugins/ railheadd/rails/ railheadd/reclaim/ railheadd/repair/ railheadd/reserved/
railheadd/testing|lib/ ipam/ cluster/ railheadd/
railctl|lib/
railctl/dropin|lib/
railctl/attachments|lib/ cni/ sriov/ rdma/ repair/stale/
railctl/rails|lib/ cni/ rdma/ topo/ railctl/topo/
railctl/cluster|lib/ ipam/agent/
railctl/ipam|lib/ cni/ ipam/
railctl/netconf|lib/ cni/ ipam/conf/ ipam/peers/ sriov/ rdma/plugin/
railctl/vf|lib/ cni/protocol/ cni/record/ sriov/ railctl/dropin/
railctl/rdma|lib/ cni/ fabric/sm/ sriov/ rdma/ railctl/dropin/
railctl/support|lib/ topo/capture/
railctl/topo|lib/ topo/ sriov/ rdma/ railctl/rdma/
tools|lib/
conformance|conformance/'
# parts, and the parts that the tests of each may include
parts='
lib|lib/
topo|lib/ topo/
cni|lib/ cni/
ipam|lib/ cni/ ipam/ cluster/
fabric|lib/ cluster/ fabric/
sriov|lib/ topo/ cni/ fabric/ sriov/
rdma|lib/ cni/ rdma/
repair|lib/ cni/ sriov/ rdma/ repair/
install|lib/ cni/ ipam/ repair/ install/
cluster|lib/ ipam/ cluster/
railheadd|lib/ topo/ cni/ ipam/ fabric/ sriov/ rdma/ repair/ install/ cluster/ railheadd/
railctl|lib/ topo/ cni/ ipam/ fabric/ sriov/ rdma/ repair/ railctl/
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
lmdb.h|^ipam/store/store_lmdb[^/]*$
expat.h|^topo/xml/
protobuf-c/|^(topo/kubelet|railheadd/deviceplugin)/
topo/kubelet/pod_resources.pb-c.h|^topo/kubelet/pod_resources[.]c$
railheadd/deviceplugin/device_plugin.pb-c.h|^railheadd/deviceplugin/wire[.]c$
nghttp2/|^lib/(grpc|testing)/
infiniband/|^rdma/probe/verbs/
rdma/rdma_cma.h|^rdma/probe/verbs/
curl/|^cluster/http/
yaml.h|^(cluster/kube/kubeconfig|ipam/peers/yaml_json)[.]c$
event2/|^(cluster/(http|testing)|railheadd|fabric/ufm)/
check.h|^lib/testing/testing.h$'
export arrows parts doors
# shellcheck disable=SC2086 # words on purpose
files=$(find $folders -name '*.[ch]' 2>/dev/null | sort)
# shellcheck disable=SC2086
pages=$(find $folders examples docs packaging \( -path '*/testdata' -o -path 'conformance/*/*' \) -prune -o -name README.md -print 2>/dev/null | sort)
# shellcheck disable=SC2086
exec awk -f "$tools/circles.awk" -f "$tools/layers.awk" $files $pages
