add_library(schedule_harness STATIC
  unit/schedule_harness_kernel.cpp unit/schedule_harness_scalar.cpp unit/schedule_harness_tensor.cpp unit/lower_harness.cpp)
target_link_libraries(schedule_harness PUBLIC kiln_options kiln_ir kiln_interp)
kiln_add_test(schedule_kernels_test unit SOURCES unit/schedule_kernels_test.cpp LIBS schedule_harness kiln_passes)
kiln_add_test(schedule_memory_test unit SOURCES unit/schedule_memory_test.cpp LIBS kiln_schedule kiln_interp)
kiln_add_test(schedule_inout_test unit SOURCES unit/schedule_inout_test.cpp LIBS schedule_harness kiln_passes)
kiln_add_test(schedule_pieces_test unit SOURCES unit/schedule_pieces_test.cpp LIBS kiln_schedule)
kiln_add_test(share_kernels_test unit SOURCES unit/share_kernels_test.cpp LIBS kiln_pipeline)
kiln_add_test(ping_pong_test unit
  SOURCES unit/ping_pong_test.cpp unit/ping_pong_ends_test.cpp unit/ping_pong_back_test.cpp unit/ping_pong_loops_test.cpp
          unit/copies_test.cpp unit/turn_programs.cpp unit/turn_run.cpp
  LIBS schedule_harness kiln_schedule)
