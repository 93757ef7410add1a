add_executable(memory_plan_bench bench/memory_plan.cpp bench/memory_graphs.cpp)
target_link_libraries(memory_plan_bench PRIVATE kiln_options kiln_schedule kiln_interp)
add_test(NAME bench.memory_plan COMMAND memory_plan_bench)
set_tests_properties(bench.memory_plan PROPERTIES LABELS bench)
