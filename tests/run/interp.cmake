add_library(run_harness STATIC run/compiled.cpp run/layouts.cpp)
target_link_libraries(run_harness PUBLIC kiln_options kiln_interp kiln_pipeline kiln_threads ${CMAKE_DL_LIBS})
# The loaded objects take kiln_call from the test program.
kiln_add_test(ops_elementwise_test run SOURCES run/ops_elementwise_test.cpp run/values.cpp run/reference.cpp
  run/tensor_reference.cpp LIBS run_harness)
set_target_properties(ops_elementwise_test PROPERTIES ENABLE_EXPORTS ON)
kiln_add_test(extents_test run SOURCES run/extents_test.cpp LIBS run_harness)
set_target_properties(extents_test PROPERTIES ENABLE_EXPORTS ON)
