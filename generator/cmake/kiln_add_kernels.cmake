#[[ kiln_add_kernels(<target> SOURCES <file>... [NAMESPACE <ns>] [VARIANTS <cpu>] [LIBRARIES <lib>...])

Builds a generator from the sources, runs it, and makes <target>: a normal STATIC library of all programs that the sources export,
with their headers, to be included as <target>/<program>.h. It links, installs and exports like any other.

  SOURCES    DSL sources; each exports programs
  NAMESPACE  C++ namespace of the typed functions and prefix of the C symbols; default: the target's name
  VARIANTS   CPU level: one of x86-64-v3, x86-64-v4; default: the variable KILN_DEFAULT_VARIANTS, or x86-64-v3
  LIBRARIES  what the sources need beside the DSL

Outputs lie in ${CMAKE_CURRENT_BINARY_DIR}/<target>.kernels/. Programs need not be listed: one object holds them all, and every
header includes revision.h, so that two declared outputs stand for all files and what includes a header is rebuilt with it. ]]
include_guard(GLOBAL)

set_property(GLOBAL APPEND PROPERTY JOB_POOLS kiln_generator=2) # each holds LLVM and the programs in memory
set(KILN_DEFAULT_VARIANTS x86-64-v3 CACHE STRING "CPU level of kiln_add_kernels without VARIANTS")

function(kiln_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 K "" "NAMESPACE" "SOURCES;VARIANTS;LIBRARIES")
  if(K_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kiln_add_kernels(${target}): unknown keyword or value: ${K_UNPARSED_ARGUMENTS}")
  endif()
  if(K_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "kiln_add_kernels(${target}): no value for ${K_KEYWORDS_MISSING_VALUES}")
  endif()
  if(NOT K_SOURCES)
    message(FATAL_ERROR "kiln_add_kernels(${target}): SOURCES is missing")
  endif()
  if(NOT K_NAMESPACE)
    set(K_NAMESPACE ${target})
  endif()
  if(NOT K_VARIANTS)
    set(K_VARIANTS ${KILN_DEFAULT_VARIANTS})
  endif()
  list(LENGTH K_VARIANTS n_variants)
  if(n_variants GREATER 1)
    message(FATAL_ERROR "kiln_add_kernels(${target}): VARIANTS takes one CPU level, got ${K_VARIANTS}")
  endif()
  foreach(source IN LISTS K_SOURCES)
    get_source_file_property(generated ${source} GENERATED)
    if(NOT generated AND NOT source MATCHES "\\$<" AND NOT EXISTS "${source}" AND NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${source}"
       AND NOT EXISTS "${CMAKE_CURRENT_BINARY_DIR}/${source}")
      message(FATAL_ERROR "kiln_add_kernels(${target}): there is no source ${source}")
    endif()
  endforeach()
  if(NOT TARGET kiln::generator_main)
    message(FATAL_ERROR "kiln_add_kernels(${target}): the component `generator` of Kiln was not found")
  endif()

  add_executable(${target}_generator ${K_SOURCES})
  target_link_libraries(${target}_generator PRIVATE kiln::dsl kiln::dsl_diagnostics kiln::generator_main ${K_LIBRARIES})
  # The programs are constants: nothing here is hot, and optimising would only cost time.
  target_compile_options(${target}_generator PRIVATE -O0)

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.kernels)
  set(object ${folder}/${target}.o)
  set(revision ${folder}/include/${target}/revision.h)
  add_custom_command(
    OUTPUT ${folder}/stamp ${object} ${revision}
    COMMAND ${target}_generator -o ${folder}/include/${target} --namespace ${K_NAMESPACE} --target ${K_VARIANTS}
            --revision-header revision.h --object-list ${folder}/objects --depfile ${folder}/depfile --depfile-target ${folder}/stamp
    COMMAND ${CMAKE_COMMAND} -D LINKER=${CMAKE_LINKER} -D LIST=${folder}/objects -D OBJECT=${object}
            -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/kiln_combine_objects.cmake
    COMMAND ${CMAKE_COMMAND} -E touch ${folder}/stamp
    DEPENDS ${target}_generator ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/kiln_combine_objects.cmake
    DEPFILE ${folder}/depfile
    JOB_POOL kiln_generator
    COMMENT "Compiling Kiln programs of ${target}"
    VERBATIM)

  add_library(${target} STATIC ${object} ${revision})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_link_libraries(${target} PUBLIC kiln::runtime)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${folder}/include>)
  target_compile_features(${target} INTERFACE cxx_std_20)
  set_target_properties(${target} PROPERTIES KILN_INCLUDE_DIR ${folder}/include) # to install: headers and manifests
endfunction()
