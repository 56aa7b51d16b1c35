# SPDX-License-Identifier: Apache-2.0
# The targets that check, run, install and clean. Included by the Makefile.

.PHONY: help deps check-fast clean distclean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-22s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install what the build needs (Debian; asks nothing)
	@tools/deps.sh build

check-fast: tests ## unit tests only: seconds
	@tools/unit.sh $(B)

clean: ## remove what was built, keep what was downloaded
	@if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name cjson -exec rm -rf {} +; fi

distclean: ## remove build/ and compile_commands.json
	@rm -rf build compile_commands.json
