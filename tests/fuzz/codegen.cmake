# The long run: random_programs --count 100000 --jobs 2.
add_library(random_makers STATIC
  fuzz/random_program.cpp fuzz/random_elementwise.cpp fuzz/random_movement.cpp fuzz/random_reduction.cpp
  fuzz/random_network.cpp fuzz/random_counted.cpp fuzz/random_table.cpp fuzz/random_large.cpp fuzz/random_vectors.cpp
  fuzz/give_strides.cpp)
target_link_libraries(random_makers PUBLIC kiln_options kiln_interp)
add_library(plans STATIC fuzz/plan_problem.cpp fuzz/plan_trace.cpp)
target_link_libraries(plans PUBLIC kiln_options kiln_schedule kiln_interp kiln_runtime)
add_library(campaign STATIC
  fuzz/campaign.cpp fuzz/check_program.cpp fuzz/random_plan.cpp fuzz/run_object.cpp fuzz/first_broken_pass.cpp fuzz/child.cpp
  fuzz/shrink.cpp)
target_link_libraries(campaign PUBLIC random_makers plans run_harness schedule_harness command_line)
add_executable(random_programs fuzz/random_programs.cpp)
target_link_libraries(random_programs PRIVATE campaign)
kiln_add_test(random_plan_test fuzz SOURCES fuzz/random_plan_test.cpp LIBS campaign)
kiln_add_test(plan_problem_test fuzz SOURCES fuzz/plan_problem_test.cpp LIBS plans run_harness)
kiln_add_test(plan_trace_test fuzz SOURCES fuzz/plan_trace_test.cpp LIBS plans)
add_test(NAME fuzz.random_programs COMMAND random_programs --count 150 --jobs 2)
file(GLOB regressions CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/regressions/*.kiln)
if(regressions)
  add_test(NAME fuzz.regressions COMMAND random_programs ${regressions})
  set_tests_properties(fuzz.regressions PROPERTIES LABELS fuzz)
endif()
add_test(NAME fuzz.random_stages COMMAND random_programs --stages --count 35 --seed 10000 --jobs 2)
add_test(NAME fuzz.random_disabled COMMAND random_programs --disable --count 60 --seed 20000 --jobs 2)
# Seed 40000008: copies of another loop beside copies that transpose their loads.
add_test(NAME fuzz.random_plans COMMAND random_programs --plans 2 --count 150 --seed 40000000 --jobs 2)
# A plan that stores a tile buffer past the caches.
add_test(NAME fuzz.tile_past_caches COMMAND random_programs --plans 2 --count 1 --seed 7720281)
# A plan with blocks of the range that has a border: each block began at the border and changed its elements in place again.
add_test(NAME fuzz.blocks_with_borders COMMAND random_programs --plans 2 --count 1 --seed 63000652)
set_tests_properties(fuzz.blocks_with_borders fuzz.tile_past_caches fuzz.random_programs fuzz.random_stages fuzz.random_disabled fuzz.random_plans PROPERTIES LABELS fuzz)
# The programs of golden tests for single passes, as complete programs.
file(GLOB golden_cases CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/golden/passes/*/*.kiln)
# Its values have more elements than the campaign takes. Fusion.DerivativesOfHeadsKeepRowsOnly runs such a program.
list(FILTER golden_cases EXCLUDE REGEX "fuse_rows/sums_over_rows")
add_test(NAME fuzz.golden_cases COMMAND random_programs --seeds 1 ${golden_cases})
kiln_add_long_test(golden_cases random_programs ${golden_cases})
set_tests_properties(fuzz.golden_cases PROPERTIES LABELS fuzz)
