#include "generator/driver.h"
#include "generator/registry.h"

int main(int argc, char** argv) { return kiln::generator::run(argc, argv, kiln::generator::registered_programs()); }
