kiln_add_test(proof rules SOURCES rules/proof_test.cpp LIBS kiln_tools)
target_compile_definitions(proof PRIVATE KILN_RULES_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}/rules")
