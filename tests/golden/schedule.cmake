kiln_add_test(schedule_golden golden SOURCES golden/schedule_golden_test.cpp LIBS kiln_passes)
target_compile_definitions(schedule_golden PRIVATE GOLDEN_FOLDER="${CMAKE_CURRENT_LIST_DIR}/schedule")
kiln_add_test(host_loops_golden golden SOURCES golden/host_loops_golden_test.cpp LIBS kiln_passes)
target_compile_definitions(host_loops_golden PRIVATE GOLDEN_FOLDER="${CMAKE_CURRENT_LIST_DIR}/host_loops")
