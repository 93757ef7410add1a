kiln_add_test(lower_test unit
  SOURCES unit/lower_test.cpp unit/lower_reduce_test.cpp unit/lower_random_test.cpp unit/lower_index_dtype_test.cpp unit/lower_harness.cpp
          unit/schedule_harness_kernel.cpp unit/schedule_harness_scalar.cpp unit/schedule_harness_tensor.cpp
  LIBS kiln_lower kiln_interp)
