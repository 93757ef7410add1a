// The version of the shared library. The library consists of archives otherwise, and CMake requires a source file.
extern "C" const char* kiln_generator_version();
const char* kiln_generator_version() { return KILN_VERSION; }
