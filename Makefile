# SPDX-License-Identifier: Apache-2.0
# railhead: `make help` lists the targets. Everything that is built is below build/.
#
# Nothing here runs a compiler while make reads this file, so that `make check` and `make demo` can
# install the compiler first.

# Of the newest entry in CHANGELOG.md; tools that stamp a time into their output use it.
export SOURCE_DATE_EPOCH ?= 1795219200

# ---- what is built ----------------------------------------------------------------------------

# Programs: name, main. A program without its main is left out. They are static, except those named
# in DYNAMIC: libibverbs loads the library of a driver when it runs. The main of the plugin a-b is plugins/a_b.c.
# Not PLUGINS: make faults takes that from the environment.
PLUGIN_NAMES := $(or $(shell tools/plugins.sh),$(error tools/plugins.sh prints no plugin))
PROGRAMS := $(PLUGIN_NAMES) railhead-ipam railhead railhead-hook railctl rdma-probe rdma-probe-static railheadd railhead-devices sm-opensm sm-ufm railhead-install
DYNAMIC := rdma-probe railheadd railhead-devices sm-ufm
$(foreach p,$(PLUGIN_NAMES) railhead-ipam railhead railhead-hook,$(eval $(p)_SRC := plugins/$(subst -,_,$(p)).c))
railctl_SRC := railctl/main.c
railhead-install_SRC := install/main.c
sm-opensm_SRC := fabric/sm_opensm.c
sm-ufm_SRC := fabric/sm_ufm.c
sm-ufm_LIBS = $(CLUSTER_LIBS)
rdma-probe_SRC := rdma/probe/main.c
rdma-probe_LIBS := -libverbs -lrdmacm
# For containers, whose images have no drivers of libibverbs: they are in it. The names of their archives have a version.
rdma-probe-static_SRC := rdma/probe/main.c rdma/probe/static_drivers.c
PROVIDERS = -lefa -lmana -lmlx4 -lmlx5 $$(ls $$(dirname $$($(CC) -print-file-name=libibverbs.a)) | sed -n 's/^lib\(.*-rdmav.*\)\.a$$/-l\1/p')
rdma-probe-static_LIBS = -lrdmacm -Wl,--start-group -libverbs $(PROVIDERS) -Wl,--end-group -lnl-route-3 -lnl-3 -Wl,--wrap=dlopen,--wrap=dlsym
railheadd_SRC := railheadd/main.c
railheadd_LIBS = $(CLUSTER_LIBS)
railhead-devices_SRC := railheadd/devices.c
railhead-devices_LIBS = $(CLUSTER_LIBS)

