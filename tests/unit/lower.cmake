kiln_add_test(value_bounds_test unit SOURCES unit/value_bounds_test.cpp LIBS kiln_lower)
kiln_add_test(lower_test unit
  SOURCES unit/reduce_lowering_test.cpp unit/lower_random_test.cpp unit/index_dtype_test.cpp unit/drop_unit_ranges_test.cpp
          unit/merge_ranges_test.cpp unit/decompose_math_test.cpp unit/decompose_half_test.cpp unit/estimate_work_test.cpp unit/kernel_time_test.cpp unit/tuning_test.cpp
          unit/vectorize_plan_test.cpp unit/wide_plans_test.cpp unit/check_plan_test.cpp unit/plan_text_test.cpp unit/past_caches_test.cpp
          unit/loop_nest_test.cpp unit/interleaved_access_test.cpp unit/narrow_casts_test.cpp
  LIBS schedule_harness kiln_passes kiln_interp)
