/* top.h - the command pvm top. */
#ifndef TOP_H
#define TOP_H

/* argv[0] is "pvm top"; options follow. Returns the exit code. */
int top_main(int argc, char **argv);

#endif
