kiln_add_test(proof rules SOURCES rules/proof_test.cpp LIBS kiln_tools kiln_symbolic)
target_compile_definitions(proof PRIVATE KILN_RULES_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}/rules")
kiln_add_test(kernel_proof rules SOURCES rules/kernel_proof_test.cpp LIBS kiln_proof)

# Every kernel of the programs in tests/run, tests/golden and the demo.
set(demo_graphs ${CMAKE_CURRENT_BINARY_DIR}/demo.graphs)
set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/golden/schedule ${CMAKE_CURRENT_SOURCE_DIR}/golden/passes
    ${CMAKE_CURRENT_BINARY_DIR}/run_programs.graphs)
if(TARGET demo_kernels_generator)
  add_custom_command(OUTPUT ${demo_graphs}/stamp
    COMMAND ${CMAKE_COMMAND} -E make_directory ${demo_graphs} COMMAND demo_kernels_generator -o ${demo_graphs} --emit ir
    COMMAND ${CMAKE_COMMAND} -E touch ${demo_graphs}/stamp DEPENDS demo_kernels_generator VERBATIM)
  add_custom_target(demo_graphs ALL DEPENDS ${demo_graphs}/stamp)
  list(APPEND corpus ${demo_graphs})
endif()
add_test(NAME rules.kernels COMMAND kiln-opt prove ${corpus} --jobs 2)
set_tests_properties(rules.kernels PROPERTIES LABELS rules)

# Kiln's own rules: each must be proven, and each change to a guard must be caught.
add_test(NAME rules.own_rules COMMAND kiln-opt rules check --jobs 2)
add_test(NAME rules.mutants COMMAND kiln-opt rules mutate --jobs 2)
set_tests_properties(rules.own_rules rules.mutants PROPERTIES LABELS rules)
