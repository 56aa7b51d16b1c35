# SPDX-License-Identifier: Apache-2.0
# The targets that check, run, install and clean. Included by the Makefile.

.PHONY: help help-all deps check check-all demo demo-cluster demo-rdma bench bench-quick bench-sriov bench-sriov-quick bench-topo bench-topo-quick bench-rdma bench-rails bench-rails-quick bench-allrails bench-allrails-quick rails bench-cluster bench-cluster-etcd bench-cluster-agent bench-cluster-kubernetes bench-cluster-peers bench-cluster-quick bench-claims claims-kills agent-kills check-fast unit attach asan ubsan sanitize gcc clang coverage headers layers budget \
	dup deps-current release spdx english english-code format format-check tidy cppcheck shell man railctl-check probe-check settings-check examples-check install install-check image images image-check arm64 deb deb-check chart chart-check uninstall \
	conformance conformance-doc cluster-store cluster-store-3.6 agent-check agent-check-kubernetes agent-check-kubernetes-quick check-vm vm faults-vm vm-selftest interop fabric-check report-check interop-selftest upgrade-check cluster cluster-quick cluster-versions cluster-vm cluster-programs peer-programs cnitool faults faults-quick faults-selftest faults-lane harness-selftest soak soak-quick soak-heal soak-heal-quick soak-selftest differential differential-long fuzz fuzz-smoke fuzz-long fuzz-seeds fuzz-keep property job-model tools-check repro fresh compile_commands.json clean distclean

# Before the first --: what the others use. Behind the second: what measures. Between them, two at a
# time, the longest first.
SOURCE_LANES := headers format-check shell dup layers budget spdx english english-code
QUICK_LANES := image-check railctl-check unit tools-check cppcheck examples-check man install-check probe-check harness-selftest deps-current $(SOURCE_LANES)
CHECK_FAST := gcc -- unit $(SOURCE_LANES)
CHECK := gcc -- agent-check check-vm agent-check-kubernetes-quick sanitize tidy cluster-quick faults-quick fuzz-smoke attach conformance cluster-store chart-check interop fabric-check bench-cluster-quick soak-heal-quick $(QUICK_LANES) -- demo demo-cluster
# Instead of a part of a long suite the whole, and what finds out whether a harness or a compiler can be believed.
CHECK_ALL := gcc peer-programs -- vm cluster cluster-versions cluster-vm sanitize tidy clang coverage fuzz-smoke attach conformance faults interop fabric-check report-check cluster-store cluster-store-3.6 agent-check agent-check-kubernetes chart-check agent-kills claims-kills upgrade-check settings-check rails bench-cluster-quick soak soak-heal differential \
	vm-selftest faults-selftest interop-selftest soak-selftest property repro arm64 deb-check $(QUICK_LANES) -- demo demo-cluster bench-quick bench-sriov-quick bench-topo-quick bench-rails-quick bench-allrails-quick
sub := +@$(MAKE) --no-print-directory

