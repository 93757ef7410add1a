add_library(runtime_program STATIC unit/runtime_program.c)
target_link_libraries(runtime_program PUBLIC kiln::runtime)
target_include_directories(runtime_program PUBLIC unit)

kiln_add_test(runtime_call_test unit SOURCES unit/runtime_call_test.cpp LIBS runtime_program)
kiln_add_test(runtime_pool_test unit SOURCES unit/runtime_pool_test.cpp LIBS runtime_program kiln::threads)
kiln_add_test(runtime_view_test unit SOURCES unit/runtime_view_test.cpp LIBS runtime_program kiln::threads)

add_executable(runtime_client unit/runtime_client.c)
target_link_libraries(runtime_client PRIVATE kiln_options runtime_program kiln::threads)
set_target_properties(runtime_client PROPERTIES LINKER_LANGUAGE C)
add_test(NAME unit.runtime_client COMMAND runtime_client)
set_tests_properties(unit.runtime_client PROPERTIES LABELS unit)
