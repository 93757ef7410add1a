# kiln_add_kernels(<target> SOURCES <file>... [NAMESPACE <ns>] [TARGET_CPU <level>])
#
# Builds the Kiln programs in SOURCES into the STATIC library <target>. Its headers are included as <target>/<program>.h.
#   SOURCES     kernel sources: compiled and run on the host, never linked into the application
#   NAMESPACE   C++ namespace of the typed functions and prefix of the C symbols (default: <target>)
#   TARGET_CPU  x86-64-v3 (default) or x86-64-v4
set(KILN_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR})

function(kiln_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 K "" "NAMESPACE;TARGET_CPU" "SOURCES")
  if(K_UNPARSED_ARGUMENTS OR K_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "kiln_add_kernels(${target}): unknown or incomplete arguments: "
                        "${K_UNPARSED_ARGUMENTS} ${K_KEYWORDS_MISSING_VALUES}")
  endif()
  if(NOT K_SOURCES)
    message(FATAL_ERROR "kiln_add_kernels(${target}): SOURCES is missing")
  endif()
  if(NOT K_NAMESPACE)
    set(K_NAMESPACE ${target})
  endif()
  if(NOT K_TARGET_CPU)
    set(K_TARGET_CPU x86-64-v3)
  endif()

  add_executable(${target}_generator ${K_SOURCES})
  target_link_libraries(${target}_generator PRIVATE kiln::generator_main kiln::dsl)
  target_compile_features(${target}_generator PRIVATE cxx_std_20)
  # Capture is constant evaluation: lift the compilers' step limits; nothing in this program is hot.
  target_compile_options(${target}_generator PRIVATE -O0
    $<$<CXX_COMPILER_ID:GNU>:-fconstexpr-ops-limit=1000000000;-fconstexpr-loop-limit=10000000>
    $<$<CXX_COMPILER_ID:Clang>:-fconstexpr-steps=1000000000>)

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.kernels)
  set(object ${folder}/${target}.o)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${CMAKE_COMMAND} -DGENERATOR=$<TARGET_FILE:${target}_generator> -DFOLDER=${folder} -DTARGET=${target}
            -DNAMESPACE=${K_NAMESPACE} -DTARGET_CPU=${K_TARGET_CPU} -DLINKER=${CMAKE_LINKER}
            -P ${KILN_CMAKE_DIR}/kiln_generate.cmake
    DEPENDS ${target}_generator ${KILN_CMAKE_DIR}/kiln_generate.cmake
    COMMENT "Firing kernels of ${target}"
    VERBATIM)
  add_custom_target(${target}_fire DEPENDS ${object})

  add_library(${target} STATIC ${object})
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  add_dependencies(${target} ${target}_fire)
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${folder}/include>)
  target_link_libraries(${target} INTERFACE kiln::runtime)
endfunction()
