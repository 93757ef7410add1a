# The runtime's core: at most 8 KB of code, no weak symbols, no mutable data but the kept answer of CPUID. Sizes are meaningful in a release build only.
if(CMAKE_BUILD_TYPE STREQUAL Release)
  add_test(NAME size.runtime COMMAND ${CMAKE_CURRENT_LIST_DIR}/runtime_test.sh $<TARGET_FILE:kiln_runtime> ${CMAKE_NM} ${CMAKE_OBJDUMP})
  set_tests_properties(size.runtime PROPERTIES LABELS size)
endif()
