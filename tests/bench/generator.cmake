# Cost of the generator by size. The long run: scale_bench --passes, up to 100,000 nodes.
add_executable(scale_bench bench/scale.cpp bench/scale_programs.cpp)
target_link_libraries(scale_bench PRIVATE kiln_options kiln_pipeline)
add_test(NAME bench.scale COMMAND scale_bench --nodes 300,3000)
set_tests_properties(bench.scale PROPERTIES LABELS bench)
