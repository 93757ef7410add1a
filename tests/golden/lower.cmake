kiln_add_test(lower_golden golden
  SOURCES golden/lower_golden_test.cpp
  LIBS schedule_harness kiln_passes kiln_interp)
target_compile_definitions(lower_golden PRIVATE GOLDEN_FOLDER="${CMAKE_CURRENT_LIST_DIR}/lower")
kiln_add_test(workgroup_lanes_golden golden
  SOURCES golden/workgroup_lanes_golden_test.cpp
  LIBS kiln_generator kiln_passes kiln_dsl)
target_compile_definitions(workgroup_lanes_golden PRIVATE GOLDEN_FOLDER="${CMAKE_CURRENT_LIST_DIR}/workgroup_lanes")
kiln_add_test(lanes_golden golden
  SOURCES golden/lanes_golden_test.cpp ${PROJECT_SOURCE_DIR}/examples/nbody/kernels.cpp
  LIBS kiln_generator kiln_passes kiln_dsl)
target_compile_definitions(lanes_golden PRIVATE GOLDEN_FOLDER="${CMAKE_CURRENT_LIST_DIR}/lanes")
