# Consumer projects. They are built outside of the tree, against an installation of this build, while LLVM cannot be found.
find_program(KILN_PKG_CONFIG pkg-config)
find_program(KILN_MAKE make)
find_program(KILN_QEMU qemu-x86_64)
set(kiln_consumer_cases find_package variants installed add_subdirectory reproducible rebuild keywords components)
if(KILN_PKG_CONFIG)
  list(APPEND kiln_consumer_cases pkg_config)
endif()
if(KILN_MAKE)
  list(APPEND kiln_consumer_cases makefiles)
endif()
find_program(KILN_GXX NAMES g++-12 g++)
find_program(KILN_CLANGXX NAMES clang++-19)
if(KILN_GXX AND KILN_CLANGXX AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")  # each compiler has its own sanitizer library
  list(APPEND kiln_consumer_cases compilers)
endif()
foreach(case install ${kiln_consumer_cases})
  add_test(NAME consumer.${case} COMMAND ${CMAKE_CURRENT_LIST_DIR}/consumer_test.sh ${case})
  set_tests_properties(consumer.${case} PROPERTIES LABELS consumer TIMEOUT 300 ENVIRONMENT
    "KILN_SOURCE=${PROJECT_SOURCE_DIR};KILN_BUILD=${PROJECT_BINARY_DIR};WORK=${PROJECT_BINARY_DIR}/consumer;CMAKE=${CMAKE_COMMAND};GENERATOR=${CMAKE_GENERATOR};CC=${CMAKE_C_COMPILER};CXX=${CMAKE_CXX_COMPILER};CFLAGS=${CMAKE_C_FLAGS};CXXFLAGS=${CMAKE_CXX_FLAGS};QEMU=${KILN_QEMU};GXX=${KILN_GXX};CLANGXX=${KILN_CLANGXX}")
endforeach()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME consumer.add_kernels COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/add_kernels_test.py ${PROJECT_SOURCE_DIR}
  ${CMAKE_COMMAND} ${PROJECT_BINARY_DIR}/consumer/add_kernels)
set_tests_properties(consumer.add_kernels PROPERTIES LABELS consumer)
# The code in README.md and docs/.
add_test(NAME consumer.docs COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/docs_pages.py ${PROJECT_SOURCE_DIR}
  ${PROJECT_BINARY_DIR}/consumer/docs ${PROJECT_BINARY_DIR}/consumer/prefix)
set_tests_properties(consumer.docs PROPERTIES LABELS consumer TIMEOUT 300 FIXTURES_REQUIRED kiln_prefix
  ENVIRONMENT "CC=${CMAKE_C_COMPILER};CXX=${CMAKE_CXX_COMPILER};CFLAGS=${CMAKE_C_FLAGS};CXXFLAGS=${CMAKE_CXX_FLAGS}")
set_tests_properties(consumer.install PROPERTIES FIXTURES_SETUP kiln_prefix)
foreach(case ${kiln_consumer_cases})
  set_tests_properties(consumer.${case} PROPERTIES FIXTURES_REQUIRED kiln_prefix)
endforeach()
