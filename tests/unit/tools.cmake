kiln_add_test(tools_npy unit SOURCES unit/tools_npy_test.cpp LIBS kiln_tools)
