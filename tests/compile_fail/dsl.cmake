# Mistakes in kernel sources, and the messages of each available compiler. One test for each source. It compiles the source's
# cases with precompiled headers. Mistakes that the parser finds are compiled all at once. A case that is compiled alone is compiled
# by one compiler for each change, and by all compilers in the long test.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_program(KILN_GXX NAMES g++-12 g++)
find_program(KILN_CLANGXX NAMES clang++-19)
set(includes "-I${PROJECT_SOURCE_DIR}/dsl/include -I${PROJECT_SOURCE_DIR}/runtime/include -I${PROJECT_SOURCE_DIR}/abi/include")
string(REPLACE ";" " " gcc_flags "${KILN_DSL_DIAGNOSTICS_GNU} ${KILN_DSL_LIMITS_GNU} ${includes}")
string(REPLACE ";" " " clang_flags "${KILN_DSL_DIAGNOSTICS_CLANG} ${KILN_DSL_LIMITS_CLANG} ${includes}")
set(compilers)
if(KILN_GXX)
  list(APPEND compilers --gcc ${KILN_GXX} "--gcc-flags=${gcc_flags}")
endif()
if(KILN_CLANGXX)
  list(APPEND compilers --clang ${KILN_CLANGXX} "--clang-flags=${clang_flags}")
endif()
set(folder ${CMAKE_CURRENT_SOURCE_DIR}/compile_fail)
set(mistakes newcomers mistakes/values mistakes/control mistakes/tensors mistakes/structure)
foreach(source twins scopes names strides calls ${mistakes})
  get_filename_component(name ${source} NAME)
  set(check ${Python3_EXECUTABLE} ${folder}/mistakes.py ${compilers} ${folder}/${source}.cpp)
  add_test(NAME compile_fail.${name} COMMAND ${check} --alternate)
  kiln_add_long_test(compile_fail_${name} ${check})
  set_tests_properties(compile_fail.${name} PROPERTIES LABELS compile_fail TIMEOUT 900)
endforeach()

# Writes the page docs/reference/mistakes.md again: cmake --build build/dev --target mistakes_page
list(TRANSFORM mistakes PREPEND ${folder}/)
list(TRANSFORM mistakes APPEND .cpp)
add_custom_target(mistakes_page COMMAND ${Python3_EXECUTABLE} ${folder}/mistakes.py ${compilers}
                  --page ${PROJECT_SOURCE_DIR}/docs/reference/mistakes.md ${mistakes} VERBATIM)

# Every name in the headers is tested as the name of a program, a module and a dim.
foreach(compiler ${KILN_GXX} ${KILN_CLANGXX})
  get_filename_component(name ${compiler} NAME)
  add_test(NAME compile_fail.all_names_${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/compile_fail/all_names.py
           ${PROJECT_SOURCE_DIR} ${compiler})
  set_tests_properties(compile_fail.all_names_${name} PROPERTIES LABELS compile_fail)
endforeach()