C_FILES := $(foreach d,$(ROOMS) tools,$(wildcard $(d)/*.c)) $(HELPERS_SRC) $(HARNESS_SRC) $(PRELOAD_SRC) $(SPEC_SRC) $(SOAK_SRC) $(DIFFERENTIAL_SRC) $(FAULTS_SRC) conformance/faults/lane/wrap.c
H_FILES := $(foreach d,$(ROOMS) tools,$(wildcard $(d)/*.h)) $(wildcard conformance/*/*.h)
# Plugins: what `make dup` compares, each a list of rooms and files. Idioms are what code has that is not a plugin's.
comma := ,
together = $(subst $(eval) ,$(comma),$(filter-out %_test.c %_fuzz.c,$(wildcard $(1))))
# Two plugins share a room; the files of any other are found by its name.
sriov_DUP = $(addprefix plugins/sriov/,attach.c conf.c keys.c vf_*.c)
ib-sriov_DUP = $(addprefix plugins/sriov/,ib_*.c guid.c member.c apply.c)
DUP_PLUGINS = $(foreach p,$(PLUGIN_NAMES),$(call together,$(or $($(p)_DUP),$($(p)_SRC) plugins/ether/$(p)*.c plugins/$(p)/*.c)))
DUP_IDIOMS = $(filter-out %/testing,$(call below,lib) $(call below,topo) $(call below,ipam) $(call below,railctl))
SCRIPTS := $(shell find tools conformance docs examples packaging .ci -name '*.sh' -o -path '.ci/*' -type f 2>/dev/null | sort) \
	conformance/vm/run conformance/vm/guest/init packaging/kubectl/kubectl-rail packaging/kubectl/kubectl_complete-rail
LINT_FLAGS = -std=gnu11 $(ALL_CPPFLAGS)

# The targets of most days, in the order of `make help`.
HELP := all demo demo-cluster demo-rdma unit check-fast check check-all attach bench format man deps install uninstall image images deb chart release clean \
	distclean help-all
help: ## this list
	@echo 'targets:'
	@echo '$(HELP)' | awk -F ':.*## ' 'NR == FNR { n = split($$0, list, " "); next } /^[a-z0-9._-]+:.*## / { text[$$1] = $$2 } \
		END { for (i = 1; i <= n; i++) printf "  %-14s %s\n", list[i], text[list[i]] }' - $(MAKEFILE_LIST)
	@echo 'variables:'
	@echo '  V=1 shows commands; WERROR=1 makes warnings errors; CC, CFLAGS, LDFLAGS as usual'
	@echo '  install: DESTDIR, prefix, CNI_BIN (/opt/cni/bin), PLUGIN_PREFIX=rh-, FORCE=1, STRIP=0'
help-all: ## all targets
	@awk -F ':.*## ' '/^[a-z0-9._ -]+:.*## / { printf "  %-28s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install what the build needs (Debian; asks nothing)
	@tools/deps.sh build

# ---- everything -------------------------------------------------------------------------------

check: ## what a change must pass: half an hour (root); logs in build/log/; STRESS=1: on a busy machine
	@tools/deps.sh check
	@FUZZ_JOBS=$${FUZZ_JOBS:-1} FUZZ_RUNS=$${FUZZ_RUNS:-20000} tools/check.sh $(CHECK)
check-fast: ## unit tests, and the checks of the source: a minute or two
	@tools/deps.sh source
	@tools/check.sh $(CHECK_FAST)
check-all: ## everything else, too: second compiler and kernel, whole suites, tests of the harnesses, benches: hours (root)
	@tools/deps.sh check
	@tools/deps.sh arm64
	@tools/deps.sh deb
	@tools/deps.sh browser
	@FUZZ_JOBS=$${FUZZ_JOBS:-1} TIDY_NODES=$${TIDY_NODES:-225000} tools/check.sh $(CHECK_ALL)

demo: ## two pods with two rails each: attached, pinging, and a clean host afterwards (root)
	@tools/deps.sh demo
	$(sub) -j$$(nproc) all
	@[ -z "$$SUDO_UID" ] || chown -R "$$SUDO_UID" build
	@examples/demo.sh build/bin

demo-cluster: ## one pool for two nodes with real etcd, which is killed while pods start (root)
	@tools/deps.sh demo
	@tools/deps.sh cluster
	$(sub) -j$$(nproc) all helpers
	@[ -z "$$SUDO_UID" ] || chown -R "$$SUDO_UID" build
	@examples/demo-cluster.sh build/bin

demo-rdma: ## RoCE traffic between two pods in an emulated machine: minutes (root)
	@tools/deps.sh vm
	$(sub) -j$$(nproc) all helpers
	@[ -z "$$SUDO_UID" ] || chown -R "$$SUDO_UID" build
	@examples/demo-rdma.sh build/bin

# The benches write all of their tables into build/doc, for a release.
TABLES = mkdir -p build/doc && TABLES=build/doc/performance-$(1).md
bench: ## measure against the reference plugins
	@tools/deps.sh bench
	$(sub) -j$$(nproc) all helpers
	@$(call TABLES,attach) HELPERS=build/conformance/bench conformance/bench/run.sh build/bin
bench-quick: all helpers ## the measuring itself, with few rounds: its times mean nothing
	@HELPERS=$(B)/conformance/bench conformance/bench/run.sh --quick $(B)/bin
bench-rails: all helpers ## measure what the routing of a rail adds, beside the reference sbr (root): two minutes
	@tools/deps.sh bench
	@$(call TABLES,rails) HELPERS=$(B)/conformance/bench conformance/bench/rails.sh $(B)/bin
bench-rails-quick: all helpers ## the measuring itself, with few rounds: its times mean nothing
	@HELPERS=$(B)/conformance/bench conformance/bench/rails.sh --quick $(B)/bin
bench-allrails: all helpers ## measure eight rails in one ADD beside eight calls, ours and the reference's (root): three minutes
	@tools/deps.sh bench
	@$(call TABLES,allrails) HELPERS=$(B)/conformance/bench conformance/bench/allrails.sh $(B)/bin
bench-allrails-quick: all helpers ## the measuring itself, with few rounds: its times mean nothing
	@HELPERS=$(B)/conformance/bench conformance/bench/allrails.sh --quick $(B)/bin
# LISTS: a test program that says, when asked, what the list of a PF's VFs costs.
BENCH_SRIOV = LISTS=$(B)/test/lib/device/vf_test conformance/bench/sriov.sh
bench-sriov: all helpers $(B)/test/lib/device/vf_test ## measure moves of devices beside the reference, here and on true VFs (root): minutes
	@tools/deps.sh bench && tools/deps.sh vm
	@$(call TABLES,sriov) $(BENCH_SRIOV) $(B)/bin
bench-sriov-quick: all helpers $(B)/test/lib/device/vf_test ## the measuring itself, without the guest, with few rounds: its times mean nothing
	@$(BENCH_SRIOV) --quick --no-vm $(B)/bin
bench-topo: all helpers ## measure `railctl topo` on a tree of the size of a DGX, beside lstopo: a minute
	@tools/deps.sh bench
	@$(call TABLES,topo) HELPERS=$(B)/conformance/bench conformance/bench/topo.sh $(B)/bin
bench-topo-quick: all helpers ## the measuring itself, with few rounds: its times mean nothing
	@HELPERS=$(B)/conformance/bench conformance/bench/topo.sh --quick $(B)/bin
bench-rdma: all helpers ## measure what the plugin rdma adds to a chain, in the guest (root): minutes
	@tools/deps.sh vm
	@$(call TABLES,rdma) conformance/bench/rdma.sh $(B)/bin

# ---- tests ------------------------------------------------------------------------------------

unit: tests ## unit tests only: seconds
	@tools/unit.sh $(B)

attach: all helpers ## black-box tests of the plugins against the real kernel (root)
	@tools/attach.sh $(B)

railctl-check: all helpers ## black-box tests of railctl (root)
	@conformance/railctl/run.sh $(B)/bin

settings-check: all helpers ## the real NCCL and UCX read the files of a pod's settings: fetches Debian's packages once
	@conformance/rdma/settings.sh $(B)/conformance/rdma build/settings
probe-check: all ## black-box tests of rdma-probe's command line; with devices: make check-vm
	@conformance/rdma/run.sh $(B)/bin

conformance: all helpers ## every rule of the protocol, against our plugins, wrong ones and the reference (root)
	@conformance/spec/run.sh $(B)/bin
# cnitool is not in Debian; without it its cases are skipped, and say so.
CNITOOL := build/interop/cnitool
# Lanes that run at once want one build.
$(CNITOOL):
	@mkdir -p $(@D) && flock $(@D) sh -c '[ -x $@ ] || conformance/interop/cnitool-build.sh $@'
cnitool: $(CNITOOL) ## make cnitool from Debian's source package (fetches a Go compiler for as long as it takes)
interop: all helpers ## our plugins behind containerd, podman, cnitool and what Multus hands over (root)
	@[ "$${FETCH-}" = no ] || $(MAKE) --no-print-directory $(CNITOOL) || echo 'interop: no cnitool'
	@CNITOOL=$(CNITOOL) conformance/interop/run.sh $(B)/bin
fabric-check: all ## hooks for subnet managers: the real opensm over a simulated fabric, a stand-in for UFM (root)
	@tools/deps.sh fabric
	@conformance/fabric/run.sh $(B)/bin
report-check: all ## the page of railctl cluster report in Chromium: light, dark, printed; it loads and runs nothing (root)
	@tools/deps.sh browser
	@conformance/report/run.sh $(B)/bin
interop-selftest: all helpers ## wrong plugins, each of which a case of interop must catch (root)
	@conformance/interop/selftest.sh $(B)/bin
# Without the history of the repository there is no older version.
upgrade-check: all ## pods live through an upgrade from an older version, and back; builds it once from the history (root)
	@conformance/upgrade/older.sh build/older; case $$? in 0) conformance/upgrade/run.sh $(B)/bin build/older/bin ;; \
		3) echo "0 passed, 0 failed, 0 skipped"; echo "skipped: no history here, so no older version" ;; *) exit 1 ;; esac
# Programs and unpacked packages stay in build/cluster, also after make clean.
CLUSTER := build/cluster
cluster-programs: ## build Kubernetes, Multus, Helm and the reference plugins from Go modules: 10 to 30 minutes the first time
	@tools/deps.sh cluster
	@conformance/cluster/programs/build.sh $(CLUSTER) cni multus kubernetes helm
	@conformance/cluster/programs/build.sh $(CLUSTER) dra-example-driver node-feature-discovery kueue jobset lws || [ $$? = 3 ]
	@conformance/cluster/fetch.sh $(CLUSTER) tree
# They have a folder of their own, because two have the names of our plugins.
PEERS := build/peers
peer-programs: ## build the real sriov-cni and rdma-cni for make vm, and the real k8s-rdma-shared-dev-plugin for make cluster-vm
	@tools/deps.sh cluster
	@conformance/cluster/programs/build.sh $(PEERS) cni sriov-cni rdma-cni k8s-rdma-shared-dev-plugin
rails: all helpers ## by which rail packets leave, beside the real coordinator of Spiderpool and sbr (root): two minutes, once these are built
	@tools/deps.sh cluster
	@conformance/cluster-store/fetch.sh build/engines
	@conformance/cluster/programs/build.sh $(CLUSTER) kubernetes
	@conformance/cluster/programs/build.sh $(PEERS) cni spiderpool
	@PEERS=$(PEERS) CLUSTER=$(CLUSTER) HELPERS=$(B)/conformance/attach conformance/rails/run.sh $(B)/bin
cluster: all ## our plugins in a real Kubernetes cluster of two nodes, thin and thick Multus (root)
	@$(MAKE) --no-print-directory cluster-programs
	@conformance/cluster/programs/build.sh $(PEERS) whereabouts spiderpool
	@CLUSTER=$(CLUSTER) PEERS=$(PEERS) conformance/cluster/run.sh $(B)/bin
cluster-quick: all ## the same with the cases that stand for all: three minutes, once the programs are built
	@conformance/cluster/quick.sh $(B)/bin $(CLUSTER)
KUBERNETES := 1.33 1.34 1.37
cluster-versions: all ## rails by one line in the pod on other versions of Kubernetes, KUBERNETES="1.34 1.37" (root): an hour
	@$(MAKE) --no-print-directory cluster-programs
	@conformance/cluster/versions.sh $(B)/bin $(CLUSTER) $(KUBERNETES)
cluster-vm: all helpers ## the plugin sriov on a Kubernetes node with true VFs, which is a guest: ten to twenty minutes (root)
	@tools/deps.sh cluster
	@tools/deps.sh vm
	@$(MAKE) --no-print-directory cluster-programs
	@CLUSTER=$(CLUSTER) PEERS=$(PEERS) conformance/cluster-vm/run.sh $(B)/bin
# Two unit tests look at the guest's kernel.
VM_TESTS := $(B)/test/lib/net/settings_test $(B)/test/lib/net/settings_sysctl_test
# Test programs X_engine_test.c want a real engine.
ENGINE_TESTS := $(filter %_engine_test,$(TESTS))
cluster-store: $(ENGINE_TESTS) ## the contract of the cluster stores against real etcd of Debian's packages (root)
	@tools/deps.sh cluster
	@ENGINES=build/engines conformance/cluster-store/run.sh $(B)
cluster-store-3.6: $(ENGINE_TESTS) ## the same contract against etcd 3.6, built from Go modules: some minutes the first time (root)
	@tools/deps.sh cluster
	@ENGINES=build/engines conformance/cluster-store/run.sh $(B) etcd-3.6
agent-check: all helpers ## nodes with a node agent each on real etcd of Debian's packages, and pods on shared pools (root)
	@tools/deps.sh cluster
	@ENGINES=build/engines conformance/agent/run.sh $(B)/bin
agent-kills: all helpers ## agents are killed at any system call 200 times, while pods come and go on three nodes (root)
	@tools/deps.sh cluster
	@KILLS=200 LIMIT=120 ENGINES=build/engines conformance/agent/run.sh $(B)/bin kills
agent-check-kubernetes: all helpers ## the same with a real API server: its rights, tokens and certificates, too (root)
	@tools/deps.sh cluster
	@STORE=kubernetes ENGINES=build/engines CLUSTER=$(CLUSTER) conformance/agent/run.sh $(B)/bin
agent-check-kubernetes-quick: all helpers ## the same without the themes whose cases use each store alike; agent-check has them (root)
	@tools/deps.sh cluster
	@QUICK=1 STORE=kubernetes ENGINES=build/engines CLUSTER=$(CLUSTER) conformance/agent/run.sh $(B)/bin
chart: ## build/chart/: the Helm chart as one file
	@tools/chart.sh build/chart
chart-check: all ## the Helm chart: what it renders and refuses, and install, upgrade and removal on a real API server (root)
	@tools/deps.sh cluster
	@ENGINES=build/engines CLUSTER=$(CLUSTER) conformance/chart/run.sh $(B)/bin
NODES_TEST := $(B)/test/railheadd/testing/nodes_engine_test
BENCH_CLUSTER := ENGINES=build/engines CLUSTER=$(CLUSTER) PEERS=$(PEERS) conformance/cluster-scale/all.sh $(B)
bench-cluster: all helpers $(NODES_TEST) ## 1,024 nodes on real etcd, 64 on a real API server, one agent, whereabouts and Spiderpool beside railhead (root): twenty minutes
	@tools/deps.sh cluster
	@$(BENCH_CLUSTER)
bench-cluster-etcd bench-cluster-agent bench-cluster-kubernetes bench-cluster-peers: bench-cluster-%: all helpers $(NODES_TEST) ## one part of it (root): minutes
	@tools/deps.sh cluster
	@PARTS=$* $(BENCH_CLUSTER)
bench-claims: all ## from kubectl create to the first process with eight rails: claims, and Multus beside them; and to a node of 1,024 (root): ten minutes
	@$(MAKE) --no-print-directory cluster-programs
	@mkdir -p $(B)/doc && rm -f $(B)/doc/first-process.txt
	@BENCH=$(abspath $(B))/doc/first-process.txt CLUSTER=$(CLUSTER) conformance/cluster/run.sh $(B)/bin
	@cat $(B)/doc/first-process.txt
claims-kills: all ## pods with rails by one line come and go while programs of their node are killed (root); PODS=60, SEED=1: minutes
	@tools/deps.sh cluster
	@$(MAKE) --no-print-directory cluster-programs
	@PODS=$${PODS:-60} CLUSTER=$(CLUSTER) conformance/cluster/run.sh $(B)/bin
bench-cluster-quick: all helpers $(NODES_TEST) ## the same with 32 nodes, and no figures
	@tools/deps.sh cluster
	@ENGINES=build/engines conformance/cluster-scale/run.sh --quick $(B)
check-vm: all helpers $(VM_TESTS) $(CNITOOL) ## suites in guests with real VFs, kernel 7.2 (root; fetches it once)
	@tools/deps.sh vm
	@KERNELS=7.2 QUICK=1 VM_NICE=0 conformance/vm/check.sh $(B)/bin
vm: all helpers faults-lane $(VM_TESTS) $(CNITOOL) ## all suites of conformance/vm on both kernels (root): half an hour
	@tools/deps.sh vm
	@conformance/vm/check.sh $(B)/bin
faults-vm: all helpers faults-lane ## every fault for sriov, ib-sriov, ipoib, ipvlan and rdma, in the guest: hours (root)
	@SUITES="faults rdma-faults ib-faults" FULL=$(if $(FAULTS_SAMPLE),,1) LIMIT=$${LIMIT:-36000} SILENCE=36000 conformance/vm/check.sh $(B)/bin
vm-selftest: all helpers ## what goes wrong in the guest, or with it, is a failure, and leaves nothing (root)
	@conformance/vm/selftest.sh $(B)/bin
conformance-doc: all helpers ## build/doc/conformance.md, every item side by side, and its totals as docs/conformance.md: an hour
	@conformance/spec/doc.sh $(B)/bin build/doc && cp build/doc/conformance-short.md docs/conformance.md

# Programs of which a tracer can make an allocation fail.
faults-lane: all
	+@flock $(firstword $(MAKEFILE_LIST)) $(MAKE) --no-print-directory LANE=faults all
faults: all helpers faults-lane ## every fault there is, one at a time: nothing is left of any (root): minutes
	@conformance/faults/all.sh $(B)
faults-selftest: all helpers ## plugins with a fault each that faults must catch (root)
	@conformance/faults/selftest.sh $(B)
faults-quick: all helpers faults-lane ## faults, a part that stands for all
	@FAULTS_SAMPLE=$${FAULTS_SAMPLE:-460} conformance/faults/all.sh $(B)

differential: all helpers ## generated configurations for railhead-ipam and the real host-local: equal answers, or a listed reason (root)
	@HELPERS=$(B)/conformance/differential conformance/differential/run.sh $(B)/bin
differential-long: all helpers ## the same with 100,000, of a seed of the moment (root): minutes
	@HELPERS=$(B)/conformance/differential conformance/differential/run.sh --seed $$(date +%s) --count 100000 $(B)/bin

harness-selftest: all helpers ## what the suites' snapshots must tell, one change at a time, and what attach repeats (root)
	@conformance/harness/selftest.sh $(B)

soak: all helpers ## 50,000 attachments come and go, some of them killed, and nothing is left (root): minutes
	@$(call TABLES,soak) HELPERS=$(B)/conformance/soak conformance/soak/run.sh $(B)/bin
soak-selftest: all helpers ## plugins with a mistake each that soak must catch (root)
	@conformance/soak/selftest.sh $(B)
soak-quick: all helpers ## soak with 1,500
	@HELPERS=$(B)/conformance/soak conformance/soak/run.sh --cycles 1500 --seed $${SOAK_SEED:-1} $(B)/bin
soak-heal: all helpers ## attachments come and go, some killed, without GC the node agent heals within two minutes (root): ten minutes
	@HELPERS=$(B)/conformance/soak conformance/soak/run.sh --cycles 750 --heal 120 $(B)/bin
soak-heal-quick: all helpers ## the same with short times of the agent
	@HELPERS=$(B)/conformance/soak conformance/soak/run.sh --cycles 750 --seed $${SOAK_SEED:-1} --heal 60 --repair '{"every":1,"grace":1}' $(B)/bin

# Leaks in a plugin end it with a status that no test expects.
asan: ## unit and black-box tests under the address and leak sanitizer
	$(sub) LANE=asan -j$$(nproc) sanitized
ubsan: ## unit and black-box tests under the undefined-behaviour sanitizer
	$(sub) LANE=ubsan -j$$(nproc) sanitized
sanitize: ## the same under both together
	$(sub) LANE=sanitize -j$$(nproc) sanitized

.PHONY: sanitized
sanitized: all tests helpers
	@tools/both.sh $(B)

coverage: ## lines and branches that the unit tests reach; pure code must have 90% of its branches
	@if [ -d build/coverage ]; then find build/coverage -name '*.gcda' -exec rm {} +; fi
	$(sub) LANE=coverage -j$$(nproc) tests
	@tools/unit.sh build/coverage; rc=$$?; tools/coverage.sh build/coverage && exit $$rc

fuzz: ## build the fuzz targets (clang; libFuzzer, ASan, UBSan)
	$(sub) LANE=fuzz CC=clang-14 WERROR=1 -j$$(nproc) fuzzers
fuzz-smoke: fuzz ## each fuzz target's seeds and FUZZ_RUNS (50000) inputs made with FUZZ_SEED (1): the same every time
	@tools/fuzz.sh smoke build/fuzz
fuzz-long: fuzz ## explore: the fuzz targets in turn until they had FUZZ_CPU_SECONDS (7200) of CPU; niced
	@tools/fuzz.sh long build/fuzz
fuzz-seeds: ## unpack the seeds of the fuzz targets into build/fuzz/seeds/
	@tools/fuzz.sh seeds build/fuzz
fuzz-keep: fuzz ## of what fuzz-long found, add inputs that reach new edges to the seeds in the tree
	@tools/fuzz.sh keep build/fuzz

# The test itself is part of unit, with fewer steps.
MODEL_STEPS ?= 1000000
property: $(B)/test/ipam/alloc/model_test ## the allocator against a simple model, in a million random steps
	@MODEL_STEPS=$(MODEL_STEPS) CK_FORK=no $<
	@echo 'property: $(MODEL_STEPS) random steps agree with the model'

# The test itself is part of unit, with fewer jobs.
job-model: $(B)/test/rdma/job/judge_model_test ## the judge of a job against a simulated fabric: JOBS=2995 clean jobs, FAULTS=299 of each fault: half an hour
	@JOBS=$${JOBS:-2995} FAULTS=$${FAULTS:-299} CK_FORK=no $<

examples-check: all ## the files in examples/ are what they claim to be
	@if [ -x examples/test.sh ]; then examples/test.sh $(B)/bin; else echo 'skipped: there is no examples/test.sh'; fi

CONFORMANCE := $(B)/conformance/spec/cni-conformance
install-check: all $(CONFORMANCE) ## `make install` into a temporary folder, in all the ways it can go wrong
	@conformance/install/run.sh $(B)/bin

image: all ## build/image/: images (OCI) of the plugins, the agent and rdma-probe, and what is in them (SPDX)
	@tools/image.sh $(B) build/image
# The unit tests of pure code, for the lane arm64.
PURE_TESTS := $(if $(filter arm64,$(LANE)),$(patsubst %,$(B)/test/%_test,$(shell tools/arm64.sh pure)))
arm64: ## the programs for arm64, cross-built, run under qemu-user with the unit tests of pure code; their images in build/image-arm64/
	@tools/deps.sh arm64
	@tools/arm64.sh sysroot
	$(sub) LANE=arm64 -j$$(nproc) crossed
.PHONY: crossed
crossed: all $(PURE_TESTS)
	@tools/image.sh $(B) build/image-arm64
	@tools/arm64.sh check $(B)
images: image arm64 ## build/images/: the images of this machine and of arm64, one tag for both
	@tools/deps.sh image
	@tools/image-index.sh build/images build/image build/image-arm64
image-check: image ## railhead-install as in a container: upgrades under pods, removals, kills, full disks; the images (root)
	@tools/deps.sh image
	@IMAGE=build/image conformance/image/run.sh $(B)/bin

deb: $(CJSON_DIR)/mode.mk ## build/deb/: a package of Debian; DEBFULLNAME and DEBEMAIL: its maintainer
	@tools/deps.sh deb
	@tools/deb.sh build/deb
deb-check: deb ## lintian on the package; the same bytes when it is built again; installed, used and removed in a copy of this Debian (root)
	@tools/deb.sh build/deb/again
	@conformance/deb/run.sh build/deb/railhead_*.deb build/deb/again/railhead_*.deb

tools-check: ## each of the checks below fails when it should
	@tools/selftest.sh

repro: all ## a second build, in another folder, is byte for byte the same
	@tools/repro.sh $(B) '$(WERROR)'

deps-current: all ## static libraries that were linked against what apt offers: old ones are a warning
	@tools/deps-current.sh $(B)
release: all helpers ## build/release/: source, programs, what is in them (SPDX), checksums; refuses old libraries
	@tools/release.sh $(B) build/release

# ---- the source -------------------------------------------------------------------------------

gcc: ## build everything with gcc, warnings are errors
	$(sub) WERROR=1 all tests helpers && echo 'gcc: no warning'
clang: ## build everything with clang, warnings are errors
	$(sub) LANE=clang CC=clang-14 WERROR=1 all tests helpers && echo 'clang: no warning'

headers: $(GENERATED_H) ## each header compiles alone, with gcc and clang
	@tools/headers.sh 'gcc clang-14' '$(LINT_FLAGS) $(PROBED_WARN)' $(H_FILES)

layers: ## includes follow the arrows between folders
	@tools/layers.sh
budget: ## sizes of functions and of the tree; every fuzz target has seeds
	@tools/budget.sh
	@tools/seeds.sh check
dup: ## lines that plugins share with the engine and with each other
	@tools/dup.sh cni/engine $(DUP_PLUGINS) -- $(DUP_IDIOMS)
spdx: ## every file names its licence
	@tools/spdx.sh
english: ## short sentences and no banned turns in the documents
	@tools/english.sh
english-code: ## the same for comments and messages of the code; each file and each function of a header has a comment; names of tests
	@tools/english.sh . $$(printf '%s\n' $(C_FILES) $(H_FILES) | grep -Ev '(_test|_fuzz)\.c$$|/testing/') \
		$(SCRIPTS) $(wildcard tools/*.awk) Makefile tools/lanes.mk
	@awk -f tools/comments.awk $(C_FILES) $(H_FILES)

format: ## lay out all C files with clang-format
	@clang-format-14 -i $(C_FILES) $(H_FILES)
format-check: ## the layout is clang-format's
	@printf '%s\n' $(C_FILES) $(H_FILES) | xargs -n 50 -P $$(nproc) clang-format-14 --dry-run -Werror || \
	{ echo 'format-check: to mend the above: make format'; exit 1; }
	@echo 'format-check: $(words $(C_FILES) $(H_FILES)) files'

tidy: $(GENERATED_H) ## clang-tidy, which also has the warnings of clang
	@tools/tidy.sh '$(LINT_FLAGS) $(PROBED_WARN)' $(C_FILES)

cppcheck: ## cppcheck
	@mkdir -p build/cppcheck
	@cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
		--suppressions-list=tools/cppcheck.txt --cppcheck-build-dir=build/cppcheck -j $$(nproc) \
		-I. -D_GNU_SOURCE -D__linux__ $(filter-out tools/%,$(C_FILES))
	@echo 'cppcheck: $(words $(C_FILES)) files without a finding'

# A script is checked with those that it reads, so one that has changed has all of them checked again.
shell: ## shellcheck
	@now=$$(cat $(SCRIPTS) | sha256sum; shellcheck --version); [ "$$now" = "$$(cat $(B)/shell.ok 2>/dev/null)" ] || { rm -f $(B)/shell.ok && \
	printf '%s\n' $(SCRIPTS) | xargs -n 30 -P $$(nproc) shellcheck -S warning -x && mkdir -p $(B) && echo "$$now" >$(B)/shell.ok; }
	@echo 'shell: $(words $(SCRIPTS)) scripts without a finding'

man: ## manual pages are well formed, and the documents agree with the code
	@docs/test.sh

compile_commands.json: $(GENERATED_H) ## for editors and clangd
	@for f in $(C_FILES); do \
		printf '{"directory": "%s", "file": "%s", "command": "%s"}\n' '$(CURDIR)' "$$f" \
		"$(CC) $(LINT_FLAGS) $(PROBED_WARN) -c $$f"; done | sed 's/$$/,/; $$s/,$$//; 1s/^/[/; $$s/$$/]/' >$@
	@echo '  $@'

fresh: ## `make check` and `make demo` on a fresh minimal Debian in a folder below /tmp (root, network)
	@tools/fresh.sh

# ---- install ----------------------------------------------------------------------------------

prefix ?= /usr/local
exec_prefix ?= $(prefix)
bindir ?= $(exec_prefix)/bin
sbindir ?= $(exec_prefix)/sbin
libexecdir ?= $(exec_prefix)/libexec
datarootdir ?= $(prefix)/share
mandir ?= $(datarootdir)/man
bashcompdir ?= $(datarootdir)/bash-completion/completions
unitdir ?= $(prefix)/lib/systemd/system
CNI_BIN ?= /opt/cni/bin
install_env = BIN='$(B)/bin' DESTDIR='$(DESTDIR)' CNI_BIN='$(CNI_BIN)' PLUGIN_PREFIX='$(PLUGIN_PREFIX)' \
	bindir='$(bindir)' sbindir='$(sbindir)' libexecdir='$(libexecdir)' mandir='$(mandir)' bashcompdir='$(bashcompdir)' unitdir='$(unitdir)' FORCE='$(FORCE)' STRIP='$(STRIP)'

install: all $(CONFORMANCE) ## install the programs, pages, completion and unit; never over another's file without FORCE=1
	@$(install_env) tools/install.sh install
uninstall: ## remove what `make install` put there, and only that; FORCE=1: also under pods that need it
	@$(install_env) tools/install.sh uninstall

clean: ## remove what was built, keep what was downloaded
	@if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name cjson ! -name vm ! -name cluster ! -name peers ! -name engines -exec rm -rf {} +; fi

distclean: ## remove build/ and compile_commands.json
	@rm -rf build compile_commands.json
