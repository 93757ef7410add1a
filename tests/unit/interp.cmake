kiln_add_test(interp_test unit
  SOURCES unit/interp_scalar_test.cpp unit/interp_movement_test.cpp unit/interp_reduce_test.cpp unit/interp_bind_test.cpp
  LIBS kiln_interp)
kiln_add_test(interp_scopes_test unit SOURCES unit/interp_scopes_test.cpp unit/interp_states_test.cpp LIBS kiln_interp)
target_compile_definitions(interp_scopes_test PRIVATE KILN_IR_PAGE="${PROJECT_SOURCE_DIR}/docs/reference/ir-scopes.md")
