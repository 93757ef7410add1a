kiln_add_test(lower_golden golden
  SOURCES golden/lower_golden_test.cpp
  LIBS schedule_harness kiln_lower kiln_interp)
target_compile_definitions(lower_golden PRIVATE GOLDEN_FOLDER="${CMAKE_CURRENT_LIST_DIR}/lower")
