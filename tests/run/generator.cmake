# --dump-after's texts, of every pass.
kiln_add_test(resume_test run
  SOURCES run/resume_test.cpp ${PROJECT_SOURCE_DIR}/examples/demo/kernels.cpp
  LIBS kiln_tools kiln::generator kiln::dsl random_makers)
target_compile_definitions(resume_test PRIVATE TESTS_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}")
