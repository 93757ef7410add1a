# Objects that tests call in their own process.
find_package(LLVM REQUIRED CONFIG)  # the LLVM that compiler/codegen found
add_library(loaded_object STATIC run/loaded_object.cpp)
target_link_libraries(loaded_object PUBLIC kiln_options PRIVATE LLVM)
target_include_directories(loaded_object PRIVATE ${PROJECT_SOURCE_DIR}/runtime/include)
target_include_directories(loaded_object SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
add_library(run_harness STATIC run/compiled.cpp run/layouts.cpp)
target_link_libraries(run_harness PUBLIC kiln_options kiln_interp kiln_pipeline loaded_object kiln_threads)
add_library(references STATIC run/values.cpp run/reference.cpp run/tensor_reference.cpp)
target_link_libraries(references PUBLIC run_harness)
kiln_add_test(extents_test run SOURCES run/extents_test.cpp LIBS run_harness)
