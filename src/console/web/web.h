/*
 * web.h - pvm web: a page that shows the virtual machine while it runs.
 */
#ifndef WEB_H
#define WEB_H

/* Serves until it is interrupted or the machine is gone; argv[0] is "pvm web". Returns the exit code. */
int web_main(int argc, char **argv);

#endif
