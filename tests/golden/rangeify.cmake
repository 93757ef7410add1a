kiln_add_test(passes_golden golden SOURCES golden/passes_golden_test.cpp LIBS kiln_passes)
target_compile_definitions(passes_golden PRIVATE GOLDEN_FOLDER="${CMAKE_CURRENT_LIST_DIR}/passes")
