add_library(schedule_harness STATIC
  unit/schedule_harness_kernel.cpp unit/schedule_harness_scalar.cpp unit/schedule_harness_tensor.cpp unit/lower_harness.cpp)
target_link_libraries(schedule_harness PUBLIC kiln_options kiln_ir kiln_interp)
kiln_add_test(kernel_split_test unit SOURCES unit/kernel_split_test.cpp LIBS schedule_harness kiln_passes)
kiln_add_test(memory_plan_test unit SOURCES unit/memory_plan_test.cpp LIBS kiln_schedule kiln_interp)
kiln_add_test(dependencies_test unit SOURCES unit/dependencies_test.cpp LIBS schedule_harness kiln_passes)
kiln_add_test(segments_test unit SOURCES unit/segments_test.cpp LIBS kiln_schedule)
kiln_add_test(share_kernels_test unit SOURCES unit/share_kernels_test.cpp LIBS kiln_pipeline)
kiln_add_test(ping_pong_test unit
  SOURCES unit/ping_pong_test.cpp unit/ping_pong_ends_test.cpp unit/ping_pong_back_test.cpp unit/ping_pong_loops_test.cpp
          unit/copies_test.cpp unit/loop_programs.cpp unit/loop_run.cpp
  LIBS schedule_harness kiln_schedule)
