kiln_add_test(dsl_capture_test unit SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/dsl_capture_test.cpp LIBS kiln_dsl)
kiln_add_test(dsl_eval_test unit
  SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/dsl_eval_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/unit/dsl_eval.cpp LIBS kiln_dsl)
kiln_add_test(dsl_scopes_test unit SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/dsl_scopes_test.cpp LIBS kiln_dsl)
