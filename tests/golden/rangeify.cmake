kiln_add_test(rangeify_golden golden SOURCES golden/rangeify_golden_test.cpp LIBS kiln_passes)
target_compile_definitions(rangeify_golden PRIVATE GOLDEN_FOLDER="${CMAKE_CURRENT_LIST_DIR}/rangeify")
