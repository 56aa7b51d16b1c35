#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Plant a fault for each check and demand that it is found, then take it away and demand silence.
#
# usage: tools/selftest.sh
# Prints a line a case and closes with "N passed, N failed, N skipped".
set -u

# The caller's settings of tools/check.sh are not meant for the small runs below.
unset CHECK_MINUTES CHECK_JOBS CHECK_TICK STRESS AGAIN
tools=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' HUP INT TERM
passed=0
failed=0

result() # NAME STATUS
{
	if [ "$2" = 0 ]; then
		passed=$((passed + 1))
		echo "ok $((passed + failed)) - tools: $1"
	else
		failed=$((failed + 1))
		echo "not ok $((passed + failed)) - tools: $1"
		sed 's/^/# /' "$dir/out"
	fi
}

good() # NAME COMMAND...
{
	name=$1
	shift
	"$@" >"$dir/out" 2>&1 </dev/null
	result "$name" $?
}

bad() # NAME PATTERN COMMAND...: must fail and say what the pattern asks for
{
	name=$1
	pattern=$2
	shift 2
	if "$@" >"$dir/out" 2>&1 </dev/null; then
		result "$name" 1
	else
		grep -q "$pattern" "$dir/out"
		result "$name" $?
	fi
}

# ---- a small tree in good order -----------------------------------------------------------------

tree=$dir/tree
spdx='/* SPDX-License-Identifier: Apache-2.0 */'
plant() # FILE LINE...
{
	file=$tree/$1
	shift
	mkdir -p "${file%/*}"
	printf '%s\n' "$@" >"$file"
}
plant_pages()
{
	plant lib/base/README.md '| file | what |' '| --- | --- |' '| `a` | a |' 'May include: nothing of this tree'
	plant cni/protocol/README.md '| `b` | b |' 'May include: lib/'
	plant conformance/README.md 'May include: conformance/'
}
plant_pages
fine()
{
	plant lib/base/a.h "$spdx" '#ifndef A' '#define A' 'int a(int x);' '#endif'
	plant lib/base/a.c "$spdx" '#include "lib/base/a.h"' 'int a(int x)' '{' '	return x;' '}'
	plant cni/protocol/b.c "$spdx" '#include "lib/base/a.h"' '#include "cni/protocol/b.h"' 'int b(void)' '{' '	return a(1);' '}'
	plant cni/protocol/b.h "$spdx" 'int b(void);'
	plant lib/base/a_test.c "$spdx" '#include "lib/base/a.h"' 'START_TEST(one)' '{' '	a(1);' '}' 'END_TEST'
}
fine

good "layers: a tree in order" "$tools/layers.sh" "$tree"
plant lib/base/README.md '| `a`, `b*` | a |' 'May include: nothing of this tree'
bad "layers: a README names a file that does not exist" 'lib/base/README.md: names b\*, which does not exist' "$tools/layers.sh" "$tree"
plant_pages
plant lib/base/a.c "$spdx" '#include "cni/protocol/b.h"'
bad "layers: lib includes cni" 'lib/base/a.c:2' "$tools/layers.sh" "$tree"
plant lib/base/a.c "$spdx" '#include <linux/rtnetlink.h>'
bad "layers: netlink outside lib/net and lib/device" 'belongs behind' "$tools/layers.sh" "$tree"
plant lib/base/a.c "$spdx" '#include "lib/base/gone.h"'
bad "layers: a header that does not exist" 'does not exist' "$tools/layers.sh" "$tree"
fine
plant lib/json/README.md 'May include: lib/base/'
plant lib/json/c.h "$spdx" 'int c(void);'
plant lib/base/a.c "$spdx" '#include "lib/json/c.h"'
bad "layers: a room includes one above it, in its part" 'lib/base/a.c:2' "$tools/layers.sh" "$tree"
fine
plant lib/json/c_priv.h "$spdx" 'int d(void);'
plant cni/protocol/b.c "$spdx" '#include "lib/json/c_priv.h"'
bad "layers: a private header of another room" 'private to lib/json/' "$tools/layers.sh" "$tree"
fine
rm -r "$tree/lib/json"
plant lib/attic/x.c "$spdx"
bad "layers: a room without arrows" 'does not know this room' "$tools/layers.sh" "$tree"
rm -r "$tree/lib/attic"
sed 's:^lib/base|:&lib/json/:' "$tools/layers.sh" >"$dir/layers.sh"
cp "$tools/layers.awk" "$tools/circles.awk" "$tools/parts" "$dir"
plant lib/base/README.md 'May include: lib/json/'
bad "layers: arrows that lead back" 'leads back' sh "$dir/layers.sh" "$tree"
sed 's:^lib|lib/$:lib|lib/ cni/:' "$tools/layers.sh" >"$dir/layers.sh"
bad "layers: an arrow to a part above" 'lib: an arrow to cni/, a part above it' sh "$dir/layers.sh" "$tree"
plant_pages
plant lib/base/z.h "$spdx" '#include "lib/base/a.h"'
plant lib/base/a.c "$spdx" '#include "lib/base/z.h"'
bad "layers: two files that include each other" 'in a circle: lib/base/a lib/base/z$' "$tools/layers.sh" "$tree"
plant lib/base/z.h "$spdx" '#include "lib/base/m.h"'
plant lib/base/m.h "$spdx" '#include "lib/base/a.h"'
bad "layers: three files in a circle, on one line" 'in a circle: lib/base/a lib/base/m lib/base/z$' "$tools/layers.sh" "$tree"
rm "$tree/lib/base/z.h" "$tree/lib/base/m.h"
fine
plant rdma/device/README.md 'May include: lib/'
plant rdma/device/a.c "$spdx" '#include <infiniband/verbs.h>'
bad "layers: verbs outside rdma-probe's verbs files" 'belongs behind' "$tools/layers.sh" "$tree"
rm -r "$tree/rdma"
plant conformance/x/x.c "$spdx" '#include "lib/base/a.h"'
bad "layers: conformance includes a header of ours" 'conformance/x/x.c:2' "$tools/layers.sh" "$tree"
rm -r "$tree/conformance/x"
plant lib/base/README.md 'May include: cni/'
bad "layers: a README that claims another arrow" 'lib/base/README.md' "$tools/layers.sh" "$tree"
plant_pages

