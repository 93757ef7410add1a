#!/usr/bin/env bash
# One consumer test: consumer_test.sh CASE. The environment has these variables (see generator.cmake in this folder):
#   KILN_SOURCE, KILN_BUILD  Kiln's own tree and build; WORK  scratch folder; CMAKE, GENERATOR; CC, CXX, CFLAGS, CXXFLAGS;
#   GXX, CLANGXX; QEMU, empty if it is not installed
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
case=$1
prefix=$WORK/prefix
package=$prefix/lib/cmake/kiln
folder=$WORK/$case

# configure FOLDER [options]: configures a new build of the consumer, in which LLVM cannot be found.
configure() {
  local to=$1
  shift
  rm -rf "$to" && mkdir -p "$to"
  "$CMAKE" -S "$here/project" -B "$to" -G "$GENERATOR" -DCMAKE_BUILD_TYPE=Release -DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON \
    "$@" >"$to.log" || { cat "$to.log"; exit 1; }
}

# build FOLDER [options]
build() { "$CMAKE" --build "$@" >"$1.build.log" 2>&1 || { cat "$1.build.log"; exit 1; }; }

run_apps() { "$1/app" && "$1/c_app" && "$1/threaded_app" && "$1/names"; }

# An application needs the C and C++ libraries only. (A sanitizer adds its own.)
check_ldd() {
  case "${CXXFLAGS:-}" in *-fsanitize*) return ;; esac
  local extra
  extra=$(ldd "$1" | awk '{print $1}' | grep -vE '^(linux-vdso|libc|libm|libstdc\+\+|libgcc_s)\.so|ld-linux' || true)
  [ -z "$extra" ] || { echo "$1 needs $extra"; exit 1; }
}

generated_files() { (cd "$1/shapes.kernels" && find . -name '*.h' -o -name '*.json' -o -name '*.o' | LC_ALL=C sort); }

