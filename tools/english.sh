#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Check the English of the documents: sentences of at most 25 words, and none of the turns of tools/english.txt.
#
# usage: tools/english.sh [ROOT [FILE...]]
#
# Without FILE it reads the documents that people read: README, CHANGELOG, CONTRIBUTING, docs/, the READMEs of folders and examples, and
# manual pages. Of a FILE of C code it reads comments and messages (string literals of four words and more), of a script the
# comments. Prints "FILE:LINE: what is wrong: what to write", one finding a line, and fails when there is one.
#
# tools/english.txt has a turn a line: a regular expression, a tab, and what to write instead and why.
# tools/english-exceptions.txt has an exception a line: the file, a tab, words of the sentence, a tab, and the reason. An
# exception that nothing needs is a finding too.
set -eu

tools=$(cd "$(dirname "$0")" && pwd)
cd "${1:-.}"
[ $# = 0 ] || shift
lists=${ENGLISH_LISTS:-$tools}
if [ $# = 0 ]; then
	# The glossary is left out, because it lists the words not to use.
	# shellcheck disable=SC2046 # no name in the tree has a space
	set -- README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md $(find . \( -name build -o -name .git \) -prune -o -type f \
		\( -name README.md -o -path './docs/*.md' -o -path './docs/man/*.[1-8]' -o -path './conformance/vm/*.md' \) ! -path ./README.md \
		! -path ./docs/glossary.md -print | sed 's,^\./,,' | LC_ALL=C sort)
fi
LC_ALL=C awk -v turns="$lists/english.txt" -v exceptions="$lists/english-exceptions.txt" -f "$tools/english.awk" "$@"
