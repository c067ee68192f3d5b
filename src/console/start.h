/* start.h - why there is no virtual machine. */
#ifndef START_H
#define START_H

/* pvm_start_pvmd() or pvm_mytid() gave `code`: says on stderr what is wrong and what to do. */
void start_explain(int code);

#endif
