kiln_add_test(ir_builder_test unit SOURCES unit/ir_builder_test.cpp LIBS kiln_ir)
kiln_add_test(ir_text_test unit SOURCES unit/ir_text_test.cpp LIBS kiln_ir)
kiln_add_test(ir_verify_test unit SOURCES unit/ir_verify_test.cpp LIBS kiln_ir)
