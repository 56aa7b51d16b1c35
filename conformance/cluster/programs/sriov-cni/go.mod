module railhead/conformance/cluster/programs/sriov-cni

go 1.26.0

require (
	github.com/containernetworking/cni v0.6.0 // indirect
	github.com/containernetworking/plugins v0.7.5 // indirect
	github.com/coreos/go-iptables v0.8.0 // indirect
	github.com/intel/sriov-cni v2.1.0+incompatible // indirect
	github.com/onsi/ginkgo v1.16.5 // indirect
	github.com/onsi/gomega v1.44.0 // indirect
	github.com/stretchr/testify v1.12.1 // indirect
	github.com/vishvananda/netlink v1.1.0 // indirect
	github.com/vishvananda/netns v0.0.0-20191106174202-0a2b9b5464df // indirect
	golang.org/x/sys v0.0.0-20210112080510-489259a85091 // indirect
)

tool github.com/intel/sriov-cni/cmd/sriov
