add_executable(simplify_bench bench/simplify.cpp fuzz/index_expression.cpp)
target_link_libraries(simplify_bench PRIVATE kiln_options kiln_symbolic)
add_test(NAME bench.simplify COMMAND simplify_bench --sample)
set_tests_properties(bench.simplify PROPERTIES LABELS bench)