body() # N: a function of N lines
{
	printf 'static int x;\nint %s(%s)\n{\n' "$2" "$3"
	i=0
	while [ "$i" -lt "$1" ]; do
		printf '\tx++;\n'
		i=$((i + 1))
	done
	printf '}\n'
}
calls() # N: attach_add() calls f2(), which calls f3() and itself, and so on: N functions; f5 to f7 are a circle
{
	plant cni/engine/attach.c "$spdx" 'void attach_del(void);' "$(i=$1
		while [ "$i" -gt 1 ]; do
			printf 'static void f%d(void);\nvoid (*hook)(void);\nstatic void f%d(void)\n{\n' 5 "$i"
			[ "$i" = "$1" ] || printf '\tf%d();\n\tf%d();\n' "$i" $((i + 1))
			[ "$i" != 7 ] || printf '\tf5();\n'
			printf '}\n'
			i=$((i - 1))
		done)" 'void attach_add(void)' '{' '	f2();' '	hook();' '}' 'void attach_del(void)' '{' '	f2();' '}'
}
calls 2
good "budget: a tree in order" "$tools/budget.sh" "$tree"
body 81 long void >"$tree/lib/base/long.c"
bad "budget: a function of 81 lines" 'long has 81 lines' "$tools/budget.sh" "$tree"
body 1 wide 'int a, int b, int c, void (*d)(int, int), int e, int f' >"$tree/lib/base/long.c"
bad "budget: six parameters" 'wide has 6 parameters' "$tools/budget.sh" "$tree"
rm "$tree/lib/base/long.c"
mkdir -p "$tree/many/corpus"
(cd "$tree/many/corpus" && seq 241 | xargs touch)
bad "budget: 241 files of seeds" 'files of seeds and test data, allowed 240' "$tools/budget.sh" "$tree"
rm -r "$tree/many"

most=$(sed -n 's/^most=//p' "$tools/chain.sh")
calls "$most"
good "chain: as long as allowed, with recursion" "$tools/chain.sh" "$tree"
calls $((most + 1))
bad "chain: one function more, by make budget" "has $((most + 1)) functions, allowed $most" "$tools/budget.sh" "$tree"
plant cni/engine/attach.c "$spdx" 'void attach_add(void)' '{' '}'
bad "chain: a start that is gone" 'no function attach_del' "$tools/chain.sh" "$tree"
calls 2
mkdir "$dir/nogcc"
printf '#!/bin/sh\necho "error: unknown option" >&2\nexit 1\n' >"$dir/nogcc/gcc"
chmod +x "$dir/nogcc/gcc"
bad "chain: nothing was counted, so budget does not pass" 'cannot write the calls: error: unknown option' \
	env PATH="$dir/nogcc:$PATH" "$tools/budget.sh" "$tree"

good "spdx: a tree in order" "$tools/spdx.sh" "$tree"
plant lib/base/a.c 'int x;'
bad "spdx: a file without a licence" 'lib/base/a.c' "$tools/spdx.sh" "$tree"
fine

lines() # FIRST LAST: different significant lines
{
	seq -f 'statement number %g;' "$1" "$2"
}
{ lines 1 100; echo '#include "same.h"'; echo '/* the same comment here */'; echo 'short;'; } >"$dir/p1.c"
{ lines 97 196; echo '#include "same.h"'; echo '/* the same comment here */'; echo 'short;'; } >"$dir/p2.c"
lines 500 999 >"$dir/engine.c"
good "dup: 4 of 100 lines shared" "$tools/dup.sh" "$dir/engine.c" "$dir/p1.c" "$dir/p2.c"
lines 96 195 >"$dir/p2.c"
bad "dup: 5 of 100 lines shared" '5.0%' "$tools/dup.sh" "$dir/engine.c" "$dir/p1.c" "$dir/p2.c"
bad "dup: a folder that is not there" 'does not exist' "$tools/dup.sh" "$dir/engine.c" "$dir/gone"

