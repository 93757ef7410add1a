# Adds an example of the gallery. kernels.cpp (and other sources that are named) is the Kiln program, main.cpp is the
# application that writes the picture.
find_package(PNG REQUIRED)
function(example name)
  kiln_add_kernels(${name}_kernels SOURCES kernels.cpp ${ARGN})
  add_executable(${name} main.cpp ../common/example.cpp ../common/image.cpp)
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_link_libraries(${name} PRIVATE ${name}_kernels kiln::threads PNG::PNG)
endfunction()
