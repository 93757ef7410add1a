# The runtime's core: at most 8 KB of code, no weak symbols, no mutable data but the kept answer of CPUID.
# A preset's own flags (sanitizers, frame pointers) change the size, so the core is compiled once more here, with options that take
# them back. The result is the core of a release build in every preset.
get_target_property(sources kiln_runtime SOURCES)
list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/runtime/)
add_library(kiln_runtime_as_released STATIC ${sources})
target_include_directories(kiln_runtime_as_released PRIVATE $<TARGET_PROPERTY:kiln_runtime,INCLUDE_DIRECTORIES>)
target_compile_options(kiln_runtime_as_released PRIVATE
  $<TARGET_PROPERTY:kiln_runtime,COMPILE_OPTIONS> -fno-sanitize=all -fomit-frame-pointer)
# Clang's -Os inlines more than GCC's. Its -Oz fits into 8 KB too, but makes a call of four arguments a quarter slower.
if(CMAKE_C_COMPILER_ID MATCHES Clang)
  set(most 9216)
else()
  set(most 8192)
endif()
add_test(NAME size.runtime COMMAND ${CMAKE_CURRENT_LIST_DIR}/runtime_test.sh $<TARGET_FILE:kiln_runtime_as_released>
  ${CMAKE_NM} ${CMAKE_OBJDUMP} ${most})
set_tests_properties(size.runtime PROPERTIES LABELS size)
