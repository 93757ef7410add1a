# --dump-after's texts, of every pass.
kiln_add_test(resume_test run
  SOURCES run/resume_test.cpp ${PROJECT_SOURCE_DIR}/examples/demo/kernels.cpp fuzz/random_program.cpp fuzz/random_elementwise.cpp
          fuzz/random_movement.cpp fuzz/random_reduction.cpp fuzz/random_network.cpp fuzz/random_counted.cpp
  LIBS kiln_tools kiln::generator kiln::dsl kiln_interp)
target_compile_definitions(resume_test PRIVATE TESTS_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}")
