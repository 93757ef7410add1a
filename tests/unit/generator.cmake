kiln_add_test(generator_import_test unit SOURCES unit/generator_import_test.cpp LIBS kiln_generator)
kiln_add_test(generator_outputs_test unit SOURCES unit/generator_outputs_test.cpp LIBS kiln_generator)
find_package(nlohmann_json REQUIRED)
kiln_add_test(generator_driver_test unit SOURCES unit/generator_driver_test.cpp LIBS kiln_generator nlohmann_json::nlohmann_json)
target_compile_definitions(generator_driver_test PRIVATE
  KILN_INCLUDES="-I${PROJECT_SOURCE_DIR}/runtime/include -I${PROJECT_SOURCE_DIR}/abi/include" KILN_C_COMPILER="${CMAKE_C_COMPILER}"
  KILN_CXX_COMPILER="${CMAKE_CXX_COMPILER}")
kiln_add_test(store_races_test unit SOURCES unit/store_races_test.cpp LIBS kiln_generator kiln_races kiln_dsl)
kiln_add_test(flat_races_test unit SOURCES unit/flat_races_test.cpp LIBS kiln_generator kiln_races kiln_dsl)
kiln_add_test(proven_races_test unit SOURCES unit/proven_races_test.cpp LIBS kiln_generator kiln_races kiln_dsl)
kiln_add_test(workgroup_races_test unit SOURCES unit/workgroup_races_test.cpp LIBS kiln_generator kiln_races kiln_dsl)
