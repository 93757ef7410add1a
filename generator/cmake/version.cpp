// A shared library needs a source of its own; this one says what it is.
extern "C" const char* kiln_generator_version();
const char* kiln_generator_version() { return KILN_VERSION; }
