/* library.h - the program that `pvm doctor --program` asks about. */
#ifndef LIBRARY_H
#define LIBRARY_H

/* NULL: none. Set before the probes run. */
extern const char *library_program;

#endif
