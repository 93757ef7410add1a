# Programs with every operation, through the front end: the generator writes their graphs, and the test compiles and runs them.
add_executable(run_programs run/programs/elementwise.cpp run/programs/movement.cpp run/programs/reduce.cpp run/programs/windows.cpp run/programs/kernels.cpp)
target_link_libraries(run_programs PRIVATE kiln::generator_main kiln::dsl)
target_compile_options(run_programs PRIVATE -O0)
set(graphs ${CMAKE_CURRENT_BINARY_DIR}/run_programs.graphs)
add_custom_command(TARGET run_programs POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E make_directory ${graphs} COMMAND run_programs -o ${graphs} --emit ir VERBATIM)
add_executable(run_symbolic run/programs/windows_symbolic.cpp)
target_link_libraries(run_symbolic PRIVATE kiln::generator_main kiln::dsl)
target_compile_options(run_symbolic PRIVATE -O0)
set(symbolic_graphs ${CMAKE_CURRENT_BINARY_DIR}/run_symbolic.graphs)
add_custom_command(TARGET run_symbolic POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E make_directory ${symbolic_graphs} COMMAND run_symbolic -o ${symbolic_graphs} --emit ir VERBATIM)
add_executable(programs_test run/programs_test.cpp)
target_link_libraries(programs_test PRIVATE run_harness GTest::gtest)
add_dependencies(programs_test run_programs run_symbolic)
add_test(NAME run.programs COMMAND programs_test ${graphs})
add_test(NAME run.programs_strided COMMAND programs_test ${graphs} --strided)
add_test(NAME run.programs_symbolic COMMAND programs_test ${symbolic_graphs} --strided 4)
set_tests_properties(run.programs run.programs_strided run.programs_symbolic PROPERTIES LABELS run)
# Programs with loops, conditions and kernels, compared with the same code in C++: through the interpreter, and compiled.
add_executable(scopes_test run/scopes/run_scopes.cpp run/scopes/around_kernels_test.cpp run/scopes/control_test.cpp run/scopes/elements_test.cpp
               run/scopes/defects_test.cpp run/scopes/defects_kernels_test.cpp run/scopes/features_test.cpp run/scopes/host_loops_test.cpp
               run/scopes/array_values_test.cpp run/scopes/loop_clamps_test.cpp run/scopes/host_programs_test.cpp run/scopes/workgroups_test.cpp run/scopes/workgroups_control_test.cpp run/scopes/workgroup_lanes_test.cpp run/scopes/parts_test.cpp
               run/scopes/stored_test.cpp run/scopes/sum_atomics_test.cpp run/scopes/values_test.cpp)
target_link_libraries(scopes_test PRIVATE kiln_generator run_harness GTest::gtest)
target_compile_options(scopes_test PRIVATE -O0)  # to optimise its largest source took a third of the time
target_precompile_headers(scopes_test PRIVATE <gtest/gtest.h> <kiln/dsl.h> <tests/run/scopes/run_scopes.h>)
target_compile_definitions(scopes_test PRIVATE KILN_SCOPE_PROGRAMS="${CMAKE_CURRENT_SOURCE_DIR}/run/scopes/host_loops/")
target_sources(scopes_test PRIVATE run/scopes/host_kernels_test.cpp run/scopes/whole_writes_test.cpp run/scopes/row_loops_test.cpp run/scopes/components_test.cpp
               run/scopes/rotating_buffers_test.cpp run/scopes/loop_lanes_test.cpp run/scopes/even_lanes_test.cpp run/scopes/row_chains_test.cpp
               run/scopes/atomics_test.cpp run/scopes/nesting_test.cpp run/scopes/beginnings_test.cpp run/scopes/far_bounds_test.cpp
               run/scopes/once_test.cpp run/scopes/ranges_test.cpp run/scopes/checks_test.cpp run/scopes/first_use_test.cpp run/scopes/multiples_test.cpp
               run/scopes/newcomers_columns_test.cpp run/scopes/newcomers_kernels_test.cpp run/scopes/newcomers_tensors_test.cpp run/scopes/module_lists_test.cpp
               run/scopes/slices_in_place_test.cpp)
add_test(NAME run.scopes COMMAND scopes_test)
add_test(NAME run.scopes_compiled COMMAND scopes_test --compiled)
add_test(NAME run.scopes_strided COMMAND scopes_test --strided)
set_tests_properties(run.scopes run.scopes_compiled run.scopes_strided PROPERTIES LABELS run)
# A third of the programs: strides change the addresses of accesses only, and each program is compiled again for them. All of
# them: scopes_test --strided.
set_tests_properties(run.scopes_strided PROPERTIES ENVIRONMENT "GTEST_TOTAL_SHARDS=3;GTEST_SHARD_INDEX=1")
kiln_add_test(remarks_test run SOURCES run/remarks_test.cpp LIBS kiln_generator kiln_dsl)
target_compile_definitions(remarks_test PRIVATE TESTS="${CMAKE_CURRENT_SOURCE_DIR}")