# tools/parts names the parts. Rooms are the folders of code, two levels deep. Each part is an archive, without mains and without the code that only tests use.
PARTS := $(file <tools/parts)
ROOMS := $(patsubst %/,%,$(sort $(dir $(foreach p,$(PARTS),$(wildcard $(p)/*.[ch] $(p)/*/*.[ch] $(p)/*/testing/*.[ch])))))
MAINS := $(foreach p,$(PROGRAMS),$($(p)_SRC))
TESTING_SRC := $(foreach d,$(filter %/testing,$(ROOMS)),$(filter-out %_test.c,$(wildcard $(d)/*.c)))
# C that protoc-c makes from the .proto files of rooms. It is the same in all lanes.
GEN := build/gen
generated = $(patsubst %.proto,$(GEN)/%.pb-c.$(2),$(foreach d,$(1),$(wildcard $(d)/*.proto)))
GENERATED_H := $(call generated,$(ROOMS),h)
sources = $(filter-out %_test.c %_fuzz.c $(MAINS) $(TESTING_SRC),$(foreach d,$(1),$(wildcard $(d)/*.c))) $(call generated,$(1),c)
below = $(filter $(1) $(1)/%,$(ROOMS))
# In the order of the arrows: an archive needs only those after it. lib is librailhead.a. rdma/probe is apart, because only it needs libibverbs.
ARCHIVES := railctl railheadd install plugins diag probe rdma sriov fabric cluster ipam cni topo railhead
$(foreach p,$(filter-out lib rdma,$(PARTS)),$(eval lib$(p)_SRC := $$(call sources,$$(call below,$(p)))))
libprobe_SRC := $(call sources,$(call below,rdma/probe))
librdma_SRC := $(call sources,$(filter-out $(call below,rdma/probe),$(call below,rdma)))
librailhead_SRC := $(call sources,$(call below,lib))

TESTS_SRC := $(foreach d,$(ROOMS),$(wildcard $(d)/*_test.c))
FUZZ_SRC := $(foreach d,$(ROOMS),$(wildcard $(d)/*_fuzz.c))
# Programs of the conformance suites; they contain none of our objects. All files of spec/ are one program. So are those of
# soak/, faults/ and differential/. Elsewhere each file is a program. harness/ is an archive that all of them use.
HARNESS_SRC := $(wildcard conformance/harness/*.c)
SPEC_SRC := $(wildcard conformance/spec/*.c)
SOAK_SRC := $(wildcard conformance/soak/*.c)
DIFFERENTIAL_SRC := $(wildcard conformance/differential/*.c)
FAULTS_SRC := $(wildcard conformance/faults/*.c)
# Those of rdma/ are libraries to preload.
PRELOAD_SRC := $(wildcard conformance/rdma/*.c)
HELPERS_SRC := $(filter-out $(HARNESS_SRC) $(SPEC_SRC) $(SOAK_SRC) $(DIFFERENTIAL_SRC) $(FAULTS_SRC) $(PRELOAD_SRC),$(wildcard conformance/*/*.c))

# ---- where and with what ----------------------------------------------------------------------

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(LANE),arm64)
# The caller's CC is a compiler for this machine.
override CC := tools/aarch64-gcc
AR := aarch64-linux-gnu-ar
# A program for another machine runs under this one.
export SYSROOT := $(CURDIR)/build/arm64/sysroot
export RUN_WITH := $(CURDIR)/tools/aarch64-run
endif
CFLAGS ?= -O2 -g
V ?= 0
WERROR ?= 0
# A lane is a build of its own below build/LANE: asan, ubsan, coverage, clang. The lane faults links the objects of build/ again.
LANE ?=
B := build$(if $(LANE),/$(LANE))
BASE := $(if $(filter faults,$(LANE)),build,$(B))
O := $(BASE)/obj
CJSON_DIR := build/cjson
CONFIG := build/config-$(notdir $(firstword $(CC))).mk

Q := $(if $(filter 1,$(V)),,@)
comma := ,
say = $(if $(filter 1,$(V)),,@printf '  %-4s %s\n' '$(1)' '$(2)')

# Targets that compile nothing themselves; all others need the answers of tools/probe.sh.
LIGHT := help help-all arm64 deps check check-fast check-all demo demo-cluster demo-rdma bench clean distclean asan ubsan sanitize clang coverage gcc \
	layers dup spdx format-check format uninstall man shell english english-code \
	fuzz fuzz-smoke fuzz-long fuzz-seeds fuzz-keep
ifneq ($(filter-out $(LIGHT),$(or $(MAKECMDGOALS),all)),)
include $(CONFIG)
include $(CJSON_DIR)/mode.mk
endif

# -g1: line numbers for a report; more takes a third of the time of the compiler and the linker.
lane_CFLAGS_asan := -O1 -g1 -fsanitize=address -fno-omit-frame-pointer
lane_CFLAGS_ubsan := -O1 -g1 -fsanitize=undefined,float-divide-by-zero,float-cast-overflow \
	-fno-sanitize-recover=all -fno-omit-frame-pointer
# Both at once, which costs little more than one: what `make check` runs.
# Variables without a value get 0xfe, so that one that is read shows itself each time.
lane_CFLAGS_sanitize := $(lane_CFLAGS_asan) $(lane_CFLAGS_ubsan) -ftrivial-auto-var-init=pattern
lane_CFLAGS_coverage := -O0 -g --coverage
lane_CFLAGS_fuzz := -O1 -g1 -fsanitize=fuzzer-no-link,address,undefined,float-divide-by-zero,float-cast-overflow \
	-fno-sanitize-recover=all -fno-omit-frame-pointer
SANITIZED := $(lane_CFLAGS_$(LANE))

ALL_CPPFLAGS := -I. -isystem /usr/include/libnl3 -isystem $(GEN) -I$(CJSON_DIR) -D_GNU_SOURCE $(CPPFLAGS)
# Sanitizers add paths that the flow analysis behind warnings stumbles over (the normal builds warn), and
# dislike fortification.
ALL_CFLAGS := -std=gnu11 $(if $(SANITIZED),-w,$(PROBED_WARN)) \
	$(if $(filter 1,$(WERROR)),-Werror) $(PROBED_CFLAGS) -ffile-prefix-map=$(CURDIR)=. \
	$(if $(SANITIZED),$(SANITIZED),$(PROBED_HARDEN) $(CFLAGS))
ALL_LDFLAGS := $(PROBED_LDFLAGS) $(SANITIZED) $(LDFLAGS)
# Static: not under a sanitizer, and only where cJSON could be had as an archive.
STATIC := $(if $(SANITIZED),,$(if $(filter static,$(CJSON)),$(PROBED_STATIC)))
CJSON_LIB := $(if $(filter dynamic,$(CJSON)),-lcjson,$(BASE)/libcjson.a)
LIBS := $(ARCHIVES:%=$(BASE)/lib%.a) $(CJSON_LIB)
# pthread and m: what LMDB and cJSON ask for; part of libc in newer ones.
SYSTEM_LIBS := -lnl-3 -llmdb -lexpat -lyaml -lnghttp2 -lprotobuf-c -lpthread -lm
# Of the part cluster: for the node agent and tests only. No static program has them.
CLUSTER_LIBS := -lcurl -levent

have = $(if $(wildcard $($(1)_SRC)),$(1))
BUILT := $(foreach p,$(filter-out $(if $(STATIC),,rdma-probe-static),$(PROGRAMS)),$(call have,$(p)))
BINS := $(BUILT:%=$(B)/bin/%)
TESTS := $(TESTS_SRC:%.c=$(B)/test/%)
FUZZERS := $(FUZZ_SRC:%_fuzz.c=$(B)/target/%)
HELPERS := $(HELPERS_SRC:%.c=$(B)/%) $(PRELOAD_SRC:%.c=$(B)/%.so) $(if $(SPEC_SRC),$(B)/conformance/spec/cni-conformance) \
	$(if $(SOAK_SRC),$(B)/conformance/soak/soak) \
	$(if $(DIFFERENTIAL_SRC),$(B)/conformance/differential/differential) $(if $(FAULTS_SRC),$(B)/conformance/faults/faults)
# Programs of a later release, for a case of conformance/agent: the lines of the agent's socket have the next version.
NEWER := $(addprefix $(B)/conformance/agent/newer/,macvlan railheadd)
objects = $(patsubst %.c,$(O)/%.o,$(1))

.PHONY: all tests helpers fuzzers FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(BINS) $(if $(STATIC),$(B)/libraries.tsv) $(ARCHIVES:%=$(BASE)/lib%.a) $(filter %.a,$(CJSON_LIB)) ## build the programs into build/bin/ (the default)
tests: $(TESTS)
helpers: $(HELPERS) $(NEWER)
fuzzers: $(FUZZERS)

# Asked once per compiler; again when the script changes.
$(CONFIG): tools/probe.sh
	@tools/deps.sh --missing build
	@mkdir -p $(@D)
	@tools/probe.sh '$(CC)' >$@.new && mv $@.new $@

$(CJSON_DIR)/mode.mk: tools/fetch-cjson.sh | $(CONFIG)
	@mkdir -p $(@D)
	@if tools/fetch-cjson.sh $(@D); then echo 'CJSON := static' >$@; \
	else tools/deps.sh cjson && echo 'CJSON := dynamic' >$@ && \
	echo "NOTE: no source package of cJSON to be had: the programs are linked dynamically" \
	"and need libcjson1 where they run. To try again: make distclean"; fi

# Objects depend on the command that makes them; WERROR does not change what comes out. The new text has the name of
# its shell: lanes that build at the same time each have one.
$(BASE)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(ALL_CPPFLAGS) $(filter-out -Werror,$(ALL_CFLAGS)) $(ALL_LDFLAGS) $(STATIC)' >$@.$$$$; \
	cmp -s $@.$$$$ $@ && rm $@.$$$$ || mv $@.$$$$ $@

build/test.deps: tools/deps.sh
	@tools/deps.sh --missing test
	@touch $@
$(TESTS_SRC:%.c=$(O)/%.o): | build/test.deps

# The compiler lists no header of -isystem as a dependency.
$(O)/%.o: %.c $(BASE)/flags $(GENERATED_H)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# Lanes that build at the same time each have a folder. What another one has made meanwhile stays: its objects need not be made again.
$(GEN)/%.pb-c.c $(GEN)/%.pb-c.h: %.proto
	@mkdir -p $(@D)
	$(call say,GEN,$<)
	$(Q)new=$(GEN).$$$$; trap 'rm -rf '$$new 0; mkdir -p $$new && protoc-c --proto_path=. --c_out=$$new $< && \
	for f in $*.pb-c.c $*.pb-c.h; do \
		{ test $(GEN)/$$f -nt $< && cmp -s $$new/$$f $(GEN)/$$f; } || mv $$new/$$f $(GEN)/$$f || exit 1; \
	done
# This is not our code, so its warnings are off.
$(O)/$(GEN)/%.o: private ALL_CFLAGS += -w

# This is not our code, so its warnings are off. 64 levels are twice the limit of lib/json/json.c.
$(BASE)/libcjson.a: $(CJSON_DIR)/mode.mk $(BASE)/flags
	@mkdir -p $(O)
	$(call say,CC,$(CJSON_DIR)/cJSON.c)
	$(Q)$(CC) -std=gnu11 -w $(filter-out -W%,$(ALL_CFLAGS)) -DCJSON_NESTING_LIMIT=64 \
		-c $(CJSON_DIR)/cJSON.c -I$(CJSON_DIR)/cjson -o $(O)/cJSON.o
	$(Q)rm -f $@ && $(AR) rcsD $@ $(O)/cJSON.o

define archive
$(BASE)/lib$(1).a: $(call objects,$(lib$(1)_SRC)) $(BASE)/flags
	$$(call say,AR,$$@)
	$$(Q)rm -f $$@ && $$(AR) qcsD $$@ $$(filter %.o,$$^)
endef
$(foreach a,$(ARCHIVES),$(eval $(call archive,$(a))))

LINK_WITH := $(ARCHIVES:%=$(BASE)/lib%.a) $(filter %.a,$(CJSON_LIB))

# The lane faults: the same programs, but a tracer can make an allocation fail, or change the clock.
ifeq ($(LANE),faults)
WRAP := $(O)/conformance/faults/lane/wrap.o
WRAP_LDFLAGS := $(patsubst %,-Wl$(comma)--wrap=%,malloc calloc realloc reallocarray strdup strndup clock_gettime)
endif

static_of = $(if $(filter $(1),$(DYNAMIC)),,$(STATIC))
# One text for all programs of a build, made from what they are linked from: a plugin runs the code of railhead-ipam
# that it carries only where the program has the same (lib/sys/build_mark.h).
$(BASE)/build_id: $(LINK_WITH) $(call objects,$(MAINS))
	$(Q)cat $^ $(if $(STATIC),$(foreach l,$(SYSTEM_LIBS) -lc,$$($(CC) -print-file-name=$(l:-l%=lib%.a)))) \
		| sha256sum | cut -c 1-64 >$@.new && mv $@.new $@
$(PROGRAMS:%=$(O)/ident/%.o) $(O)/ident/cni-conformance.o: $(O)/ident/%.o: tools/ident.c $(BASE)/build_id
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -DPROGRAM='"$(*:%-static=%)"' -DBUILD="\"$$(cat $(BASE)/build_id)\"" -c $< -o $@
# -u: keep the mark although nothing refers to it.
define program
$(2)/$(1): $(O)/ident/$(1).o $(call objects,$($(1)_SRC) $(if $(call static_of,$(1)),tools/static.c)) $(3) $(WRAP) $(LINK_WITH)
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(ALL_CFLAGS) $$(if $$(call static_of,$(1)),$$(filter-out -pie,$$(ALL_LDFLAGS)) $$(STATIC),$$(ALL_LDFLAGS)) \
		-Wl,-u,railhead_ident $(WRAP_LDFLAGS) -o $$@ $$(filter %.o,$$^) $$(LIBS) $$(SYSTEM_LIBS) $$($(1)_LIBS)
endef
$(foreach p,$(PROGRAMS),$(eval $(call program,$(p),$(B)/bin)))

$(O)/newer/agent_wire.o: ipam/alloc/agent_wire.c $(BASE)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -DAGENT_VERSION=2 -c $< -o $@
$(foreach p,$(NEWER),$(eval $(call program,$(notdir $(p)),$(B)/conformance/agent/newer,$(O)/newer/agent_wire.o)))

# The list of foreign libraries in the static programs, as they were when the programs were linked.
$(B)/libraries.tsv: tools/static-libs.sh $(BINS)
	@$(static_libs) >$@.new && mv $@.new $@
static_libs = tools/static-libs.sh '$(CC)' $(CJSON_DIR) $(SYSTEM_LIBS) -lrdmacm -libverbs $(PROVIDERS) -lnl-route-3 -lc -lgcc -lgcc_eh
.PHONY: static-libs
static-libs:
	@$(static_libs)

# Tests alone: the linker sends allocations to lib/testing/alloc.h, waits to lib/testing/time.h, and what
# is asked of the kernel to lib/testing/pf.h and lib/testing/hca.h.
WRAPPED := malloc calloc realloc reallocarray strdup strndup free ctx_mono_ms nanosleep \
	nl_request nl_get nl_get_large nl_link_by_name nl_link_by_index nl_link_each pci_rebind $(addprefix nl_rdma_,open open_in sys_get get \
	list by_name port ports qps chardev rename move monitor_wait)
TESTING := $(call objects,$(TESTING_SRC))
# Each of 280 tests has most of what the archives have. The relocations of a PIE and plain debug information are half of it, and
# under the sanitizers that filled a disk.
SMALL := -no-pie -Wl,--compress-debug-sections=zlib
$(TESTS): $(B)/test/%: $(O)/%.o $(TESTING) $(LINK_WITH)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(PROBED_QUICK_LD) $(SMALL) $(WRAPPED:%=-Wl,--wrap=%) -o $@ $(filter %.o,$^) \
		$(LIBS) -lcheck -lsubunit -lrt $(SYSTEM_LIBS) $(rdma-probe_LIBS) $(CLUSTER_LIBS)

# Code that reads foreign input is not in railctl.
$(FUZZERS): $(B)/target/%: $(O)/%_fuzz.o $(filter-out %railctl.a,$(LINK_WITH))
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(PROBED_QUICK_LD) -fsanitize=fuzzer -o $@ $(filter %.o,$^) \
		$(filter-out %railctl.a,$(LIBS)) $(SYSTEM_LIBS) $(CLUSTER_LIBS)

define helper
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(if $(STATIC),$(filter-out -pie,$(ALL_LDFLAGS)) $(STATIC),$(ALL_LDFLAGS)) \
		-o $@ $(filter %.o,$^) $(HARNESS) $(CJSON_LIB) -lnl-3 -lpthread -lm
endef
HARNESS := $(BASE)/libharness.a
$(HARNESS): $(call objects,$(HARNESS_SRC)) $(BASE)/flags
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcsD $@ $(filter %.o,$^)
$(HELPERS_SRC:%.c=$(B)/%): $(B)/%: $(O)/%.o $(if $(STATIC),$(O)/tools/static.o) $(HARNESS) $(filter %.a,$(CJSON_LIB))
	$(helper)
$(PRELOAD_SRC:%.c=$(B)/%.so): $(B)/%.so: %.c $(BASE)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -fPIC -shared $(filter-out -pie,$(ALL_LDFLAGS)) -o $@ $<
# It is installed, and so has the mark.
$(B)/conformance/spec/cni-conformance: private ALL_LDFLAGS += -Wl,-u,railhead_ident
$(B)/conformance/spec/cni-conformance: $(O)/ident/cni-conformance.o $(call objects,$(SPEC_SRC)) $(if $(STATIC),$(O)/tools/static.o) \
		$(HARNESS) $(filter %.a,$(CJSON_LIB))
	$(helper)
$(B)/conformance/soak/soak: $(call objects,$(SOAK_SRC)) $(if $(STATIC),$(O)/tools/static.o) \
		$(HARNESS) $(filter %.a,$(CJSON_LIB))
	$(helper)
$(B)/conformance/differential/differential: $(call objects,$(DIFFERENTIAL_SRC)) $(if $(STATIC),$(O)/tools/static.o) \
		$(HARNESS) $(filter %.a,$(CJSON_LIB))
	$(helper)
$(B)/conformance/faults/faults: $(call objects,$(FAULTS_SRC)) $(if $(STATIC),$(O)/tools/static.o) \
		$(HARNESS) $(filter %.a,$(CJSON_LIB))
	$(helper)

-include $(shell test -d $(O) && find $(O) -name '*.d')

include tools/lanes.mk
