kiln_add_test(graph_cleanup_test unit SOURCES unit/graph_cleanup_test.cpp LIBS kiln_rangeify)
kiln_add_test(index_map_test unit SOURCES unit/index_map_test.cpp LIBS kiln_rangeify)
kiln_add_test(staging_test unit SOURCES unit/staging_test.cpp LIBS kiln_rangeify)
kiln_add_test(collapse_reductions_test unit SOURCES unit/collapse_reductions_test.cpp LIBS kiln_rangeify)
