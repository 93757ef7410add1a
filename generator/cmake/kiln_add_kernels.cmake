#[[ kiln_add_kernels(<target> SOURCES <file>... [NAMESPACE <ns>] [VARIANTS <cpu>...] [LIBRARIES <lib>...] [TUNING <file>...])

Builds a generator from the sources, runs it, and makes <target>: a normal STATIC library of all programs that the sources export,
with their headers, to be included as <target>/<program>.h. It links, installs and exports like any other.

  SOURCES    DSL sources; each exports programs
  NAMESPACE  C++ namespace of the typed functions and prefix of the C symbols; default: the target's name
  VARIANTS   CPU levels and CPUs, for each of which the object has code; a call takes the best that its CPU can run. Names:
             x86-64-v2, x86-64-v3, x86-64-v4, haswell, skylake-server, znver4, sapphirerapids.
             Default: the variable KILN_DEFAULT_VARIANTS, or x86-64-v3 x86-64-v4
  LIBRARIES  libraries that the sources need in addition to the DSL
  TUNING     plans that kiln-tune found; a file that does not exist counts as empty. The target <target>_tune measures on this
             machine and writes the first file

Outputs are in ${CMAKE_CURRENT_BINARY_DIR}/<target>.kernels/. Programs need not be listed: one object contains them all, and every
header includes revision.h. So two declared outputs represent all files, and a source that includes a header is rebuilt when a
program changes. ]]
include_guard(GLOBAL)

set_property(GLOBAL APPEND PROPERTY JOB_POOLS kiln_generator=2) # each process holds LLVM and the programs in memory
set_property(GLOBAL PROPERTY KILN_VARIANTS x86-64-v2 x86-64-v3 x86-64-v4 haswell skylake-server znver4 sapphirerapids)
set(KILN_DEFAULT_VARIANTS x86-64-v3 x86-64-v4 CACHE STRING "CPU levels of kiln_add_kernels without VARIANTS")

# Reports a word before or among the sources that is not a source. A word in capitals counts as a misspelt keyword.
function(_kiln_stray_word target word)
  if(word MATCHES "^[A-Z_]+$")
    set(hint "unknown keyword ${word}: the keywords are SOURCES, NAMESPACE, VARIANTS, LIBRARIES, TUNING")
    foreach(keyword SOURCES NAMESPACE VARIANTS LIBRARIES TUNING)
      string(REGEX MATCHALL "." letters ${keyword})
      string(REGEX MATCHALL "." given_letters ${word})
      list(SORT letters)
      list(SORT given_letters)
      string(SUBSTRING ${keyword} 0 4 begin)
      if(letters STREQUAL given_letters OR word MATCHES "^${begin}")
        set(hint "unknown keyword ${word}: write ${keyword}")
      endif()
    endforeach()
    message(FATAL_ERROR "kiln_add_kernels(${target}): ${hint}")
  endif()
endfunction()

