# The texts that --dump-after writes, for every pass.
set(captured demo fft poisson buddhabrot)
list(TRANSFORM captured REPLACE ".+" "${PROJECT_SOURCE_DIR}/examples/\\0/kernels.cpp")
kiln_add_test(resume_test run
  SOURCES run/resume_test.cpp ${captured}
  LIBS kiln_tools captured_makers kiln::dsl)
target_compile_definitions(resume_test PRIVATE TESTS_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}")
kiln_add_long_test(resume_test ${CMAKE_COMMAND} -E env KILN_ALL_CASES=1 $<TARGET_FILE:resume_test>)
