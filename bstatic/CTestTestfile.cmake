# CMake generated Testfile for 
# Source directory: /tmp/w-main
# Build directory: /tmp/w-main/bstatic
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
subdirs("runtime")
subdirs("dsl")
subdirs("compiler")
subdirs("generator")
subdirs("examples")
subdirs("tests")