case $case in
  install)
    rm -rf "$prefix"
    "$CMAKE" --install "$KILN_BUILD" --prefix "$prefix" >/dev/null
    found=$(grep -rlF -e "$KILN_SOURCE" -e "$KILN_BUILD" "$prefix/lib/cmake" "$prefix/lib/pkgconfig" "$prefix/include" || true)
    [ -z "$found" ] || { echo "installed files name the build's folders: $found"; exit 1; }
    ;;
  find_package)
    configure "$folder" -DCMAKE_PREFIX_PATH="$prefix"
    build "$folder"
    run_apps "$folder"
    for program in app c_app threaded_app; do check_ldd "$folder/$program"; done
    ;;
  variants)
    # One object for three kinds of CPU. Forced and chosen variants give the same results; the lists' order is no matter. Emulated
    # CPUs run what they can run and get R-cpu where there is nothing.
    configure "$folder/three" -DCMAKE_PREFIX_PATH="$prefix" -DVARIANTS="x86-64-v2;x86-64-v3;x86-64-v4"
    configure "$folder/mixed" -DCMAKE_PREFIX_PATH="$prefix" -DVARIANTS="x86-64-v4;x86-64-v3;x86-64-v2;x86-64-v3"
    configure "$folder/both" -DCMAKE_PREFIX_PATH="$prefix"
    for name in three mixed both; do build "$folder/$name" --target variants_app; done
    cmp "$folder/three/shapes.kernels/shapes.o" "$folder/mixed/shapes.kernels/shapes.o"
    "$folder/three/variants_app" "x86-64-v4 x86-64-v3 x86-64-v2" any
    "$folder/both/variants_app" "x86-64-v4 x86-64-v3" any
    # The shadow memory of a sanitizer does not fit into the emulator.
    case "${CXXFLAGS:-}" in *-fsanitize*) QEMU= ;; esac
    if [ -n "${QEMU:-}" ]; then
      "$QEMU" -cpu Nehalem "$folder/three/variants_app" "x86-64-v4 x86-64-v3 x86-64-v2" x86-64-v2
      "$QEMU" -cpu Haswell "$folder/three/variants_app" "x86-64-v4 x86-64-v3 x86-64-v2" x86-64-v3
      "$QEMU" -cpu Nehalem "$folder/both/variants_app" "x86-64-v4 x86-64-v3" R-cpu
      "$QEMU" -cpu qemu64 "$folder/three/variants_app" "x86-64-v4 x86-64-v3 x86-64-v2" R-cpu
    fi
    ;;
  installed)
    # A project installs a generated library, and another project uses it with the runtime only.
    configure "$folder/build" -DCMAKE_PREFIX_PATH="$prefix"
    build "$folder/build"
    "$CMAKE" --install "$folder/build" --prefix "$folder/prefix" >/dev/null
    rm -rf "$folder/user" && mkdir -p "$folder/user"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(user C CXX)' 'find_package(kiln REQUIRED COMPONENTS runtime)' \
      "include($folder/prefix/cmake/shapes.cmake)" "add_executable(app $here/project/main.cpp)" 'target_link_libraries(app shapes)' \
      >"$folder/user/CMakeLists.txt"
    mv "$folder/build" "$folder/gone"
    "$CMAKE" -S "$folder/user" -B "$folder/user/build" -G "$GENERATOR" -DCMAKE_PREFIX_PATH="$prefix" >"$folder/user/log"
    build "$folder/user/build"
    "$folder/user/build/app"
    rm -rf "$folder/gone"
    ;;
  add_subdirectory)
    configure "$folder" -DKILN_SOURCE="$KILN_SOURCE" -DKILN_HOST_PACKAGE="$package"
    build "$folder"
    run_apps "$folder"
    for program in app c_app threaded_app; do check_ldd "$folder/$program"; done
    ;;
  makefiles)
    GENERATOR="Unix Makefiles" configure "$folder" -DCMAKE_PREFIX_PATH="$prefix"
    build "$folder"
    run_apps "$folder"
    ;;
  reproducible)
    configure "$folder/one" -DCMAKE_PREFIX_PATH="$prefix"
    mkdir -p "$folder/a longer name"
    configure "$folder/a longer name/two" -DCMAKE_PREFIX_PATH="$prefix"
    LC_ALL=C build "$folder/one"
    LC_ALL=C.UTF-8 build "$folder/a longer name/two"
    files=$(generated_files "$folder/one")
    [ "$files" = "$(generated_files "$folder/a longer name/two")" ]
    [ "$(wc -l <<<"$files")" -ge 7 ]
    while read -r file; do
      cmp "$folder/one/shapes.kernels/$file" "$folder/a longer name/two/shapes.kernels/$file"
    done <<<"$files"
    ;;
  compilers)
    # g++ and clang record a body's expressions in different orders, but the generator writes the same files. (Only the order of the
    # sections in a target's objects may differ, because clang uses another linker.)
    for cxx in "$GXX" "$CLANGXX"; do
      to=$folder/$(basename "$cxx")
      rm -rf "$to" && mkdir -p "$to"
      "$CMAKE" -S "$here/compilers" -B "$to" -G "$GENERATOR" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$prefix" \
        -DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON -DFOLDER="$KILN_SOURCE/examples" >"$to.log" || { cat "$to.log"; exit 1; }
      build "$to"
    done
    for name in mandelbrot sort sph; do
      files=$(ls "$folder/$(basename "$GXX")/$name.kernels/include/$name"/*.o)
      [ -n "$files" ]
      diff -r "$folder/$(basename "$GXX")/$name.kernels/include" "$folder/$(basename "$CLANGXX")/$name.kernels/include"
    done
    ;;
  rebuild)
    # After a change of a program, one build updates the application. Without a change nothing is rebuilt.
    rm -rf "$folder" && mkdir -p "$folder"
    cp -r "$here/project" "$folder/source"
    here=$folder
    mv "$folder/source" "$folder/project"
    configure "$folder/build" -DCMAKE_PREFIX_PATH="$prefix"
    build "$folder/build"
    build "$folder/build"
    grep -q 'no work to do' "$folder/build.build.log"
    sed -i 's/in<f32, N> x;/in<f64, N> x;/; s/a \* x + y/cast<f32>(x) + a + y/' "$folder/project/kernels.cpp"
    if "$CMAKE" --build "$folder/build" >"$folder/changed.log" 2>&1; then
      echo "the application still passes f32 to a program that takes f64"
      exit 1
    fi
    grep -q 'main.cpp' "$folder/changed.log" || { cat "$folder/changed.log"; exit 1; }
    ;;
  keywords)
    # Mistakes in the call stop CMake with a message.
    mkdir -p "$folder"
    try() {
      rm -rf "$folder/project" "$folder/build" && mkdir -p "$folder/project"
      printf 'cmake_minimum_required(VERSION 3.25)\nproject(p C CXX)\nfind_package(kiln REQUIRED)\n%s\n' "$1" >"$folder/project/CMakeLists.txt"
      if "$CMAKE" -S "$folder/project" -B "$folder/build" -G "$GENERATOR" -DCMAKE_PREFIX_PATH="$prefix" >"$folder/log" 2>&1; then
        echo "accepted: $1"
        exit 1
      fi
      tr -s ' \n' ' ' <"$folder/log" | grep -qF "$2" || { cat "$folder/log"; exit 1; }
    }
    try 'kiln_add_kernels(k COLOUR red SOURCES a.cpp)' 'unknown keyword COLOUR'
    try 'kiln_add_kernels(k NAMESPACE n)' 'SOURCES is missing'
    try 'kiln_add_kernels(k SOURCES)' 'no value for SOURCES'
    try 'kiln_add_kernels(k SOURCES a.cpp VARIANTS x86-64-v3 v4)' 'VARIANTS v4 is no CPU level'
    try 'kiln_add_kernels(k SOURCES a.cpp)' 'kiln_add_kernels(k): there is no source a.cpp'
    ;;
  components)
    # The component `runtime` defines only the runtime. An error names a missing component.
    rm -rf "$folder" && mkdir -p "$folder/project"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(p C)' 'find_package(kiln REQUIRED COMPONENTS runtime)' \
      'if(NOT TARGET kiln::runtime OR TARGET kiln::generator_main OR COMMAND kiln_add_kernels)' '  message(FATAL_ERROR "wrong targets")' 'endif()' \
      'find_package(kiln COMPONENTS nonsense)' 'if(kiln_FOUND)' '  message(FATAL_ERROR "found nonsense")' 'endif()' >"$folder/project/CMakeLists.txt"
    "$CMAKE" -S "$folder/project" -B "$folder/build" -G "$GENERATOR" -DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON -DCMAKE_PREFIX_PATH="$prefix"
    ;;
  pkg_config)
    mkdir -p "$folder"
    flags=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs kiln-runtime)
    # shellcheck disable=SC2086
    ${CC:-cc} ${CFLAGS:-} -o "$folder/client" "$KILN_SOURCE/tests/unit/runtime_program.c" "$here/pkg_config.c" -I"$KILN_SOURCE/tests/unit" $flags
    "$folder/client"
    ;;
  *)
    echo "no case $case"
    exit 64
    ;;
esac
