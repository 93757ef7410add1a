# Derivatives of programs of the DSL. record_duals: their meaning by dual numbers, which shares nothing with the compiler.
add_library(record_duals STATIC grad/record_duals.cpp grad/record_trace.cpp)
target_link_libraries(record_duals PUBLIC kiln_options kiln_dsl)
kiln_add_test(record_duals_test grad SOURCES grad/record_duals_test.cpp LIBS record_duals)
kiln_add_test(grad_dsl_test grad
  SOURCES grad/run.cpp grad/interface_test.cpp grad/grad_scopes_test.cpp grad/grad_kernels_test.cpp grad/forward_scopes_test.cpp grad/edges_test.cpp grad/library_test.cpp grad/layers_test.cpp grad/train_test.cpp
  LIBS record_duals kiln_generator run_harness)
