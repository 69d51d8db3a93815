#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packages_inside.sh runs in the clean Debian of packages.sh with its files in /in. First it installs the packages for users,
# and the command recognises a recording. Then it installs libsenone-dev, libsenone-build-dev and a compiler, and builds and
# runs the C and C++ examples.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
work=$(mktemp -d)
digits=/in/tidigits
. /in/install/digits.sh
cd "$work"

install() { apt-get -q -y install --no-install-recommends "$@"; }
has_compiler() { command -v cc || command -v gcc || command -v c++; }

! has_compiler || fail "this system has a compiler already"
user_packages=(/in/libsenone0_*.deb /in/libsenone-build0_*.deb /in/senone_*.deb /in/senone-vosk_*.deb /in/senone-model-en-us_*.deb)
for package in /in/senone-plugins-*.deb; do [[ ! -e $package ]] || user_packages+=("$package"); done
install "${user_packages[@]}"
! has_compiler || fail "the packages bring a compiler"
for package in "${user_packages[@]}"; do
  name=$(dpkg-deb -f "$package" Package)
  [[ -s /usr/share/doc/$name/copyright ]] || fail "$name has no copyright file"
  echo "inside: $name depends on $(dpkg-deb -f "$package" Depends)"
done

grep -q 'CARNEGIE MELLON' /usr/share/doc/senone-model-en-us/copyright || fail "the model has not the licence of CMU Sphinx"
[[ $(senone models --json | grep -c '"kind"') == 2 ]] || fail "senone models lists: $(senone models)"
words=$(senone recognize --quiet /in/goforward.raw 2>/dev/null) || fail "senone recognize without --model failed"
[[ $words == "go forward ten meters" ]] || fail "without --model senone heard: $words"
printf '#JSGF V1.0;\ngrammar robot;\npublic <go> = go (forward | backward) (two | ten) meters;\n' >robot.gram
senone graph --model en-us-commands --jsgf robot.gram --out robot >/dev/null
words=$(senone recognize --quiet --model robot /in/goforward.raw 2>/dev/null) || fail "senone recognize failed with a grammar"
[[ $words == "go forward ten meters" ]] || fail "with a grammar senone heard: $words"
echo "inside: with the packaged model, without --model and with a grammar, senone says: $words"

make_bundle senone
words=$(senone recognize --model "$bundle" "$recording" 2>/dev/null) || fail "senone recognize failed"
[[ $words == *"two nine three four zero"* ]] || fail "senone heard: $words"
echo "inside: senone recognize says: $words"
for plugin in /usr/lib/*/senone/plugins/libsenone_*.so; do
  [[ -e $plugin ]] || continue
  name=${plugin##*/libsenone_} name=${name%.so}
  SENONE_DEVICE=$name senone recognize --model "$bundle" "$recording" >/dev/null 2>error && fail "a device of $name here?"
  ! grep "no back end \"$name\" was found" error || fail "the plugin $name was not found"
  echo "inside: $name is found: $(tail -n 1 error)"
done

# build_c PROGRAM SOURCE PACKAGE... builds by pkg-config.
build_c() {
  local program=$1 from=$2 flags=()
  shift 2
  eval "flags=($(pkg-config --cflags --libs "$@"))"
  cc -std=c99 "$from" -o "$program" "${flags[@]}"
}

# build_by_cmake FOLDER OPTION...
build_by_cmake() {
  cmake -S /in/install/find_package -B "$@" -DSENONE=/in
  cmake --build "$1"
}

install /in/libsenone-dev_*.deb g++ pkg-config cmake make
! pkg-config --exists senone_build || fail "libsenone-dev has files of libsenone-build-dev"
build_c c_shared /in/samples/hello.c senone
build_c c_static /in/samples/hello.c senone-static
eval "flags=($(pkg-config --cflags --libs senone))"
c++ -std=c++17 /in/bindings/cpp/examples/hello.cc -o cpp_shared "${flags[@]}"
build_by_cmake cmake
cp -r /usr/share/doc/senone/samples/project project
cmake -S project -B project/build
cmake --build project/build
bash /in/install/links.sh /usr/share/doc/senone || fail "links of installed pages"
for program in project/build/words ./c_shared ./c_static ./cpp_shared cmake/hello cmake/hello_cpp cmake/hello_static cmake/hello_cpp_static; do
  check "$program"
  echo "inside: $program recognises"
done

install /in/libsenone-build-dev_*.deb
build_c c_grammar /in/samples/grammar.c senone senone_build # must not need the headers of OpenFst
check_grammar ./c_grammar
install libfst-dev libutf8proc-dev liblzma-dev libbz2-dev zlib1g-dev
build_c c_grammar_static /in/samples/grammar.c senone_build-static
build_by_cmake cmake_grammars -DGRAMMARS=ON
for program in ./c_grammar_static cmake_grammars/grammar{,_cpp,_static,_cpp_static}; do
  check_grammar "$program"
  echo "inside: $program compiles a grammar and recognises"
done
printf '#include <vosk_api.h>\nint main(void) { return vosk_model_new("/no/such/bundle") == 0 ? 0 : 1; }\n' >vosk.c
cc -std=c99 vosk.c -I/usr/include/senone -lvosk -o vosk
./vosk 2>/dev/null || fail "libvosk does not run"
echo "inside: a program of libvosk runs"
for program in *_static cmake*/*_static; do check_static "$program"; done

apt-get -q -y purge libsenone0 libsenone-build0 senone-vosk senone-model-en-us
[[ -z $(find /usr -path '*senone*' -print -quit) ]] || fail "purging leaves $(find /usr -path '*senone*' | head -n 3)"
echo "inside: purged without traces"