cd "$tree" || exit 2
good "headers: one that compiles alone" "$tools/headers.sh" gcc '-I.' lib/base/a.h
plant lib/needs.h "$spdx" '#ifndef N' '#define N' 'size_t n(void);' '#endif'
bad "headers: one that needs another" 'does not compile alone' "$tools/headers.sh" gcc '-I.' lib/needs.h
plant tools/tidy.h ''
plant .clang-tidy "Checks: '-*,bugprone-*'" "WarningsAsErrors: '*'" "HeaderFilterRegex: '.*'"
export TIDY_CACHE="$dir/tidy"
good "tidy: a clean file" "$tools/tidy.sh" '-I.' lib/base/a.c
plant lib/bug.c "$spdx" '#include <string.h>' 'int f(char *s);' 'int f(char *s)' '{' \
	'	memset(s, 1, 0);' '	if (*s = 1)' '		;' '	return !strcmp(s, s) == 2;' '}'
bad "tidy: a finding" 'lib/bug.c:' "$tools/tidy.sh" '-I.' lib/bug.c
bad "tidy: the same finding, which is not forgotten" 'lib/bug.c:' "$tools/tidy.sh" '-I.' lib/bug.c
looked_at() { "$tools/tidy.sh" '-I.' lib/base/a.c | grep -q "; $1 of them as they were"; }
good "tidy: what has not changed is not looked at again" looked_at 1
cp lib/base/a.h "$dir/a.h"
echo '/* more */' >>lib/base/a.h
good "tidy: a header has changed: the file is looked at" looked_at 0
plant lib/base/a.h "$spdx" '#ifndef A' '#define A' 'int a(int x);' 'static inline int c(int x)' '{' '	if (x = 1)' '		;' '	return x;' '}' '#endif'
bad "tidy: a finding in a header, whose file is as it was" 'lib/base/a.h:' "$tools/tidy.sh" '-I.' lib/base/a.c
cp "$dir/a.h" lib/base/a.h
good "tidy: the header is as before" looked_at 1
plant lib/bad.c "$spdx" '#include "lib/gone.h"'
bad "tidy: a header that is not there" 'lib/gone.h' "$tools/tidy.sh" '-I.' lib/bad.c
rm lib/bad.c lib/bug.c
cd "$OLDPWD" || exit 2

# ---- counting -----------------------------------------------------------------------------------

program() # NAME LINE STATUS: a test program that prints a line
{
	mkdir -p "$tree/lib/base" "$dir/b/test/lib/base"
	: >"$tree/lib/base/$1_test.c"
	printf '#!/bin/sh\necho "%s"\nexit %s\n' "$2" "$3" >"$dir/b/test/lib/base/$1_test"
	chmod +x "$dir/b/test/lib/base/$1_test"
}
unit() { (cd "$tree" && "$tools/unit.sh" "$dir/b"); }
closing() # COMMAND...: its last line
{
	"$@" 2>&1 | tail -n 1
}
says() # TEXT COMMAND...
{
	want=$1
	shift
	got=$("$@")
	[ "$got" = "$want" ] || { echo "got '$got', want '$want'"; return 1; }
}
rm "$tree"/lib/base/*_test.c
program a '100%: Checks: 12, Failures: 0, Errors: 0' 0
good "unit: counts checks" says '12 passed, 0 failed, 0 skipped' closing unit
program c '50%: Checks: 4, Failures: 1, Errors: 1' 1
good "unit: counts failures and errors" says '14 passed, 2 failed, 0 skipped' closing unit
bad "unit: a failure is a failure" 'FAILED' unit
program c 'SKIP: no such device
100%: Checks: 4, Failures: 0, Errors: 0' 0
good "unit: a skip is no pass" says '15 passed, 0 failed, 1 skipped' closing unit
rm "$tree"/lib/base/*_test.c
bad "unit: no tests at all is a failure" 'no unit tests' unit

printf 'all: ;\na a2:\n\t@echo "3 passed, 0 failed, 1 skipped"\nx:\n\t@echo wrong; false\ns:\n\t@echo "skipped: no reason"\n' \
	>"$dir/Makefile"
sed "s/^counted=.*/counted=' a a2 '/" "$tools/check.sh" >"$dir/check.sh"
chmod +x "$dir/check.sh"
check() { (cd "$dir" && ./check.sh "$@"); }
check_says() { pattern=$1 && shift && check "$@" | grep -q "$pattern"; }
good "check: sums up, last line" says '6 passed, 0 failed, 3 skipped' closing check a a2 s
good "check: goes on after a failure" says '3 passed, 1 failed, 1 skipped' closing check x a
good "check: some together, some alone" says '9 passed, 0 failed, 4 skipped' closing check a -- a2 s -- a
# Two wait for each other: alone, neither would end.
printf 'p:\n\t@echo >p; for i in 1 2 3 4 5 6 7 8 9; do [ ! -e q ] || exit 0; sleep 0.3; done; false\nq:\n\t@echo >q; for i in 1 2 3 4 5 6 7 8 9; do [ ! -e p ] || exit 0; sleep 0.3; done; false\n' \
	>>"$dir/Makefile"
