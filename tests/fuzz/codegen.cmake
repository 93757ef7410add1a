kiln_add_test(codegen_random_test fuzz
  SOURCES fuzz/codegen_random_test.cpp
  LIBS schedule_harness kiln_pipeline kiln_interp kiln::runtime ${CMAKE_DL_LIBS})
set_target_properties(codegen_random_test PROPERTIES ENABLE_EXPORTS ON)  # generated objects call the test's kiln_call
