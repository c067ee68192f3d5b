/* option.h - names of the options of getopt and setopt. */
#ifndef OPTION_H
#define OPTION_H

/* The i-th name; NULL after the last. */
const char *option_name(int i);

#endif