good "check: two at once" check -- p q
# Two of the three may meet, and a lane that runs beside them.
printf 'i j k:\n\t@for d in one two; do if mkdir $$d; then sleep 1; rmdir $$d; exit; fi; done; false\n' >>"$dir/Makefile"
sed "s/^idles=.*/idles=' i j k '/; s/^counted=.*/counted=' slow '/" "$tools/check.sh" >"$dir/check.sh"
printf 'slow:\n\t@echo "half way"; sleep 2; echo "1 passed, 0 failed, 0 skipped"\n' >>"$dir/Makefile"
good "check: three lanes that idle are not run at once" says '1 passed, 0 failed, 1 skipped' closing check s -- i j k slow
bad "check: a failed lane fails it and shows its output" '  | wrong' check a x
sed "s/^counted=.*/counted=' r n '/; s/^may_repeat=.*/may_repeat=' r '/" "$tools/check.sh" >"$dir/check.sh"
printf 'r n:\n\t@echo "# repeated: case one: not within 5 s: x"; echo "1 passed, 0 failed, 0 skipped"\n' >>"$dir/Makefile"
good "check: what was repeated is named at the end" check_says '^  r: case one: not within 5 s: x$' r
bad "check: a lane that may not repeat anything" 'n repeated a case, which it may not' check n
# The first lane tells how slow the machine is; long and endless are lanes that this machine has no time for.
printf 'first:\n\t@sleep 3\nlong:\n\t@echo "1 passed, 0 failed, 0 skipped"\nendless:\n\t@sleep 600\n' >>"$dir/Makefile"
sed "s/^counted=.*/counted=' a2 long '/; s/gcc) echo [0-9]*/all) echo 600 ;; first) echo 1 ;; long) echo 600/; s/\*) echo 30/*) echo 1/" \
	"$tools/check.sh" >"$dir/check.sh"
CHECK_MINUTES=10 good "check: a slow machine leaves out what would not end" check_says '^  long *left out .*not end within 10 minutes' first -- long a2
sed -i "s/^waits_for_others=.*/waits_for_others=' a2 '/; s/^very_slow_from=.*/very_slow_from=20/" "$dir/check.sh"
CHECK_MINUTES=100 good "check: a very slow machine leaves out what waits for others" check_says '^  a2 *left out .*limits of time' first -- long a2
CHECK_MINUTES=20 good "check: a quick machine leaves nothing out" says '4 passed, 0 failed, 1 skipped' closing check all -- long a2
sed -i 's/^closing_time=60/closing_time=115/' "$dir/check.sh"
CHECK_MINUTES=2 good "check: what has not ended when the time is over is left out" check_says '^  endless *left out' s -- endless

# ---- repeating what the machine disturbed ---------------------------------------------------------

