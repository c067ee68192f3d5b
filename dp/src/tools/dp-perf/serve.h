/* serve.h - the server: carries out clients' orders one by one. */
#ifndef SERVE_H
#define SERVE_H

/* Serves until SIGINT or SIGTERM, and if `idle_s` is not 0 at most until so long without an order. Returns the exit
 * status. */
int serve_run(const char *interface, int patience_s, int idle_s);

#endif
