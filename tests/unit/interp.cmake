kiln_add_test(interp_test unit
  SOURCES unit/interp_scalar_test.cpp unit/interp_movement_test.cpp unit/interp_reduce_test.cpp unit/interp_bind_test.cpp
  LIBS kiln_interp)