# again ATTEMPT...: a case whose first attempt says the first word, and so on; what a harness tells of it.
again()
{
	W=$dir/again bash -c '
		mkdir -p "$W" && rm -f "$W"/*
		. "$0/../conformance/again.sh"
		says=("$@")
		attempt() { made=$TRY && printf "%s\n" "${says[TRY - 1]}" | grep . >"$W/evidence"; }
		twice "the case" attempt
		echo "$made attempts, $([ -s "$W/evidence" ] && echo failed || echo passed)"' "$tools" "$@"
}
vain='not within 180 seconds: pod is there'
export AGAIN=1
good "again: a case that passes is not repeated" says '1 attempts, passed' again '' ''
good "again: a case that waited in vain is repeated, which is told" says "# repeated: the case: $vain
  # $vain
2 attempts, passed" again "$vain" ''
good "again: one that does so twice fails" says '2 attempts, failed' closing again "$vain" "$vain"
good "again: an assertion that fails is final" says '1 attempts, failed' again "address: got 'a', want 'b'" ''
AGAIN='' good "again: nobody asked for it" says '1 attempts, failed' again "$vain" ''

# Guests, of which only is known how their suites ended: a line for each in $dir/guest/NAME, and in NAME.again for a second
# boot.
mkdir -p "$dir/guest"
cat >"$dir/guest/run" <<'END'
#!/bin/bash
while [[ $1 == --* ]]; do [ "$1" != --verdicts ] || file=$2; shift 2; done
for suite; do
	from=${0%/*}/$suite
	[[ $file != *.again.verdicts ]] || from+=.again
	cat "$from" >>"$file"
	echo "in the guest: $suite"
done
echo 'closing line'
END
chmod +x "$dir/guest/run"
guests() { SUITES="boot vf" KERNELS=7.2 RUN="$dir/guest/run" "$tools/../conformance/vm/check.sh" "$dir"; }
ends() # BOOT VF [VF-AGAIN]
{
	echo "boot $1" >"$dir/guest/boot"
	echo "vf $2" >"$dir/guest/vf"
	echo "vf ${3-}" >"$dir/guest/vf.again"
	guests >"$dir/guest/said"
	echo $? >>"$dir/guest/said"
	tail -n 2 "$dir/guest/said" | tr '\n' ' '
}
printf '#!/bin/sh\necho "no such kernel"\nexit 2\n' >"$dir/guest/dies"
chmod +x "$dir/guest/dies"
dies() { SUITES=boot KERNELS=7.2 RUN="$dir/guest/dies" "$tools/../conformance/vm/check.sh" "$dir"; }
good "vm: a guest that does not boot is a failure" says '0 passed, 1 failed, 0 skipped' closing dies
all_of_the_folder() # each suite but the benches begins in one guest, or is named as left out
{
	printf '#!/bin/sh\necho "vm: 1 s  suite $*"\n' >"$dir/guest/all"
	chmod +x "$dir/guest/all"
	KERNELS=7.2 RUN="$dir/guest/all" "$tools/../conformance/vm/check.sh" "$dir" >"$dir/guest/said"
	for suite in "$tools"/../conformance/vm/suites/*.sh; do
		suite=${suite##*/} && suite=${suite%.sh}
		case $suite in bench*) continue ;; esac
		sed -n 's/^vm: .* --verdicts [^ ]*\(.*\)/\1 /p; s/^# SUITE \([^ ]*\) IS LEFT OUT:.*/ \1 /p' "$dir/guest/said" | grep -q -- " $suite " ||
			{ echo "no guest runs suite $suite" && false; } || return
	done
	! grep -q 'suite.* bench' "$dir/guest/said"
}
good "vm: every suite of the folder is run" all_of_the_folder
one_row_each() # each suite but the benches has one row in the README
{
	for suite in "$tools"/../conformance/vm/suites/*.sh; do
		suite=${suite##*/} && suite=${suite%.sh}
		case $suite in bench*) continue ;; esac
		[ "$(grep -c "^| [^|]*\`$suite\`" "$tools/../conformance/vm/README.md")" = 1 ] ||
			{ echo "conformance/vm/README.md: not one row for suite $suite" && false; } || return
	done
}
good "vm: the README has a row for each suite" one_row_each
good "vm: suites are added up" says '5 passed, 0 failed, 0 skipped 0 ' ends '3 0' '2 0'
good "vm: a suite that waited in vain is repeated" says '5 passed, 0 failed, 0 skipped 0 ' ends '3 0' '1 1 not within 300 s: link' '2 0'
good "vm: one that waits in vain twice fails" says '4 passed, 1 failed, 0 skipped 1 ' \
	ends '3 0' '1 1 not within 300 s: link' '1 1 not within 300 s: link'
# ---- fuzzing ------------------------------------------------------------------------------------

# Targets that only print their arguments.
cat >"$dir/target" <<END
#!/bin/sh
echo "\$@"
env | sort
seeds=\$(echo "\$@" | sed -n 's/.*-seed_inputs=@\([^ ]*\).*/\1/p')
[ -z "\$seeds" ] || [ -e "$dir/fuzz/replays-nothing" ] ||
	echo "INFO: seed corpus: files: \$(tr , '\n' <"\$seeds" | grep -c .) min: 1b max: 9b total: 99b rss: 30Mb"
END
chmod +x "$dir/target"
(cd "$tools/.." && find . -path ./build -prune -o -name '*_fuzz.c' -print) | sed 's|^\./||; s|_fuzz\.c$||' | while read -r target; do
	mkdir -p "$dir/fuzz/target/${target%/*}"
	cp "$dir/target" "$dir/fuzz/target/$target"
done
fuzz_smoke() { (cd "$tools/.." && tools/fuzz.sh smoke "$dir/fuzz" lib/json/json); }
fuzz_call() # NAME: how the target is called, its addresses left out
{
	fuzz_smoke >/dev/null && grep -v '^cpu' "$dir/fuzz/log/lib-json-json.log" >"$dir/$1"
}
good "fuzz-smoke: runs" fuzz_call call1
good "fuzz-smoke: with a seed and a number of runs, not with a time" \
	sh -c "grep -q -- '-runs=[0-9]* -seed=1 ' '$dir/call1' && ! grep -q -- 'max_total_time\|/found/' '$dir/call1'"
touch "$dir/fuzz/replays-nothing"
bad "fuzz-smoke: a target that replays no seeds fails" '0 inputs were replayed' fuzz_smoke

# A small tree with one target.
grow=$dir/grow
mkdir -p "$grow/a/corpus" "$grow/in/a/x"
ln -s "$tools" "$grow/tools"
: >"$grow/a/x_fuzz.c"
seeds() { (cd "$grow" && tools/seeds.sh "$@"); }
line() { echo "$1" >"$grow/a/corpus/x.seeds"; }
LC_ALL=C awk 'BEGIN { for (i = 0; i < 256; i++) printf "%c", i; printf "\\x41 " }' >"$grow/in/a/x/bytes"
awk 'BEGIN { for (i = 0; i < 500; i++) print "as long as" }' >"$grow/in/a/x/long"
good "seeds: pack" seeds pack in
good "seeds: add" seeds add a/x three in/a/x/bytes "Bug: none."
good "seeds: unpack" seeds unpack out
good "seeds: what went in comes out" sh -c "cd '$grow' && [ \$(ls out/a/x | wc -l) = 2 ] &&
	cmp out/a/x/three in/a/x/bytes && cat out/a/x/0* | cmp - in/a/x/long && grep -q '^# Bug: none' a/corpus/x.seeds"
good "seeds: check" seeds check
for wrong in 'x \q' '- ' '../x x'; do
	line "$wrong"
	bad "seeds: '$wrong' is not a seed" 'x.seeds:1: ' seeds check
done
line '# none'
bad "seeds: a target with an empty file" 'no seed in it' seeds check
rm "$grow/a/corpus/x.seeds"
bad "fuzz-smoke: a target without seeds" 'there is no file a/corpus/x.seeds' sh -c "cd '$grow' && tools/fuzz.sh smoke out a/x"
line '- x'
mkdir "$grow/build"
touch "$grow/build/crash-74fc8128baf8249b0652aa88a0a2f1a545214727" "$grow/a/crash-course"
good "seeds: a finding below build/ is where it belongs" seeds check
for finding in crash- a/slow-unit-; do
	touch "$grow/${finding}74fc8128baf8249b0652aa88a0a2f1a545214727"
	bad "seeds: a finding of a fuzzer outside of build/: $finding" "${finding}74fc.*: a finding of a fuzzer" seeds check
	rm "$grow/${finding}74fc8128baf8249b0652aa88a0a2f1a545214727"
done

# ---- dependencies -------------------------------------------------------------------------------

# Stand-ins that know nothing installed, and write down what they are asked to do.
fake=$dir/fake
mkdir -p "$fake"
for name in apt-get dpkg-query id; do
	: >"$fake/$name"
	chmod +x "$fake/$name"
done
printf '#!/bin/sh\necho "gcc installed"\n' >"$fake/dpkg-query"
printf '#!/bin/sh\necho "apt-get $*" >>"%s/asked"\n' "$dir" >"$fake/apt-get"
printf '#!/bin/sh\necho "$FAKE_UID"\n' >"$fake/id"
echo 'ID=debian' >"$dir/debian"
echo 'ID=fedora' >"$dir/fedora"
deps() # UID OS SET
{
	env PATH="$fake:$PATH" FAKE_UID="$1" OS_RELEASE="$dir/$2" "$tools/deps.sh" "$3"
}
bad "deps: a user gets the command to type" 'sudo apt-get install .*liblmdb-dev' deps 1000 debian build
good "deps: root installs" deps 0 debian build
good "deps: without questions or recommendations" \
	grep -q '^apt-get .*-y .*install --no-install-recommends libc6-dev .*liblmdb-dev' "$dir/asked"
printf '#!/bin/sh\necho "no network"\nexit 100\n' >"$fake/apt-get"
bad "deps: a failing installation fails and says why" 'no network' deps 0 debian build
bad "deps: another distribution gets a list" 'not Debian' env PATH="$fake:$PATH" OS_RELEASE="$dir/fedora" \
	LOOK_IN="$dir" "$tools/deps.sh" bench

# The libraries of the build are also those of the cross build.
has_libraries_for_arm64()
{
	for library in $(sed -n '/^build="/,/"$/s/^\(lib[^|]*-dev\)|.*/\1/p' "$tools/deps.sh"); do
		grep -qE "^PACKAGES.*[=,]$library(,|\$)" "$tools/arm64.sh" || { echo "tools/arm64.sh lacks $library" && return 1; }
	done
}
good "arm64: it has each library of the build" has_libraries_for_arm64

# ---- supply chain -------------------------------------------------------------------------------

mkdir -p "$dir/linked/build" "$dir/linked/lists"
printf 'libold-dev\t1.0-1\told\t1.0-1\t00\t/usr/lib/libold.a\nlibnew-dev\t2.0-1\tnew\t2.0-1\t00\t/usr/lib/libnew.a\n' \
	>"$dir/linked/build/libraries.tsv"
offers() # VERSION of libold-dev
{
	printf '#!/bin/sh\n[ "$2" = libold-dev ] && echo "  Candidate: %s" || echo "  Candidate: 2.0-1"\n' "$1" >"$fake/apt-cache"
	chmod +x "$fake/apt-cache"
}
current() { env PATH="$fake:$PATH" APT_LISTS="$dir/linked/lists" "$tools/deps-current.sh" "$@"; }
offers 1.0-1+deb12u1
good "deps-current: offline it says so" says 'deps-current: cannot tell: there are no package lists here (offline); apt-get update brings them' \
	current "$dir/linked/build"
touch "$dir/linked/lists/InRelease"
named() { current "$dir/linked/build" | grep -q "$1"; }
good "deps-current: it is named, with what apt offers" \
	named '^WARNING: libold.a is linked from libold-dev 1.0-1, apt offers 1.0-1+deb12u1'
bad "deps-current: an old library, for a release" '1 older' current --strict "$dir/linked/build"
offers 1.0-1
good "deps-current: all is new" current --strict "$dir/linked/build"
printf -- '-\t-\t-\t-\t00\t/opt/libown.a\n' >>"$dir/linked/build/libraries.tsv"
bad "deps-current: what nobody knows, for a release" 'unknown: .*libown.a' current --strict "$dir/linked/build"

# An archive whose lists are expired, or of tomorrow; the fake notes its options about dates.
cat >"$fake/apt-get" <<END
#!/bin/sh
dates=\$(sed -n 's/^Acquire::Check-\(.*\) "\(.*\)";/\1=\2/p' "\$2" | tr '\n' ' ')
echo "\$4 \$dates" >>"$dir/dates"
case "\$FAKE_LISTS \$dates" in
*old*Valid-Until=true*) echo 'E: Release file for x is expired (invalid since 1d)' ; exit 100 ;;
*new*Date=true*) echo 'E: Release file for x is not valid yet (invalid for another 1d)' ; exit 100 ;;
esac
exit 100
END
printf '#!/bin/sh\n' >"$fake/dpkg-source"
printf '#!/bin/sh\necho "d='"'$dir/apt/'"'"\n' >"$fake/apt-config"
chmod +x "$fake/dpkg-source" "$fake/apt-config"
mkdir -p "$dir/apt"
fetch_source() # LISTS: old or new
{
	rm -rf "$dir/dates" "$dir/source"
	(. /etc/os-release && echo "deb file:/nowhere $VERSION_CODENAME main" >"$dir/apt/sources.list")
	env PATH="$fake:$PATH" FAKE_LISTS="$1" "$tools/debian-source.sh" x "$dir/source"
}
if (. /etc/os-release && [ "$ID" = debian ]) && command -v apt-get >/dev/null; then
	bad "debian-source: an expired list is refused, with what to do" 'RAILHEAD_EXPIRED_LISTS=yes' fetch_source old
	good "debian-source: its date was looked at" grep -q 'Valid-Until=true Date=true' "$dir/dates"
	bad "debian-source: a list of tomorrow proves that the clock is behind" "clock.* is behind" fetch_source new
	good "debian-source: the end of a list's validity is looked at even then" \
		sh -c "grep -q 'Valid-Until=true Date=false' '$dir/dates' && ! grep -q 'Valid-Until=false' '$dir/dates'"
fi

# ---- a package of Debian --------------------------------------------------------------------------

# A small tree of the same shape. The fake of dpkg-buildpackage makes a "package" of the two files that name the maintainer.
debian=$dir/debian-tree
mkdir -p "$debian/tools" "$debian/docs/man" "$debian/packaging" "$debian/lib/base" "$debian/build/cjson"
cp "$tools/deb.sh" "$tools/version.sh" "$debian/tools"
cp -r "$tools/../packaging/debian" "$debian/packaging"
cp "$tools/../lib/base/version.h" "$debian/lib/base"
touch "$debian/Makefile" "$debian/LICENSE" "$debian/CHANGELOG.md"
echo lib >"$debian/tools/parts"
printf '\nrailhead (0.0.1) unstable; urgency=medium\n\n  * Before.\n\n -- Someone Before <before@d.example>  Fri, 20 Nov 2026 00:00:00 +0000\n' \
	>>"$debian/packaging/debian/changelog"
printf '#!/bin/sh\nexec cat debian/control debian/changelog >"../railhead_${PWD##*-}_all.deb"\n' >"$fake/dpkg-buildpackage"
chmod +x "$fake/dpkg-buildpackage"
deb() # FULLNAME EMAIL
{
	rm -rf "$debian/out"
	env PATH="$fake:$PATH" DEBFULLNAME="$1" DEBEMAIL="$2" "$debian/tools/deb.sh" "$debian/out"
}
deb_names() # MAINTAINER: in its field and at the newest entry of the changelog, and nowhere else
{
	printf '%s\n' "Maintainer: $1" " -- $1" ' -- Someone Before <before@d.example>' >"$dir/named"
	grep -hE '^(Maintainer:| -- )' "$debian"/out/*.deb | sed 's/>  .*/>/' | diff "$dir/named" -
}
good "deb: without a name it is built" deb '' ''
good "deb: its maintainer is then a placeholder that can have no mail" deb_names 'The railhead maintainers <maintainers@railhead.example>'
good "deb: with a name and an address" deb 'Ann O\Hara & $Co' ann@a.example
good "deb: both are in the package, and older entries stay" deb_names 'Ann O\Hara & $Co <ann@a.example>'
bad "deb: a name without an address" 'want a name in DEBFULLNAME' deb Ann ''
bad "deb: a second field" 'want a name in DEBFULLNAME' deb 'Ann
Essential: yes' ann@a.example

# ---- without a network -----------------------------------------------------------------------------

# Without Go modules; the compiler is new enough.
mkdir -p "$dir/nogo"
cat >"$dir/nogo/go" <<'END'
#!/bin/sh
case "$*" in
'env GOVERSION') echo go9.0.0 ;;
'mod edit -json') printf '{"Require": [\n{"Path": "h.example/m"\n}\n],"Tool": [\n{"Path": "h.example/m/cmd/a"\n}\n]}\n' ;;
*) echo 'dial tcp: lookup h.example: no such host' >&2; exit 1 ;;
esac
END
chmod +x "$dir/nogo/go"
# An apt-get without sources.
mkdir -p "$dir/no-apt"
printf '#!/bin/sh\n' >"$dir/no-apt/apt-get"
chmod +x "$dir/no-apt/apt-get"
no_etcd()
{
	PATH=$dir/no-apt:$PATH "$tools/../conformance/cluster-store/fetch.sh" "$dir/no-apt/engines" >"$dir/no-apt/out" 2>&1
	[ $? = 3 ]
}
good "cluster-store: without package sources the lane is skipped" no_etcd
no_modules() { env GO="$dir/nogo/go" "$tools/../conformance/cluster/quick.sh" "$dir" "$dir/nogo" >"$dir/nogo/out" 2>&1; }
good "cluster: without Go modules the lane is not a failure" no_modules
good "cluster: it is skipped, says why, and is loud" sh -c "grep -q '^NO KUBERNETES' '$dir/nogo/out' &&
	grep -q 'no such host' '$dir/nogo/out' && tail -n 1 '$dir/nogo/out' | grep -q '^skipped: '"

# ---- the English of the documents ------------------------------------------------------------------

english=$dir/english
mkdir -p "$english/lists"
page() # LINE...: a page, checked with the real list of turns and an exceptions list of its own
{
	printf '%s\n' "$@" >"$english/page.md"
}
printf '%s\t%s\n' ' for want of ' 'say "because there is no ..."' '^ what [^?:]*[.] $' 'name the subject' >"$english/lists/english.txt"
: >"$english/lists/english-exceptions.txt"
check_english() { ENGLISH_LISTS=$english/lists "$tools/english.sh" "$english" "${1:-page.md}"; }
words25='One two three four five six seven eight nine ten one two three four five six seven eight nine ten one two three four five'
page '# A page' '' "$words25." '' '```sh' 'for want of code' '```' '' 'See `for want of code` and [a link](for-want-of.md).'
good "english: a page in order" check_english
page '# A page' '' 'It failed' 'for want of memory.'
bad "english: a banned turn, with its line" 'page.md:3: " for want of ": say' check_english
page "- $words25" '  six.'
bad "english: a sentence of 26 words" 'page.md:1: 26 words' check_english
printf '.\\" SPDX\n.Dd today\n.Sh NAME\n.Nm x\n.Nd a page\n.Sh DESCRIPTION\nIt failed for want of\n.Ar memory .\n' >"$english/x.8"
bad "english: a banned turn in a manual page" 'x.8:7: ' check_english x.8
page 'It failed for want of memory.'
printf 'page.md\tfor want of memory\ta quotation\n' >"$english/lists/english-exceptions.txt"
good "english: an exception" check_english
page 'It failed.'
bad "english: an exception that nothing needs" 'nothing needs "for want of memory"' check_english
printf '%s\n' '/* It failed */' 'int a; /* for want of' ' * memory. */' 'int b(void) { return err("it failed "' '	"for want of memory"); }' >"$english/x.c"
bad "english: a banned turn in a comment" 'x.c:2: ' check_english x.c
bad "english: a banned turn in a message" 'x.c:[45]: ' check_english x.c
printf '%s\n' '#!/bin/sh' '# x.sh: it failed' '# for want of memory.' '#   x for want of y' 'echo " for want of z"' >"$english/x.sh"
bad "english: a banned turn in a script" 'x.sh:2: ' check_english x.sh
comments() { awk -f "$tools/comments.awk" "$english"/$1; }
printf '%s\n' "$spdx" '/* x.c: the head. */' '#include <a.h>' 'int a(void)' '{' '}' >"$english/x.c"
printf '%s\n' "$spdx" '/*' ' * x.h: the head.' ' */' '#ifndef X' '' '/* Words. */' 'int a(int x,' '      int y);' 'void b(void);' '' 'int c(void); /* words */' '' \
	'static inline int e(void)' '{' '	return 1;' '}' '' 'void x_clear(struct x *x);' '' \
	'/* g - words. h - more. */' 'int g(void);' '' 'int h(void);' '' \
	'struct s {' '	int (*no_words)(void);' '};' '#define NO_WORDS(x) f(x);' 'typedef int (*fn)(void);' >"$english/x.h"
good "comments: files in order" comments 'x.[ch]'
printf '%s\n' '' 'int d(int x,' '      int y);' >>"$english/x.h"
bad "comments: a function without words" 'x.h:32: d() has no comment' comments x.h
printf '%s\n' "$spdx" '/* x.c: the head. */' 'START_TEST(a_name)' '{' '}' 'END_TEST' >"$english/x.c"
printf '%s\n' 'START_TEST(names)' '{' '}' 'END_TEST' >>"$english/x.c"
bad "comments: a test whose name is one word" 'x.c:7: START_TEST(names): one word' comments x.c

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