# A C++ namespace: identifiers joined by ::, none of them a C++ keyword.
function(_kiln_check_namespace target given)
  string(REPLACE "::" ";" parts "${${given}}")
  set(words alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class co_await
    co_return co_yield compl concept const consteval constexpr constinit const_cast continue decltype default delete do double
    dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not
    not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires return short signed sizeof static
    static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned using
    virtual void volatile wchar_t while xor xor_eq)
  set(wrong "")
  foreach(part IN LISTS parts)
    if(NOT part MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
      set(wrong "is no C++ namespace (identifiers joined by ::)")
    elseif(part IN_LIST words)
      set(wrong "is no C++ namespace: `${part}` is a word of C++")
    endif()
  endforeach()
  if("${${given}}" MATCHES "(^|::)::|::$")
    set(wrong "is no C++ namespace (identifiers joined by ::)")
  endif()
  if(wrong AND "${${given}}" STREQUAL "${target}")
    string(MAKE_C_IDENTIFIER "${target}" identifier)
    message(FATAL_ERROR "kiln_add_kernels(${target}): the target's name ${wrong}: write NAMESPACE, for example NAMESPACE my_${identifier}")
  elseif(wrong)
    message(FATAL_ERROR "kiln_add_kernels(${target}): NAMESPACE ${${given}} ${wrong}: write NAMESPACE my or NAMESPACE my::kernels")
  endif()
endfunction()

# Runs at the end of the directory. A source of kernels may be compiled by the generator only, not by another target.
function(_kiln_check_other_targets target sources)
  get_property(all DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
  foreach(other IN LISTS all)
    get_target_property(others ${other} SOURCES)
    get_target_property(libraries ${other} LINK_LIBRARIES)
    if(NOT others OR "${libraries}" MATCHES "kiln(::|_)(dsl|generator)")
      continue()
    endif()
    foreach(source IN LISTS sources)
      if(source IN_LIST others)
        message(FATAL_ERROR "kiln_add_kernels(${target}): ${source} is also a source of ${other}: take it out there, and write "
                            "target_link_libraries(${other} PRIVATE ${target})")
      endif()
    endforeach()
  endforeach()
endfunction()

function(kiln_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 K "" "NAMESPACE" "SOURCES;VARIANTS;LIBRARIES;TUNING")
  if(K_UNPARSED_ARGUMENTS)
    list(GET K_UNPARSED_ARGUMENTS 0 first)
    _kiln_stray_word(${target} "${first}")
    message(FATAL_ERROR "kiln_add_kernels(${target}): ${first} belongs to no keyword: write kiln_add_kernels(${target} SOURCES kernels.cpp)")
  endif()
  if(K_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "kiln_add_kernels(${target}): no value for ${K_KEYWORDS_MISSING_VALUES}")
  endif()
  if(NOT K_SOURCES)
    message(FATAL_ERROR "kiln_add_kernels(${target}): SOURCES is missing: write kiln_add_kernels(${target} SOURCES kernels.cpp)")
  endif()
  if(NOT K_NAMESPACE)
    set(K_NAMESPACE ${target})
  endif()
  if(NOT K_VARIANTS)
    set(K_VARIANTS ${KILN_DEFAULT_VARIANTS})
  endif()
  _kiln_check_namespace("${target}" K_NAMESPACE)
  get_property(known_variants GLOBAL PROPERTY KILN_VARIANTS)
  foreach(word IN LISTS K_VARIANTS K_LIBRARIES K_TUNING)
    _kiln_stray_word(${target} "${word}")
  endforeach()
  foreach(variant IN LISTS K_VARIANTS)
    if(NOT variant IN_LIST known_variants)
      list(JOIN known_variants ", " known)
      message(FATAL_ERROR "kiln_add_kernels(${target}): VARIANTS ${variant} is no CPU level and no CPU that Kiln knows: write some "
                          "of ${known}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES K_VARIANTS)
  list(JOIN K_VARIANTS "," variants)
  foreach(source IN LISTS K_SOURCES)
    get_source_file_property(generated ${source} GENERATED)
    if(NOT generated AND NOT source MATCHES "\\$<" AND NOT EXISTS "${source}" AND NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${source}"
       AND NOT EXISTS "${CMAKE_CURRENT_BINARY_DIR}/${source}")
      _kiln_stray_word(${target} "${source}")
      message(FATAL_ERROR "kiln_add_kernels(${target}): there is no source ${source}")
    endif()
  endforeach()
  if(NOT TARGET kiln::generator_main)
    message(FATAL_ERROR "kiln_add_kernels(${target}): the component `generator` of Kiln was not found")
  endif()

  # Uses EVAL because a deferred call would expand its variables only when it runs.
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _kiln_check_other_targets [[${target}]] [[${K_SOURCES}]])")
  add_executable(${target}_generator ${K_SOURCES})
  target_link_libraries(${target}_generator PRIVATE kiln::dsl kiln::dsl_diagnostics kiln::generator_main ${K_LIBRARIES})
  # The programs are constants, so no code here is hot, and optimisation would only cost time.
  target_compile_options(${target}_generator PRIVATE -O0)

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.kernels)
  set(object ${folder}/${target}.o)
  set(revision ${folder}/include/${target}/revision.h)
  set(tuning_options "")
  if(K_TUNING)
    file(GLOB tuning CONFIGURE_DEPENDS ${K_TUNING}) # a file that appears or vanishes configures the project again
    list(TRANSFORM tuning PREPEND "--tuning=" OUTPUT_VARIABLE tuning_options)
  endif()
  add_custom_command(
    OUTPUT ${folder}/stamp ${object} ${revision}
    COMMAND ${target}_generator -o ${folder}/include/${target} --namespace ${K_NAMESPACE} --variants ${variants} ${tuning_options}
            --revision-header revision.h --object-list ${folder}/objects --depfile ${folder}/depfile --depfile-target ${folder}/stamp
    COMMAND ${CMAKE_COMMAND} -D LINKER=${CMAKE_LINKER} -D LIST=${folder}/objects -D OBJECT=${object}
            -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/kiln_combine_objects.cmake
    COMMAND ${CMAKE_COMMAND} -E touch ${folder}/stamp
    DEPENDS ${target}_generator ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/kiln_combine_objects.cmake
    DEPFILE ${folder}/depfile
    JOB_POOL kiln_generator
    COMMENT "Compiling Kiln programs of ${target}"
    VERBATIM)

  if(K_TUNING)
    list(GET K_TUNING 0 tuned)
    get_filename_component(tuned ${tuned} ABSOLUTE)
    set(tool kiln-tune)
    if(TARGET kiln::kiln-tune)
      set(tool kiln::kiln-tune)
    endif()
    add_custom_target(${target}_tune
      COMMAND ${target}_generator -o ${folder}/tune --emit ir
      COMMAND ${tool} ${folder}/tune -o ${tuned}
      USES_TERMINAL VERBATIM)
  endif()

  add_library(${target} STATIC ${object} ${revision})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_link_libraries(${target} PUBLIC kiln::runtime)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${folder}/include>)
  target_compile_features(${target} INTERFACE cxx_std_20)
  set_target_properties(${target} PROPERTIES KILN_INCLUDE_DIR ${folder}/include) # headers and manifests to install
endfunction()
