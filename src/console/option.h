/* option.h - names of the options that getopt and setopt know. */
#ifndef OPTION_H
#define OPTION_H

/* The i-th name; NULL behind the last. */
const char *option_name(int i);

#endif
