// The program.
#include "program.h"

int main(int argc, char** argv) { return sextant::app::run_program(argc, argv); }
