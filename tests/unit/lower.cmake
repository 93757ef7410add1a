kiln_add_test(lower_test unit
  SOURCES unit/lower_test.cpp unit/lower_reduce_test.cpp unit/lower_random_test.cpp unit/lower_index_dtype_test.cpp
  LIBS schedule_harness kiln_passes kiln_interp)
