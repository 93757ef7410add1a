kiln_add_test(lower_golden golden
  SOURCES golden/lower_golden_test.cpp unit/lower_harness.cpp unit/schedule_harness_kernel.cpp unit/schedule_harness_scalar.cpp
          unit/schedule_harness_tensor.cpp
  LIBS kiln_lower kiln_interp)
target_compile_definitions(lower_golden PRIVATE GOLDEN_FOLDER="${CMAKE_CURRENT_LIST_DIR}/lower")
