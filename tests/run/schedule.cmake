kiln_add_test(ops_tensor_test run SOURCES run/ops_tensor_test.cpp run/values.cpp run/tensor_reference.cpp run/reference.cpp LIBS run_harness)
# The loaded objects take kiln_call from the test program.
set_target_properties(ops_tensor_test PROPERTIES ENABLE_EXPORTS ON)
kiln_add_test(pack_test run SOURCES run/pack_test.cpp LIBS run_harness)
set_target_properties(pack_test PROPERTIES ENABLE_EXPORTS ON)
kiln_add_test(entry_test run SOURCES run/entry_test.cpp LIBS run_harness)
set_target_properties(entry_test PROPERTIES ENABLE_EXPORTS ON)
kiln_add_test(split_reduce_test run SOURCES run/split_reduce_test.cpp LIBS run_harness)
set_target_properties(split_reduce_test PROPERTIES ENABLE_EXPORTS ON)
