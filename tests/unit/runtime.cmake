add_library(runtime_program STATIC unit/runtime_program.c)
target_link_libraries(runtime_program PUBLIC kiln::runtime)
target_include_directories(runtime_program PUBLIC unit)

kiln_add_test(runtime_call_test unit SOURCES unit/runtime_call_test.cpp LIBS runtime_program)
kiln_add_test(runtime_variants_test unit SOURCES unit/runtime_variants_test.cpp LIBS runtime_program)
target_include_directories(runtime_variants_test PRIVATE ${PROJECT_SOURCE_DIR}/runtime/src)
kiln_add_test(runtime_pool_test unit SOURCES unit/runtime_pool_test.cpp LIBS runtime_program kiln::threads)
kiln_add_test(runtime_view_test unit SOURCES unit/runtime_view_test.cpp LIBS runtime_program kiln::threads)
kiln_add_test(runtime_context_test unit SOURCES unit/runtime_context_test.cpp LIBS kiln::runtime)

add_executable(runtime_without_exceptions unit/runtime_without_exceptions.cpp)
target_link_libraries(runtime_without_exceptions PRIVATE kiln_options kiln::threads)
target_compile_options(runtime_without_exceptions PRIVATE -fno-exceptions -fno-rtti)
add_test(NAME unit.runtime_without_exceptions COMMAND runtime_without_exceptions)
set_tests_properties(unit.runtime_without_exceptions PROPERTIES LABELS unit)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_test(NAME unit.runtime_notes COMMAND ${CMAKE_CURRENT_LIST_DIR}/runtime_notes_test.sh ${CMAKE_READELF}
    $<TARGET_FILE:kiln_runtime> $<TARGET_FILE:kiln_threads>)
  set_tests_properties(unit.runtime_notes PROPERTIES LABELS unit)
endif()

add_executable(runtime_client unit/runtime_client.c)
target_link_libraries(runtime_client PRIVATE kiln_options runtime_program kiln::threads)
set_target_properties(runtime_client PROPERTIES LINKER_LANGUAGE C)
add_test(NAME unit.runtime_client COMMAND runtime_client)
set_tests_properties(unit.runtime_client PROPERTIES LABELS unit)
